//! Hearing of what changed.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::watch;

use crate::{BoxFuture, Gate, Offer, Policy};

/// Which lists of a toolbox changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changed {
    /// Tools came, went, or are described in another way.
    pub tools: bool,
    /// The list of prompts is another one.
    pub prompts: bool,
    /// The list of resources is another one.
    pub resources: bool,
}

/// The changes of a toolbox from one moment on.
#[derive(Debug)]
pub struct Changes {
    watched: Vec<Watched>,
    /// The gates, whose rules say which tools are listed.
    gates: Vec<watch::Receiver<Arc<Policy>>>,
}

#[derive(Debug)]
struct Watched {
    seen: Arc<Offer>,
    /// None once the source can no longer change.
    offer: Option<watch::Receiver<Arc<Offer>>>,
}

impl Changed {
    /// Whether some list changed.
    pub fn any(self) -> bool {
        self.tools || self.prompts || self.resources
    }

    /// What changed in either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }

    fn between(old: &Offer, new: &Offer) -> Self {
        Self {
            tools: old.tools != new.tools,
            prompts: old.prompts != new.prompts,
            resources: old.resources != new.resources,
        }
    }
}

impl Changes {
    pub(super) fn new(offers: &[watch::Receiver<Arc<Offer>>], gates: &[&Gate]) -> Self {
        let watched = |offer: &watch::Receiver<Arc<Offer>>| {
            let mut offer = offer.clone();
            let seen = offer.borrow_and_update().clone();
            Watched { seen, offer: Some(offer) }
        };
        let gates = gates.iter().map(|gate| gate.watch()).collect();
        Self { watched: offers.iter().map(watched).collect(), gates }
    }

    /// Waits until some list is another one than when this was last asked, and says which.
    ///
    /// Never ends where no source can change any more. Loses nothing when dropped before it ends.
    pub async fn next(&mut self) -> Changed {
        loop {
            self.wait().await;
            let changed = self.take();
            if changed.any() {
                return changed;
            }
        }
    }

    /// What changed since this was last asked, without waiting.
    pub fn take(&mut self) -> Changed {
        let mut changed = Changed::default();
        for watched in &mut self.watched {
            let Some(offer) = &mut watched.offer else { continue };
            let new = offer.borrow_and_update().clone();
            if !Arc::ptr_eq(&new, &watched.seen) {
                changed = changed.and(Changed::between(&watched.seen, &new));
                watched.seen = new;
            }
            if offer.has_changed().is_err() {
                watched.offer = None;
            }
        }
        for gate in &mut self.gates {
            if gate.has_changed().unwrap_or(false) {
                gate.mark_unchanged();
                changed.tools = true;
            }
        }
        changed
    }

    /// Waits until some offer was sent, or some source came to its end.
    async fn wait(&mut self) {
        let mut waits: Vec<BoxFuture<'_, ()>> = Vec::with_capacity(self.watched.len());
        for watched in &mut self.watched {
            if let Some(offer) = &mut watched.offer {
                waits.push(Box::pin(async {
                    // An error says that the sender is gone, which the caller finds out by itself.
                    drop(offer.changed().await);
                }));
            }
        }
        for gate in &mut self.gates {
            waits.push(Box::pin(async {
                // A gate that is gone can no longer change anything.
                if gate.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                gate.mark_changed();
            }));
        }
        std::future::poll_fn(|cx| {
            let done = |wait: &mut BoxFuture<'_, ()>| Pin::as_mut(wait).poll(cx).is_ready();
            if waits.iter_mut().any(done) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
