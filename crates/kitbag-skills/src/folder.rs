//! Where a skill's files are, and opening one of them.

pub(crate) mod beneath;
pub(crate) mod left_out;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file::SkillFile;
use crate::folder::beneath::{Purpose, Refusal, Root};
use crate::manifest::{self, Manifest, ManifestLimits};
use crate::name::SkillName;
use crate::path::SkillPath;
use crate::seal::Seal;

/// How many characters of a path an error shows.
const SHOWN_CHARS: usize = 120;

/// Where a skill's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// A directory, by its real absolute path.
    Disk(PathBuf),
    /// Files that the program carries in itself.
    Bundled(&'static [BundledFile]),
    /// A directory whose content was approved: nothing but that content is read from it.
    Sealed(Arc<Seal>),
}

/// A file of a skill that the program carries in itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledFile {
    /// Its path inside the skill, with `/` between segments.
    pub path: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

/// Why a path inside a skill cannot be read. The texts name no path outside the skill.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The skill's own folder cannot be opened: gone, not a directory, a link by now, or denied.
    #[error("the skill's folder cannot be read")]
    FolderUnreadable(#[source] io::Error),
    /// Nothing is there, or only a link to nothing.
    #[error("`{}` is not a file in this skill", shown(.0))]
    NotAFile(SkillPath),
    /// A link on the way leads out of the skill's folder.
    #[error("`{}` leads out of this skill", shown(.0))]
    Outside(SkillPath),
    /// A directory, pipe, socket or device is there.
    #[error("`{}` is not a regular file", shown(.0))]
    NotRegular(SkillPath),
    /// The path, or what it leads to, is no part of a skill: `.git`, `.env*`, or named by a `.gitignore` inside it.
    #[error(
        "`{}` is left out of this skill, as `.git`, `.env*` and what `.gitignore` names are",
        shown(.0)
    )]
    LeftOut(SkillPath),
    /// The operating system does not let this process read it.
    #[error("`{}` may not be read: permission denied", shown(.0))]
    Denied(SkillPath),
    /// The file is not what it was when its skill was approved, or came since.
    #[error(
        "`{}` changed since the skill was approved; run `kitbag skills approve {skill}`",
        shown(path)
    )]
    Changed {
        /// What was asked for.
        path: SkillPath,
        /// The skill.
        skill: SkillName,
    },
    /// Opening it failed in another way.
    #[error("`{}` cannot be opened", shown(path))]
    Io {
        /// What was asked for.
        path: SkillPath,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Folder {
    /// Opens a file for reading.
    ///
    /// Links inside the skill are followed; one that leads out is refused, whenever it was put there, because every
    /// step is taken from the handle of the one before (G-17, G-18, fault row 52). Only a regular file is handed out,
    /// and opening never waits for the other end of a pipe. What a manifest leaves out cannot be opened either,
    /// except that no `.gitignore` takes a skill its `SKILL.md`. What a sealed folder gives out are the bytes that were
    /// approved; a file that holds others fails to open, or to be read.
    pub fn open(&self, path: &SkillPath) -> Result<SkillFile, ReadError> {
        let dir = match self {
            Self::Disk(dir) => dir,
            Self::Sealed(seal) => return seal.open(path),
            Self::Bundled(files) => {
                return files
                    .iter()
                    .find(|file| file.path == path.as_str())
                    .map(|file| SkillFile::bundled(file.path, file.bytes))
                    .ok_or_else(|| ReadError::NotAFile(path.clone()));
            }
        };
        let root = Root::open(dir).map_err(ReadError::FolderUnreadable)?;
        if left_out::is_left_out(&root, path.as_str()) {
            return Err(ReadError::LeftOut(path.clone()));
        }
        let file = open_beneath(&root, path)?;
        let is_link = file.real_path().as_os_str() != path.as_str();
        if is_link && left_out::is_link_left_out(&root, path.as_str(), file.real_path()) {
            return Err(ReadError::LeftOut(path.clone()));
        }
        Ok(file)
    }

    /// The directory on disk, by its real absolute path.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Disk(directory) => Some(directory),
            Self::Sealed(seal) => Some(seal.directory()),
            Self::Bundled(_) => None,
        }
    }

    /// Lists the files and directories of the skill, as far as `limits` go; of a sealed folder, as it was sealed.
    ///
    /// See [`Manifest`] for what is listed. Nothing is read but directories and `.gitignore` files.
    pub fn manifest(&self, limits: &ManifestLimits) -> Manifest {
        manifest::list(self, limits)
    }
}

/// Opens a file without asking whether it is left out.
pub(crate) fn open_beneath(root: &Root, path: &SkillPath) -> Result<SkillFile, ReadError> {
    let found =
        beneath::find(root, path.as_str(), Purpose::Read).map_err(|refusal| told(refusal, path))?;
    Ok(SkillFile::on_disk(File::from(found.handle), found.real, &found.stat))
}

fn told(refusal: Refusal, path: &SkillPath) -> ReadError {
    let path = path.clone();
    match refusal {
        Refusal::Missing => ReadError::NotAFile(path),
        Refusal::Outside => ReadError::Outside(path),
        Refusal::Directory | Refusal::Special => ReadError::NotRegular(path),
        Refusal::Denied => ReadError::Denied(path),
        Refusal::Io(errno) => ReadError::Io { path, source: errno.into() },
    }
}

fn shown(path: &SkillPath) -> String {
    let text = path.as_str();
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
