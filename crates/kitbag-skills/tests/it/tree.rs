//! A folder of skills that lasts for one test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_skills::{
    Catalog, GivenBy, Library, Places, Problem, RootChoice, RootOrder, SkillLimit, Status,
};

/// A temporary directory, by its real path.
pub(crate) struct Tree {
    root: PathBuf,
    _keep: tempfile::TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        Self { root: keep.path().canonicalize().unwrap(), _keep: keep }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn directory(&self, path: &str) -> &Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    /// A valid skill whose frontmatter has the name of its directory.
    pub(crate) fn skill(&self, path: &str) -> &Self {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        self.write(
            &format!("{path}/SKILL.md"),
            format!("---\nname: {name}\ndescription: The {path} skill\n---\nDo {path}.\n"),
        )
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    fn places(&self, choice: RootChoice) -> Places {
        Places {
            home: Some(self.path("home")),
            kitbag_home: Some(self.path("home/.kitbag")),
            cwd: self.path("repo/app"),
            choice,
            order: RootOrder::UserFirst,
        }
    }

    /// A library of these roots, as `--skills` or a variable gives them.
    pub(crate) fn given(&self, by: GivenBy, roots: &[&str]) -> Library {
        let roots = roots.iter().map(|root| self.path(root)).collect();
        Library::new(self.places(RootChoice::Only { by, roots }), SkillLimit(10_000))
    }

    /// What the skill server's variables find in these roots.
    pub(crate) fn three_layouts(&self, roots: &[&str]) -> Arc<Catalog> {
        self.given(GivenBy::Variable, roots).look()
    }

    /// What `--skills` finds in these roots.
    pub(crate) fn collection(&self, roots: &[&str]) -> Arc<Catalog> {
        self.given(GivenBy::CommandLine, roots).look()
    }

    /// A library of the usual places: `home`, and `repo/app` as the working directory.
    pub(crate) fn usual(&self) -> Library {
        self.directory("home/.kitbag").directory("repo/.git").directory("repo/app");
        Library::new(self.places(RootChoice::Default { also: Vec::new() }), SkillLimit(10_000))
    }

    pub(crate) fn usual_with(&self, change: impl FnOnce(&mut Places)) -> Library {
        self.directory("home/.kitbag").directory("repo/.git").directory("repo/app");
        let mut places = self.places(RootChoice::Default { also: Vec::new() });
        change(&mut places);
        Library::new(places, SkillLimit(10_000))
    }

    /// `path: reason` of each problem, the path relative to the tree.
    pub(crate) fn told(&self, problems: &[Problem]) -> Vec<String> {
        let relative =
            |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        problems
            .iter()
            .map(|problem| format!("{}: {}", relative(&problem.path), problem.reason.as_str()))
            .collect()
    }
}

/// The names of the skills in use, in order.
pub(crate) fn used(catalog: &Catalog) -> Vec<&str> {
    catalog.used().map(|skill| skill.name().as_str()).filter(|name| *name != "guide").collect()
}

/// `origin:name status` of every skill but the bundled one.
pub(crate) fn statuses(catalog: &Catalog) -> Vec<String> {
    catalog
        .skills
        .iter()
        .filter(|skill| skill.origin.label() != "bundled")
        .map(|skill| match &skill.status {
            Status::Shadowed { by } => format!("{} shadowed by {by}", skill.qualified_name()),
            status => format!("{} {}", skill.qualified_name(), status.word()),
        })
        .collect()
}
