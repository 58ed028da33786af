//! The open store: one connection, and what every reading and writing does first.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::files::Files;
use crate::open::{self, SetAside, StoreOptions};
use crate::schema::{self, SCHEMA_VERSION};
use crate::timestamp::Timestamp;

/// The most bytes of a name, of whatever kind.
pub const MAX_NAME_BYTES: usize = 4 * 1024;

/// The most bytes of a text that a person was shown when they decided.
pub const MAX_SHOWN_BYTES: usize = 256 * 1024;

/// The most rows in one answer; the rest is counted.
pub const MAX_LISTED: usize = 10_000;

/// What outlives the process, in a file that several processes share.
///
/// Every function blocks, for microseconds when it reads, for a flush of the disk when it writes, and for
/// [`StoreOptions::patience`] at most when other processes are in the way: call them where blocking is allowed.
/// When a writing function returns `Ok`, what it wrote is on the disk.
#[derive(Debug)]
pub struct Store {
    pub(crate) files: Files,
    pub(crate) options: StoreOptions,
    connection: Mutex<Connection>,
    /// Keeps the file from being replaced while it is open.
    lock: Arc<File>,
}

/// A state of the store, as one `Store` sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreMark {
    /// Changes whenever another connection wrote.
    others: i64,
    /// The rows that this one wrote.
    own: u64,
}

/// A store, and what was found on the way to it.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// What was damaged, and is now out of the way.
    pub set_aside: Option<SetAside>,
}

/// Rows, and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The first [`MAX_LISTED`] of them.
    pub items: Vec<T>,
    /// How many were left out.
    pub left_out: u64,
}

impl Store {
    /// Opens the store at `path`, which is made if it is not there, its directory too, for the user alone.
    ///
    /// `now` is the caller's clock, and names a file that is set aside. A damaged file is moved away with what
    /// belongs to it, never emptied, and an empty store takes its place.
    pub fn open(path: &Path, now: Timestamp, options: StoreOptions) -> Result<Opened, StoreError> {
        let ready = open::open(path, now, &options)?;
        let store = Self {
            files: ready.files,
            options,
            connection: Mutex::new(ready.connection),
            lock: Arc::new(ready.lock),
        };
        Ok(Opened { store, set_aside: ready.set_aside })
    }

    /// The file of the store.
    pub fn path(&self) -> &Path {
        &self.files.database
    }

    /// Opens the same file once more, so that two threads need not wait for each other.
    pub fn reopen(&self) -> Result<Self, StoreError> {
        Ok(Self {
            files: self.files.clone(),
            options: self.options,
            connection: Mutex::new(open::connect_again(&self.files, &self.options)?),
            lock: Arc::clone(&self.lock),
        })
    }

    /// Which state the store is in: equal marks of one `Store` mean that nobody wrote in between.
    pub fn mark(&self) -> Result<StoreMark, StoreError> {
        self.read(|db| {
            let others = db.pragma_query_value(None, "data_version", |row| row.get(0))?;
            Ok(StoreMark { others, own: db.total_changes() })
        })
    }

    /// Reads from one state of the store.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, read)
    }

    /// Writes all or nothing, after every other writer and before the next.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Immediate, write)
    }

    fn transact<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // A transaction ends when a panic unwinds through it, so a poisoned lock guards nothing broken.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = (|| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            // A later program may have migrated the file since it was opened.
            let version = schema::version(&transaction)?;
            if version != SCHEMA_VERSION {
                return Ok(Err(version));
            }
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(Ok(value))
        })();
        match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(found)) => Err(open::newer(&self.files, found)),
            Err(error) => {
                let error = StoreError::engine(&self.files.database, self.options.patience, error);
                if matches!(error, StoreError::Corrupt { .. }) {
                    self.files.suspect();
                }
                Err(error)
            }
        }
    }
}

/// The first rows of a query, and how many more there are.
pub(crate) fn list<T>(
    rows: impl Iterator<Item = rusqlite::Result<T>>,
) -> rusqlite::Result<Listed<T>> {
    let mut listed = Listed { items: Vec::new(), left_out: 0 };
    for row in rows {
        let row = row?;
        if listed.items.len() < MAX_LISTED {
            listed.items.push(row);
        } else {
            listed.left_out += 1;
        }
    }
    Ok(listed)
}

/// Refuses a text that is longer than the store keeps.
pub(crate) fn bounded<'a>(
    what: &'static str,
    text: &'a str,
    most: usize,
) -> Result<&'a str, StoreError> {
    match text.len() {
        bytes if bytes > most => Err(StoreError::TooLong { what, bytes, most }),
        _ => Ok(text),
    }
}
