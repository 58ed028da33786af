//! A private copy of a skill, digested from the very bytes that were written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::digest::cache::Opener;
use crate::digest::{
    BLOCK_BYTES, Digest, DigestError, FileDigest, SkillDigests, digested_size, skill_digest,
};
use crate::file::SkillFile;
use crate::folder::Folder;
use crate::manifest::Manifest;
use crate::path::SkillPath;

/// The most bytes of a skill that are copied.
pub const MAX_COPY_BYTES: u64 = 256 * 1024 * 1024;

/// Why a skill was not copied. What was written so far stays where it is.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// Its files cannot be listed or read.
    #[error(transparent)]
    Read(#[from] DigestError),
    /// Its files are longer than [`MAX_COPY_BYTES`] together.
    #[error("the files of the skill are {0} bytes long, more than are copied")]
    TooLarge(u64),
    /// The copy of a file cannot be written.
    #[error("the copy of `{}` cannot be written: {source}", path.as_str().escape_debug())]
    Write {
        /// The file.
        path: SkillPath,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Copies the listed files into the empty directory `into`, and gives the digests of what was written.
///
/// Each byte is read once, from a handle that was opened beneath the skill's folder, and goes to the hash and to the
/// copy: whatever happens to the folder meanwhile, the digests are those of the copy. A link becomes the file that it
/// leads to. Copies can be read by all and written by nobody, and are executable where the file was. Blocks on I/O.
pub fn copy_skill(
    folder: &Folder,
    manifest: &Manifest,
    into: &Path,
) -> Result<SkillDigests, CopyError> {
    let size = digested_size(manifest)?;
    if size > MAX_COPY_BYTES {
        return Err(CopyError::TooLarge(size));
    }
    for directory in &manifest.directories {
        make_directory(into, directory)?;
    }
    let mut opener = Opener::of(folder);
    let mut block = vec![0; BLOCK_BYTES];
    let mut left = MAX_COPY_BYTES;
    let files = manifest
        .files
        .iter()
        .map(|listed| {
            let file = opener.open(&listed.path).map_err(DigestError::from)?;
            copy(&file, &listed.path, into, &mut block, &mut left)
        })
        .collect::<Result<Vec<_>, CopyError>>()?;
    Ok(SkillDigests { skill: skill_digest(&files), files })
}

fn make_directory(into: &Path, directory: &SkillPath) -> Result<(), CopyError> {
    let made = fs::DirBuilder::new().mode(0o755).create(into.join(directory.as_str()));
    made.map_err(|source| CopyError::Write { path: directory.clone(), source })
}

fn copy(
    file: &SkillFile,
    path: &SkillPath,
    into: &Path,
    block: &mut [u8],
    left: &mut u64,
) -> Result<FileDigest, CopyError> {
    let failed = |source| CopyError::Write { path: path.clone(), source };
    let mode = if file.executable() { 0o555 } else { 0o444 };
    let mut copy: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(into.join(path.as_str()))
        .map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut size = 0;
    loop {
        let read = file.read_at(block, size);
        let length = read.map_err(|source| DigestError::Read { path: path.clone(), source })?;
        if length == 0 {
            break;
        }
        size += length as u64;
        *left = left.checked_sub(length as u64).ok_or(CopyError::TooLarge(MAX_COPY_BYTES + 1))?;
        hasher.update(&block[..length]);
        copy.write_all(&block[..length]).map_err(failed)?;
    }
    let digest = Digest(hasher.finalize().into());
    if !file.may_hold(digest) {
        return Err(DigestError::Changed(path.clone()).into());
    }
    Ok(FileDigest { path: path.clone(), size, executable: file.executable(), digest })
}
