//! What a handler knows of its call.

use std::fmt;
use std::sync::Arc;

use kitbag_tool::{CallContext, Progress, ProgressUpdate, ToolOutput};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::nested::Way;
use crate::{
    Extensions, Generate, GenerateError, GenerateRequest, Generated, Registry, SkillCall,
    SkillError,
};

/// What a handler knows of its call, and what it may do beyond computing. Cheap to clone.
///
/// Reading the name and the body does no I/O and asks nobody (statement T-59).
#[derive(Clone)]
pub struct RunContext(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) name: Arc<str>,
    pub(crate) body: Arc<str>,
    /// Cancelled when the call ends, however it ends.
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: Progress,
    pub(crate) extensions: Extensions,
    pub(crate) depth: usize,
    /// The way to other tools, where a toolbox called.
    pub(crate) way_back: Option<Arc<CallContext>>,
    pub(crate) registry: Registry,
    pub(crate) model: Option<Arc<dyn Generate>>,
}

impl RunContext {
    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// The name that the skill is registered under.
    pub fn skill_name(&self) -> &str {
        &self.0.name
    }

    /// The prose of the skill: the text of its SKILL.md after the frontmatter, or what the caller put in its place.
    /// Empty where it has none.
    pub fn skill_body(&self) -> &str {
        &self.0.body
    }

    /// When the caller gives the call up, where there is such a time.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Whether the call is over: cancelled, past its deadline, or answered. A blocking handler asks this now and then.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Waits until the call is over. A handler that is awaited need not: its future is dropped then.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// The token behind [`is_cancelled`](Self::is_cancelled), for work that takes one.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// The values that the caller gave along.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// How many skills stand between the first caller and this one.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// Says how far the call is, where somebody listens. Never waits: a report that finds the queue full is dropped.
    pub fn progress(&self, update: ProgressUpdate) {
        self.0.progress.report(update);
    }

    /// Calls another skill and waits for its output.
    ///
    /// A skill that a toolbox called goes back through it: it reaches every tool there by its name, each call is
    /// decided by the toolbox's gate on behalf of whoever called first, and is in its log. A skill that was called
    /// by [`Registry::call`] reaches the skills of that registry.
    ///
    /// # Errors
    ///
    /// As [`Registry::call`], either way. Passed on with `?`, the failure becomes the source of this handler's own.
    pub async fn call(
        &self,
        skill: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolOutput, SkillError> {
        self.0.registry.call(self.nested(skill, arguments)).await
    }

    /// A call of another skill, to be changed and given to [`Registry::call`] of [`registry`](Self::registry). It goes
    /// the way that [`call`](Self::call) goes.
    ///
    /// It ends with this one, has this one's deadline, bodies and values, and is one deeper. Its progress goes
    /// nowhere, since two counts in one queue would make no sense to whoever reads it.
    pub fn nested(&self, skill: &str, arguments: Map<String, Value>) -> SkillCall {
        SkillCall {
            skill: skill.into(),
            arguments,
            cancel: self.0.cancel.child_token(),
            deadline: self.0.deadline,
            progress: Progress::default(),
            extensions: self.0.extensions.clone(),
            depth: self.0.depth + 1,
            way: Way::on(self.0.way_back.as_ref()),
        }
    }

    /// The registry that called.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Asks the model that is connected.
    ///
    /// # Errors
    ///
    /// [`GenerateError::NoModel`] where none is, otherwise what the model failed with.
    pub async fn generate(&self, request: GenerateRequest) -> Result<Generated, GenerateError> {
        match &self.0.model {
            Some(model) => model.generate(request, self).await,
            None => Err(GenerateError::NoModel),
        }
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("skill_name", &self.0.name)
            .field("deadline", &self.0.deadline)
            .field("depth", &self.0.depth)
            .finish_non_exhaustive()
    }
}
