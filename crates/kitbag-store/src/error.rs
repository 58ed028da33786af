//! What can go wrong with the store, and what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;

/// Why the store could not be opened, or did not do what it was asked.
///
/// Whatever came back as an error was not acknowledged, and is not in the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A path is relative, where only an absolute one means the same to every process.
    #[error("`{}` is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// A path cannot be written down on this platform.
    #[error("`{}` is not Unicode", .0.display())]
    NotText(PathBuf),
    /// A value is longer than the store keeps.
    #[error("{what} has {bytes} bytes, and the store keeps at most {most}")]
    TooLong {
        /// Which value.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// A file or directory of the store is not one.
    #[error("`{}` is not a {wanted}", path.display())]
    WrongKind {
        /// The file or directory.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// Others may write a file or directory of the store, so what it says is nobody's consent.
    #[error("`{}` {how}, so others could give consent in your name", path.display())]
    Exposed {
        /// The file or directory.
        path: PathBuf,
        /// In which way.
        how: Exposure,
    },
    /// The store was written by a later version of the program.
    #[error("`{}` has schema {found}, and this program knows {known}", path.display())]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version that this program can read.
        known: u32,
    },
    /// The file is a database of another program.
    #[error("`{}` is a database, but not one of kitbag's", .0.display())]
    Foreign(PathBuf),
    /// The file is damaged. The next opening looks through all of it, and sets it aside.
    #[error("`{}` is damaged", path.display())]
    Corrupt {
        /// The store's file.
        path: PathBuf,
        /// What the engine, or a row, said.
        #[source]
        source: EngineError,
    },
    /// The file is missing or damaged, and cannot be replaced while another process has it open.
    #[error("`{}` {what}, and another process has it open", path.display())]
    InUse {
        /// The store's file.
        path: PathBuf,
        /// What is the matter with it.
        what: String,
    },
    /// Other processes kept the store locked.
    #[error("`{}` was locked by other processes for {} ms", path.display(), waited.as_millis())]
    Busy {
        /// The store's file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The file system, or the file, cannot be written.
    #[error("`{}` cannot be written: it, or its file system, is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The disk, or the quota on it, is used up.
    #[error("`{}` cannot be written: no space is left", .0.display())]
    Full(PathBuf),
    /// The operating system refuses access.
    #[error("no permission to use `{}`", .0.display())]
    NoPermission(PathBuf),
    /// The operating system failed in another way.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The engine failed in another way.
    #[error("the store `{}` failed", path.display())]
    Engine {
        /// The store's file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: EngineError,
    },
}

/// How others may write a file of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exposure {
    /// Its mode, in these permission bits, lets its group or everybody write.
    #[error("has mode {0:04o}")]
    Mode(u32),
    /// It belongs to the user of this number, who is not the one that runs the process.
    #[error("belongs to user {0}")]
    Owner(u32),
}

/// What the database engine said. Which engine that is stays inside this crate.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EngineError(#[from] rusqlite::Error);

impl StoreError {
    /// What to do about it, in one sentence without its final stop, where something can be done.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exposed { path, how: Exposure::Mode(_) } => {
                format!("look at what is in it, then run `chmod go-w '{}'`", path.display())
            }
            Self::Exposed { path, how: Exposure::Owner(_) } => {
                format!("run as the owner of `{}`, or move it away", path.display())
            }
            Self::WrongKind { path, .. } => format!("move `{}` away", path.display()),
            Self::Newer { .. } => {
                "update this program, or use the newer one that wrote the file".to_owned()
            }
            Self::Foreign(path) => format!("move `{}` away, and start again", path.display()),
            Self::Corrupt { .. } => {
                "end every kitbag process, and start again: the file is then set aside".to_owned()
            }
            Self::InUse { .. } => "end every other kitbag process, and start again".to_owned(),
            Self::Busy { .. } => {
                "try again; if it stays, look for a kitbag process that hangs".to_owned()
            }
            Self::ReadOnly(path) | Self::NoPermission(path) => format!(
                "make `{}` readable and writable for you, or set KITBAG_HOME to a place that is",
                path.display()
            ),
            Self::Full(path) => {
                format!("free some space on the disk that holds `{}`", path.display())
            }
            _ => return None,
        })
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::PermissionDenied => Self::NoPermission(path),
            _ => Self::Io { doing, path, source },
        }
    }

    pub(crate) fn engine(path: &Path, waited: Duration, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, waited }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(path),
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::PermissionDenied) => Self::NoPermission(path),
            _ if is_damage(&source) => Self::Corrupt { path, source: source.into() },
            _ => Self::Engine { path, source: source.into() },
        }
    }
}

/// Whether an error says that the file does not hold what was written.
///
/// A value that cannot be taken out again counts: nothing but this crate writes the file.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        // The last is a table or column that is not there: the schema's own rows are damaged.
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::SqlInputError { .. } => true,
        // The engine has no better word for a header with a format it does not know.
        _ => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        ),
    }
}
