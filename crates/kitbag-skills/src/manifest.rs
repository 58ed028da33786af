//! What a skill consists of: its files and directories, listed within bounds.

mod smallest;
mod walk;

use std::time::SystemTime;

use crate::file::Stamp;
use crate::folder::beneath::{self, Purpose, Root};
use crate::folder::{BundledFile, Folder};
use crate::media::media_type;
use crate::path::SkillPath;
use crate::problem::{Problem, Reason};

/// How much of a skill's folder is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestLimits {
    /// The most files.
    pub files: usize,
    /// The most directories, the skill's own folder not counted.
    pub directories: usize,
    /// The deepest directory, 1 for those in the skill's own folder.
    pub depth: usize,
}

/// The files and directories of a skill, as they were when they were listed.
///
/// Listed are regular files, by their own path, and links to regular files inside the skill. Left out are `.git`,
/// `.env*` and what `.gitignore` files inside the folder name, but for the skill's own `SKILL.md`. No link to a
/// directory is entered. A folder below that holds a `SKILL.md` of its own is part of the skill all the same.
///
/// Where a limit stops the listing, `SKILL.md` and the files nearest to it, in byte order of their names, are those
/// that are listed, so that two listings of one folder are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The files, in byte order of their paths.
    pub files: Vec<ManifestFile>,
    /// The directories below the skill's own folder, in byte order of their paths.
    pub directories: Vec<SkillPath>,
    /// How many files and directories are left out on purpose; what lies in such a directory is not counted.
    pub left_out: usize,
    /// What could not be listed, and why.
    pub problems: Vec<Problem>,
    /// Whether everything was looked at: false when a limit stopped the listing, or a directory could not be read.
    pub complete: bool,
    /// When the listing began: a stamp of about the same moment proves nothing (see [`Stamp::is_settled`]).
    pub taken: SystemTime,
    /// Directories and `.gitignore` files that were read, whose change makes the listing stale.
    watched: Vec<(Box<str>, Stamp)>,
}

/// One file of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Its path inside the skill.
    pub path: SkillPath,
    /// Its length in bytes.
    pub size: u64,
    /// Whether anybody may execute it.
    pub executable: bool,
    /// Whether a link stands there, which leads to the file elsewhere in the skill.
    pub link: bool,
    /// Its state; a link's is that of the file it leads to.
    pub stamp: Stamp,
}

/// A direct child of a directory in a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child<'a> {
    /// A file.
    File(&'a ManifestFile),
    /// A directory.
    Directory(&'a SkillPath),
}

impl ManifestLimits {
    /// What is listed of every skill: 2,000 files and 2,000 directories (section 7 of the skill server's promises), 32
    /// directories deep.
    pub const STANDARD: Self = Self { files: 2000, directories: 2000, depth: 32 };
}

impl Manifest {
    /// The most problems that one listing tells of, a limit apart; one more says how many are left untold.
    pub const MAX_PROBLEMS: usize = 50;

    /// The file at a path, if it is listed.
    pub fn file(&self, path: &str) -> Option<&ManifestFile> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The length of all listed files together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }

    /// Whether listing `folder` again would give the same, found by asking for the state of each file and directory.
    ///
    /// What changed in about the moment of the listing counts as changed since. False for a folder that cannot be
    /// read, always true for a bundled one.
    pub fn is_current(&self, folder: &Folder) -> bool {
        let Some(dir) = folder.directory() else { return true };
        let Ok(root) = Root::open(dir) else { return false };
        let is_same = |path: &str, stamp: &Stamp| {
            stamp.is_settled(self.taken)
                && beneath::look(&root, path).is_ok_and(|stat| Stamp::of(&stat) == *stamp)
        };
        !self.watched.is_empty()
            && self.watched.iter().all(|(path, stamp)| is_same(path, stamp))
            && self.files.iter().all(|file| {
                if file.link {
                    file.stamp.is_settled(self.taken)
                        && beneath::find(&root, file.path.as_str(), Purpose::Look)
                            .is_ok_and(|found| Stamp::of(&found.stat) == file.stamp)
                } else {
                    is_same(file.path.as_str(), &file.stamp)
                }
            })
    }

    /// Whether both list the same files, in the same states, and the same directories.
    pub(crate) fn lists_the_same(&self, other: &Self) -> bool {
        self.files == other.files
            && self.directories == other.directories
            && self.complete == other.complete
    }

    /// The direct children of a directory in byte order of their paths; the path `""` is the skill's own folder.
    ///
    /// `None` where no such directory is listed.
    pub fn list_directory(&self, directory: &str) -> Option<Vec<Child<'_>>> {
        let prefix = match directory {
            "" => String::new(),
            _ => format!("{}/", self.directories[self.directory_index(directory)?]),
        };
        let mut children: Vec<_> = below(&self.files, |file| &file.path, &prefix)
            .map(Child::File)
            .chain(below(&self.directories, |path| path, &prefix).map(Child::Directory))
            .collect();
        children.sort_by(|a, b| a.path().cmp(b.path()));
        Some(children)
    }

    fn directory_index(&self, path: &str) -> Option<usize> {
        self.directories.binary_search_by(|directory| directory.as_str().cmp(path)).ok()
    }
}

