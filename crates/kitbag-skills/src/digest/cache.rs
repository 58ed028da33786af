//! Digests that are taken once for each state of a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::digest::{
    Digest, DigestError, FileDigest, SkillDigests, digested_size, file_digest, skill_digest,
};
use crate::file::{SkillFile, Stamp};
use crate::folder::beneath::Root;
use crate::folder::{self, Folder, ReadError};
use crate::manifest::{Manifest, ManifestFile};
use crate::path::SkillPath;

/// The digests of files already read, each good for as long as its file's stamp stays the same.
#[derive(Debug, Default)]
pub struct DigestCache {
    skills: HashMap<PathBuf, Cached>,
    digests: usize,
    asked: u64,
}

#[derive(Debug, Default)]
struct Cached {
    files: HashMap<SkillPath, (Stamp, Digest)>,
    asked: u64,
}

impl DigestCache {
    /// The most digests of files that are kept; past that, the skills that were asked for longest ago are forgotten.
    pub const MAX_DIGESTS: usize = 65_536;

    /// The digests of a skill and of each of its listed files.
    ///
    /// Reads only the files whose stamp is new, or was too fresh to be trusted when the manifest was taken. A manifest
    /// that is not complete has no digest, because a part of the skill could change without it.
    pub fn digests(
        &mut self,
        folder: &Folder,
        manifest: &Manifest,
    ) -> Result<SkillDigests, DigestError> {
        if let Folder::Sealed(seal) = folder {
            return Ok(seal.digests().clone());
        }
        digested_size(manifest)?;
        let known = match folder {
            Folder::Disk(dir) => self.take(dir),
            Folder::Bundled(_) | Folder::Sealed(_) => HashMap::new(),
        };
        let mut opener = Opener::of(folder);
        let mut kept = HashMap::new();
        let result = manifest
            .files
            .iter()
            .map(|file| {
                let digest = match known.get(&file.path) {
                    Some((stamp, digest)) if *stamp == file.stamp => *digest,
                    _ => digest_listed(&mut opener, file)?,
                };
                if file.stamp.is_settled(manifest.taken) {
                    kept.insert(file.path.clone(), (file.stamp, digest));
                }
                Ok(FileDigest {
                    path: file.path.clone(),
                    size: file.size,
                    executable: file.executable,
                    digest,
                })
            })
            .collect::<Result<Vec<_>, DigestError>>();
        if let Folder::Disk(dir) = folder {
            self.put(dir, kept);
        }
        let files = result?;
        Ok(SkillDigests { skill: skill_digest(&files), files })
    }

    /// How many digests of files are kept.
    pub fn len(&self) -> usize {
        self.digests
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.digests == 0
    }

    fn take(&mut self, dir: &Path) -> HashMap<SkillPath, (Stamp, Digest)> {
        let files = self.skills.remove(dir).unwrap_or_default().files;
        self.digests -= files.len();
        files
    }

    fn put(&mut self, dir: &Path, files: HashMap<SkillPath, (Stamp, Digest)>) {
        if files.len() > Self::MAX_DIGESTS {
            return;
        }
        self.asked += 1;
        self.digests += files.len();
        self.skills.insert(dir.to_owned(), Cached { files, asked: self.asked });
        if self.digests > Self::MAX_DIGESTS || self.skills.len() > Self::MAX_DIGESTS {
            self.forget();
        }
    }

    /// Makes room for a quarter, so that the next ones do not each have to.
    fn forget(&mut self) {
        let goal = Self::MAX_DIGESTS - Self::MAX_DIGESTS / 4;
        let mut by_age: Vec<_> =
            self.skills.iter().map(|(dir, cached)| (cached.asked, dir.clone())).collect();
        by_age.sort_unstable();
        for (_, dir) in by_age {
            if self.digests <= goal && self.skills.len() <= goal {
                break;
            }
            if let Some(cached) = self.skills.remove(&dir) {
                self.digests -= cached.files.len();
            }
        }
    }
}

/// Opens listed files, the folder itself at most once. What a manifest lists is not left out, so that is not asked again.
pub(super) enum Opener<'a> {
    Disk(&'a Path, Option<Root>),
    Other(&'a Folder),
}

impl<'a> Opener<'a> {
    pub(super) fn of(folder: &'a Folder) -> Self {
        match folder {
            Folder::Disk(dir) => Self::Disk(dir, None),
            Folder::Bundled(_) | Folder::Sealed(_) => Self::Other(folder),
        }
    }

    pub(super) fn open(&mut self, path: &SkillPath) -> Result<SkillFile, ReadError> {
        match self {
            Self::Other(folder) => folder.open(path),
            Self::Disk(_, Some(root)) => folder::open_beneath(root, path),
            Self::Disk(dir, root) => {
                let opened = Root::open(dir).map_err(ReadError::FolderUnreadable)?;
                folder::open_beneath(root.insert(opened), path)
            }
        }
    }
}

fn digest_listed(opener: &mut Opener<'_>, listed: &ManifestFile) -> Result<Digest, DigestError> {
    let changed = || DigestError::Changed(listed.path.clone());
    let failed = |source| DigestError::Read { path: listed.path.clone(), source };
    let file = opener.open(&listed.path)?;
    if file.stamp() != listed.stamp {
        return Err(changed());
    }
    let digest = file_digest(&file).map_err(failed)?;
    if file.stamp_now().map_err(failed)? != listed.stamp {
        return Err(changed());
    }
    Ok(digest)
}
