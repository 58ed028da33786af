//! One look at one root: from directory to directory, in byte order.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Child, Found, MAX_ENTRIES, Scanner, Sighting};
use crate::clients::may_hold_skills;
use crate::document::{self, LookedAt, Outcome, SKILL_MD};
use crate::problem::{Problem, Reason};
use crate::roots::{Layout, Reach, Root, unreadable};

/// How many directories below a root a skill's directory may lie (decision 2).
const MAX_DEPTH: usize = 6;

/// The most directories that are looked into below one root.
const MAX_DIRECTORIES: usize = 50_000;

/// Directories that are never looked into: what lies there was vendored (fault 24).
const NEVER: &[&str] = &["node_modules", "__pycache__"];

/// Directories that may be a skill, but are not searched for more: what lies there was built.
const BUILT: &[&str] = &["target", "dist", "build", "out", "venv"];

/// One look at one root.
pub(super) struct Walk<'a> {
    scanner: &'a mut Scanner,
    root: &'a Root,
    seen: HashSet<PathBuf>,
    out: Sighting,
    full: bool,
}

impl<'a> Walk<'a> {
    /// Looks at everything below `root`.
    pub(super) fn over(scanner: &'a mut Scanner, root: &'a Root) -> Sighting {
        let out = Sighting::default();
        let mut walk = Walk { scanner, root, seen: HashSet::new(), out, full: false };
        walk.root();
        walk.out
    }

    /// Remembers what is at `path`, so that the sighting holds only as long as it is.
    fn look_at(&mut self, path: &Path) {
        self.out.looked_at.push(LookedAt { path: path.to_owned(), stamp: document::stamp(path) });
    }

