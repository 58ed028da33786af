//! What a workspace's trust is bound to: the digest of its project settings.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Begins what the digest is taken over, so that it is no digest of anything else.
const TAG: &[u8] = b"kitbag project settings 1\n";

/// A project settings file that exists, as it was read.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFile<'a> {
    /// Its path, relative to the workspace.
    pub path: &'a Path,
    /// Its bytes, whole.
    pub bytes: &'a [u8],
}

/// The SHA-256 digest of a workspace's project settings; as text, 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectDigest([u8; 32]);

impl ProjectDigest {
    /// The digest as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A text that is no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a SHA-256 digest is 64 lower-case hexadecimal digits")]
pub struct DigestTextError;

/// Digests the project settings: SHA-256 over the sorted (path, SHA-256 of bytes) of the files that exist.
///
/// The mode is left out, since nothing executes a settings file. A file that appears, disappears, moves or changes by one byte gives
/// another digest; the order in which the files are given does not matter.
pub fn project_digest(files: &[ProjectFile<'_>]) -> ProjectDigest {
    let mut rows: Vec<(&[u8], [u8; 32])> = files
        .iter()
        .map(|file| (file.path.as_os_str().as_encoded_bytes(), Sha256::digest(file.bytes).into()))
        .collect();
    rows.sort_unstable();
    let mut hasher = Sha256::new();
    hasher.update(TAG);
    for (path, bytes) in rows {
        hasher.update((path.len() as u64).to_be_bytes());
        hasher.update(path);
        hasher.update(bytes);
    }
    ProjectDigest(hasher.finalize().into())
}

impl fmt::Display for ProjectDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ProjectDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProjectDigest({self})")
    }
}

impl FromStr for ProjectDigest {
    type Err = DigestTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(DigestTextError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, DigestTextError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(DigestTextError),
    }
}

impl TryFrom<String> for ProjectDigest {
    type Error = DigestTextError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ProjectDigest> for String {
    fn from(digest: ProjectDigest) -> Self {
        digest.to_string()
    }
}
