//! The registry as a source of a toolbox.

use std::sync::Arc;

use kitbag_tool::{
    BoxFuture, CallContext, CallError, ListError, Offer, Page, PageRequest, PromptError,
    PromptOutput, PromptRequest, PromptSpec, ReadError, ResourceContents, ResourceSpec, Source,
    SourceId, ToolCall, ToolOutput,
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

    fn prompts<'a>(
        &'a self,
        _page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<PromptSpec>, ListError>> {
        Box::pin(async { Ok(Page::empty()) })
    }

    fn prompt<'a>(
        &'a self,
        request: &'a PromptRequest,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        Box::pin(async { Err(PromptError::Unknown { name: request.name.clone() }) })
    }

    fn resources<'a>(
        &'a self,
        _page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<ResourceSpec>, ListError>> {
        Box::pin(async { Ok(Page::empty()) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ReadError>> {
        Box::pin(async { Err(ReadError::NotFound { uri: uri.to_owned() }) })
    }
}
