//! The registry as a source of a toolbox.

use std::sync::Arc;

use kitbag_tool::{
    BoxFuture, CallContext, CallError, Offer, Source, SourceId, ToolCall, ToolOutput,
};
use tokio::sync::watch;

use super::Registry;
use crate::{SkillCall, nested};

/// Offers each skill as a tool of its name, and neither prompts nor resources.
impl Source for Registry {
    fn id(&self) -> &SourceId {
        &self.shared.id
    }

    fn offer(&self) -> watch::Receiver<Arc<Offer>> {
        self.shared.offer.subscribe()
    }

    fn call<'a>(
        &'a self,
        call: ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, CallError>> {
        Box::pin(async move {
            let asked = SkillCall::with(call.name.as_str(), call.arguments).within(context);
            match Registry::call(self, asked).await {
                Ok(output) => Ok(output),
                Err(error) => {
                    let answer = error.answer(call.name, &self.shared.id);
                    nested::keep(error, context);
                    answer
                }
            }
        })
    }
}
