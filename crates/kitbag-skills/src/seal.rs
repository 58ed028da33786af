//! What an approval is bound to: everything in a skill's folder, as it was when somebody said yes (decision 4).

mod walk;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use crate::digest::{Digest, FileDigest, SkillDigests, skill_digest};
use crate::file::{Sealed, SkillFile, Stamp};
use crate::folder::beneath::{self, Purpose, Root};
use crate::folder::{Folder, ReadError, open_beneath};
use crate::manifest::{Manifest, ManifestLimits};
use crate::name::SkillName;
use crate::path::SkillPath;
use crate::shown;

/// Begins what a seal's digest is taken over, so that it is no digest of anything else.
const SEAL_TAG: &[u8] = b"kitbag approval 1\n";

/// Everything in a skill's folder, and the digest over it that an approval is bound to.
///
/// A [manifest](Manifest) lists what is served. A seal covers what anybody could use from the folder: also `.git`,
/// `.env*` and what a `.gitignore` names, since a script could load it; the names of directories, which can be listed;
/// the text of each link; and where a link leads to a file outside the folder, the bytes of that file. What cannot be
/// covered (a link to a directory outside, a pipe, a file that cannot be read, too much) makes the whole folder one that
/// cannot be sealed.
///
/// The digest is SHA-256 over `kitbag approval 1` and a line feed, then for each entry in byte order of the paths: its
/// mode as in git (`040000`, `100644`, `100755`, `120000`), a blank, its path, a NUL, and for all but directories the
/// SHA-256 of the file's bytes or of the link's text; a link to a file outside has a second record of mode `120001`.
#[derive(Debug)]
pub struct Seal {
    directory: PathBuf,
    skill: SkillName,
    digest: Digest,
    entries: Vec<SealedEntry>,
    /// The part of the folder that is served, as it was at the same moment.
    manifest: Arc<Manifest>,
    served: SkillDigests,
    /// When the look at the folder began.
    taken: SystemTime,
}

/// One thing in a sealed folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntry {
    /// Its path inside the folder, which may be any bytes; that of the folder itself is empty.
    pub path: Box<[u8]>,
    /// What it is.
    pub kind: SealedKind,
    /// Its own state, a link not followed.
    pub(crate) stamp: Stamp,
}

/// What lies at a path of a sealed folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Its length in bytes.
        size: u64,
        /// Whether anybody may execute it.
        executable: bool,
        /// The digest of its bytes.
        digest: Digest,
    },
    /// A link.
    Link {
        /// The digest of its text.
        text: Digest,
        /// The file outside the folder that it leads to, if it leads there.
        outside: Option<OutsideFile>,
    },
}

/// A file outside a sealed folder that a link in it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideFile {
    /// The digest of its bytes; none where nothing is there.
    pub digest: Option<Digest>,
    pub(crate) stamp: Option<Stamp>,
}

/// Why a folder cannot be sealed, so that no approval can hold for it.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The folder cannot be opened.
    #[error("its folder cannot be read")]
    Unreadable(#[source] io::Error),
    /// Something in it cannot be read.
    #[error("`{path}` cannot be read, so an approval could not cover it: {source}")]
    Entry {
        /// Its path, as it may be shown.
        path: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A link leads to a directory outside, or to something that is no file.
    #[error(
        "`{0}` is a link that leads out of the skill to something that an approval cannot cover"
    )]
    Outside(String),
    /// A pipe, a socket or a device.
    #[error("`{0}` is a pipe, a socket or a device, which an approval cannot cover")]
    Special(String),
    /// More than [`Seal::MAX_ENTRIES`].
    #[error(
        "it holds more than {} files and directories, those left out of listings included",
        Seal::MAX_ENTRIES
    )]
    TooMany,
    /// More than [`Seal::MAX_BYTES`].
    #[error(
        "its files, those left out of listings included, are more than {} bytes",
        Seal::MAX_BYTES
    )]
    TooLarge,
    /// Deeper than [`Seal::MAX_DEPTH`].
    #[error("`{0}` lies more than {max} directories deep", max = Seal::MAX_DEPTH)]
    TooDeep(String),
    /// The files that would be served cannot all be listed.
    #[error("not all its files can be listed")]
    Incomplete,
    /// It changed while it was read.
    #[error("it changed while it was read")]
    Changing,
}

impl SealError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::Entry { .. } => "check the permissions",
            Self::Outside(_) => "put what it leads to into the skill's folder",
            Self::Special(_) | Self::TooDeep(_) => "move it out of the skill's folder",
            Self::TooMany | Self::TooLarge | Self::Incomplete => {
                "move what is no part of the skill, such as installed packages, out of its folder"
            }
            Self::Changing => "try again when nothing writes to the skill's folder",
        }
    }
}