    fn root(&mut self) {
        let root = self.root;
        self.look_at(&root.path);
        let real = match fs::canonicalize(&root.path) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => {
                let why = "it is not a directory";
                return self.out.problems.push(unreadable(root, why));
            }
            Err(error) => {
                let why = format!("it cannot be resolved: {error}");
                return self.out.problems.push(unreadable(root, &why));
            }
        };
        if root.layout != Layout::ClientDirectory {
            if self.candidate(&root.path, &real) {
                return;
            }
        } else if real.join(SKILL_MD).is_file() {
            self.out.problems.push(
                Problem::warning(
                    Reason::FlatFile,
                    root.path.join(SKILL_MD),
                    "a SKILL.md directly in a skills directory is not read",
                )
                .hint("put it into a directory that bears the skill's name"),
            );
        }
        self.seen.insert(real.clone());
        match root.layout {
            Layout::ThreeLayouts => {
                self.children(&root.path, &real, 1, 1);
                let path = root.path.join("skills");
                if let Some(real) = self.resolve_directory(&path, &real.join("skills")) {
                    self.children(&path, &real, 1, 1);
                }
            }
            Layout::Collection | Layout::ClientDirectory => {
                self.children(&root.path, &real, 1, MAX_DEPTH);
                self.flat_files(&root.path, &real);
            }
        }
    }

    /// Looks at every directory in `real`, which lies `depth - 1` below the root; tells whether a skill lies below.
    fn children(&mut self, path: &Path, real: &Path, depth: usize, deepest: usize) -> bool {
        self.out.directories.push(real.to_owned());
        if self.out.directories.len() > MAX_DIRECTORIES {
            if !self.full {
                self.out.problems.push(Problem::warning(
                    Reason::SkillLimit,
                    &self.root.path,
                    format!(
                        "it holds more than {MAX_DIRECTORIES} directories; the rest is not searched"
                    ),
                ));
            }
            self.full = true;
            return false;
        }
        let (children, cut) = match self.scanner.listing(real, &mut self.out) {
            Ok(listing) => (Arc::clone(&listing.children), listing.cut),
            Err(error) => {
                let problem = if path == self.root.path {
                    unreadable(self.root, &format!("it cannot be listed: {error}"))
                } else {
                    Problem::warning(
                        Reason::DirectoryUnreadable,
                        path,
                        format!("it cannot be listed: {error}"),
                    )
                };
                self.out.problems.push(problem);
                return false;
            }
        };
        if cut {
            self.out.problems.push(Problem::warning(
                Reason::SkillLimit,
                path,
                format!("it holds more than {MAX_ENTRIES} entries; the rest is not looked at"),
            ));
        }
        let mut any = false;
        for child in &*children {
            any |= self.child(path, real, child, depth, deepest);
        }
        any
    }

    fn child(
        &mut self,
        parent: &Path,
        real_parent: &Path,
        child: &Child,
        depth: usize,
        deepest: usize,
    ) -> bool {
        let name = child.name.to_string_lossy();
        let layout = self.root.layout;
        let hidden =
            name.starts_with('.') && !(layout == Layout::Collection && may_hold_skills(&name));
        if hidden {
            self.hidden(&parent.join(&child.name));
            return false;
        }
        if NEVER.contains(&&*name) {
            return false;
        }
        if layout == Layout::ThreeLayouts
            && depth == 1
            && name == "skills"
            && parent == self.root.path
        {
            return false;
        }
        let path = parent.join(&child.name);
        let real = if child.link {
            match self.follow(&path) {
                Some(real) => real,
                None => return false,
            }
        } else {
            real_parent.join(&child.name)
        };
        let again = self.seen.contains(&real);
        if self.candidate(&path, &real) {
            return true;
        }
        if again || self.full || !self.seen.insert(real.clone()) {
            return false;
        }
        let searched = depth < deepest && !BUILT.contains(&&*name);
        let any = searched && self.children(&path, &real, depth + 1, deepest);
        if any || self.full {
            return any;
        }
        if !searched && depth == deepest && layout != Layout::ThreeLayouts {
            let deeper = self
                .scanner
                .listing(&real, &mut self.out)
                .is_ok_and(|listing| !listing.children.is_empty());
            if deeper {
                self.out.problems.push(
                    Problem::note(
                        Reason::TooDeep,
                        &path,
                        format!("it lies {MAX_DEPTH} directories below the root; what is in it is not searched"),
                    )
                    .hint("move the skills up, or name this directory as a root"),
                );
            }
        } else if depth == 1 {
            self.out.problems.push(
                Problem::warning(Reason::NoSkillMd, &path, "no SKILL.md lies in it")
                    .hint("a skill is a directory that holds a file called `SKILL.md`"),
            );
        }
        false
    }

    /// Says so where a hidden directory of a collection is passed over that seems to hold skills.
    fn hidden(&mut self, path: &Path) {
        if self.root.layout != Layout::Collection {
            return;
        }
        let skills = path.join("skills");
        self.look_at(&skills);
        if skills.is_dir() {
            self.out.problems.push(
                Problem::note(
                    Reason::HiddenDirectory,
                    &skills,
                    "a hidden directory is not searched",
                )
                .hint("name it as a root of its own"),
            );
        }
    }

    /// Takes the directory as a skill, if it is one; one that was refused counts as one.
    fn candidate(&mut self, path: &Path, real: &Path) -> bool {
        let outcome = match self.scanner.document(real, SKILL_MD, &mut self.out) {
            Outcome::Absent => self.scanner.variant(real, &mut self.out),
            outcome => outcome,
        };
        match outcome {
            Outcome::Absent => return false,
            Outcome::Refused(problem) => {
                if self.seen.insert(real.to_owned()) {
                    self.out.directories.push(real.to_owned());
                    self.out.problems.push(problem);
                }
            }
            Outcome::Skill(document) => {
                self.seen.insert(real.to_owned());
                if path != self.root.path && path.file_name() != real.file_name() {
                    self.out.problems.push(
                        Problem::warning(
                            Reason::NameMismatch,
                            path,
                            format!(
                                "it is a link to a directory called `{0}`, and the skill is called `{0}`",
                                document.name
                            ),
                        )
                        .hint("give the link the directory's name"),
                    );
                }
                self.out.directories.push(real.to_owned());
                self.out.found.push(Found {
                    path: path.to_owned(),
                    real: real.to_owned(),
                    document,
                });
            }
        }
        true
    }

    /// Where a linked directory leads, if that is a directory, and one that this root may lead to.
    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let real = match self.scanner.target(path, &mut self.out) {
            Ok(real) => real,
            Err(error) => {
                self.out.problems.push(
                    Problem::warning(
                        Reason::SymlinkEscape,
                        path,
                        format!("it is a broken symlink: {error}"),
                    )
                    .hint("remove it, or make it lead to a directory that exists"),
                );
                return None;
            }
        };
        if !real.is_dir() {
            return None;
        }
        if let Reach::Inside(directories) = &self.root.reach
            && !directories.iter().any(|directory| real.starts_with(directory))
        {
            self.out.problems.push(
                Problem::error(
                    Reason::SymlinkEscape,
                    path,
                    "it is a link that leads outside the root",
                )
                .hint("name the directory it leads to as a root of its own"),
            );
            return None;
        }
        Some(real)
    }

    fn resolve_directory(&mut self, path: &Path, plain: &Path) -> Option<PathBuf> {
        let metadata = fs::symlink_metadata(plain).ok()?;
        if metadata.is_symlink() {
            return self.follow(path);
        }
        metadata.is_dir().then(|| plain.to_owned())
    }

    /// Names Markdown files with a frontmatter that lie where only directories are skills (fault 21).
    fn flat_files(&mut self, path: &Path, real: &Path) {
        let Ok(listing) = self.scanner.listing(real, &mut self.out) else { return };
        let names = listing.flat_files.clone();
        for name in names {
            let mut fence = [0_u8; 4];
            self.look_at(&real.join(&name));
            let file = document::open_plain(&real.join(&name));
            if file.and_then(|mut file| file.read_exact(&mut fence)).is_err()
                || !matches!(&fence, b"---\n" | b"---\r")
            {
                continue;
            }
            let stem = name.trim_end_matches(".md");
            self.out.problems.push(
                Problem::warning(
                    Reason::FlatFile,
                    path.join(&name),
                    "a Markdown file is not a skill; a skill is a directory with a SKILL.md",
                )
                .hint(format!("move it to `{stem}/SKILL.md`")),
            );
        }
    }
}
