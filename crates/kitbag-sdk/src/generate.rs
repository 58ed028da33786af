//! The port through which a skill asks a model.

use kitbag_tool::BoxFuture;

use crate::{BoxError, RunContext};

/// A model that skills may ask. Whoever holds the registry connects one with
/// [`Registry::generating`](crate::Registry::generating).
pub trait Generate: Send + Sync {
    /// Asks the model on behalf of the skill that `context` belongs to.
    ///
    /// The future is dropped when the skill's call ends, and must leave nothing running then.
    fn generate<'a>(
        &'a self,
        request: GenerateRequest,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<Generated, GenerateError>>;
}

/// What a skill asks of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GenerateRequest {
    /// What the model is told to be and do; the place for a skill's body.
    pub system: String,
    /// What it is asked.
    pub prompt: String,
    /// The most tokens of the answer; the model's own limit where none is given.
    pub max_tokens: Option<u32>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The text.
    pub text: String,
}

/// A model that gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The skill runs where no model is connected.
    #[error("no model is connected, so the skill cannot ask one")]
    NoModel,
    /// The model was asked and failed.
    #[error("the model gave no answer")]
    Failed(#[source] BoxError),
}
