//! Other bodies for the skills of one call.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bodies that stand in for those that skills were defined with, by the name of the skill.
///
/// They hold for one call and the calls it makes. A skill called by another sees a body put in for itself, never one
/// put in for its caller (statement T-64). They travel among the [`Extensions`](crate::Extensions) of a call, so a
/// caller of a toolbox puts them there; [`SkillCall::body`](crate::SkillCall::body) does it for a registry.
///
/// ```
/// use kitbag_sdk::Bodies;
/// use kitbag_tool::CallContext;
///
/// let mut context = CallContext::default();
/// context.extensions.insert(Bodies::default().with("incident-triage", "Wake nobody today."));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bodies(Option<Arc<BTreeMap<Box<str>, Arc<str>>>>);

impl Bodies {
    /// The body put in for this skill. An empty one counts: it hides the body of the definition.
    pub fn get(&self, skill: &str) -> Option<&Arc<str>> {
        self.0.as_ref()?.get(skill)
    }

    /// The same bodies with one for a skill, instead of one that was put in before.
    #[must_use]
    pub fn with(mut self, skill: &str, body: impl Into<Arc<str>>) -> Self {
        Arc::make_mut(self.0.get_or_insert_default()).insert(skill.into(), body.into());
        self
    }
}
