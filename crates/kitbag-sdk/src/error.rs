//! How a call of a skill fails.

use std::time::Duration;

use crate::schema::push_key;
use kitbag_tool::{CallError, Interrupted, Refusal, SourceId, ToolName, ToolOutput};

/// An error of a handler, of whatever type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A call that gave no output.
///
/// Each variant names the skill that it happened to. A handler that passes on the failure of a skill which it called
/// gives [`Handler`](Self::Handler) with that failure as its source, so the outermost value always speaks of the
/// skill that was called (statement T-33).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// No skill of this name is registered.
    #[error("skill `{name}` is not registered")]
    NotRegistered {
        /// The name that was asked for.
        name: String,
    },
    /// The arguments do not fit the skill's input. The handler was not called.
    #[error("input of skill `{skill}` at `{pointer}`: {message}")]
    Input {
        /// The skill.
        skill: String,
        /// The place in the arguments, as a JSON pointer (RFC 6901); empty for the arguments as a whole.
        pointer: String,
        /// What is wrong there, in at most 500 characters.
        message: String,
    },
    /// The handler failed.
    #[error("skill `{skill}` failed: {source}")]
    Handler {
        /// The skill.
        skill: String,
        /// What the handler gave, untouched.
        source: BoxError,
    },
    /// What the handler gave is no output.
    #[error("output of skill `{skill}` at `{pointer}`: {message}")]
    Output {
        /// The skill.
        skill: String,
        /// The place in the output, as a JSON pointer (RFC 6901); empty for the output as a whole.
        pointer: String,
        /// What is wrong there, in at most 500 characters.
        message: String,
    },
    /// The caller gave it up, or the runtime is shutting down.
    #[error("the call of skill `{skill}` was cancelled")]
    Cancelled {
        /// The skill.
        skill: String,
    },
    /// Its deadline passed.
    #[error("skill `{skill}` ran past its deadline, after {elapsed:?}")]
    Deadline {
        /// The skill.
        skill: String,
        /// How long the call had taken.
        elapsed: Duration,
    },
    /// The handler panicked.
    #[error("skill `{skill}` panicked: {message}")]
    Panicked {
        /// The skill.
        skill: String,
        /// What it said, in at most 500 characters.
        message: String,
    },
    /// The gate of the toolbox did not let it run. Only a call from within a skill that a toolbox called fails so.
    #[error("skill `{skill}` was not called: {because}")]
    Denied {
        /// The skill, or the tool of another kind.
        skill: String,
        /// The rule with its file and line, the mode, or what the person who was asked said.
        because: String,
        /// What would let it run.
        hint: Option<String>,
    },
    /// The tool's source will not do it. Only a call from within a skill that a toolbox called fails so.
    #[error("`{skill}` was refused: {refusal}")]
    Refused {
        /// The tool.
        skill: String,
        /// What its source says.
        refusal: Refusal,
    },
    /// Skills called skills to [`MAX_DEPTH`](crate::MAX_DEPTH).
    #[error("skill `{skill}` was not called: skills call each other {limit} deep already")]
    Depth {
        /// The skill that was to be called.
        skill: String,
        /// How deep calls may go.
        limit: usize,
    },
}

impl SkillError {
    /// The name of the skill that it happened to.
    pub fn skill(&self) -> &str {
        match self {
            Self::NotRegistered { name: skill }
            | Self::Input { skill, .. }
            | Self::Handler { skill, .. }
            | Self::Output { skill, .. }
            | Self::Cancelled { skill }
            | Self::Deadline { skill, .. }
            | Self::Panicked { skill, .. }
            | Self::Denied { skill, .. }
            | Self::Refused { skill, .. }
            | Self::Depth { skill, .. } => skill,
        }
    }

    /// Whether it says that the skill `name` does not exist, rather than one that it wanted to call.
    pub fn is_unknown(&self, name: &str) -> bool {
        matches!(self, Self::NotRegistered { name: unknown } if unknown == name)
    }

    /// The failure in the terms of the toolbox: a skill that ran and failed is an output that says so.
    pub(crate) fn answer(
        &self,
        tool: ToolName,
        origin: &SourceId,
    ) -> Result<ToolOutput, CallError> {
        match self {
            Self::NotRegistered { .. } => Err(CallError::UnknownTool { name: tool }),
            Self::Input { pointer, message, .. } => Err(CallError::InvalidArguments {
                tool,
                path: pointer.trim_start_matches('/').replace('/', "."),
                reason: message.clone(),
            }),
            Self::Handler { .. } | Self::Output { .. } => Ok(ToolOutput::error(&self.to_string())),
            Self::Cancelled { .. } => Err(Interrupted::Cancelled.into()),
            Self::Deadline { .. } => Err(Interrupted::TimedOut.into()),
            Self::Panicked { skill, message } => {
                tracing::error!(source = %origin, skill, message, "a skill panicked");
                Err(Interrupted::Panicked { origin: origin.clone() }.into())
            }
            Self::Denied { because, hint, .. } => {
                Err(CallError::Denied { tool, because: because.clone(), hint: hint.clone() })
            }
            Self::Refused { refusal, .. } => Err(refusal.clone().into()),
            Self::Depth { limit, .. } => Err(CallError::TooDeep { tool, limit: *limit }),
        }
    }

    /// The failure of a call that went through a toolbox, and took so long.
    pub(crate) fn of(error: CallError, skill: &str, elapsed: Duration) -> Self {
        let skill = skill.to_owned();
        match error {
            CallError::UnknownTool { .. } => Self::NotRegistered { name: skill },
            CallError::InvalidArguments { path, reason, .. } => {
                let mut pointer = String::new();
                let steps = path.split('.').filter(|step| !step.is_empty());
                steps.for_each(|step| push_key(&mut pointer, step));
                Self::Input { skill, pointer, message: reason }
            }
            CallError::Denied { because, hint, .. } => Self::Denied { skill, because, hint },
            CallError::TooDeep { limit, .. } => Self::Depth { skill, limit },
            CallError::Refused(refusal) => Self::Refused { skill, refusal },
            CallError::Interrupted(Interrupted::Cancelled) => Self::Cancelled { skill },
            CallError::Interrupted(Interrupted::TimedOut) => Self::Deadline { skill, elapsed },
            CallError::Interrupted(interrupted @ Interrupted::Panicked { .. }) => {
                Self::Panicked { skill, message: interrupted.to_string() }
            }
        }
    }
}
