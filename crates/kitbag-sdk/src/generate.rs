//! The port through which a skill asks a model.

use kitbag_tool::BoxFuture;

use crate::{BoxError, RunContext};

/// A model that skills may ask. Whoever holds the registry connects one with
/// [`Registry::generating`](crate::Registry::generating).
///
/// The hybrid pattern: the prose of a skill drives the model, its code drives the steps.
///
/// ```
/// use std::sync::Arc;
///
/// use kitbag_sdk::{
///     Generate, GenerateError, GenerateRequest, Generated, Registry, RunContext, SkillCall, define,
/// };
/// use kitbag_tool::BoxFuture;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Incident {
///     report: String,
/// }
///
/// async fn triage(context: RunContext, incident: Incident) -> Result<String, GenerateError> {
///     let system = context.skill_body().to_owned();
///     let request = GenerateRequest { system, prompt: incident.report, max_tokens: Some(200) };
///     let answer = context.generate(request).await?;
///     Ok(if answer.text.starts_with("PAGE") { "wake somebody" } else { "let them sleep" }.to_owned())
/// }
///
/// /// A model for tests.
/// struct Nervous;
///
/// impl Generate for Nervous {
///     fn generate<'a>(
///         &'a self,
///         request: GenerateRequest,
///         _context: &'a RunContext,
///     ) -> BoxFuture<'a, Result<Generated, GenerateError>> {
///         Box::pin(async move {
///             assert_eq!(request.system, "Answer PAGE or WAIT.\n");
///             Ok(Generated { text: format!("PAGE: {}", request.prompt) })
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let prose = "---\nname: triage\n---\nAnswer PAGE or WAIT.\n";
/// registry.register(define("triage").skill_md(prose).typed(triage)?)?;
///
/// let call = SkillCall::new("triage", serde_json::json!({ "report": "disk full" }))?;
/// let error = registry.call(call.clone()).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "skill `triage` failed: no model is connected, so the skill cannot ask one"
/// );
/// let output = registry.generating(Arc::new(Nervous)).call(call).await?;
/// assert_eq!(output.content[0].as_text().as_deref(), Some("wake somebody"));
/// # Ok(())
/// # }
/// ```
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
