//! The one place that calls a source.

mod changes;
mod cursor;
mod snapshot;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::guard::guard;
use crate::{
    BoxFuture, CallContext, CallError, Content, ListError, Offer, Page, PageRequest, PromptError,
    PromptOutput, PromptRequest, PromptSpec, ReadError, ResourceContents, ResourceSpec, Source,
    ToolCall, ToolOutput, arguments,
};

pub use changes::{Changed, Changes};
pub(crate) use snapshot::Entry;
pub use snapshot::Snapshot;

/// The most bytes that the output of one call may have, over all of its blocks and its structured part.
///
/// Text past it is cut, and a last block says how much is missing.
pub const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;

/// Several sources as one: their tools under their names, their prompts and resources as one list each.
///
/// Names are the sources' business: each gives its tools, prompts and resources names that no other source has.
/// Where two collide all the same, the source that was given first has it.
pub struct Toolbox {
    sources: Box<[Arc<dyn Source>]>,
    offers: Box<[watch::Receiver<Arc<Offer>>]>,
    latest: Mutex<Arc<Snapshot>>,
}

impl Toolbox {
    /// A toolbox over these sources, for good. Nothing is asked of them yet but what they offer.
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        let offers: Box<[_]> = sources.iter().map(|source| source.offer()).collect();
        let current = current(&offers);
        Self {
            latest: Mutex::new(Arc::new(Snapshot::merge(1, &sources, current))),
            sources: sources.into(),
            offers,
        }
    }

    /// What is offered at this moment. The same value until some source's offer changes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let current = current(&self.offers);
        if !latest.is_of(&current) {
            *latest = Arc::new(Snapshot::merge(latest.generation() + 1, &self.sources, current));
        }
        latest.clone()
    }

    /// Changes from this moment on.
    pub fn changes(&self) -> Changes {
        Changes::new(&self.offers)
    }

    /// Calls a tool: its name is resolved, its arguments are checked, its source is asked under the conditions of
    /// `context`, and the output is bounded.
    ///
    /// A tool that ran and failed is an output that says so. An error is a call that has no output.
    pub async fn call(
        &self,
        mut call: ToolCall,
        context: &CallContext,
    ) -> Result<ToolOutput, CallError> {
        let snapshot = self.snapshot();
        let Some(entry) = snapshot.entry(&call.name) else {
            return Err(CallError::UnknownTool { name: call.name });
        };
        let source = &self.sources[entry.source];
        let work = async {
            arguments::check(entry, &mut call)?;
            source.call(call, context).await
        };
        let output = guard(source.id(), context, work).await??;
        Ok(bound(output))
    }

    /// Gives a page of all prompts. `cursor` is what the page before ended with.
    pub async fn prompts(
        &self,
        page: PageRequest<'_>,
        context: &CallContext,
    ) -> Result<Page<PromptSpec>, ListError> {
        let has: fn(&Offer) -> bool = |offer| offer.prompts.is_some();
        self.walk(page, context, has, |source, page| source.prompts(page)).await
    }

    /// Gives a page of all resources.
    pub async fn resources(
        &self,
        page: PageRequest<'_>,
        context: &CallContext,
    ) -> Result<Page<ResourceSpec>, ListError> {
        let has: fn(&Offer) -> bool = |offer| offer.resources.is_some();
        self.walk(page, context, has, |source, page| source.resources(page)).await
    }

    /// Fills a prompt of whichever source has it.
    pub async fn prompt(
        &self,
        request: &PromptRequest,
        context: &CallContext,
    ) -> Result<PromptOutput, PromptError> {
        for (source, offer) in self.sources.iter().zip(&self.offers) {
            if offer.borrow().prompts.is_none() {
                continue;
            }
            let work = async { source.prompt(request, context).await };
            match guard(source.id(), context, work).await? {
                Err(PromptError::Unknown { .. }) => {}
                result => return result,
            }
        }
        Err(PromptError::Unknown { name: request.name.clone() })
    }

    /// Reads a resource of whichever source has it.
    pub async fn read(
        &self,
        uri: &str,
        context: &CallContext,
    ) -> Result<Vec<ResourceContents>, ReadError> {
        for (source, offer) in self.sources.iter().zip(&self.offers) {
            if offer.borrow().resources.is_none() {
                continue;
            }
            let work = async { source.read(uri, context).await };
            match guard(source.id(), context, work).await? {
                Err(ReadError::NotFound { .. }) => {}
                result => return result,
            }
        }
        Err(ReadError::NotFound { uri: uri.to_owned() })
    }

    /// Walks one list of every source, source after source, until the page is full.
    async fn walk<T>(
        &self,
        page: PageRequest<'_>,
        context: &CallContext,
        has: fn(&Offer) -> bool,
        list: List<T>,
    ) -> Result<Page<T>, ListError> {
        let (first, mut after) = match page.after {
            Some(cursor) => {
                let (id, key) = cursor::decode(cursor).ok_or(ListError::BadCursor)?;
                let known = self.sources.iter().position(|source| source.id().as_str() == id);
                (known.ok_or(ListError::BadCursor)?, key)
            }
            None => (0, None),
        };
        let mut items = Vec::new();
        for (at, source) in self.sources.iter().enumerate().skip(first) {
            if !has(&self.offers[at].borrow()) {
                after = None;
                continue;
            }
            loop {
                let Some(limit) =
                    page.limit.get().checked_sub(items.len()).and_then(|left| left.try_into().ok())
                else {
                    let next = Some(cursor::encode(source.id(), after.as_deref()));
                    return Ok(Page { items, next });
                };
                let request = PageRequest { after: after.as_deref(), limit };
                let work = async { list(&**source, request).await };
                let mut given = guard(source.id(), context, work).await??;
                // A page with nothing on it is the end, whatever it says: a source must not keep anybody walking.
                after = given.next.filter(|_| !given.items.is_empty());
                items.append(&mut given.items);
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(Page { items, next: None })
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.sources.iter().map(|source| source.id())).finish()
    }
}

