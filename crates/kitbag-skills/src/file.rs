//! One opened file of a skill, read through its handle within bounds.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::name::SkillName;
use crate::seal::ChangedSinceApproved;

/// How far a read's buffer grows at once where a file is longer than it said.
const GROWTH_BYTES: usize = 64 * 1024;

/// A regular file of a skill, opened once: what it is and what it holds are asked of the same handle.
#[derive(Debug)]
pub struct SkillFile {
    source: Source,
    real: PathBuf,
    stamp: Stamp,
    executable: bool,
    sealed: Option<Sealed>,
}

/// What a file must hold to be given out.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) digest: Digest,
    pub(crate) skill: SkillName,
}

#[derive(Debug)]
enum Source {
    Disk(File),
    Bundled(&'static [u8]),
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where in the file the part begins, in bytes.
    pub offset: u64,
    /// The part.
    pub bytes: Vec<u8>,
    /// The length of the whole file in bytes: what it said when it was opened, or what was read where that is more.
    pub size: u64,
    /// Whether more follows after the part.
    pub truncated: bool,
}

/// What tells one state of a file or directory from another without reading it. Equal stamps mean unchanged,
/// if they are [settled](Stamp::is_settled).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stamp {
    /// The length in bytes.
    pub size: u64,
    /// When the content was last changed, in nanoseconds since 1970, as the file says.
    pub mtime_ns: i64,
    /// When anything about it was last changed, in nanoseconds since 1970, which no program can set back.
    pub ctime_ns: i64,
    /// The file's number on its device.
    pub ino: u64,
    /// The device.
    pub dev: u64,
}

impl SkillFile {
    /// The most bytes that one read hands out, whatever was asked.
    pub const MAX_CHUNK_BYTES: usize = 16 * 1024 * 1024;

    pub(crate) fn on_disk(file: File, real: PathBuf, stat: &Stat) -> Self {
        Self {
            source: Source::Disk(file),
            real,
            stamp: Stamp::of(stat),
            executable: is_executable(stat),
            sealed: None,
        }
    }

    pub(crate) fn bundled(path: &str, bytes: &'static [u8]) -> Self {
        Self {
            source: Source::Bundled(bytes),
            real: PathBuf::from(path),
            stamp: Stamp::of_bytes(bytes),
            executable: false,
            sealed: None,
        }
    }

    /// The same file, which gives out nothing unless it holds what was sealed.
    pub(crate) fn sealed(self, sealed: Sealed) -> Self {
        Self { sealed: Some(sealed), ..self }
    }

    /// The length in bytes when the file was opened.
    pub fn size(&self) -> u64 {
        self.stamp.size
    }

    /// The state of the file when it was opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether anybody may execute the file, as its mode says.
    pub fn executable(&self) -> bool {
        self.executable
    }

    /// Where in the skill's folder the file really lies, after all links; relative to the folder.
    pub fn real_path(&self) -> &Path {
        &self.real
    }

