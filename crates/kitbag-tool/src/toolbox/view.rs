//! The toolbox as a caller from elsewhere sees it.

use std::sync::Arc;

use kitbag_permission::never_runs;

use super::{Changes, Door, Snapshot, Toolbox};
use crate::{
    CallContext, CallError, Gate, ListError, OfferedTool, Page, PageRequest, Policy, PromptError,
    PromptOutput, PromptRequest, PromptSpec, ReadError, ResourceContents, ResourceSpec, ToolCall,
    ToolOutput, ToolSpec, action,
};

/// A toolbox as callers from elsewhere see it. A handle: clones share what was granted.
///
/// It can only be narrower than the toolbox: a call runs if the toolbox's gate and every gate of the view let it. What
/// no call of could ever run is not listed. What is granted at a question holds for this view alone.
#[derive(Clone)]
pub struct View {
    pub(super) door: Door,
}

/// The tools of a view at one moment.
#[derive(Debug)]
pub struct Listing {
    snapshot: Arc<Snapshot>,
    policies: Vec<Arc<Policy>>,
}

impl View {
    pub(super) fn new(toolbox: Toolbox) -> Self {
        let gate = toolbox.gate().clone();
        Self { door: Door::through(toolbox, [gate]) }
    }

    /// The same view with one more gate, whose rules and mode can only take away, and with nothing granted yet.
    #[must_use]
    pub fn narrowed(&self, by: &Gate) -> Self {
        let gates = self.door.gates().into_iter().chain([by]).cloned();
        Self { door: Door::through(self.door.toolbox().clone(), gates) }
    }

    /// The same view for another caller: with nothing granted yet.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let gates = self.door.gates().into_iter().cloned();
        Self { door: Door::through(self.door.toolbox().clone(), gates) }
    }

    /// The tools at this moment.
    pub fn listing(&self) -> Listing {
        Listing { snapshot: self.door.toolbox().snapshot(), policies: self.door.policies() }
    }

    /// Changes from this moment on. A change of the rules or the mode counts as one of the tools.
    pub fn changes(&self) -> Changes {
        Changes::new(&self.door.toolbox().0.offers, &self.door.gates())
    }

    /// Calls a tool, as [`Toolbox::call`] does.
    pub async fn call(
        &self,
        call: ToolCall,
        context: &CallContext,
    ) -> Result<ToolOutput, CallError> {
        self.door.call(call, context, 0).await
    }

    /// Gives a page of all prompts. `cursor` is what the page before ended with.
    pub async fn prompts(
        &self,
        page: PageRequest<'_>,
        context: &CallContext,
    ) -> Result<Page<PromptSpec>, ListError> {
        self.door.toolbox().prompts(page, context).await
    }

    /// Gives a page of all resources.
    pub async fn resources(
        &self,
        page: PageRequest<'_>,
        context: &CallContext,
    ) -> Result<Page<ResourceSpec>, ListError> {
        self.door.toolbox().resources(page, context).await
    }

    /// Fills a prompt of whichever source has it. No tool is called for it.
    pub async fn prompt(
        &self,
        request: &PromptRequest,
        context: &CallContext,
    ) -> Result<PromptOutput, PromptError> {
        self.door.toolbox().prompt(request, context).await
    }

    /// Reads a resource of whichever source has it. No tool is called for it.
    pub async fn read(
        &self,
        uri: &str,
        context: &CallContext,
    ) -> Result<Vec<ResourceContents>, ReadError> {
        self.door.toolbox().read(uri, context).await
    }
}

impl Listing {
    /// The tools, sorted by name.
    pub fn tools(&self) -> impl DoubleEndedIterator<Item = &Arc<ToolSpec>> {
        self.tools_after("")
    }

    /// The tools whose names come after `name`, sorted by name.
    pub fn tools_after(&self, name: &str) -> impl DoubleEndedIterator<Item = &Arc<ToolSpec>> {
        self.snapshot.after(name).filter(|tool| self.lists(tool)).map(|tool| &tool.spec)
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        let tool = self.snapshot.offered_as(name)?;
        self.lists(tool).then_some(&tool.spec)
    }

    /// Whether some call of the tool might run (fault 38: what is denied is not advertised).
    fn lists(&self, tool: &OfferedTool) -> bool {
        if tool.unavailable.is_some() {
            return false;
        }
        let action = action::without_subject(tool);
        let subject = tool.subject.as_ref().map(|subject| subject.kind);
        self.policies
            .iter()
            .all(|policy| never_runs(&policy.rules, policy.mode, &action, subject).is_none())
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("View").field(self.door.toolbox()).finish()
    }
}
