//! The one place that calls a source.

mod changes;
mod cursor;
mod door;
mod snapshot;
mod view;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::guard::guard;
use crate::{
    Audit, BoxFuture, CallContext, CallError, Gate, ListError, Offer, Page, PageRequest,
    PromptError, PromptOutput, PromptRequest, PromptSpec, ReadError, ResourceContents,
    ResourceSpec, Source, ToolCall, ToolOutput, WayBack,
};

pub use changes::{Changed, Changes};
pub(crate) use door::Door;
pub(crate) use snapshot::Entry;
pub use snapshot::Snapshot;
pub use view::{Listing, View};

/// Several sources as one: their tools under their names, their prompts and resources as one list each, and the gate
/// before every tool. A handle: clones share everything.
///
/// Names are the sources' business: each gives its tools, prompts and resources names that no other source has.
/// Where two collide all the same, the source that was given first has it.
#[derive(Clone)]
pub struct Toolbox(Arc<Shared>);

struct Shared {
    sources: Box<[Arc<dyn Source>]>,
    offers: Box<[watch::Receiver<Arc<Offer>>]>,
    latest: Mutex<Arc<Snapshot>>,
    gate: Gate,
    audit: Option<Arc<dyn Audit>>,
}

impl Toolbox {
    /// A toolbox over these sources, for good, with a gate before every call and a log of all of them, where there is one.
    ///
    /// Nothing is asked of the sources yet but what they offer.
    pub fn new(sources: Vec<Arc<dyn Source>>, gate: Gate, audit: Option<Arc<dyn Audit>>) -> Self {
        let offers: Box<[_]> = sources.iter().map(|source| source.offer()).collect();
        let current = current(&offers);
        Self(Arc::new(Shared {
            latest: Mutex::new(Arc::new(Snapshot::merge(1, &sources, current))),
            sources: sources.into(),
            offers,
            gate,
            audit,
        }))
    }

    /// The gate.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// What is offered at this moment, denied or not. The same value until some source's offer changes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let shared = &*self.0;
        let mut latest = shared.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if !latest.is_of(&shared.offers) {
            let current = current(&shared.offers);
            let generation = latest.generation() + 1;
            *latest = Arc::new(Snapshot::merge(generation, &shared.sources, current));
        }
        latest.clone()
    }

    /// Changes of what is offered, from this moment on.
    pub fn changes(&self) -> Changes {
        Changes::new(&self.0.offers, &[])
    }

    /// The toolbox as callers from elsewhere see it: what they may never call is not listed, and what is granted to them
    /// holds for them alone.
    pub fn view(&self) -> View {
        View::new(self.clone())
    }

    /// Calls a tool: its name is resolved, its arguments are checked, the gate decides and somebody may be asked, its source
    /// is called under the conditions of `context`, the output is bounded, and a line is left in the log.
    ///
    /// A tool that ran and failed is an output that says so. An error is a call that has no output.
    pub async fn call(
        &self,
        call: ToolCall,
        context: &CallContext,
    ) -> Result<ToolOutput, CallError> {
        Door::of(self.clone()).call(call, context, 0).await
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
        let context = &unconnected(context);
        for (source, offer) in self.0.sources.iter().zip(&self.0.offers) {
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
        let context = &unconnected(context);
        for (source, offer) in self.0.sources.iter().zip(&self.0.offers) {
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
                let known = self.0.sources.iter().position(|source| source.id().as_str() == id);
                (known.ok_or(ListError::BadCursor)?, key)
            }
            None => (0, None),
        };
        let mut items = Vec::new();
        for (at, source) in self.0.sources.iter().enumerate().skip(first) {
            if !has(&self.0.offers[at].borrow()) {
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
        f.debug_list().entries(self.0.sources.iter().map(|source| source.id())).finish()
    }
}

/// The context without a way to tools: filling a prompt and reading a resource call none.
fn unconnected(context: &CallContext) -> CallContext {
    CallContext { way_back: WayBack::default(), ..context.clone() }
}

/// One of a source's lists.
type List<T> =
    for<'a> fn(&'a dyn Source, PageRequest<'a>) -> BoxFuture<'a, Result<Page<T>, ListError>>;

fn current(offers: &[watch::Receiver<Arc<Offer>>]) -> Box<[Arc<Offer>]> {
    offers.iter().map(|offer| offer.borrow().clone()).collect()
}
