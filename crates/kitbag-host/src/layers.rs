//! The settings files of all layers, and which of them are a project's (`docs/reference/settings.md`).

use std::fs;
use std::path::{Path, PathBuf};

use kitbag_settings::digest::{ProjectDigest, ProjectFile, project_digest};
use kitbag_settings::{Diagnostic, Layer, Source, file};

use crate::error::HostError;
use crate::place::{Where, Workspace, real};

/// The files of a folder that may hold a project's settings, weaker first.
const PROJECT_FILES: [(Layer, &str); 2] = [
    (Layer::Project, ".kitbag/settings.json"),
    (Layer::ProjectLocal, ".kitbag/settings.local.json"),
];

/// What all layers say.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) sources: Vec<Source>,
    pub(crate) folders: Vec<Folder>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A folder with settings of the project's: the workspace's root, or the working directory.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its real path: what its trust is recorded for.
    pub(crate) real: PathBuf,
    /// The files in it.
    pub(crate) files: Vec<ReadFile>,
}

/// A project's settings file, as it was read.
#[derive(Debug)]
pub(crate) struct ReadFile {
    /// Its path below the folder.
    pub(crate) path: PathBuf,
    /// The bytes that were parsed.
    pub(crate) bytes: Vec<u8>,
}

impl Folder {
    /// The digest of its settings.
    pub(crate) fn digest(&self) -> ProjectDigest {
        let files: Vec<ProjectFile<'_>> = self
            .files
            .iter()
            .map(|file| ProjectFile { path: &file.path, bytes: &file.bytes })
            .collect();
        project_digest(&files)
    }
}

/// Reads every settings file.
pub(crate) fn read(place: &Where, workspace: &Workspace) -> Result<Layers, HostError> {
    let mut layers = Layers { sources: Vec::new(), folders: Vec::new(), diagnostics: Vec::new() };
    if let Some(path) = place.user_settings() {
        take(&mut layers, file::load(Layer::User, &path));
    }
    for folder in project_folders(place, workspace) {
        let mut files = Vec::new();
        for (layer, path) in PROJECT_FILES {
            let loaded = file::load(layer, &folder.join(path));
            if let Some(bytes) = take(&mut layers, loaded) {
                files.push(ReadFile { path: path.into(), bytes });
            }
        }
        if !files.is_empty() {
            layers.folders.push(Folder { real: real(&folder)?, files });
        }
    }
    layers.sources.extend(place.given.iter().cloned());
    Ok(layers)
}

fn take(layers: &mut Layers, loaded: file::Loaded) -> Option<Vec<u8>> {
    layers.sources.push(loaded.source);
    layers.diagnostics.extend(loaded.diagnostics);
    loaded.bytes
}

/// The workspace's root and the working directory, the weaker first; a folder whose `.kitbag` is kitbag's home has none.
pub(crate) fn project_folders(place: &Where, workspace: &Workspace) -> Vec<PathBuf> {
    let mut folders = vec![workspace.root.clone()];
    if place.cwd != workspace.root {
        folders.push(place.cwd.clone());
    }
    let home = place.kitbag_home.as_deref().and_then(followed);
    folders.retain(|folder| {
        let own = followed(&folder.join(".kitbag"));
        own.is_none() || own != home
    });
    folders
}

fn followed(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}
