//! The roots that are searched for skills, strongest first, from nothing but what the caller says (decision 2).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clients::{CLIENTS, Client, Reading};
use crate::origin::{GivenBy, Origin, Trust};
use crate::packages::PackageRoots;
use crate::problem::{Problem, Reason, lossily};

/// The most bytes read of a `.git` file and of the files it leads to.
const MAX_GIT_FILE_BYTES: u64 = 4096;

/// What discovery depends on; it looks at nothing else of the process (fault 28).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's home, below which `~/.agents/skills` and `~/.claude/skills` lie.
    pub home: Option<PathBuf>,
    /// Kitbag's own home, below which `skills` lies; usually `~/.kitbag`.
    pub kitbag_home: Option<PathBuf>,
    /// The working directory; absolute.
    pub cwd: PathBuf,
    /// Which roots there are.
    pub choice: RootChoice,
    /// Whether the user's skills or the project's are stronger.
    pub order: RootOrder,
}

/// Which roots are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootChoice {
    /// The roots of decision 2, with these before all others.
    Default {
        /// `skills.paths` of the user's settings.
        also: Vec<PathBuf>,
    },
    /// These and nothing else.
    Only {
        /// What named them.
        by: GivenBy,
        /// The roots, strongest first only for display: all are of one rank.
        roots: Vec<PathBuf>,
    },
}

/// The setting `skills.order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootOrder {
    /// The user's skills are stronger than the project's.
    UserFirst,
    /// The project's skills are stronger than the user's.
    ProjectFirst,
}

/// One directory that is searched for skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Root {
    /// Where it came from.
    pub origin: Origin,
    /// The directory as it was named; absolute.
    #[serde(serialize_with = "lossily")]
    pub path: PathBuf,
    /// Its strength: of two roots the one with the smaller rank is stronger; equal ranks are equally strong.
    pub rank: usize,
    /// Whether its skills wait for an approval.
    pub trust: Trust,
    /// How it is searched.
    #[serde(skip)]
    pub layout: Layout,
    /// Where links inside it may lead.
    #[serde(skip)]
    pub reach: Reach,
}

/// How a root is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The skill server's three layouts: the root itself, `*/SKILL.md`, `skills/*/SKILL.md`.
    ThreeLayouts,
    /// Depth 6; the root itself may be a skill, and clients' directories inside it are searched.
    Collection,
    /// Depth 6; skills lie below the root, never in it.
    ClientDirectory,
}

/// Where links inside a root may lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere: the user made them.
    Anywhere,
    /// Inside these real directories.
    Inside(Vec<PathBuf>),
}

/// The nearest ancestor of `cwd` that holds `.git` (folder or file) or `.kitbag`, else `cwd`.
///
/// The user's own `.kitbag`, which is kitbag's home, makes no workspace of the home directory. No process is started
/// (B-12).
pub fn workspace(places: &Places) -> PathBuf {
    places
        .cwd
        .ancestors()
        .find(|directory| {
            let own = directory.join(".kitbag");
            directory.join(".git").symlink_metadata().is_ok()
                || (places.kitbag_home.as_deref() != Some(&*own) && own.is_dir())
        })
        .unwrap_or(&places.cwd)
        .to_owned()
}

/// Every root that exists or was named outright, strongest first; the bundled skills are not among them.
pub(crate) fn roots(places: &Places, packages: &mut PackageRoots) -> (Vec<Root>, Vec<Problem>) {
    let mut problems = Vec::new();
    let also = match &places.choice {
        RootChoice::Only { by, roots } => return (given(*by, roots, 0), problems),
        RootChoice::Default { also } => also,
    };
    let workspace = workspace(places);
    let mut roots = given(GivenBy::Settings, also, 0);
    let user = user_roots(places);
    let project = project_roots(places, &workspace);
    let (first, second) = match places.order {
        RootOrder::UserFirst => (user, project),
        RootOrder::ProjectFirst => (project, user),
    };
    for mut root in first.into_iter().chain(second) {
        root.rank = roots.last().map_or(1, |last| last.rank + 1);
        roots.push(root);
    }
    let rank = roots.last().map_or(1, |last| last.rank + 1);
    roots.extend(packages.roots(&workspace, rank, &mut problems));
    (roots, problems)
}

