//! The audit log of a toolbox, written to the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kitbag_store::{
    AuditHealth, AuditRecord, AuditWriter, Decision, Digest, Outcome, Recorded, Timestamp,
};
use kitbag_tool::{Audit, AuditEntry, AuditFailed, BoxFuture, Principal};
use tokio::sync::watch;

use crate::error::HostError;
use crate::host::Host;
use crate::place::Where;
use crate::state::{State, now};

/// How many records may wait while the store is being opened; what comes after them is counted.
const MAX_WAITING: usize = 8_192;

/// The log of all calls. A handle: clones share it.
///
/// The store is opened by the first record, on a thread of its own, so that what only serves and is never called makes no
/// file, and a call does not wait for the disk.
#[derive(Debug, Clone)]
pub struct AuditLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    place: Where,
    state: Arc<State>,
    stage: Mutex<Stage>,
    /// Whether the store was opened, or could not be.
    settled: watch::Sender<bool>,
}

#[derive(Debug)]
enum Stage {
    /// Nothing was recorded yet.
    Idle,
    /// The store is being opened.
    Opening { waiting: Vec<AuditRecord>, lost: u64 },
    /// Records go to the writer; so many were lost before.
    Open { writer: Arc<AuditWriter>, lost: u64 },
    /// There is no log.
    Failed(String),
}

impl Host {
    /// The log of all calls; nothing where there is no home to keep it in. Nothing is opened yet.
    pub fn audit(&self) -> Option<AuditLog> {
        self.place.store_file()?;
        Some(AuditLog(Arc::new(Inner {
            place: self.place.clone(),
            state: Arc::clone(&self.state),
            stage: Mutex::new(Stage::Idle),
            settled: watch::Sender::new(false),
        })))
    }
}

impl AuditLog {
    /// Waits until all that was recorded is on the disk; at once where nothing was.
    pub async fn finish(&self) -> Result<(), AuditFailed> {
        if matches!(*self.0.stage(), Stage::Idle) {
            return Ok(());
        }
        self.flushed().await
    }

    /// How the log is doing, once it was opened.
    pub fn health(&self) -> Option<AuditHealth> {
        match &*self.0.stage() {
            Stage::Open { writer, lost } => {
                let health = writer.health();
                Some(AuditHealth { lost: health.lost + lost, ..health })
            }
            Stage::Idle | Stage::Opening { .. } | Stage::Failed(_) => None,
        }
    }

    async fn flushed(&self) -> Result<(), AuditFailed> {
        let mut settled = self.0.settled.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        drop(settled.wait_for(|settled| *settled).await);
        let writer = match &*self.0.stage() {
            Stage::Open { writer, .. } => Arc::clone(writer),
            Stage::Failed(reason) => return Err(AuditFailed { reason: reason.clone() }),
            Stage::Idle | Stage::Opening { .. } => return Ok(()),
        };
        writer.flush().await.map_err(|error| AuditFailed { reason: reasons(&error) })
    }
}

impl Audit for AuditLog {
    fn record(&self, entry: AuditEntry) {
        self.0.take(record(entry));
    }

    fn record_at_once(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), AuditFailed>> {
        Box::pin(async move {
            let record = record(entry);
            let writer = match &*self.0.stage() {
                Stage::Open { writer, .. } => Some(Arc::clone(writer)),
                Stage::Idle | Stage::Opening { .. } | Stage::Failed(_) => None,
            };
            if let Some(writer) = writer {
                let written = writer.record_at_once(record).await;
                return written.map_err(|error| AuditFailed { reason: reasons(&error) });
            }
            if !self.0.take(record) {
                return Err(AuditFailed { reason: "it found no room in the log".to_owned() });
            }
            self.flushed().await
        })
    }
}

impl Inner {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a record, and says whether it found room.
    fn take(self: &Arc<Self>, record: AuditRecord) -> bool {
        let mut stage = self.stage();
        match &mut *stage {
            Stage::Open { writer, .. } => writer.record(record) == Recorded::Queued,
            Stage::Opening { waiting, lost } if waiting.len() >= MAX_WAITING => {
                *lost += 1;
                false
            }
            Stage::Opening { waiting, .. } => {
                waiting.push(record);
                true
            }
            Stage::Idle => {
                *stage = Stage::Opening { waiting: vec![record], lost: 0 };
                drop(stage);
                self.start();
                true
            }
            Stage::Failed(_) => true,
        }
    }

    fn start(self: &Arc<Self>) {
        let inner = Arc::clone(self);
        let started =
            thread::Builder::new().name("kitbag-audit-open".to_owned()).spawn(move || {
                let told_before = inner.state.set_aside().is_some();
                let opened = inner
                    .state
                    .store(&inner.place)
                    .and_then(|store| AuditWriter::start(&store).map_err(HostError::from));
                if let Some(set_aside) = inner.state.set_aside().filter(|_| !told_before) {
                    tracing::error!("{set_aside}");
                }
                inner.settle(opened.map_err(|error| reasons(&error)));
            });
        if let Err(error) = started {
            self.settle(Err(reasons(&error)));
        }
    }

    fn settle(&self, opened: Result<AuditWriter, String>) {
        let mut stage = self.stage();
        let before = std::mem::replace(&mut *stage, Stage::Idle);
        let (waiting, mut lost) = match before {
            Stage::Opening { waiting, lost } => (waiting, lost),
            Stage::Idle | Stage::Open { .. } | Stage::Failed(_) => (Vec::new(), 0),
        };
        *stage = match opened {
            Ok(writer) => {
                for record in waiting {
                    if writer.record(record) == Recorded::Lost {
                        lost += 1;
                    }
                }
                Stage::Open { writer: Arc::new(writer), lost }
            }
            Err(reason) => {
                tracing::error!(%reason, "calls are not recorded: the audit log cannot be opened");
                Stage::Failed(reason)
            }
        };
        drop(stage);
        self.settled.send_replace(true);
    }
}

/// An error with what caused it, on one line.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// What a person decided with a command of ours: the hash that stands for the arguments is the digest of what they saw.
pub(crate) fn decided(
    command: &str,
    decision: Decision,
    digest: Digest,
    about: String,
) -> AuditRecord {
    AuditRecord {
        at: now(),
        principal: Principal::Person.to_string(),
        source: "kitbag".to_owned(),
        tool: command.to_owned(),
        arguments: digest,
        decision,
        rule: about,
        duration: Duration::ZERO,
        size: 0,
        outcome: Outcome::NotRun,
    }
}

fn record(entry: AuditEntry) -> AuditRecord {
    use kitbag_tool::{Decision as Decided, Outcome as Came};
    AuditRecord {
        at: Timestamp::from(entry.at),
        principal: entry.principal.to_string(),
        source: entry.source,
        tool: entry.tool,
        arguments: Digest::from(entry.arguments),
        decision: match entry.decision {
            Decided::Allowed => Decision::Allowed,
            Decided::Denied => Decision::Denied,
            Decided::Approved => Decision::Approved,
            Decided::Refused => Decision::Refused,
            Decided::Unjudged => Decision::Unjudged,
        },
        rule: entry.because,
        duration: entry.duration,
        size: entry.size,
        outcome: match entry.outcome {
            Came::NotRun => Outcome::NotRun,
            Came::Begun => Outcome::Begun,
            Came::Ok => Outcome::Ok,
            Came::ToolError => Outcome::ToolError,
            Came::Failed => Outcome::Failed,
            Came::TimedOut => Outcome::TimedOut,
            Came::Cancelled => Outcome::Cancelled,
        },
    }
}
