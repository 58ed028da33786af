//! Telling a client that a list changed, once after a burst.

use std::time::Duration;

use kitbag_tool::{Changed, Changes};
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionSink};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long nothing must have changed before a client is told.
const QUIET: Duration = Duration::from_millis(150);

/// How long after the first change a client is told even though changes keep coming.
const AT_LATEST: Duration = Duration::from_secs(1);

/// Where the news goes: a whole connection, or one subscription of the stateless protocol.
pub(crate) enum Listener {
    Connection(Peer<RoleServer>),
    Subscription(SubscriptionSink),
}

/// Tells `listener` of every burst of changes, until `stop` or until it no longer listens.
pub(crate) async fn relay(mut changes: Changes, listener: Listener, stop: &CancellationToken) {
    loop {
        let burst = tokio::select! {
            () = stop.cancelled() => return,
            burst = next_burst(&mut changes) => burst,
        };
        if listener.tell(burst).await.is_err() {
            return;
        }
    }
}

/// Waits for a change and for the end of the burst that it begins.
async fn next_burst(changes: &mut Changes) -> Changed {
    let mut burst = changes.next().await;
    let at_latest = Instant::now() + AT_LATEST;
    while let Ok(more) = timeout_at(at_latest.min(Instant::now() + QUIET), changes.next()).await {
        burst = burst.and(more);
    }
    burst
}

/// The other side is gone.
struct Gone;

impl Listener {
    async fn tell(&self, changed: Changed) -> Result<(), Gone> {
        match self {
            Self::Connection(peer) => {
                if changed.tools {
                    peer.notify_tool_list_changed().await.map_err(|_| Gone)?;
                }
                if changed.prompts {
                    peer.notify_prompt_list_changed().await.map_err(|_| Gone)?;
                }
                if changed.resources {
                    peer.notify_resource_list_changed().await.map_err(|_| Gone)?;
                }
            }
            Self::Subscription(sink) => {
                let wanted = |kind: Option<bool>| kind == Some(true);
                if changed.tools && wanted(sink.accepted().tools_list_changed) {
                    sink.notify_tool_list_changed().await.map_err(|_| Gone)?;
                }
                if changed.prompts && wanted(sink.accepted().prompts_list_changed) {
                    sink.notify_prompt_list_changed().await.map_err(|_| Gone)?;
                }
                if changed.resources && wanted(sink.accepted().resources_list_changed) {
                    sink.notify_resource_list_changed().await.map_err(|_| Gone)?;
                }
            }
        }
        Ok(())
    }
}
