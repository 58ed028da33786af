//! The listing of a skill's folder on disk.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Stat};
use rustix::io::Errno;

use crate::file::{Stamp, is_executable};
use crate::folder::beneath::{self, Purpose, Refusal, Root};
use crate::folder::left_out::{self, MAX_RULES_FILES, RULES_FILE, Rules, SKILL_MD};
use crate::manifest::smallest::Smallest;
use crate::manifest::{Manifest, ManifestFile, ManifestLimits};
use crate::path::{SkillPath, SkillPathError};
use crate::problem::{Problem, Reason};

/// The most directory entries of one skill that are looked at; where a folder holds more, which of them are listed
/// depends on the file system.
const MAX_ENTRIES: usize = 200_000;

pub(super) fn walk(dir: &Path, limits: &ManifestLimits) -> Manifest {
    let mut walk = Walk {
        dir,
        limits,
        manifest: Manifest::empty(),
        levels: Vec::new(),
        rules_files: 0,
        entries: 0,
        untold: 0,
    };
    let opened = Root::open(dir).and_then(|root| {
        let handle = beneath::open_directory(root.handle(), OsStr::new("."))?;
        Ok((root, handle))
    });
    match opened {
        Ok((root, handle)) => {
            // A limit that stopped the walk has been told of.
            let _: ControlFlow<()> = walk.directory(&root, handle, "", 0);
        }
        Err(error) => {
            walk.manifest.complete = false;
            let problem = Problem::error(
                Reason::DirectoryUnreadable,
                lossy(dir),
                format!("the skill's folder cannot be read: {error}"),
            );
            walk.manifest.problems.push(problem);
        }
    }
    walk.finish()
}

struct Walk<'a> {
    dir: &'a Path,
    limits: &'a ManifestLimits,
    manifest: Manifest,
    /// The rules of the directory being listed and of those above it.
    levels: Vec<Rules>,
    rules_files: usize,
    entries: usize,
    /// How many problems came after the last one that is told.
    untold: usize,
}

/// The entries of one directory that may be listed, and those that cannot because of their names.
struct Entries {
    files: Smallest<SkillPath>,
    directories: Smallest<SkillPath>,
    unusable: Smallest<Unusable>,
    /// Whether some were not even looked at.
    cut: bool,
}

struct Unusable {
    name: Vec<u8>,
    kind: FileType,
    why: String,
}