/// What a sealed file answers that no longer holds what was approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it changed since it was approved; run `kitbag skills approve {skill}`")]
pub struct ChangedSinceApproved {
    /// The skill.
    pub skill: SkillName,
}

/// Equal seals are of one folder and bind it to the same content.
impl PartialEq for Seal {
    fn eq(&self, other: &Self) -> bool {
        self.directory == other.directory && self.digest == other.digest
    }
}

impl Eq for Seal {}

impl Seal {
    /// The most files, links and directories of a folder that is sealed: each is asked for its state at every look.
    pub const MAX_ENTRIES: usize = 5_000;

    /// The most bytes of all its files together.
    pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

    /// The deepest directory, 1 for those in the folder itself.
    pub const MAX_DEPTH: usize = 64;

    /// Seals the folder of the skill in the real directory `directory`; blocks on I/O and reads every file.
    ///
    /// Of what an earlier seal of the same folder holds, only what changed since is read.
    pub fn of(
        directory: &Path,
        skill: &SkillName,
        earlier: Option<&Self>,
    ) -> Result<Self, SealError> {
        let taken = SystemTime::now();
        let root = Root::open(directory).map_err(SealError::Unreadable)?;
        let known = earlier.filter(|earlier| earlier.directory == directory);
        let entries = walk::entries(&root, directory, known)?;
        let manifest = Folder::Disk(directory.to_owned()).manifest(&ManifestLimits::STANDARD);
        let files = served(&root, &manifest, &entries)?;
        let digest = digest(&entries);
        let served = SkillDigests { skill: skill_digest(&files), files };
        let (directory, skill) = (directory.to_owned(), skill.clone());
        Ok(Self { directory, skill, digest, entries, manifest: Arc::new(manifest), served, taken })
    }

    /// The digest that an approval is bound to.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The sealed folder, by its real path.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Everything in the folder, in byte order of the paths.
    pub fn entries(&self) -> &[SealedEntry] {
        &self.entries
    }

    /// The files that are served.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The digests of the files that are served.
    pub fn digests(&self) -> &SkillDigests {
        &self.served
    }

    /// Every directory in the folder, and the folder itself: a change in any of them may break the seal.
    pub(crate) fn directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let directories = self.entries.iter().filter(|entry| entry.kind == SealedKind::Directory);
        directories.map(|entry| path_of(&self.directory, &entry.path))
    }

    /// Whether sealing the folder again would give the same, by asking for the state of everything in it.
    ///
    /// What changed in about the moment of the sealing counts as changed since.
    pub fn is_current(&self) -> bool {
        let own_stamp = |path: &Path| {
            let metadata = fs::symlink_metadata(path);
            metadata.ok().map(|metadata| Stamp::of_metadata(&metadata))
        };
        let is_same = |entry: &SealedEntry| {
            entry.stamp.is_settled(self.taken)
                && own_stamp(&path_of(&self.directory, &entry.path)) == Some(entry.stamp)
                && match &entry.kind {
                    SealedKind::Link { outside: Some(outside), .. } => {
                        outside.stamp.is_none_or(|stamp| stamp.is_settled(self.taken))
                            && outside.stamp == outside_stamp(&self.directory, &entry.path)
                    }
                    _ => true,
                }
        };
        self.entries.iter().all(is_same)
    }

    pub(crate) fn entry(&self, path: &[u8]) -> Option<&SealedEntry> {
        find(&self.entries, path)
    }

    /// Opens a file that is covered, whether it is served or not; what it gives out is checked in the same way.
    pub(crate) fn open_covered(&self, path: &SkillPath) -> Result<SkillFile, ReadError> {
        match self.entry(path.as_str().as_bytes()).map(|entry| &entry.kind) {
            Some(SealedKind::File { size, executable, digest }) => {
                self.open_as(path, *size, *executable, *digest)
            }
            _ => Err(ReadError::NotAFile(path.clone())),
        }
    }

    /// Opens a file that is served; what it gives out is checked against the seal, byte for byte.
    pub(crate) fn open(&self, path: &SkillPath) -> Result<SkillFile, ReadError> {
        let changed = || ReadError::Changed { path: path.clone(), skill: self.skill.clone() };
        let sealed = self.served.files.binary_search_by(|file| file.path.cmp(path)).ok();
        let Some(sealed) = sealed.and_then(|at| self.served.files.get(at)) else {
            // It is refused as in any other skill; where it would not be, it came since.
            return match Folder::Disk(self.directory.clone()).open(path) {
                Ok(_) => Err(changed()),
                Err(refused) => Err(refused),
            };
        };
        self.open_as(path, sealed.size, sealed.executable, sealed.digest)
    }

    fn open_as(
        &self,
        path: &SkillPath,
        size: u64,
        executable: bool,
        digest: Digest,
    ) -> Result<SkillFile, ReadError> {
        let root = Root::open(&self.directory).map_err(ReadError::FolderUnreadable)?;
        let changed = || ReadError::Changed { path: path.clone(), skill: self.skill.clone() };
        let file = open_beneath(&root, path).map_err(|error| match error {
            ReadError::Denied(_) | ReadError::Io { .. } => error,
            _ => changed(),
        })?;
        if file.size() != size || file.executable() != executable {
            return Err(changed());
        }
        Ok(file.sealed(Sealed { digest, skill: self.skill.clone() }))
    }
}