    /// Reads at most `cap` bytes from byte `offset` on; never more than [`MAX_CHUNK_BYTES`](Self::MAX_CHUNK_BYTES).
    ///
    /// One byte more than the cap is read to tell whether anything follows, so that a file of exactly the cap is not
    /// called truncated (section 7 of the skill server's promises). An offset past the end gives an empty chunk.
    ///
    /// Of an approved skill's file all is read, whatever was asked, and what is given out is part of what the approval
    /// is bound to; where the file holds anything else, the error is a [`ChangedSinceApproved`].
    pub fn read(&self, offset: u64, cap: usize) -> io::Result<Chunk> {
        let cap = cap.min(Self::MAX_CHUNK_BYTES);
        if let Some(sealed) = &self.sealed {
            return self.read_sealed(sealed, offset, cap);
        }
        let mut bytes = match &self.source {
            Source::Disk(file) => {
                let left = self.stamp.size.saturating_sub(offset);
                read_up_to(file, offset, cap + 1, usize::try_from(left).unwrap_or(usize::MAX))?
            }
            Source::Bundled(all) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
                all[start..].iter().take(cap + 1).copied().collect()
            }
        };
        let read_to = if bytes.is_empty() { 0 } else { offset.saturating_add(bytes.len() as u64) };
        let truncated = bytes.len() > cap;
        bytes.truncate(cap);
        Ok(Chunk { offset, bytes, size: self.stamp.size.max(read_to), truncated })
    }

    /// Whether what was read of the whole file may be given out: of an approved skill's file, what was approved.
    pub(crate) fn may_hold(&self, digest: Digest) -> bool {
        self.sealed.as_ref().is_none_or(|sealed| sealed.digest == digest)
    }

    /// Reads the whole file once, keeps what was asked for, and gives it out if the whole is what was sealed.
    fn read_sealed(&self, sealed: &Sealed, offset: u64, cap: usize) -> io::Result<Chunk> {
        let changed = || io::Error::other(ChangedSinceApproved { skill: sealed.skill.clone() });
        let end = offset.saturating_add(cap as u64);
        let mut kept = Vec::new();
        let mut hasher = Sha256::new();
        let block = usize::try_from(self.size()).unwrap_or(GROWTH_BYTES).saturating_add(1);
        let mut block = vec![0; block.min(GROWTH_BYTES)];
        let mut at = 0_u64;
        while at <= self.size() {
            let length = match self.read_at(&mut block, at)? {
                0 => break,
                length => length,
            };
            hasher.update(&block[..length]);
            let within = |position: u64| {
                usize::try_from(position.saturating_sub(at)).unwrap_or(length).min(length)
            };
            kept.extend_from_slice(&block[within(offset)..within(end).max(within(offset))]);
            at += length as u64;
        }
        let size = self.size();
        let is_sealed =
            at == size && Digest::from(<[u8; 32]>::from(hasher.finalize())) == sealed.digest;
        if !is_sealed {
            return Err(changed());
        }
        Ok(Chunk { offset, bytes: kept, size, truncated: end < size })
    }

    /// Fills `buffer` from byte `offset` on, as far as one read goes; 0 is the end.
    ///
    /// Nothing is checked: whoever gives out what this reads asks [`may_hold`](Self::may_hold) first.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.source {
            Source::Disk(file) => retrying(|| file.read_at(buffer, offset)),
            Source::Bundled(all) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
                let length = buffer.len().min(all.len() - start);
                buffer[..length].copy_from_slice(&all[start..start + length]);
                Ok(length)
            }
        }
    }

    /// The state of the file now, asked of the same handle.
    pub(crate) fn stamp_now(&self) -> io::Result<Stamp> {
        match &self.source {
            Source::Disk(file) => Ok(Stamp::of(&rustix::fs::fstat(file)?)),
            Source::Bundled(_) => Ok(self.stamp),
        }
    }
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            ino: wide(stat.st_ino),
            dev: wide(stat.st_dev),
        }
    }

    /// The stamp of what `metadata` describes.
    pub(crate) fn of_metadata(metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.size(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            ino: metadata.ino(),
            dev: metadata.dev(),
        }
    }

    /// Whether both are of the same file or directory, changed or not.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self { size: bytes.len() as u64, ..Self::default() }
    }

    /// Whether every change from `taken` on, when the stamp was taken, shows as another stamp.
    ///
    /// File systems count time in steps. A second change within the step of the first leaves no mark on a file that
    /// keeps its length, so a stamp that was fresh when it was taken proves nothing.
    pub fn is_settled(&self, taken: SystemTime) -> bool {
        /// More than the step of any file system that counts fractions of a second.
        const STEP: Duration = Duration::from_millis(20);
        /// The coarsest step in use, of file systems that count whole seconds or two.
        const COARSE_STEP: Duration = Duration::from_secs(2);
        let step = if self.ctime_ns % 1_000_000_000 == 0 { COARSE_STEP } else { STEP };
        let changed = Duration::from_nanos(u64::try_from(self.ctime_ns).unwrap_or(0));
        UNIX_EPOCH + changed + step < taken
    }
}

pub(crate) fn is_executable(stat: &Stat) -> bool {
    stat.st_mode & 0o111 != 0
}

/// Reads until the end or `limit` bytes; `expected` only sizes the first buffer.
fn read_up_to(file: &File, offset: u64, limit: usize, expected: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; limit.min(expected.saturating_add(1))];
    let mut filled = 0;
    while filled < limit {
        if filled == bytes.len() {
            bytes.resize(limit.min(filled + GROWTH_BYTES), 0);
        }
        let at = offset.saturating_add(filled as u64);
        // No file is longer than a signed number can say, and the system takes no larger offset.
        if i64::try_from(at).is_err() {
            break;
        }
        match retrying(|| file.read_at(&mut bytes[filled..], at))? {
            0 => break,
            more => filled += more,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn retrying(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The fields of `stat` differ in width and sign from platform to platform.
fn nanoseconds(seconds: impl TryInto<i64>, nanoseconds: impl TryInto<i64>) -> i64 {
    let seconds = seconds.try_into().unwrap_or(i64::MAX);
    let nanoseconds = nanoseconds.try_into().unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