impl Walk<'_> {
    /// Lists one directory: its files first, then what lies below it.
    fn directory(
        &mut self,
        root: &Root,
        handle: OwnedFd,
        prefix: &str,
        depth: usize,
    ) -> ControlFlow<()> {
        let Ok(mut listing) = Dir::new(handle) else {
            self.unreadable(prefix, Errno::IO);
            return ControlFlow::Continue(());
        };
        let Ok(stat) = listing.stat() else {
            self.unreadable(prefix, Errno::IO);
            return ControlFlow::Continue(());
        };
        self.watch(prefix.trim_end_matches('/'), &stat);

        let levels_above = self.levels.len();
        if let Ok(handle) = listing.fd() {
            self.read_rules(handle, prefix);
        }
        let flow = match self.entries(&mut listing, prefix) {
            Ok(entries) => self.list(root, &listing, entries, prefix, depth),
            Err(errno) => {
                self.unreadable(prefix, errno);
                ControlFlow::Continue(())
            }
        };
        self.levels.truncate(levels_above);
        flow
    }

    fn list(
        &mut self,
        root: &Root,
        listing: &Dir,
        entries: Entries,
        prefix: &str,
        depth: usize,
    ) -> ControlFlow<()> {
        let Ok(here) = listing.fd() else {
            self.unreadable(prefix, Errno::IO);
            return ControlFlow::Continue(());
        };
        let (unusable, untold) = entries.unusable.sorted();
        for entry in unusable {
            self.unusable(prefix, entry);
        }
        self.untold += untold;
        let (files, files_dropped) = entries.files.sorted();
        for path in files {
            let Some(file) = self.file(root, here, prefix, path) else { continue };
            if self.manifest.files.len() == self.limits.files {
                return self.stop(format!("it holds more than {} files", self.limits.files));
            }
            self.manifest.files.push(file);
        }
        if files_dropped > 0 {
            return self.stop(format!("it holds more than {} files", self.limits.files));
        }
        for path in entries.directories.sorted().0 {
            if self.manifest.directories.len() == self.limits.directories {
                let most = self.limits.directories;
                return self.stop(format!("it holds more than {most} directories"));
            }
            if depth == self.limits.depth {
                self.too_deep(&path);
                continue;
            }
            let below = format!("{path}/");
            match beneath::open_directory(here, OsStr::new(path.file_name())) {
                Ok(handle) => {
                    self.manifest.directories.push(path);
                    self.directory(root, handle, &below, depth + 1)?;
                }
                // It was removed, or replaced by something else, since its name was read.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(errno) => {
                    if let Ok(stat) = beneath::look(root, path.as_str()) {
                        self.watch(path.as_str(), &stat);
                    }
                    self.manifest.directories.push(path);
                    self.unreadable(&below, errno);
                }
            }
        }
        if entries.cut {
            return self.stop(format!("more than {MAX_ENTRIES} files and directories lie in it"));
        }
        ControlFlow::Continue(())
    }

    fn entries(&mut self, listing: &mut Dir, prefix: &str) -> Result<Entries, Errno> {
        let files_left = self.limits.files - self.manifest.files.len();
        let directories_left = self.limits.directories - self.manifest.directories.len();
        let mut entries = Entries {
            // `SKILL.md` is taken first, whatever comes before it.
            files: Smallest::keeping(files_left + 1, name_of, SKILL_MD.as_bytes()),
            directories: Smallest::keeping(directories_left + 1, name_of, b""),
            unusable: Smallest::keeping(Manifest::MAX_PROBLEMS + 1, |entry| &entry.name, b""),
            cut: false,
        };
        let mut path = prefix.as_bytes().to_vec();
        while let Some(entry) = listing.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.entries == MAX_ENTRIES {
                entries.cut = true;
                break;
            }
            self.entries += 1;
            let kind = match entry.file_type() {
                FileType::Unknown => match stat_at(listing.fd()?, name) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                known => known,
            };
            path.truncate(prefix.len());
            path.extend_from_slice(name);
            let is_left_out = left_out::is_left_out_by_name(name)
                || (path != SKILL_MD.as_bytes() && left_out::is_ignored(&self.levels, &path, kind));
            if is_left_out {
                self.manifest.left_out += 1;
                continue;
            }
            match usable(&path) {
                Ok(path) if kind == FileType::Directory => entries.directories.add(path),
                Ok(path) => entries.files.add(path),
                Err(why) => entries.unusable.add(Unusable { name: name.to_owned(), kind, why }),
            }
        }
        Ok(entries)
    }

    /// The entry of a file that is to be listed; tells of one that cannot.
    fn file(
        &mut self,
        root: &Root,
        here: BorrowedFd<'_>,
        prefix: &str,
        path: SkillPath,
    ) -> Option<ManifestFile> {
        let stat = match stat_at(here, path.file_name().as_bytes()) {
            Ok(stat) => stat,
            // It was removed since its name was read.
            Err(Errno::NOENT) => return None,
            Err(errno) => {
                self.unreadable(prefix, errno);
                return None;
            }
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Some(listed(path, &stat, Stands::Itself)),
            FileType::Symlink => self.link(root, path),
            FileType::Directory => None,
            _ => {
                self.special(&path);
                None
            }
        }
    }

    fn link(&mut self, root: &Root, path: SkillPath) -> Option<ManifestFile> {
        match beneath::find(root, path.as_str(), Purpose::Look) {
            Ok(found) if left_out::is_link_left_out(root, path.as_str(), &found.real) => {
                self.manifest.left_out += 1;
                None
            }
            Ok(found) => Some(listed(path, &found.stat, Stands::Link)),
            // Its files are listed where they really lie.
            Err(Refusal::Directory) => None,
            Err(Refusal::Special) => {
                self.special(&path);
                None
            }
            Err(refusal) => {
                let detail = match refusal {
                    Refusal::Outside => "the link leads out of the skill, so it is not listed",
                    Refusal::Missing => "the link is broken: it leads to nothing",
                    _ => "the link cannot be followed, so it is not listed",
                };
                let problem =
                    Problem::warning(Reason::SymlinkEscape, self.place(path.as_str()), detail)
                        .hint("put the file itself into the skill's folder");
                self.tell(problem);
                None
            }
        }
    }

    fn read_rules(&mut self, here: BorrowedFd<'_>, prefix: &str) {
        let complaint = match left_out::read(here, prefix.len()) {
            Ok(None) => return,
            Ok(Some(_)) if self.rules_files == MAX_RULES_FILES => {
                Some(format!("the skill holds more than {MAX_RULES_FILES} such files"))
            }
            Ok(Some(read)) => {
                self.rules_files += 1;
                self.levels.push(read.rules);
                let path = format!("{prefix}{RULES_FILE}");
                self.manifest.watched.push((path.into(), read.stamp));
                read.complaint
            }
            Err(complaint) => Some(complaint),
        };
        if let Some(complaint) = complaint {
            let place = self.place(&format!("{prefix}{RULES_FILE}"));
            self.tell(
                Problem::warning(Reason::IgnoreFile, place, complaint)
                    .hint("what it was to leave out may be listed and read"),
            );
        }
    }

    fn stop(&mut self, detail: String) -> ControlFlow<()> {
        self.manifest.complete = false;
        let problem = Problem::warning(Reason::FileLimit, lossy(self.dir), detail)
            .hint("the rest is not listed: leave out by `.gitignore` what is no part of the skill");
        // Not through `tell`: that something is missing is never left untold.
        self.manifest.problems.push(problem);
        ControlFlow::Break(())
    }

    fn too_deep(&mut self, path: &SkillPath) {
        self.manifest.complete = false;
        let detail = format!(
            "it lies more than {} directories deep, so nothing in it is listed",
            self.limits.depth
        );
        self.tell(Problem::warning(Reason::TooDeep, self.place(path.as_str()), detail));
    }

    fn unreadable(&mut self, path: &str, errno: Errno) {
        self.manifest.complete = false;
        let place = self.place(path.trim_end_matches('/'));
        let is_told =
            |told: &Problem| told.reason == Reason::DirectoryUnreadable && told.path == place;
        // A directory that can be listed and not searched fails for each of its files.
        if !self.manifest.problems.last().is_some_and(is_told) {
            let detail = format!("it cannot be read: {}", std::io::Error::from(errno));
            self.tell(Problem::warning(Reason::DirectoryUnreadable, place, detail));
        }
    }

    fn special(&mut self, path: &SkillPath) {
        self.tell(Problem::warning(
            Reason::SpecialFile,
            self.place(path.as_str()),
            "it is a pipe, a socket or a device, so it is not listed",
        ));
    }

    fn unusable(&mut self, prefix: &str, entry: Unusable) {
        let Unusable { name, kind, why: mut detail } = entry;
        if kind == FileType::Directory {
            detail.push_str("; nothing in it is listed");
        }
        let place = self.place(&format!("{prefix}{}", String::from_utf8_lossy(&name)));
        self.tell(Problem::warning(Reason::UnusablePath, place, detail).hint("rename it"));
    }

    fn watch(&mut self, path: &str, stat: &Stat) {
        self.manifest.watched.push((path.into(), Stamp::of(stat)));
    }

    fn tell(&mut self, problem: Problem) {
        if self.manifest.problems.len() < Manifest::MAX_PROBLEMS {
            self.manifest.problems.push(problem);
        } else {
            self.untold += 1;
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        lossy(&self.dir.join(path))
    }

    fn finish(mut self) -> Manifest {
        let Manifest { files, directories, problems, .. } = &mut self.manifest;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        directories.sort();
        problems.sort_by(|a, b| (&a.path, a.reason).cmp(&(&b.path, b.reason)));
        if self.untold > 0 {
            let reason = problems.last().map_or(Reason::UnusablePath, |problem| problem.reason);
            let detail = format!("{} more problems with its files are not shown", self.untold);
            problems.push(Problem::warning(reason, lossy(self.dir), detail));
        }
        self.manifest
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Itself,
    Link,
}

fn listed(path: SkillPath, stat: &Stat, stands: Stands) -> ManifestFile {
    let stamp = Stamp::of(stat);
    ManifestFile {
        path,
        size: stamp.size,
        executable: is_executable(stat),
        link: stands == Stands::Link,
        stamp,
    }
}

fn usable(path: &[u8]) -> Result<SkillPath, String> {
    let path = std::str::from_utf8(path).map_err(|_| "its name is not UTF-8")?;
    path.parse().map_err(|error: SkillPathError| error.to_string())
}

fn name_of(path: &SkillPath) -> &[u8] {
    path.file_name().as_bytes()
}

fn stat_at(here: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    rustix::fs::statat(here, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// A path that can be shown and serialised, whatever its bytes.
fn lossy(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(_) => path.to_owned(),
        None => PathBuf::from(path.to_string_lossy().into_owned()),
    }
}
