//! A wish to use a skill.

use std::any::Any;
use std::sync::Arc;

use kitbag_tool::{CallContext, Progress};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::nested::Way;
use crate::{Bodies, Extensions};

/// A wish to use a skill, with the conditions of the call. The whole contract between a caller and a
/// [`Registry`](crate::Registry), and the request of its tower service.
///
/// The deadline only ever comes nearer, and the depth is not the caller's to say: a nested call begins as
/// [`RunContext::nested`](crate::RunContext::nested).
#[derive(Debug, Clone)]
pub struct SkillCall {
    pub(crate) skill: Arc<str>,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: Progress,
    pub(crate) extensions: Extensions,
    pub(crate) depth: usize,
    pub(crate) way: Way,
}

/// Arguments that are no JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments of skill `{skill}` must be a JSON object, not {found}")]
pub struct ArgumentsError {
    skill: Arc<str>,
    found: &'static str,
}

impl SkillCall {
    /// A call of the skill with these arguments, a JSON object. JSON `null` stands for none, which is an empty object.
    ///
    /// # Errors
    ///
    /// The arguments are something else.
    pub fn new(skill: &str, arguments: Value) -> Result<Self, ArgumentsError> {
        let found = match arguments {
            Value::Object(arguments) => return Ok(Self::with(skill, arguments)),
            Value::Null => return Ok(Self::with(skill, Map::new())),
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
        };
        Err(ArgumentsError { skill: skill.into(), found })
    }

    /// A call of the skill with these arguments.
    pub fn with(skill: &str, arguments: Map<String, Value>) -> Self {
        Self {
            skill: skill.into(),
            arguments,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: Progress::default(),
            extensions: Extensions::default(),
            depth: 0,
            way: Way::Straight,
        }
    }

    /// The name of the skill.
    pub fn skill(&self) -> &str {
        &self.skill
    }

    /// The arguments.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// When the call is given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Ends the call when cancelled.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// How many skills stand between the first caller and this call.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The same call, given up at `deadline` at the latest.
    #[must_use]
    pub fn no_later_than(mut self, deadline: Instant) -> Self {
        self.deadline = Some(earlier(self.deadline, deadline));
        self
    }

    /// The same call, whose skill `name` has this body wherever it is called.
    #[must_use]
    pub fn body(self, name: &str, body: impl Into<Arc<str>>) -> Self {
        let bodies = self.extensions.get::<Bodies>().cloned().unwrap_or_default();
        self.extension(bodies.with(name, body))
    }

    /// The same call with a value for its handler.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// The same call under the conditions of `context`: its cancellation, its progress, its deadline where that is
    /// nearer, and its values where there is none of their type. What the handler calls then goes through the toolbox
    /// that the context came from, and its gate.
    #[must_use]
    pub fn within(mut self, context: &CallContext) -> Self {
        self.cancel = context.cancel.clone();
        self.progress = context.progress.clone();
        self.extensions.fill_from(&context.extensions);
        self.depth = context.depth();
        self.way = Way::back(context);
        match context.deadline {
            Some(deadline) => self.no_later_than(deadline),
            None => self,
        }
    }
}

pub(crate) fn earlier(one: Option<Instant>, other: Instant) -> Instant {
    one.map_or(other, |one| one.min(other))
}