impl SealedEntry {
    /// Its path as it may be shown: what is no UTF-8 or cannot be seen is written as an escape.
    pub fn shown(&self) -> String {
        shown_bytes(&self.path)
    }

    fn file_digest(&self) -> Option<Digest> {
        match &self.kind {
            SealedKind::File { digest, .. } => Some(*digest),
            SealedKind::Directory | SealedKind::Link { .. } => None,
        }
    }

    /// What the entry is, in one word a kind and with the digest of what it holds; equal for equal content.
    pub fn fingerprint(&self) -> String {
        match &self.kind {
            SealedKind::Directory => "directory".to_owned(),
            SealedKind::File { executable: false, digest, .. } => format!("file {digest}"),
            SealedKind::File { executable: true, digest, .. } => format!("program {digest}"),
            SealedKind::Link { text, outside: None } => format!("link {text}"),
            SealedKind::Link { text, outside: Some(OutsideFile { digest: None, .. }) } => {
                format!("link {text} nowhere")
            }
            SealedKind::Link { text, outside: Some(OutsideFile { digest: Some(digest), .. }) } => {
                format!("link {text} outside {digest}")
            }
        }
    }
}

fn shown_bytes(path: &[u8]) -> String {
    match str::from_utf8(path) {
        Ok(text) => shown::visible(text),
        Err(_) => path.escape_ascii().to_string(),
    }
}

fn path_of(directory: &Path, path: &[u8]) -> PathBuf {
    match path {
        // Joined to nothing, it would end in a slash, which follows a link.
        b"" => directory.to_owned(),
        path => directory.join(Path::new(OsStr::from_bytes(path))),
    }
}

fn outside_stamp(directory: &Path, path: &[u8]) -> Option<Stamp> {
    let metadata = fs::metadata(path_of(directory, path));
    metadata.ok().map(|metadata| Stamp::of_metadata(&metadata))
}

fn find<'a>(entries: &'a [SealedEntry], path: &[u8]) -> Option<&'a SealedEntry> {
    let at = entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()?;
    entries.get(at)
}

/// The digests of the files that are served, each that of the entry it really is.
fn served(
    root: &Root,
    manifest: &Manifest,
    entries: &[SealedEntry],
) -> Result<Vec<FileDigest>, SealError> {
    if !manifest.complete {
        return Err(SealError::Incomplete);
    }
    let listed = manifest.files.iter().map(|file| {
        let real = if file.link {
            beneath::find(root, file.path.as_str(), Purpose::Look).ok().map(|found| found.real)
        } else {
            None
        };
        let path =
            real.as_ref().map_or(file.path.as_str().as_bytes(), |real| real.as_os_str().as_bytes());
        match find(entries, path) {
            Some(SealedEntry {
                kind: SealedKind::File { size, executable, digest },
                stamp,
                ..
            }) if *stamp == file.stamp => Ok(FileDigest {
                path: file.path.clone(),
                size: *size,
                executable: *executable,
                digest: *digest,
            }),
            _ => Err(SealError::Changing),
        }
    });
    listed.collect()
}

fn digest(entries: &[SealedEntry]) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(SEAL_TAG);
    let mut record = |mode: &[u8], path: &[u8], content: Option<&Digest>| {
        hasher.update(mode);
        // A path holds no NUL, and the mode tells whether a digest follows, so no two folders read the same.
        hasher.update(path);
        hasher.update([0]);
        if let Some(content) = content {
            hasher.update(content.as_bytes());
        }
    };
    for SealedEntry { path, kind, .. } in entries {
        match kind {
            SealedKind::Directory => record(b"040000 ", path, None),
            SealedKind::File { executable: true, digest, .. } => {
                record(b"100755 ", path, Some(digest));
            }
            SealedKind::File { executable: false, digest, .. } => {
                record(b"100644 ", path, Some(digest));
            }
            SealedKind::Link { text, outside } => {
                record(b"120000 ", path, Some(text));
                if let Some(digest) = outside.as_ref().and_then(|file| file.digest.as_ref()) {
                    record(b"120001 ", path, Some(digest));
                }
            }
        }
    }
    Digest::from(<[u8; 32]>::from(hasher.finalize()))
}
