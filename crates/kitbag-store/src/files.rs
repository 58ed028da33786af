//! The files of a store on disk: where they lie, who may write them, and how they are made and moved.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::error::StoreError;
use crate::timestamp::Timestamp;

/// How long a process waits before it tries a lock again.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// The names of a store's files, in a directory without links in its path.
///
/// The database itself is opened by the engine alone: on Unix, closing any other handle to it would release the
/// engine's locks in the whole process.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    directory: PathBuf,
    pub(crate) database: PathBuf,
    /// What was committed, and is not in the database yet.
    log: PathBuf,
    shared_memory: PathBuf,
    /// Held shared by whoever has the store open, alone by whoever makes or replaces it.
    lock: PathBuf,
    /// A store in the making, which takes its name when it is whole.
    pub(crate) unfinished: PathBuf,
    /// There while the database is under suspicion: somebody met damage in it.
    suspect: PathBuf,
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Alone,
}

impl Files {
    /// Makes the directory of the database at `path` where there is none, and checks who may write what is there.
    pub(crate) fn prepare(path: &Path) -> Result<Self, StoreError> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(StoreError::NotAbsolute(path.to_owned()));
        };
        if !path.is_absolute() {
            return Err(StoreError::NotAbsolute(path.to_owned()));
        }
        make_directory(directory)
            .map_err(|error| StoreError::io("make the directory", directory, error))?;
        let directory = directory
            .canonicalize()
            .map_err(|error| StoreError::io("find the directory", directory, error))?;
        let beside = |suffix: &str| {
            let mut name = name.to_owned();
            name.push(suffix);
            directory.join(name)
        };
        let files = Self {
            database: beside(""),
            log: beside("-wal"),
            shared_memory: beside("-shm"),
            lock: beside(".lock"),
            unfinished: beside(".new"),
            suspect: beside(".suspect"),
            directory,
        };
        files.check()?;
        Ok(files)
    }

    /// Refuses files that others may write, and what is no file.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        check_directory(&self.directory)?;
        for path in [&self.database, &self.log, &self.shared_memory, &self.lock] {
            check_file(path)?;
        }
        Ok(())
    }

    /// Opens the lock file, and makes it where there is none.
    pub(crate) fn lock_file(&self) -> Result<File, StoreError> {
        private(OpenOptions::new().read(true).write(true).create(true).truncate(false))
            .open(&self.lock)
            .map_err(|error| StoreError::io("open", &self.lock, error))
    }

    /// Takes the lock, and says whether it was to be had within `patience`.
    pub(crate) fn take(
        &self,
        lock: &File,
        hold: Hold,
        patience: Duration,
    ) -> Result<bool, StoreError> {
        let mut waited = Duration::ZERO;
        loop {
            let taken = match hold {
                Hold::Shared => lock.try_lock_shared(),
                Hold::Alone => lock.try_lock(),
            };
            match taken {
                Ok(()) => return Ok(true),
                Err(fs::TryLockError::WouldBlock) if waited >= patience => return Ok(false),
                Err(fs::TryLockError::WouldBlock) => {}
                Err(fs::TryLockError::Error(error)) => {
                    return Err(StoreError::io("lock", &self.lock, error));
                }
            }
            thread::sleep(LOCK_PAUSE);
            waited += LOCK_PAUSE;
        }
    }

    pub(crate) fn release(&self, lock: &File) -> Result<(), StoreError> {
        lock.unlock().map_err(|error| StoreError::io("unlock", &self.lock, error))
    }

    /// The database's length, or nothing where there is none.
    pub(crate) fn length(&self) -> Result<Option<u64>, StoreError> {
        match fs::symlink_metadata(&self.database) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("look at", &self.database, error)),
        }
    }

    /// Whether a log lies there that no database belongs to.
    pub(crate) fn log_is_left(&self) -> bool {
        fs::symlink_metadata(&self.log).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Whether the database's own mode keeps everybody from writing it.
    pub(crate) fn is_locked_against_writing(&self) -> bool {
        fs::metadata(&self.database).is_ok_and(|metadata| metadata.permissions().readonly())
    }

    pub(crate) fn is_suspect(&self) -> bool {
        fs::symlink_metadata(&self.suspect).is_ok()
    }

    /// Leaves word that the database is damaged. A disk that takes no word has already said what is wrong.
    pub(crate) fn suspect(&self) {
        drop(
            private(OpenOptions::new().write(true).create(true).truncate(false))
                .open(&self.suspect),
        );
    }

    pub(crate) fn clear_suspicion(&self) -> Result<(), StoreError> {
        remove(&self.suspect)
    }

    /// Makes an empty file, for its owner alone, under the name of a store in the making.
    pub(crate) fn begin(&self) -> Result<(), StoreError> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.unfinished.clone().into_os_string();
            path.push(suffix);
            remove(Path::new(&path))?;
        }
        private(OpenOptions::new().write(true).create_new(true))
            .open(&self.unfinished)
            .map_err(|error| StoreError::io("make", &self.unfinished, error))
            .map(drop)
    }

    /// Gives the store in the making its name.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        fs::rename(&self.unfinished, &self.database)
            .map_err(|error| StoreError::io("make", &self.database, error))?;
        self.sync_directory()
    }

    /// Moves the database and what belongs to it aside; gives the new names, the database's first.
    pub(crate) fn set_aside(&self, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
        let base = self.free_name(now);
        let mut moved = Vec::new();
        for (from, suffix) in
            [(&self.database, ""), (&self.log, "-wal"), (&self.shared_memory, "-shm")]
        {
            let mut to = base.clone().into_os_string();
            to.push(suffix);
            match fs::rename(from, &to) {
                Ok(()) => moved.push(to.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("set aside", from, error)),
            }
        }
        self.sync_directory()?;
        Ok(moved)
    }

    /// A name for what is set aside under which nothing lies yet.
    fn free_name(&self, now: Timestamp) -> PathBuf {
        let name = |suffix: &str| {
            let mut name = self.database.clone().into_os_string();
            name.push(format!(".corrupt-{}{suffix}", now.compact()));
            PathBuf::from(name)
        };
        let taken = |path: &PathBuf| {
            ["", "-wal", "-shm"].iter().any(|suffix| {
                let mut path = path.clone().into_os_string();
                path.push(suffix);
                fs::symlink_metadata(path).is_ok()
            })
        };
        let mut free = name("");
        let mut number = 1_u64;
        while taken(&free) {
            number += 1;
            free = name(&format!("-{number}"));
        }
        free
    }

    #[cfg(unix)]
    fn sync_directory(&self) -> Result<(), StoreError> {
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| StoreError::io("write", &self.directory, error))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the signature of Unix")]
    fn sync_directory(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn make_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

fn check_directory(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(|error| StoreError::io("look at", path, error))?;
    if !metadata.is_dir() {
        return Err(StoreError::WrongKind { path: path.to_owned(), wanted: "directory" });
    }
    check_owner(path, &metadata)
}

fn check_file(path: &Path) -> Result<(), StoreError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::io("look at", path, error)),
    };
    if !metadata.is_file() {
        return Err(StoreError::WrongKind { path: path.to_owned(), wanted: "regular file" });
    }
    check_owner(path, &metadata)
}

#[cfg(unix)]
fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt as _;

    use crate::error::Exposure;

    let how = if metadata.uid() != rustix::process::geteuid().as_raw() {
        Exposure::Owner(metadata.uid())
    } else if metadata.mode() & 0o022 != 0 {
        Exposure::Mode(metadata.mode() & 0o7777)
    } else {
        return Ok(());
    };
    Err(StoreError::Exposed { path: path.to_owned(), how })
}

/// Profiles are the user's own where modes are not how access is given.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of Unix")]
fn check_owner(_path: &Path, _metadata: &fs::Metadata) -> Result<(), StoreError> {
    Ok(())
}
