//! A call: what is asked, under which conditions, and how it can fail.

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Interrupted, ToolName, ToolOutput};

/// A wish to use a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: ToolName,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// The conditions of one call.
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    /// Ends the call when cancelled: the source's future is dropped.
    pub cancel: CancellationToken,
    /// Where the source may say how far it is.
    pub progress: Progress,
    /// When the call is given up, where there is such a time.
    pub deadline: Option<Instant>,
}

/// Where a source reports how far a call is.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<mpsc::Sender<ProgressUpdate>>);

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressUpdate {
    /// How much is done; grows from report to report.
    pub done: f64,
    /// How much there is to do, where it is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

impl Progress {
    /// Reports into a bounded queue, whose reader decides what becomes of them.
    pub fn to(queue: mpsc::Sender<ProgressUpdate>) -> Self {
        Self(Some(queue))
    }

    /// Reports, where somebody listens; a report that finds the queue full is dropped.
    pub fn report(&self, update: ProgressUpdate) {
        if let Some(queue) = &self.0 {
            // A slow reader must not hold up the work it reads about.
            drop(queue.try_send(update));
        }
    }
}

/// A source's answer that it will not do what was asked, with what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is refused and why.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
}

/// A call that has no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No source offers a tool of this name.
    #[error("tool `{name}` is not known")]
    UnknownTool {
        /// The name that was asked for.
        name: ToolName,
    },
    /// The arguments do not fit the tool's schema.
    #[error("arguments of tool `{tool}`: `{path}`: {reason}")]
    InvalidArguments {
        /// The tool.
        tool: ToolName,
        /// The place in the arguments, its steps parted by dots; empty for the arguments themselves.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// The source will not do it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The call did not come to an end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Refusal {
    /// A refusal with no remedy to name.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The same refusal with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The refusal and its hint as one text, `message`, an empty line, `Hint: hint`.
    pub fn to_text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\n\nHint: {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

impl CallError {
    /// The failure as the output that a caller reads. Secrets in its text are redacted.
    pub fn to_output(&self) -> ToolOutput {
        let text = match self {
            Self::InvalidArguments { tool, path, reason } => {
                let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
                format!(
                    "Input validation error: Invalid arguments for tool {tool}: {place}{reason}"
                )
            }
            Self::Refused(refusal) => refusal.to_text(),
            Self::UnknownTool { .. } | Self::Interrupted(_) => self.to_string(),
        };
        ToolOutput::error(&text)
    }
}
