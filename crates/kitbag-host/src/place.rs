//! Where kitbag runs, as the binary finds it.

use std::fs;
use std::path::{Path, PathBuf};

use kitbag_settings::Source;
use kitbag_skills::{Places, RootChoice, RootOrder};

use crate::error::HostError;

/// What the host depends on; it looks at nothing else of the process.
#[derive(Debug, Clone)]
pub struct Where {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Kitbag's own home; usually `~/.kitbag`.
    pub kitbag_home: Option<PathBuf>,
    /// The working directory; absolute.
    pub cwd: PathBuf,
    /// Whether a runner started kitbag for somebody else.
    pub hosted: bool,
    /// Which roots of skills there are.
    pub roots: RootChoice,
    /// The values that the environment and the command line give, by their layers.
    pub given: Vec<Source>,
}

/// The workspace that a working directory is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its root, as it was reached.
    pub root: PathBuf,
    /// Its root with all links followed: what trust is recorded for.
    pub real: PathBuf,
}

impl Where {
    /// Where skills are looked for, with nothing of the settings.
    pub fn places(&self) -> Places {
        Places {
            home: self.home.clone(),
            kitbag_home: self.kitbag_home.clone(),
            cwd: self.cwd.clone(),
            choice: self.roots.clone(),
            order: RootOrder::UserFirst,
        }
    }

    /// The workspace: the nearest ancestor with `.git` or `.kitbag`, else the working directory.
    pub(crate) fn workspace(&self) -> Result<Workspace, HostError> {
        let root = kitbag_skills::workspace(&self.places());
        let real = real(&root)?;
        Ok(Workspace { root, real })
    }

    /// The user's own settings file.
    pub(crate) fn user_settings(&self) -> Option<PathBuf> {
        self.kitbag_home.as_ref().map(|home| home.join("settings.json"))
    }

    /// The file of the store.
    pub(crate) fn store_file(&self) -> Option<PathBuf> {
        self.kitbag_home.as_ref().map(|home| home.join("data").join("kitbag.db"))
    }
}

/// The path with all links followed.
pub(crate) fn real(path: &Path) -> Result<PathBuf, HostError> {
    fs::canonicalize(path).map_err(|source| HostError::Directory { path: path.to_owned(), source })
}

/// A path as people know it: what lies in the home begins with `~`.
pub fn shown_path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
