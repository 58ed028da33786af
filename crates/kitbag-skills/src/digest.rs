//! SHA-256 of files and of whole skills.

mod cache;
mod copy;

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::file::SkillFile;
use crate::folder::ReadError;
use crate::manifest::Manifest;
use crate::path::SkillPath;

pub use cache::DigestCache;
pub use copy::{CopyError, MAX_COPY_BYTES, copy_skill};

/// How much of a file is held in memory while it is digested.
const BLOCK_BYTES: usize = 64 * 1024;

/// Begins what the digest of a skill is taken over, so that it is no digest of anything else.
const SKILL_TAG: &[u8] = b"kitbag skill 1\n";

/// A SHA-256 digest; as text, 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub(crate) [u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest is 64 lower-case hexadecimal digits")]
pub struct DigestTextError;

/// The digests of a skill and of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDigests {
    /// That of the whole skill, which changes when any file does.
    pub skill: Digest,
    /// Those of the files, in byte order of their paths.
    pub files: Vec<FileDigest>,
}

/// The digest of one file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// Its path inside the skill.
    pub path: SkillPath,
    /// Its length in bytes.
    pub size: u64,
    /// Whether anybody may execute it.
    pub executable: bool,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// Why a skill has no digest.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
    /// Its manifest does not hold everything, so a digest over it would not either.
    #[error("not all files of the skill could be listed")]
    Incomplete,
    /// Its files are longer than [`SkillDigests::MAX_BYTES`] together.
    #[error("the files of the skill are {0} bytes long, more than are digested")]
    TooLarge(u64),
    /// A listed file cannot be opened.
    #[error(transparent)]
    Open(#[from] ReadError),
    /// A listed file cannot be read.
    #[error("`{}` cannot be read", path.as_str().escape_debug())]
    Read {
        /// The file.
        path: SkillPath,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file is not what it was when it was listed.
    #[error("`{}` changed while it was read", .0.as_str().escape_debug())]
    Changed(SkillPath),
}

/// Digests an opened file in blocks, whatever its length up to [`SkillDigests::MAX_BYTES`].
///
/// Fails where the file is longer than that, or longer or shorter than it was when it was opened.
pub fn file_digest(file: &SkillFile) -> io::Result<Digest> {
    if file.size() > SkillDigests::MAX_BYTES {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let mut hasher = Sha256::new();
    let block = usize::try_from(file.size()).unwrap_or(BLOCK_BYTES).saturating_add(1);
    let mut block = vec![0; block.min(BLOCK_BYTES)];
    let mut offset = 0;
    while offset <= file.size() {
        match file.read_at(&mut block, offset)? {
            0 => break,
            length => {
                hasher.update(&block[..length]);
                offset += length as u64;
            }
        }
    }
    if offset != file.size() {
        return Err(io::Error::other("the file changed while it was read"));
    }
    Ok(Digest(hasher.finalize().into()))
}

/// Digests a skill over the path, mode and digest of each of its files, in byte order of the paths.
///
/// The mode is `100755` for what may be executed and `100644` for all else, as in git, so that a copy made under
/// another umask has the same digest.
pub fn skill_digest(files: &[FileDigest]) -> Digest {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut hasher = Sha256::new();
    hasher.update(SKILL_TAG);
    for file in files {
        let mode: &[u8] = if file.executable { b"100755 " } else { b"100644 " };
        hasher.update(mode);
        // A path holds no NUL, so no two lists of files read the same.
        hasher.update(file.path.as_str());
        hasher.update([0]);
        hasher.update(file.digest.0);
    }
    Digest(hasher.finalize().into())
}

/// The length of all listed files, where there is a digest over them.
fn digested_size(manifest: &Manifest) -> Result<u64, DigestError> {
    if !manifest.complete {
        return Err(DigestError::Incomplete);
    }
    let size = manifest.bytes();
    if size > SkillDigests::MAX_BYTES { Err(DigestError::TooLarge(size)) } else { Ok(size) }
}

impl SkillDigests {
    /// The most bytes of one file, and of all files of one skill together, that are digested.
    pub const MAX_BYTES: u64 = 1024 * 1024 * 1024;
}

impl Digest {
    /// Digests bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = DigestTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(DigestTextError),
        };
        let digits: &[u8; 64] = text.as_bytes().try_into().map_err(|_| DigestTextError)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = value(pair[0])? << 4 | value(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestTextError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
