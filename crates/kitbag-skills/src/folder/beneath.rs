//! Finding a file beneath a directory so that no link, whenever it is put there, leads out of it.
//!
//! The kernel does it in one step where the path has no links. Where it has, or where the kernel cannot, the path is
//! walked by hand: each segment is opened from the handle of the one before and never through a link; a link is read,
//! and what it says is walked in the same way. So both give the same answer, and where a link leads is known.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// The most links that are followed on the way to one file; as many as Linux follows.
const MAX_LINKS: usize = 40;

/// The most directories that are held open on the way to one file.
const MAX_HELD_DIRECTORIES: usize = 64;

/// The most segments that links may add to a path.
const MAX_SEGMENTS: usize = 4096;

/// Opens a directory only to go on from it, for which it need not be listable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

/// A skill's folder, opened.
#[derive(Debug)]
pub(crate) struct Root {
    handle: OwnedFd,
    path: PathBuf,
}

/// What a file is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read it.
    Read,
    /// Only to know what it is, for which it need not be readable.
    Look,
}

/// A regular file that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) handle: OwnedFd,
    pub(crate) stat: Stat,
    /// Where it lies after all links, relative to the root.
    pub(crate) real: PathBuf,
    /// Whether a link was on the way.
    pub(crate) by_link: bool,
}

/// Why none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Missing,
    Outside,
    Directory,
    Special,
    Denied,
    Io(Errno),
}

impl Root {
    /// Opens the directory at `path`, which is absolute and, as far as its last segment goes, no link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(Self { handle, path: path.to_owned() })
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Finds the regular file at `path` beneath `root`.
pub(crate) fn find(root: &Root, path: &str, purpose: Purpose) -> Result<Found, Refusal> {
    match at_once(root, path, purpose) {
        Some(done) => done,
        None => step_by_step(root, path.as_bytes(), purpose),
    }
}

/// Opens a file by its name in `parent`, to read it; a link is not followed, and a pipe is not waited for.
pub(crate) fn open_file(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = flags(Purpose::Read) | OFlags::NOFOLLOW;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Opens a directory by its name in `parent`, to list it; a link is not followed.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

fn flags(purpose: Purpose) -> OFlags {
    match purpose {
        Purpose::Look if SEARCH != OFlags::RDONLY => SEARCH | OFlags::CLOEXEC,
        // A pipe or a terminal that bears a file's name must neither block nor take hold of this process.
        _ => OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC,
    }
}

/// Leaves the whole path to the kernel, which must meet no link on it; `None` where it has to be walked.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn at_once(root: &Root, path: &str, purpose: Purpose) -> Option<Result<Found, Refusal>> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&root.handle, path, flags(purpose), Mode::empty(), resolve) {
        Ok(handle) => Some(regular(handle, PathBuf::from(path), Via::Plain)),
        // A link; or something moved; or a kernel, or a filter in front of it, without this call.
        Err(
            Errno::LOOP
            | Errno::XDEV
            | Errno::AGAIN
            | Errno::NOSYS
            | Errno::PERM
            | Errno::INVAL
            | Errno::TOOBIG,
        ) => None,
        Err(errno) => Some(Err(refusal(errno))),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn at_once(_: &Root, _: &str, _: Purpose) -> Option<Result<Found, Refusal>> {
    None
}

fn step_by_step(root: &Root, path: &[u8], purpose: Purpose) -> Result<Found, Refusal> {
    let mut held: Vec<(OwnedFd, OsString)> = Vec::new();
    let segments = path.split(|byte| *byte == b'/');
    let mut ahead: Vec<OsString> =
        segments.rev().map(|name| OsString::from_vec(name.to_vec())).collect();
    let mut links = 0;
    while let Some(segment) = ahead.pop() {
        if segment == ".." {
            if held.pop().is_none() {
                return Err(Refusal::Outside);
            }
            continue;
        }
        let here = held.last().map_or(root.handle.as_fd(), |(handle, _)| handle.as_fd());
        match step(here, &segment, if ahead.is_empty() { Last::Yes(purpose) } else { Last::No })? {
            Step::Into(handle) if ahead.is_empty() => {
                let names = held.iter().map(|(_, name)| name.as_os_str());
                let real = names.chain([segment.as_os_str()]).collect();
                let via = if links == 0 { Via::Plain } else { Via::Link };
                return regular(handle, real, via);
            }
            Step::Into(_) if held.len() == MAX_HELD_DIRECTORIES => return Err(Refusal::Missing),
            Step::Into(handle) => held.push((handle, segment)),
            Step::Link(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Refusal::Missing);
                }
                let target = if target.is_absolute() {
                    held.clear();
                    target.strip_prefix(&root.path).map_err(|_| Refusal::Outside)?
                } else {
                    &target
                };
                for component in target.components().rev() {
                    match component {
                        Component::Normal(name) => ahead.push(name.to_owned()),
                        Component::ParentDir => ahead.push(OsString::from("..")),
                        Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
                    }
                }
                if ahead.len() > MAX_SEGMENTS {
                    return Err(Refusal::Missing);
                }
            }
        }
    }
    // Links and `..` led back to a directory that is already open.
    Err(Refusal::Directory)
}

