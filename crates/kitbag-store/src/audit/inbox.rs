//! The bounded queue between those who call tools and the thread that writes the log.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::audit::record::AuditRecord;
use crate::audit::writer::{AuditError, AuditHealth};
use crate::error::StoreError;

/// What comes back to somebody who waits.
pub(crate) type Acknowledgement = Result<(), AuditError>;

/// Somebody who waits for what is queued so far to be on the disk, and their place in the bound.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) acknowledge: oneshot::Sender<Acknowledgement>,
    pub(crate) _place: OwnedSemaphorePermit,
}

/// What the thread takes in one go.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<AuditRecord>,
    pub(crate) waiting: Vec<Waiting>,
    /// Calls that found no room before the first of the records.
    pub(crate) lost: u64,
}

/// Whether a record was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Queued,
    NoRoom,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// The records in the batch that nobody waits for.
    calls: usize,
    closed: bool,
    lost_in_all: u64,
    failure: Option<Arc<StoreError>>,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// Wakes the thread.
    work: Condvar,
    /// The most records that nobody waits for.
    room: usize,
    /// How many of them are worth a transaction before its time.
    full_batch: usize,
}

impl Inbox {
    pub(crate) fn new(room: usize, full_batch: usize) -> Self {
        Self { state: Mutex::default(), work: Condvar::new(), room, full_batch }
    }

    /// Nothing panics while it holds the lock, so a poisoned one guards nothing broken.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record if there is room, and never waits.
    pub(crate) fn offer(&self, record: AuditRecord) -> Taken {
        let mut state = self.state();
        if state.closed || state.calls >= self.room {
            state.batch.lost += 1;
            state.lost_in_all += 1;
            return Taken::NoRoom;
        }
        state.batch.records.push(record);
        state.calls += 1;
        let wake = state.batch.records.len() == 1 || state.calls == self.full_batch;
        drop(state);
        if wake {
            self.work.notify_one();
        }
        Taken::Queued
    }

    /// Takes somebody who waits, with a record or without; says nothing to them if the thread has ended.
    pub(crate) fn submit(&self, record: Option<AuditRecord>, waiting: Waiting) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.batch.records.extend(record);
        state.batch.waiting.push(waiting);
        drop(state);
        self.work.notify_one();
    }

    /// Waits for something to do, then for more of it up to `linger` unless somebody waits; nothing once closed and empty.
    pub(crate) fn next(&self, linger: Duration) -> Option<Batch> {
        let idle = |state: &mut State| {
            !state.closed && state.batch.records.is_empty() && state.batch.waiting.is_empty()
        };
        let mut state =
            self.work.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
        let patient = |state: &mut State| {
            !state.closed && state.batch.waiting.is_empty() && state.calls < self.full_batch
        };
        if patient(&mut state) {
            state = self
                .work
                .wait_timeout_while(state, linger, patient)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if idle_and_closed(&state) {
            return None;
        }
        state.calls = 0;
        Some(std::mem::take(&mut state.batch))
    }

    /// Notes what came of a batch. What could not be written is lost, and counted at the next record that can be.
    pub(crate) fn settle(&self, written: &Result<(), Arc<StoreError>>, records: usize, lost: u64) {
        let mut state = self.state();
        match written {
            // A batch without records has taken nothing to the disk that could tell of the lost.
            Ok(()) if records == 0 => state.batch.lost += lost,
            Ok(()) => state.failure = None,
            Err(failure) => {
                state.failure = Some(Arc::clone(failure));
                state.lost_in_all += records as u64;
                state.batch.lost += lost + records as u64;
            }
        }
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.work.notify_one();
    }

    pub(crate) fn health(&self) -> AuditHealth {
        let state = self.state();
        AuditHealth { lost: state.lost_in_all, failure: state.failure.clone() }
    }
}

fn idle_and_closed(state: &State) -> bool {
    state.closed && state.batch.records.is_empty() && state.batch.waiting.is_empty()
}