/// Those of the sorted `items` that lie directly below `prefix`.
fn below<'a, T>(
    items: &'a [T],
    path: impl Fn(&T) -> &SkillPath + Copy,
    prefix: &str,
) -> impl Iterator<Item = &'a T> {
    let start = items.partition_point(|item| path(item).as_str() < prefix);
    items[start..]
        .iter()
        .take_while(move |item| path(item).as_str().starts_with(prefix))
        .filter(move |item| !path(item).as_str()[prefix.len()..].contains('/'))
}

/// See [`Folder::manifest`].
pub(crate) fn list(folder: &Folder, limits: &ManifestLimits) -> Manifest {
    match folder {
        Folder::Disk(dir) => walk::walk(dir, limits),
        Folder::Bundled(files) => bundled(files, limits),
        Folder::Sealed(seal) => Manifest::clone(seal.manifest()),
    }
}

fn bundled(files: &[BundledFile], limits: &ManifestLimits) -> Manifest {
    let mut manifest = Manifest::empty();
    for file in files {
        match file.path.parse::<SkillPath>() {
            Ok(path) => manifest.files.push(ManifestFile {
                path,
                size: file.bytes.len() as u64,
                executable: false,
                link: false,
                stamp: Stamp::of_bytes(file.bytes),
            }),
            Err(error) => manifest.problems.push(Problem::warning(
                Reason::UnusablePath,
                file.path,
                error.to_string(),
            )),
        }
    }
    manifest.files.sort_by(|a, b| a.path.cmp(&b.path));
    if manifest.files.len() > limits.files {
        manifest.files.truncate(limits.files);
        manifest.complete = false;
        let detail = format!("it holds more than {} files", limits.files);
        manifest.problems.push(Problem::warning(Reason::FileLimit, "", detail));
    }
    for file in &manifest.files {
        let text = file.path.as_str();
        let above = text.match_indices('/').map(|(slash, _)| &text[..slash]);
        manifest.directories.extend(above.filter_map(|directory| directory.parse().ok()));
    }
    manifest.directories.sort();
    manifest.directories.dedup();
    manifest
}

impl Child<'_> {
    /// Its path inside the skill.
    pub fn path(&self) -> &SkillPath {
        match self {
            Self::File(file) => &file.path,
            Self::Directory(path) => path,
        }
    }

    /// Its media type; a directory's is `inode/directory`, as in the Skills extension of MCP.
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::File(file) => media_type(file.path.as_str()),
            Self::Directory(_) => "inode/directory",
        }
    }
}

impl Manifest {
    fn empty() -> Self {
        Self {
            files: Vec::new(),
            directories: Vec::new(),
            left_out: 0,
            problems: Vec::new(),
            complete: true,
            taken: SystemTime::now(),
            watched: Vec::new(),
        }
    }
}
