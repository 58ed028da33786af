//! Why the host could not be put together, or did not do what it was asked.

use std::io;
use std::path::PathBuf;

use kitbag_settings::{Diagnostic, Severity};
use kitbag_store::{MAX_SHOWN_BYTES, StoreError};

/// Why the host does not start, or refuses something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// Settings hold what cannot be taken: each thing with file, line and remedy, warnings among them.
    ///
    /// Rules that deny could be lost with it, so nothing of the settings is used.
    #[error("the settings hold {}", counted(.0))]
    Settings(Vec<Diagnostic>),
    /// Something is to be kept, and there is no home to keep it in.
    #[error("there is no home directory: neither KITBAG_HOME nor HOME is set")]
    NoHome,
    /// The working directory or the workspace cannot be found.
    #[error("cannot find the directory `{}`", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The project's settings are too large for a person to have been shown them.
    #[error("the settings of `{}` have more than {MAX_SHOWN_BYTES} bytes, which is more than can be reviewed", .0.display())]
    TooMuchToReview(PathBuf),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HostError {
    /// What to do about it, in one sentence without its final stop; the diagnostics of settings have their own.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoHome => Some("set KITBAG_HOME to a directory that you may write".to_owned()),
            Self::Directory { .. } => Some("change to a directory that exists".to_owned()),
            Self::TooMuchToReview(_) => Some("take out of them what they do not need".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Settings(_) => None,
        }
    }
}

fn counted(diagnostics: &[Diagnostic]) -> String {
    match diagnostics.iter().filter(|one| one.severity == Severity::Error).count() {
        1 => "1 error".to_owned(),
        errors => format!("{errors} errors"),
    }
}
