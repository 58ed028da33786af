//! The tables, and how a store of an older version becomes one of this.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a database as a store of this crate's, in the header field meant for it: `ktbg`.
pub(crate) const APPLICATION_ID: i64 = 0x6b74_6267;

/// The version that this crate writes, and the newest that it reads.
pub const SCHEMA_VERSION: u32 = 2;

/// What makes version n of version n - 1, at n - 1. A step that was released is never changed.
const STEPS: [&str; SCHEMA_VERSION as usize] = [
    // Paths are bytes: not every path is Unicode. `scope` is a workspace, or empty for the user's own servers.
    "CREATE TABLE skill_approval (
        workspace BLOB NOT NULL,
        root BLOB NOT NULL,
        directory TEXT NOT NULL,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, root, directory)
    ) STRICT;
    CREATE TABLE workspace_trust (
        workspace BLOB NOT NULL PRIMARY KEY,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE server_consent (
        workspace BLOB NOT NULL,
        server TEXT NOT NULL,
        fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
        verdict TEXT NOT NULL CHECK (verdict IN ('approved', 'refused')),
        shown TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, server)
    ) STRICT;
    CREATE TABLE pin (
        scope BLOB NOT NULL,
        server TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        digest BLOB NOT NULL CHECK (length(digest) = 32),
        pinned TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (scope, server, kind, name)
    ) STRICT;
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        principal TEXT NOT NULL,
        source TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments BLOB NOT NULL CHECK (length(arguments) = 32),
        decision TEXT NOT NULL,
        rule TEXT NOT NULL,
        micros INTEGER NOT NULL,
        size INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        through INTEGER NOT NULL
    ) STRICT;",
    // A server that offers nothing is pinned too, and calls that found the queue full are counted.
    "ALTER TABLE audit ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE pinned_server (
        scope BLOB NOT NULL,
        server TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (scope, server)
    ) STRICT;
    INSERT INTO pinned_server SELECT scope, server, min(at) FROM pin GROUP BY scope, server;",
];

/// The tables that consent lies in: small, and looked through at every opening.
pub(crate) const CONSENT_TABLES: [&str; 4] =
    ["skill_approval", "workspace_trust", "server_consent", "pinned_server"];

/// The version that the database says it has.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.prepare_cached("PRAGMA user_version")?.query_row((), |row| row.get(0))
}

/// What came of bringing a store up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Migrated {
    Current,
    /// Another process, of a later program, was there first.
    Newer(u32),
}

/// Brings a store up to date in one transaction; of several processes, one does it and the others find it done.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<Migrated> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found > SCHEMA_VERSION {
        return Ok(Migrated::Newer(found));
    }
    for step in &STEPS[found as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(Migrated::Current)
}
