//! A call: what is asked, and how it can fail.

use serde_json::{Map, Value};

use crate::{Interrupted, ToolName, ToolOutput};

/// A wish to use a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: ToolName,
    /// Its arguments.
    pub arguments: Map<String, Value>,
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
    /// The gate did not let it run.
    #[error("tool `{tool}` was not called: {because}")]
    Denied {
        /// The tool.
        tool: ToolName,
        /// The rule with its file and line, the mode, or what the person who was asked said.
        because: String,
        /// What would let it run.
        hint: Option<String>,
    },
    /// Tools called tools to [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[error("tool `{tool}` was not called: tools call each other {limit} deep already")]
    TooDeep {
        /// The tool that was to be called.
        tool: ToolName,
        /// How deep calls may go.
        limit: usize,
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
            Self::Denied { hint: Some(hint), .. } => format!("{self}\n\nHint: {hint}"),
            Self::Denied { hint: None, .. }
            | Self::UnknownTool { .. }
            | Self::TooDeep { .. }
            | Self::Interrupted(_) => self.to_string(),
        };
        ToolOutput::error(&text)
    }
}
