//! Settings files on disk: bounded reads, and writes that leave the old or the new file and nothing between.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Fault, Severity, SourceName};
use crate::document::{Document, MAX_FILE_BYTES, parse, too_large};
use crate::edit::{self, EditError};
use crate::key_path::KeyPath;
use crate::layer::{Layer, Source};

/// Why a settings file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It has more than [`MAX_FILE_BYTES`] bytes.
    #[error("`{}` has more than {MAX_FILE_BYTES} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A directory, pipe, socket or device lies there.
    #[error("`{}` is not a regular file", .path.display())]
    NotAFile {
        /// What lies there.
        path: PathBuf,
    },
    /// It is to be edited, and its bytes are not UTF-8.
    #[error("`{}` is not UTF-8", .path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// Opening or reading failed.
    #[error("cannot read `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Why a settings file was not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file is not what it was when it was read.
    #[error("`{}` was changed by somebody else meanwhile; nothing was written", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Another process is writing it.
    #[error("`{}` is being written by another process; nothing was written", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("`{}` is read-only; nothing was written", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read again, to see whether it changed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Writing failed; what lies there is the whole old or the whole new file.
    #[error("cannot write `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Reads the settings file at `path`, a link followed; nothing if there is none. A link to nothing is an error.
///
/// At most [`MAX_FILE_BYTES`] are read, and a pipe or device is refused without waiting for it.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let fail = |source: io::Error| ReadError::Io { path: path.to_owned(), source };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        // A link whose target is gone was meant to say something, and what it denied must not be forgotten.
        Err(error @ rustix::io::Errno::NOENT) if path.is_symlink() => {
            return Err(fail(error.into()));
        }
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::NXIO) => {
            return Err(ReadError::NotAFile { path: path.to_owned() });
        }
        Err(error) => return Err(fail(error.into())),
    };
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(ReadError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(bytes))
}

/// A layer's file as it was read.
#[derive(Debug)]
pub struct Loaded {
    /// What it says; a file that is not there, or of which nothing can be taken, says nothing.
    pub source: Source,
    /// Its bytes, where it could be read: the very ones that were parsed, so that a digest speaks of what counts.
    pub bytes: Option<Vec<u8>>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and parses the file of a layer; a file that is not there says nothing.
pub fn load(layer: Layer, path: &Path) -> Loaded {
    let (document, diagnostics, bytes) = match read(path) {
        Ok(Some(bytes)) => {
            let (document, diagnostics) = parse(path, &bytes);
            (document, diagnostics, Some(bytes))
        }
        Ok(None) => (Document::empty(path), Vec::new(), None),
        Err(error) => (Document::empty(path), vec![unreadable(path, &error)], None),
    };
    Loaded { source: Source::file(layer, document), bytes, diagnostics }
}

fn unreadable(path: &Path, error: &ReadError) -> Diagnostic {
    let name = SourceName::File(path.to_owned());
    let (message, hint) = match error {
        ReadError::TooLarge { .. } => return too_large(&name),
        ReadError::NotAFile { .. } => (
            "a directory, pipe or device lies where the settings file belongs".to_owned(),
            "put a regular file in its place, or move it away",
        ),
        ReadError::NotUtf8 { .. } => ("the file is not UTF-8".to_owned(), "save the file as UTF-8"),
        ReadError::Io { source, .. } => {
            (format!("the file cannot be read: {source}"), "see to its owner and mode")
        }
    };
    Diagnostic::new(Severity::Error, Fault::Unreadable, &name, message).hint(hint)
}

/// A settings file that is being edited.
pub struct SettingsFile {
    path: PathBuf,
    /// What was read; nothing where there was no file.
    before: Option<Vec<u8>>,
    text: String,
}

impl SettingsFile {
    /// Reads the file at `path` for an edit; one that is not there begins empty.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let before = read(path)?;
        let text = match &before {
            None => String::new(),
            Some(bytes) => String::from_utf8(bytes.clone())
                .map_err(|_| ReadError::NotUtf8 { path: path.to_owned() })?,
        };
        Ok(Self { path: path.to_owned(), before, text })
    }

    /// Sets the value at `key`, as [`edit::set`] does.
    pub fn set(&mut self, key: &KeyPath, value: &Value) -> Result<(), EditError> {
        self.text = edit::set(&self.text, key, value)?;
        Ok(())
    }

    /// Removes `key`, as [`edit::remove`] does.
    pub fn remove(&mut self, key: &KeyPath) -> Result<(), EditError> {
        self.text = edit::remove(&self.text, key)?;
        Ok(())
    }

    /// Adds an item to the list at `key`, as [`edit::add_item`] does.
    pub fn add_item(&mut self, key: &KeyPath, item: &Value) -> Result<(), EditError> {
        self.text = edit::add_item(&self.text, key, item)?;
        Ok(())
    }

    /// Removes an item from the list at `key`, as [`edit::remove_item`] does.
    pub fn remove_item(&mut self, key: &KeyPath, item: &Value) -> Result<(), EditError> {
        self.text = edit::remove_item(&self.text, key, item)?;
        Ok(())
    }

    /// The text as it would be written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes the text in the place of the file, if the file is still the one that was read.
    ///
    /// A link is followed and stays one. The text goes to a new file in the same directory, is flushed, gets the old file's mode (0600
    /// where there was none), and is moved into place; the directory is made (0700) where it is missing. What reads meanwhile sees the
    /// whole old or the whole new file. Processes that save through this function exclude each other; an editor that does not is
    /// noticed up to the moment of the move.
    pub fn save(self) -> Result<(), SaveError> {
        let fail = |source: io::Error| SaveError::Io { path: self.path.clone(), source };
        if self.before.as_deref().unwrap_or_default() == self.text.as_bytes() {
            return Ok(());
        }
        let target = resolve(&self.path).map_err(fail)?;
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        make_directory(directory).map_err(fail)?;
        let held = File::open(directory).map_err(fail)?;
        match held.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(SaveError::Busy { path: self.path }),
            // A file system without locks still has the comparison below.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        if read(&target)? != self.before {
            return Err(SaveError::Changed { path: self.path });
        }
        let permissions = match &self.before {
            Some(_) => Some(fs::metadata(&target).map_err(fail)?.permissions()),
            None => None,
        };
        if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
            return Err(SaveError::ReadOnly { path: self.path });
        }
        // Made with mode 0600; dropping it before the move removes it.
        let mut new =
            tempfile::Builder::new().prefix(".settings.").tempfile_in(directory).map_err(fail)?;
        new.write_all(self.text.as_bytes()).map_err(fail)?;
        if let Some(permissions) = permissions {
            new.as_file().set_permissions(permissions).map_err(fail)?;
        }
        new.as_file().sync_all().map_err(fail)?;
        match self.before {
            Some(_) => new.persist(&target).map_err(|error| fail(error.error))?,
            None => new.persist_noclobber(&target).map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => SaveError::Changed { path: self.path.clone() },
                _ => fail(error.error),
            })?,
        };
        held.sync_all().map_err(fail)
    }
}

impl std::fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SettingsFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The file that `path` leads to; a link that leads to nothing is an error, and a missing file is itself.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(path.to_owned())
        }
        Err(error) => Err(error),
        Ok(_) => fs::canonicalize(path),
    }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}