/// One of a source's lists.
type List<T> =
    for<'a> fn(&'a dyn Source, PageRequest<'a>) -> BoxFuture<'a, Result<Page<T>, ListError>>;

fn current(offers: &[watch::Receiver<Arc<Offer>>]) -> Box<[Arc<Offer>]> {
    offers.iter().map(|offer| offer.borrow().clone()).collect()
}

/// Cuts an output that is larger than [`MAX_OUTPUT_BYTES`], and says so in it.
///
/// Structured output that alone is too large is dropped whole, since half of it would be no JSON, and the output
/// counts as a failure then: it is not what the tool's schema promises.
fn bound(mut output: ToolOutput) -> ToolOutput {
    let structured = output.structured.as_ref().map_or(0, |raw| raw.get().len());
    let total = output.content.iter().map(Content::bytes).sum::<usize>() + structured;
    if total <= MAX_OUTPUT_BYTES {
        return output;
    }
    let mut left = MAX_OUTPUT_BYTES;
    if structured > left {
        output.structured = None;
        output.is_error = true;
    } else {
        left -= structured;
    }
    let mut kept = Vec::with_capacity(output.content.len() + 1);
    for block in output.content {
        match block {
            block if block.bytes() <= left => {
                left -= block.bytes();
                kept.push(block);
            }
            Content::Text(mut text) if left > 0 => {
                text.truncate(text.floor_char_boundary(left));
                left = 0;
                kept.push(Content::Text(text));
            }
            Content::Text(_) | Content::Raw(_) => left = 0,
        }
    }
    kept.push(Content::Text(format!(
        "[the output was {total} bytes; what is past {MAX_OUTPUT_BYTES} bytes was left out]"
    )));
    output.content = kept;
    output
}
