//! Pins of what MCP servers say about themselves (decision 14).

use std::path::Path;

use rusqlite::{Connection, Row, Transaction, params};

use crate::digest::Digest;
use crate::error::StoreError;
use crate::place::path_bytes;
use crate::skills::Removal;
use crate::store::{Listed, MAX_NAME_BYTES, Store, bounded, list};
use crate::timestamp::Timestamp;

/// The most bytes of a pinned text.
pub const MAX_PINNED_BYTES: usize = 1024 * 1024;

/// Which server: two workspaces may mean different ones by one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerKey<'a> {
    /// Who names it.
    pub scope: Scope<'a>,
    /// Its name there.
    pub server: &'a str,
}

/// Who names a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The user, for every workspace.
    User,
    /// The files of the workspace at this real path.
    Workspace(&'a Path),
}

/// One thing that a server offers, as it was when somebody accepted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The kind of thing, such as `tool`, `prompt` or `instructions`.
    pub kind: String,
    /// Its name; empty where there is only one of its kind.
    pub name: String,
    /// The digest of all that the pin covers.
    pub digest: Digest,
    /// The text the digest is of, for a diff; at most [`MAX_PINNED_BYTES`].
    pub pinned: String,
    /// When it was accepted.
    pub at: Timestamp,
}

/// Whether a server was met for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstMeeting {
    /// It was, and what it offered is now pinned.
    Pinned,
    /// It was not: its pins are as they were.
    Known,
}

impl Store {
    /// Pins all that a server offers, if it has never been pinned; of several processes, one is the first.
    pub fn pin_first(
        &self,
        server: &ServerKey<'_>,
        pins: &[Pin],
        at: Timestamp,
    ) -> Result<FirstMeeting, StoreError> {
        let (scope, name) = columns(server)?;
        pins.iter().try_for_each(check)?;
        self.write(|db| {
            if meet(db, scope, name, at)? == 0 {
                return Ok(FirstMeeting::Known);
            }
            pins.iter().try_for_each(|pin| put(db, scope, name, pin))?;
            Ok(FirstMeeting::Pinned)
        })
    }

    /// Pins what somebody accepted, all or nothing; earlier pins of the same things give way.
    pub fn pin(&self, server: &ServerKey<'_>, pins: &[Pin]) -> Result<(), StoreError> {
        let (scope, name) = columns(server)?;
        pins.iter().try_for_each(check)?;
        self.write(|db| {
            for pin in pins {
                meet(db, scope, name, pin.at)?;
                put(db, scope, name, pin)?;
            }
            Ok(())
        })
    }

    /// The pins of a server in order of kind and name, or nothing if it has never been pinned.
    pub fn pins(&self, server: &ServerKey<'_>) -> Result<Option<Listed<Pin>>, StoreError> {
        let key = columns(server)?;
        self.read(|db| {
            let met = db
                .prepare_cached("SELECT 1 FROM pinned_server WHERE scope = ?1 AND server = ?2")?
                .exists(key)?;
            if !met {
                return Ok(None);
            }
            let mut statement = db.prepare_cached(
                "SELECT kind, name, digest, pinned, at FROM pin
                 WHERE scope = ?1 AND server = ?2 ORDER BY kind, name",
            )?;
            let pins = list(statement.query_map(key, pin)?)?;
            Ok(Some(pins))
        })
    }

    /// Forgets the pins of a server, so that the next meeting is the first.
    pub fn forget_pins(&self, server: &ServerKey<'_>) -> Result<Removal, StoreError> {
        let key = columns(server)?;
        self.write(|db| {
            db.prepare_cached("DELETE FROM pin WHERE scope = ?1 AND server = ?2")?.execute(key)?;
            db.prepare_cached("DELETE FROM pinned_server WHERE scope = ?1 AND server = ?2")?
                .execute(key)
                .map(Removal::of)
        })
    }
}

fn columns<'a>(server: &ServerKey<'a>) -> Result<(&'a [u8], &'a str), StoreError> {
    let scope = match server.scope {
        Scope::User => &[],
        Scope::Workspace(path) => path_bytes(path)?,
    };
    Ok((scope, bounded("the server's name", server.server, MAX_NAME_BYTES)?))
}

fn check(pin: &Pin) -> Result<(), StoreError> {
    bounded("the kind of what is pinned", &pin.kind, MAX_NAME_BYTES)?;
    bounded("the name of what is pinned", &pin.name, MAX_NAME_BYTES)?;
    bounded("what is pinned", &pin.pinned, MAX_PINNED_BYTES)?;
    Ok(())
}

/// Notes that a server was met; gives the number of rows that are new.
fn meet(db: &Transaction<'_>, scope: &[u8], name: &str, at: Timestamp) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "INSERT INTO pinned_server (scope, server, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?
    .execute(params![scope, name, at])
}

fn put(db: &Transaction<'_>, scope: &[u8], name: &str, pin: &Pin) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO pin (scope, server, kind, name, digest, pinned, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET digest = ?5, pinned = ?6, at = ?7",
    )?
    .execute(params![scope, name, pin.kind, pin.name, pin.digest, pin.pinned, pin.at])
    .map(drop)
}

fn pin(row: &Row<'_>) -> rusqlite::Result<Pin> {
    Ok(Pin {
        kind: row.get(0)?,
        name: row.get(1)?,
        digest: row.get(2)?,
        pinned: row.get(3)?,
        at: row.get(4)?,
    })
}

/// Reads every row, to find one that cannot be.
pub(crate) fn scan(db: &Connection) -> rusqlite::Result<()> {
    db.prepare("SELECT kind, name, digest, pinned, at FROM pin")?
        .query_map((), pin)?
        .try_for_each(|row| row.map(drop))
}
