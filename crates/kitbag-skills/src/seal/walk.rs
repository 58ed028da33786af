//! The look at everything in a folder.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use super::{OutsideFile, Seal, SealError, SealedEntry, SealedKind, path_of, shown_bytes};
use crate::digest::{Digest, file_digest};
use crate::document::open_plain;
use crate::file::{SkillFile, Stamp, is_executable};
use crate::folder::beneath::{self, Place, Root};

/// Everything in the folder, in byte order of the paths.
pub(super) fn entries(
    root: &Root,
    directory: &Path,
    earlier: Option<&Seal>,
) -> Result<Vec<SealedEntry>, SealError> {
    let known = earlier.map(|seal| {
        let settled = |entry: &&SealedEntry| entry.stamp.is_settled(seal.taken);
        seal.entries.iter().filter(settled).map(|entry| (&*entry.path, entry)).collect()
    });
    let known = known.unwrap_or_default();
    let mut walk =
        Walk { root, directory, known, entries: Vec::new(), bytes: 0, pass: Pass::Measure };
    // What cannot be sealed costs no more than a listing, at every look.
    walk.all()?;
    walk = Walk { entries: Vec::new(), bytes: 0, pass: Pass::Read, ..walk };
    walk.all()?;
    walk.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.entries)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Finds what cannot be sealed, and reads no file.
    Measure,
    Read,
}

/// Stands for what is not read yet.
const UNREAD: Digest = Digest([0; 32]);

struct Walk<'a> {
    root: &'a Root,
    directory: &'a Path,
    known: HashMap<&'a [u8], &'a SealedEntry>,
    entries: Vec<SealedEntry>,
    bytes: u64,
    pass: Pass,
}

impl Walk<'_> {
    fn all(&mut self) -> Result<(), SealError> {
        let handle = beneath::open_directory(self.root.handle(), OsStr::new("."))
            .map_err(|errno| SealError::Unreadable(errno.into()))?;
        self.directory(handle, b"", 0)
    }

    fn directory(&mut self, handle: OwnedFd, path: &[u8], depth: usize) -> Result<(), SealError> {
        let failed = |errno: Errno| entry_error(path, errno.into());
        let stat = rustix::fs::fstat(&handle).map_err(failed)?;
        self.push(path, Stamp::of(&stat), SealedKind::Directory)?;
        let mut listing = Dir::new(handle).map_err(failed)?;
        let mut names = Vec::new();
        while let Some(entry) = listing.read() {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.entries.len() + names.len() > Seal::MAX_ENTRIES {
                return Err(SealError::TooMany);
            }
            names.push(name.to_owned());
        }
        for name in names {
            let mut below = path.to_owned();
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(&name);
            self.entry(&listing, &name, &below, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        listing: &Dir,
        name: &[u8],
        path: &[u8],
        depth: usize,
    ) -> Result<(), SealError> {
        let failed = |errno: Errno| entry_error(path, errno.into());
        let here = listing.fd().map_err(failed)?;
        let stat = beneath::look_at(self.root, path).map_err(|_| SealError::Changing)?;
        let stamp = Stamp::of(&stat);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth == Seal::MAX_DEPTH => {
                Err(SealError::TooDeep(shown_bytes(path)))
            }
            FileType::Directory => {
                let name = OsStr::from_bytes(name);
                let handle = beneath::open_directory(here, name).map_err(failed)?;
                self.directory(handle, path, depth + 1)
            }
            FileType::RegularFile => {
                self.count(stamp.size)?;
                let digest = match self.known.get(path) {
                    _ if self.pass == Pass::Measure => Some(UNREAD),
                    Some(known) if known.stamp == stamp => known.file_digest(),
                    _ => None,
                };
                let digest = if let Some(digest) = digest {
                    digest
                } else {
                    let name = OsStr::from_bytes(name);
                    let handle = beneath::open_file(here, name).map_err(failed)?;
                    held_digest(File::from(handle), path, stamp)?
                };
                let executable = is_executable(&stat);
                self.push(path, stamp, SealedKind::File { size: stamp.size, executable, digest })
            }
            FileType::Symlink => {
                let kind = self.link(path)?;
                self.push(path, stamp, kind)
            }
            _ => Err(SealError::Special(shown_bytes(path))),
        }
    }

    fn push(&mut self, path: &[u8], stamp: Stamp, kind: SealedKind) -> Result<(), SealError> {
        // The folder itself is the one more.
        if self.entries.len() > Seal::MAX_ENTRIES {
            return Err(SealError::TooMany);
        }
        self.entries.push(SealedEntry { path: path.into(), kind, stamp });
        Ok(())
    }

    fn count(&mut self, bytes: u64) -> Result<(), SealError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > Seal::MAX_BYTES { Err(SealError::TooLarge) } else { Ok(()) }
    }

    /// What a link is bound to: its text, and the bytes of a file outside that it leads to.
    fn link(&mut self, path: &[u8]) -> Result<SealedKind, SealError> {
        let text = rustix::fs::readlinkat(self.root.handle(), path, Vec::new())
            .map_err(|_| SealError::Changing)?;
        let text = Digest::of(text.as_bytes());
        let outside = match beneath::place(self.root, path) {
            Place::Inside => None,
            Place::Elsewhere => Some(self.outside(path)?),
        };
        Ok(SealedKind::Link { text, outside })
    }

    fn outside(&mut self, path: &[u8]) -> Result<OutsideFile, SealError> {
        let unusable = || SealError::Outside(shown_bytes(path));
        let real = match std::fs::canonicalize(path_of(self.directory, path)) {
            Ok(real) => real,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(OutsideFile { digest: None, stamp: None });
            }
            Err(_) => return Err(unusable()),
        };
        let file = open_plain(&real).map_err(|error| entry_error(path, error))?;
        let metadata = file.metadata().map_err(|error| entry_error(path, error))?;
        if !metadata.is_file() {
            return Err(unusable());
        }
        let stamp = Stamp::of_metadata(&metadata);
        self.count(stamp.size)?;
        let digest = match self.pass {
            Pass::Measure => UNREAD,
            Pass::Read => held_digest(file, path, stamp)?,
        };
        Ok(OutsideFile { digest: Some(digest), stamp: Some(stamp) })
    }
}

/// The digest of an opened file, which must be and stay in the state that `stamp` says.
fn held_digest(file: File, path: &[u8], stamp: Stamp) -> Result<Digest, SealError> {
    let failed = |error: io::Error| entry_error(path, error);
    let stat = rustix::fs::fstat(&file).map_err(|errno| failed(errno.into()))?;
    if Stamp::of(&stat) != stamp {
        return Err(SealError::Changing);
    }
    let file = SkillFile::on_disk(file, PathBuf::new(), &stat);
    let digest = file_digest(&file).map_err(failed)?;
    if file.stamp_now().map_err(failed)? != stamp {
        return Err(SealError::Changing);
    }
    Ok(digest)
}

fn entry_error(path: &[u8], source: io::Error) -> SealError {
    SealError::Entry { path: shown_bytes(path), source }
}
