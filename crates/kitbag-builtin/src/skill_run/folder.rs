//! The folder of one run: a private copy of the skill, and room to write.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use kitbag_skills::{CopyError, Digest, Document, Library, copy_skill};
use tempfile::TempDir;

/// The deepest folder that is opened to be removed.
const MAX_DEPTH: usize = 256;

/// A folder that lives as long as its run.
#[derive(Debug)]
pub(crate) struct RunFolder {
    /// None once it is being removed.
    root: Option<TempDir>,
    copy: PathBuf,
    scratch: PathBuf,
    digest: Digest,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFolderError {
    /// No folder can be made.
    #[error("no folder for the run can be made: {0}")]
    Make(#[from] io::Error),
    /// The skill cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

impl RunFolder {
    /// Makes a folder below `place` and copies the skill into it; also makes `kept`, which outlives the
    /// run. Blocks on I/O.
    pub(crate) fn make(
        library: &Library,
        document: &Document,
        place: &Path,
        kept: Option<&Path>,
    ) -> Result<Self, RunFolderError> {
        for path in kept.into_iter().chain([place]) {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        }
        let root = tempfile::Builder::new()
            .prefix("run-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let made = |name: &str| -> io::Result<PathBuf> {
            let path = root.path().join(name);
            DirBuilder::new().mode(0o755).create(&path)?;
            Ok(path)
        };
        let (copy, scratch) = (made("skill")?, made("scratch")?);
        let mut folder = Self { root: Some(root), copy, scratch, digest: Digest::of(b"") };
        for path in [folder.home(), folder.temporary()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        let manifest = library.manifest(document);
        folder.digest = copy_skill(&document.folder, &manifest, &folder.copy)?.skill;
        Ok(folder)
    }

    /// The digest of what was copied.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// The copy of the skill.
    pub(crate) fn copy(&self) -> &Path {
        &self.copy
    }

    /// What the run may write.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The home of the run.
    pub(crate) fn home(&self) -> PathBuf {
        self.scratch.join("home")
    }

    /// Where the run puts temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.scratch.join("tmp")
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let Some(root) = self.root.take() else { return };
        match tokio::runtime::Handle::try_current() {
            // What a script left may be much.
            Ok(runtime) => drop(runtime.spawn_blocking(move || remove(root))),
            Err(_none) => remove(root),
        }
    }
}

/// Removes a folder, also where a script has taken our right to.
fn remove(root: TempDir) {
    let path = root.path().to_owned();
    if root.close().is_ok() {
        return;
    }
    open_up(&path, MAX_DEPTH);
    if let Err(error) = fs::remove_dir_all(&path) {
        tracing::warn!(%error, folder = %path.display(), "the folder of a run could not be removed");
    }
}

/// Makes a folder and all below it removable; no link is followed.
fn open_up(directory: &Path, depth: usize) {
    let is_directory = directory.symlink_metadata().is_ok_and(|found| found.is_dir());
    if depth == 0 || !is_directory {
        return;
    }
    drop(fs::set_permissions(directory, Permissions::from_mode(0o700)));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        open_up(&entry.path(), depth - 1);
    }
}
