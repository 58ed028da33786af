//! The port that everything which offers tools implements.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    CallContext, CallError, ListError, OfferedTool, Page, PageRequest, PromptError, PromptOutput,
    PromptRequest, PromptSpec, ReadError, ResourceContents, ResourceSpec, SourceId, ToolCall,
    ToolOutput,
};

/// A future behind a pointer, for ports that are used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a source offers at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// Its tools, whole.
    pub tools: Vec<Arc<OfferedTool>>,
    /// Changes whenever the list behind [`Source::prompts`] does; none where the source never has prompts.
    pub prompts: Option<Revision>,
    /// Changes whenever the list behind [`Source::resources`] does; none where the source never has resources.
    pub resources: Option<Revision>,
}

/// Which state of a list is meant. Only equality counts: a source may use a counter or a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision(pub u64);

/// Something that offers tools, prompts and resources. Only a [`Toolbox`](crate::Toolbox) calls one.
///
/// Every future may be dropped at any point and must leave nothing running then. Methods that touch a disk do so
/// off the async threads. A panic fails the one call it happens in. A source of tools alone leaves prompts and resources out.
pub trait Source: Send + Sync {
    /// The name of the source within its toolbox.
    fn id(&self) -> &SourceId;

    /// What is offered now, and how to hear of changes.
    fn offer(&self) -> watch::Receiver<Arc<Offer>>;

    /// Calls a tool of the offer. The arguments fit its input schema, and are those that the gate judged.
    fn call<'a>(
        &'a self,
        call: ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, CallError>>;

    /// Gives a page of the prompts.
    fn prompts<'a>(
        &'a self,
        _page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<PromptSpec>, ListError>> {
        Box::pin(async { Ok(Page::empty()) })
    }

    /// Fills a prompt.
    fn prompt<'a>(
        &'a self,
        request: &'a PromptRequest,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        Box::pin(async { Err(PromptError::Unknown { name: request.name.clone() }) })
    }

    /// Gives a page of the resources.
    fn resources<'a>(
        &'a self,
        _page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<ResourceSpec>, ListError>> {
        Box::pin(async { Ok(Page::empty()) })
    }

    /// Reads a resource. A URI may be readable without being listed.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ReadError>> {
        Box::pin(async { Err(ReadError::NotFound { uri: uri.to_owned() }) })
    }
}
