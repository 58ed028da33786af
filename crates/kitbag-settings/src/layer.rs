//! Who says a value: the layers, from the weakest to the strongest, and the sources in them.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::{Places, SourceName};
use crate::document::{Document, Node};
use crate::key_path::KeyPath;

/// The layers of settings, weakest first; the order of the variants is the order of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Layer {
    /// What a feature takes where nobody says anything.
    Default,
    /// `.kitbag/settings.json` of a project.
    Project,
    /// `.kitbag/settings.local.json` of a project; it can be committed, so it is the project's in every respect.
    ProjectLocal,
    /// `settings.json` in the user's home of kitbag.
    User,
    /// The environment.
    Environment,
    /// A file that the command line names for this run.
    RunFile,
    /// The command line.
    Flags,
}

impl Layer {
    /// The name of the layer in tables and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Project => "project",
            Self::ProjectLocal => "project-local",
            Self::User => "user",
            Self::Environment => "environment",
            Self::RunFile => "run-file",
            Self::Flags => "flags",
        }
    }

    /// Whether a repository may have brought what is said here.
    pub fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::ProjectLocal)
    }
}

/// Whether the workspace's owner has said yes to its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The settings that lie there now were approved.
    Trusted,
    /// They were not, or have changed since.
    Untrusted,
}

/// What one file, variable or flag says.
#[derive(Clone)]
pub struct Source {
    layer: Layer,
    name: SourceName,
    text: String,
    root: Node,
}

impl Source {
    /// What a file says.
    pub fn file(layer: Layer, document: Document) -> Self {
        let (path, text, root) = document.into_parts();
        Self { layer, name: SourceName::File(path), text, root }
    }

    /// The one value that the variable or flag `name` gives for `key`.
    pub fn given(layer: Layer, name: impl Into<String>, key: &KeyPath, value: &Value) -> Self {
        Self {
            layer,
            name: SourceName::Given(name.into()),
            text: String::new(),
            root: Node::nested(key.keys(), value),
        }
    }

    /// The layer.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The file, variable or flag.
    pub fn name(&self) -> &SourceName {
        &self.name
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// The places of bytes of a file, in ascending order; nothing for variables and flags.
    pub(crate) fn places(&self) -> Option<Places<'_>> {
        match self.name {
            SourceName::File(_) => Some(Places::of(&self.text)),
            SourceName::Given(_) => None,
        }
    }

    /// The place of a byte of a file; nothing for variables and flags.
    pub(crate) fn position(&self, offset: usize) -> Option<crate::Position> {
        match self.name {
            SourceName::File(_) => Some(crate::Position::at(&self.text, offset)),
            SourceName::Given(_) => None,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("layer", &self.layer)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
