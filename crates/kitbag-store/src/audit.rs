//! The audit log: one row for each call, kept to a size by dropping the oldest.

mod inbox;
mod record;
mod writer;

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::error::StoreError;
use crate::store::Store;

pub use record::{AuditRecord, Decision, MAX_AUDIT_TEXT_BYTES, Outcome};
pub use writer::{
    AuditError, AuditHealth, AuditWriter, MAX_QUEUED_CALLS, MAX_QUEUED_DECISIONS, Recorded,
};

/// The most rows that one reading of the log gives.
pub const MAX_AUDIT_PAGE: usize = 1_000;

/// What a row costs beside its texts: its numbers, digest and header, rounded up.
const ROW_BYTES: u64 = 96;

/// A dropping takes this part of the bound at once, so that it is not done for every batch.
const DROPPED_PART: u64 = 16;

/// The number of a row in the log. Numbers are given in order, without gaps, and never twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditId(i64);

/// A record in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number.
    pub id: AuditId,
    /// How many calls before this one are not in the log, because they came faster than it was written.
    pub lost: u64,
    /// What was recorded.
    pub record: AuditRecord,
}

/// A part of the log, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The rows, at most [`MAX_AUDIT_PAGE`].
    pub entries: Vec<AuditEntry>,
    /// How many rows after the one that was asked for were dropped before they could be read.
    pub missed: u64,
    /// Where to read on.
    pub next: AuditId,
}

impl AuditId {
    /// Before the first row that ever was.
    pub const START: Self = Self(0);

    /// The number itself.
    pub fn get(self) -> u64 {
        self.0.unsigned_abs()
    }
}

impl Store {
    /// Appends records in one transaction; gives the number of the last, or nothing for no records.
    ///
    /// Texts longer than [`MAX_AUDIT_TEXT_BYTES`] are cut, and say so.
    pub fn append_audit(&self, records: &[AuditRecord]) -> Result<Option<AuditId>, StoreError> {
        self.append_after_loss(records, 0)
    }

    /// The same, where `lost` calls before the first record found no room.
    pub(crate) fn append_after_loss(
        &self,
        records: &[AuditRecord],
        lost: u64,
    ) -> Result<Option<AuditId>, StoreError> {
        if records.is_empty() {
            return Ok(None);
        }
        self.write(|db| {
            let mut through = last_through(db)?;
            let mut statement = db.prepare_cached(
                "INSERT INTO audit (at, principal, source, tool, arguments, decision, rule, micros, size,
                    outcome, through, lost)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?;
            for (index, record) in records.iter().enumerate() {
                let [principal, source, tool, rule] = record.bounded_texts();
                let texts = principal.len() + source.len() + tool.len() + rule.len();
                through = through.saturating_add(ROW_BYTES + texts as u64);
                statement.execute(params![
                    record.at,
                    principal,
                    source,
                    tool,
                    record.arguments,
                    record.decision,
                    rule,
                    number(u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX)),
                    number(record.size),
                    record.outcome,
                    number(through),
                    number(if index == 0 { lost } else { 0 }),
                ])?;
            }
            let last = db.last_insert_rowid();
            drop_oldest(db, through, self.options.audit_bytes)?;
            Ok(Some(AuditId(last)))
        })
    }

    /// The rows after `after`, oldest first: what follows the log, and what reads all of it.
    ///
    /// Cheap when there is nothing new, so it may be asked several times a second.
    pub fn audit_after(&self, after: AuditId) -> Result<AuditPage, StoreError> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT id, at, principal, source, tool, arguments, decision, rule, micros, size, outcome, lost
                 FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2",
            )?;
            let limit = i64::try_from(MAX_AUDIT_PAGE).unwrap_or(i64::MAX);
            let entries: Vec<AuditEntry> =
                statement.query_map([after.0, limit], entry)?.collect::<Result<_, _>>()?;
            let missed = entries.first().map_or(0, |first| first.id.0 - after.0 - 1);
            let next = entries.last().map_or(after, |last| last.id);
            Ok(AuditPage { entries, missed: missed.unsigned_abs(), next })
        })
    }

    /// Where to read on from to get the last `count` rows.
    pub fn audit_tail(&self, count: u64) -> Result<AuditId, StoreError> {
        self.read(|db| {
            let last: Option<i64> = db
                .prepare_cached("SELECT id FROM audit ORDER BY id DESC LIMIT 1")?
                .query_row((), |row| row.get(0))
                .optional()?;
            let first: Option<i64> = db
                .prepare_cached("SELECT id FROM audit ORDER BY id LIMIT 1")?
                .query_row((), |row| row.get(0))
                .optional()?;
            let (Some(first), Some(last)) = (first, last) else { return Ok(AuditId::START) };
            Ok(AuditId(last.saturating_sub(number(count)).max(first - 1)))
        })
    }
}

/// A count as SQL has it; what is more than 63 bits is cut to them.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The bytes of all rows ever written, at the last of them.
fn last_through(db: &Transaction<'_>) -> rusqlite::Result<u64> {
    db.prepare_cached("SELECT through FROM audit ORDER BY id DESC LIMIT 1")?
        .query_row((), |row| row.get(0))
        .optional()
        .map(|through: Option<i64>| through.unwrap_or(0).unsigned_abs())
}

/// Drops the oldest rows once the log is over its bound. Each row knows how much was written before it, so the log's
/// size is a difference, and there is no count that could go wrong.
fn drop_oldest(db: &Transaction<'_>, through: u64, bound: u64) -> rusqlite::Result<()> {
    let oldest: i64 = db
        .prepare_cached("SELECT through FROM audit ORDER BY id LIMIT 1")?
        .query_row((), |row| row.get(0))?;
    if through.saturating_sub(oldest.unsigned_abs()) <= bound {
        return Ok(());
    }
    let kept = through.saturating_sub(bound - bound / DROPPED_PART);
    let first_kept: Option<i64> = db
        .prepare_cached("SELECT id FROM audit WHERE through > ?1 ORDER BY id LIMIT 1")?
        .query_row([number(kept)], |row| row.get(0))
        .optional()?;
    // The newest row stays whatever its size: it carries the count on.
    let first_kept = first_kept.unwrap_or(i64::MAX).min(db.last_insert_rowid());
    db.prepare_cached("DELETE FROM audit WHERE id < ?1")?.execute([first_kept]).map(drop)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    let count = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(AuditEntry {
        id: AuditId(row.get(0)?),
        lost: count(11)?,
        record: AuditRecord {
            at: row.get(1)?,
            principal: row.get(2)?,
            source: row.get(3)?,
            tool: row.get(4)?,
            arguments: row.get(5)?,
            decision: row.get(6)?,
            rule: row.get(7)?,
            duration: std::time::Duration::from_micros(count(8)?),
            size: count(9)?,
            outcome: row.get(10)?,
        },
    })
}

/// Reads every row, to find one that cannot be.
pub(crate) fn scan(db: &Connection) -> rusqlite::Result<()> {
    db.prepare("SELECT id, at, principal, source, tool, arguments, decision, rule, micros, size, outcome, lost FROM audit")?
        .query_map((), entry)?
        .try_for_each(|row| row.map(drop))
}
