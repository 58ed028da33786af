//! The way from a skill to other tools.

use std::sync::{Arc, Mutex, PoisonError};

use kitbag_tool::{CallContext, ToolCall, ToolOutput};
use tokio::time::Instant;

use crate::{SkillCall, SkillError};

/// Which way a call goes, and those that its handler makes.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// To the registry, and the handler's calls too.
    Straight,
    /// To the registry, since a toolbox called it; the handler's calls go back through that.
    Back(Arc<CallContext>),
    /// Through the toolbox that called the skill which makes this call.
    Through(Arc<CallContext>),
}

impl Way {
    /// The way of a call that came with this context.
    pub(crate) fn back(context: &CallContext) -> Self {
        if context.can_call() { Self::Back(Arc::new(context.clone())) } else { Self::Straight }
    }

    /// The way of a call that a handler makes.
    pub(crate) fn on(back: Option<&Arc<CallContext>>) -> Self {
        back.cloned().map_or(Self::Straight, Self::Through)
    }

    /// The context through which the handler calls.
    pub(crate) fn into_back(self) -> Option<Arc<CallContext>> {
        match self {
            Self::Straight => None,
            Self::Back(context) | Self::Through(context) => Some(context),
        }
    }
}

/// Where the failure of a skill is kept for the skill that called it through a toolbox, which has outputs and texts
/// where a handler wants the error itself (statements T-31, T-33). It is for one depth, so that a tool between
/// the two cannot let it through by passing its values on.
#[derive(Clone)]
struct Kept {
    depth: usize,
    error: Arc<Mutex<Option<SkillError>>>,
}

/// Keeps the failure of the call of `context` for the skill that made it.
pub(crate) fn keep(error: SkillError, context: &CallContext) {
    if let Some(kept) = context.extensions.get::<Kept>()
        && kept.depth == context.depth()
    {
        *kept.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// Calls another tool through the toolbox that `context` came from.
pub(crate) async fn call(context: &CallContext, call: SkillCall) -> Result<ToolOutput, SkillError> {
    let SkillCall { skill, arguments, cancel, deadline, mut extensions, .. } = call;
    let Ok(name) = skill.parse() else {
        return Err(SkillError::NotRegistered { name: skill.as_ref().to_owned() });
    };
    let kept = Kept { depth: context.depth() + 1, error: Arc::default() };
    extensions.insert(kept.clone());
    let context = CallContext { deadline, extensions, ..context.clone() };
    let begun = Instant::now();
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            return Err(SkillError::Cancelled { skill: skill.as_ref().to_owned() });
        }
        result = context.call(ToolCall { name, arguments }) => result,
    };
    let error = kept.error.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (result, error) {
        (Ok(output), Some(error)) if output.is_error => Err(error),
        (Ok(output), _) => Ok(output),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(SkillError::of(error, &skill, begun.elapsed())),
    }
}
