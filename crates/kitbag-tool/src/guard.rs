//! What stands between a caller and work that others wrote: cancellation, the deadline, and panics.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::{CallContext, SourceId};

/// Work of a source that did not come to an end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// The caller gave it up.
    #[error("the call was cancelled")]
    Cancelled,
    /// Its deadline passed.
    #[error("the call ran past its deadline")]
    TimedOut,
    /// The source broke.
    #[error("`{origin}` failed inside; the call was given up")]
    Panicked {
        /// The source.
        origin: SourceId,
    },
}

/// Does `work` of `origin`, which may panic.
pub(crate) fn catch<T>(origin: &SourceId, work: impl FnOnce() -> T) -> Result<T, Interrupted> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| panicked(origin))
}

fn panicked(origin: &SourceId) -> Interrupted {
    tracing::error!(source = %origin, "a source panicked");
    Interrupted::Panicked { origin: origin.clone() }
}

/// Drives `work` of `origin` until it ends, or the caller cancels, or the deadline passes, or it panics.
///
/// `work` is dropped on every way out. Every port behind the waist is called through this.
pub async fn guard<T>(
    origin: &SourceId,
    context: &CallContext,
    work: impl Future<Output = T> + Send,
) -> Result<T, Interrupted> {
    let caught = async {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| {
            // The future is never polled again after a panic, so that nobody sees what it left half done.
            match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
                Err(_panic) => Poll::Ready(Err(panicked(origin))),
            }
        })
        .await
    };
    let deadline = async {
        match context.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(Interrupted::Cancelled),
        result = caught => result,
        () = deadline => Err(Interrupted::TimedOut),
    }
}