#[derive(Clone, Copy)]
enum Last {
    Yes(Purpose),
    No,
}

enum Step {
    Into(OwnedFd),
    Link(PathBuf),
}

fn step(here: BorrowedFd<'_>, name: &OsStr, last: Last) -> Result<Step, Refusal> {
    let flags = match last {
        Last::Yes(purpose) => flags(purpose) | OFlags::NOFOLLOW,
        Last::No => SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
    };
    let errno = match rustix::fs::openat(here, name, flags, Mode::empty()) {
        // With `O_PATH`, a link that may not be followed is opened itself.
        Ok(handle) => match rustix::fs::fstat(&handle) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Errno::LOOP,
            Ok(_) => return Ok(Step::Into(handle)),
            Err(errno) => return Err(refusal(errno)),
        },
        Err(errno) => errno,
    };
    // Which of these a link gives depends on the platform and on the other flags.
    if !matches!(errno, Errno::LOOP | Errno::NOTDIR | Errno::MLINK) {
        return Err(refusal(errno));
    }
    match rustix::fs::readlinkat(here, name, Vec::new()) {
        Ok(target) => Ok(Step::Link(PathBuf::from(OsString::from_vec(target.into_bytes())))),
        Err(Errno::INVAL) => Err(refusal(errno)),
        Err(other) => Err(refusal(other)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Via {
    Plain,
    Link,
}

fn regular(handle: OwnedFd, real: PathBuf, via: Via) -> Result<Found, Refusal> {
    let stat = rustix::fs::fstat(&handle).map_err(refusal)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Found { handle, stat, real, by_link: via == Via::Link }),
        FileType::Directory => Err(Refusal::Directory),
        _ => Err(Refusal::Special),
    }
}

fn refusal(errno: Errno) -> Refusal {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP | Errno::MLINK => {
            Refusal::Missing
        }
        Errno::ACCESS | Errno::PERM => Refusal::Denied,
        // What opening a socket, or a device without a driver, gives.
        Errno::NXIO | Errno::NODEV => Refusal::Special,
        other => Refusal::Io(other),
    }
}

/// What lies at `path` beneath `root` itself, a last link not followed.
pub(crate) fn look(root: &Root, path: &str) -> Result<Stat, Errno> {
    look_at(root, path.as_bytes())
}

/// The same for a path of any bytes.
pub(crate) fn look_at(root: &Root, path: &[u8]) -> Result<Stat, Errno> {
    if path.is_empty() {
        return rustix::fs::fstat(&root.handle);
    }
    rustix::fs::statat(&root.handle, path, AtFlags::SYMLINK_NOFOLLOW)
}

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// To something in the folder.
    Inside,
    /// Out of the folder, to nothing, or so far round that it cannot be told.
    Elsewhere,
}

/// Tells whether the link at `path` leads to something in the folder.
pub(crate) fn place(root: &Root, path: &[u8]) -> Place {
    match step_by_step(root, path, Purpose::Look) {
        Ok(_) | Err(Refusal::Directory | Refusal::Special) => Place::Inside,
        // This walk gives up where the kernel may go on, so what is missing here may be there for others.
        Err(Refusal::Outside | Refusal::Missing | Refusal::Denied | Refusal::Io(_)) => {
            Place::Elsewhere
        }
    }
}