fn given(by: GivenBy, paths: &[PathBuf], rank: usize) -> Vec<Root> {
    let real: Vec<PathBuf> = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let layout = match by {
        GivenBy::Variable => Layout::ThreeLayouts,
        GivenBy::CommandLine | GivenBy::Settings => Layout::Collection,
    };
    paths
        .iter()
        .map(|path| Root {
            origin: Origin::Given { by },
            path: path.clone(),
            rank,
            trust: Trust::Trusted,
            layout,
            reach: Reach::Inside(real.clone()),
        })
        .collect()
}

fn default_clients() -> impl Iterator<Item = &'static Client> {
    CLIENTS.iter().filter(|client| client.reading == Reading::Default)
}

fn user_roots(places: &Places) -> Vec<Root> {
    let mut roots = Vec::new();
    for client in default_clients() {
        let directories = if client.name == "kitbag" {
            places.kitbag_home.iter().map(|home| home.join("skills")).collect::<Vec<_>>()
        } else {
            let home = places.home.iter();
            home.flat_map(|home| client.user.iter().map(move |path| home.join(path))).collect()
        };
        for path in directories.into_iter().filter(|path| path.is_dir()) {
            roots.push(Root {
                origin: Origin::User { client: client.name },
                path,
                rank: 0,
                trust: Trust::Trusted,
                layout: Layout::ClientDirectory,
                reach: Reach::Anywhere,
            });
        }
    }
    roots
}

/// Where the links of a project's directory may lead: within the workspace, or above it within the directory itself.
fn reach<'a>(directory: &'a Path, workspace: &'a Path) -> &'a Path {
    if directory.starts_with(workspace) { workspace } else { directory }
}

/// The directories from the working directory up, and those of the main checkout.
///
/// All of them wait for an approval (decision 4). Who may write a directory above the workspace makes no difference:
/// somebody who unpacks an archive owns what lies in it, and still did not write it.
fn project_roots(places: &Places, workspace: &Path) -> Vec<Root> {
    let mut roots = Vec::new();
    let mut seen = HashSet::new();
    let main_checkout = main_checkout(workspace);
    let levels = places.cwd.ancestors().chain(main_checkout.as_deref());
    for (level, directory) in levels.enumerate() {
        for client in default_clients() {
            for path in client.project.iter().map(|path| directory.join(path)) {
                if !path.is_dir() || !seen.insert(path.clone()) {
                    continue;
                }
                roots.push(Root {
                    origin: Origin::Project {
                        client: client.name,
                        directory: directory.to_owned(),
                        level,
                    },
                    path,
                    rank: 0,
                    trust: Trust::NeedsApproval,
                    layout: Layout::ClientDirectory,
                    reach: Reach::Inside(
                        fs::canonicalize(reach(directory, workspace))
                            .into_iter()
                            .chain(main_checkout.clone())
                            .collect(),
                    ),
                });
            }
        }
    }
    roots
}

/// The main checkout of a linked worktree, so that a worktree has its skills too (fault 27).
///
/// Both directions of the link are checked, so a `.git` file that somebody packed leads nowhere.
fn main_checkout(workspace: &Path) -> Option<PathBuf> {
    let pointer = workspace.join(".git");
    let text = read_small(&pointer)?;
    let git_dir = workspace.join(text.strip_prefix("gitdir:")?.trim());
    let back = read_small(&git_dir.join("gitdir"))?;
    if fs::canonicalize(back.trim()).ok()? != fs::canonicalize(&pointer).ok()? {
        return None;
    }
    let common = git_dir.join(read_small(&git_dir.join("commondir"))?.trim());
    let common = fs::canonicalize(common).ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

fn read_small(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_GIT_FILE_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// A root that cannot be searched, as a problem with its remedy.
pub(crate) fn unreadable(root: &Root, why: &str) -> Problem {
    Problem::error(Reason::RootUnreadable, &root.path, why)
        .hint("name a directory that exists and that you may read")
}
