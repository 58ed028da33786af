//! Work that may wait for the disk.

use tokio::task::{JoinError, spawn_blocking};

/// Does `work` where it may wait for the disk, and panics where it does.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime is shutting down: nobody waits for the answer any more.
        Err(Err(_cancelled)) => std::future::pending().await,
    }
}
