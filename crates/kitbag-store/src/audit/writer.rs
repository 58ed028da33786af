//! The thread that writes the audit log, and the handle on it.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use crate::audit::inbox::{Batch, Inbox, Taken, Waiting};
use crate::audit::record::AuditRecord;
use crate::error::StoreError;
use crate::store::Store;

/// The most calls that wait to be written. The next one is counted, and not recorded.
pub const MAX_QUEUED_CALLS: usize = 8_192;

/// The most denials and consents that wait to be written. The next one waits for a place.
pub const MAX_QUEUED_DECISIONS: usize = 256;

/// The number of calls that are written without waiting for more.
const FULL_BATCH: usize = 1_024;

/// How long a call may wait for others to be written with.
const LINGER: Duration = Duration::from_millis(50);

/// Writes the audit log on a thread of its own, in batches.
///
/// What a rule allowed is queued ([`record`](Self::record)), and costs its caller no more than a lock. A denial or a
/// consent is awaited ([`record_at_once`](Self::record_at_once)): it takes what is queued along to the disk, and is
/// never dropped. Dropping the writer writes what is queued, and blocks for it.
#[derive(Debug)]
pub struct AuditWriter {
    inbox: Arc<Inbox>,
    places: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

/// How the log is doing.
#[derive(Debug, Clone)]
pub struct AuditHealth {
    /// How many calls are not in the log: they found no room, or could not be written.
    pub lost: u64,
    /// Why the last batch could not be written, until one can.
    pub failure: Option<Arc<StoreError>>,
}

/// Why a record is not known to be on the disk.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AuditError {
    /// The store did not take it.
    #[error("the audit log could not be written")]
    Store(#[from] Arc<StoreError>),
    /// The thread that writes has ended.
    #[error("the audit log is no longer written")]
    Ended,
}

impl AuditWriter {
    /// Starts the thread, with a connection of its own to the same file.
    pub fn start(store: &Store) -> Result<Self, StoreError> {
        let store = store.reopen()?;
        let path = store.path().to_owned();
        let inbox = Arc::new(Inbox::new(MAX_QUEUED_CALLS, FULL_BATCH));
        let theirs = Arc::clone(&inbox);
        let thread = thread::Builder::new()
            .name("kitbag-audit".to_owned())
            .spawn(move || write_all(&theirs, &store))
            .map_err(|error: io::Error| {
                StoreError::io("start the thread that writes", &path, error)
            })?;
        let places = Arc::new(Semaphore::new(MAX_QUEUED_DECISIONS));
        Ok(Self { inbox, places, thread: Some(thread) })
    }

    /// Queues the record of a call that was allowed, and never waits: where there is no room, it is counted instead.
    ///
    /// The count is in [`health`](Self::health), and in the log at the next record that is written.
    pub fn record(&self, record: AuditRecord) -> Recorded {
        match self.inbox.offer(record) {
            Taken::Queued => Recorded::Queued,
            Taken::NoRoom => Recorded::Lost,
        }
    }

    /// Records a denial or a consent, and all that was queued before it; ready when it is on the disk.
    ///
    /// A future that is dropped may have recorded, and leaves nothing half done.
    pub async fn record_at_once(&self, record: AuditRecord) -> Result<(), AuditError> {
        self.submit(Some(record)).await
    }

    /// Waits until all that was queued before is on the disk.
    pub async fn flush(&self) -> Result<(), AuditError> {
        self.submit(None).await
    }

    /// How the log is doing.
    pub fn health(&self) -> AuditHealth {
        self.inbox.health()
    }

    async fn submit(&self, record: Option<AuditRecord>) -> Result<(), AuditError> {
        let place =
            Arc::clone(&self.places).acquire_owned().await.map_err(|_| AuditError::Ended)?;
        let (acknowledge, acknowledged) = oneshot::channel();
        self.inbox.submit(record, Waiting { acknowledge, _place: place });
        acknowledged.await.unwrap_or(Err(AuditError::Ended))
    }
}

/// Whether a call will be in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Recorded {
    /// It is queued.
    Queued,
    /// It found no room, and is counted.
    Lost,
}

impl Drop for AuditWriter {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            drop(thread.join());
        }
    }
}

/// Closes the inbox when the thread ends, however it ends, so that nobody waits for it.
struct Closing<'a>(&'a Inbox);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
        drop(self.0.next(Duration::ZERO));
    }
}

fn write_all(inbox: &Inbox, store: &Store) {
    let _closing = Closing(inbox);
    let mut written = Ok(());
    while let Some(Batch { records, waiting, lost }) = inbox.next(LINGER) {
        // Whoever only waits learns what came of the batch before.
        if !records.is_empty() {
            written = store.append_after_loss(&records, lost).map(drop).map_err(Arc::new);
        }
        inbox.settle(&written, records.len(), lost);
        for waiting in waiting {
            // Whoever no longer waits needs no answer.
            let _gone = waiting.acknowledge.send(written.clone().map_err(AuditError::Store));
        }
    }
}
