//! A home and a workspace to open a host in.

use std::fs;
use std::path::{Path, PathBuf};

use kitbag_host::{Host, HostError, Where};
use kitbag_settings::Source;
use kitbag_skills::RootChoice;
use tempfile::TempDir;

/// A temporary home and a workspace beside it.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("work/.git")).unwrap();
        fs::create_dir_all(place.path("home")).unwrap();
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn user(&self, text: &str) {
        self.write("home/.kitbag/settings.json", text);
    }

    pub(crate) fn project(&self, text: &str) {
        self.write("work/.kitbag/settings.json", text);
    }

    pub(crate) fn place(&self) -> Where {
        Where {
            home: Some(self.path("home")),
            kitbag_home: Some(self.path("home/.kitbag")),
            cwd: self.path("work"),
            hosted: false,
            roots: RootChoice::Default { also: Vec::new() },
            given: Vec::new(),
        }
    }

    pub(crate) fn open(&self) -> Result<Host, HostError> {
        Host::open(self.place())
    }

    pub(crate) fn open_with(&self, given: Vec<Source>) -> Result<Host, HostError> {
        Host::open(Where { given, ..self.place() })
    }

    /// `text` with this place written as `[ROOT]`.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let real = fs::canonicalize(self.directory.path()).unwrap();
        let shown = |path: &Path| path.display().to_string();
        text.replace(&shown(&real), "[ROOT]").replace(&shown(self.directory.path()), "[ROOT]")
    }
}
