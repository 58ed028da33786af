//! What is wrong with a configuration of servers, told so that a person can act on it.

use std::fmt;

use kitbag_settings::{Diagnostic, Position, Severity, SourceName};
use serde::Serialize;

/// Why a [`Problem`] was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read as JSON with comments, or in part only.
    File,
    /// A name cannot be a server's.
    Name,
    /// A key is not known.
    UnknownKey,
    /// A field belongs to the other transport (B-60, B-61).
    OtherTransport,
    /// `command` or `url` is missing (B-62).
    Missing,
    /// A value is of the wrong type or out of its bounds.
    Value,
    /// The transport is not spoken (decision 12).
    Transport,
    /// A repository says what only the user may say.
    UserOnly,
    /// There are more servers than are taken.
    TooMany,
}

/// One thing that is wrong: where, what, and what to do about it. It never holds a value under `env` or `headers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind.
    pub fault: Fault,
    /// [`Severity::Error`] is a failure to start (decision 10); with [`Severity::Warning`] the server is left out.
    pub severity: Severity,
    /// The file or flag.
    pub source: SourceName,
    /// The place in that file.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The server, as it is named there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What is wrong, in one sentence without its final stop.
    pub message: String,
    /// What to do, in one sentence without its final stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn of_file(diagnostic: Diagnostic, most: Severity) -> Self {
        Self {
            fault: Fault::File,
            severity: diagnostic.severity.min(most),
            source: diagnostic.source,
            position: diagnostic.position,
            server: None,
            message: diagnostic.message,
            hint: diagnostic.hint,
        }
    }
}

impl fmt::Display for Problem {
    /// Writes ``file:line:column: server `NAME`: message``, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(server) = &self.server {
            write!(f, ": server {}", crate::shown::name(server))?;
        }
        write!(f, ": {}", self.message)
    }
}
