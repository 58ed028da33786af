//! Consent to MCP servers that a project file names (decision 13).

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::digest::Digest;
use crate::error::StoreError;
use crate::place::{PathColumn, path_bytes};
use crate::skills::{Removal, Reviewed};
use crate::store::{Listed, MAX_NAME_BYTES, MAX_SHOWN_BYTES, Store, bounded, list};
use crate::timestamp::Timestamp;
use crate::wire::words;

/// What a person said to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may run, or be connected to.
    Approved,
    /// It may not, and is not asked about again as long as it is the same.
    Refused,
}

words!(Verdict { Approved = "approved", Refused = "refused" });

/// A decision about a server as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConsent {
    /// The real path of the workspace whose files name the server.
    pub workspace: PathBuf,
    /// The server's name there.
    pub server: String,
    /// The fingerprint of the entry that was decided on.
    pub fingerprint: Digest,
    /// The decision.
    pub verdict: Verdict,
    /// The card that the person was shown.
    pub shown: String,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// Records what a person said to a server; an earlier decision gives way.
    ///
    /// The digest of `reviewed` is the entry's fingerprint.
    pub fn decide_server(
        &self,
        workspace: &Path,
        server: &str,
        verdict: Verdict,
        reviewed: &Reviewed<'_>,
    ) -> Result<(), StoreError> {
        let workspace = path_bytes(workspace)?;
        let server = bounded("the server's name", server, MAX_NAME_BYTES)?;
        let shown = bounded("what was shown", reviewed.shown, MAX_SHOWN_BYTES)?;
        let Reviewed { digest, at, .. } = reviewed;
        self.write(|db| {
            db.prepare_cached(
                "INSERT INTO server_consent (workspace, server, fingerprint, verdict, shown, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO UPDATE SET fingerprint = ?3, verdict = ?4, shown = ?5, at = ?6",
            )?
            .execute(params![workspace, server, digest, verdict, shown, at])
            .map(drop)
        })
    }

    /// What was decided about a server, of whatever fingerprint: one that differs must ask again.
    pub fn server_consent(
        &self,
        workspace: &Path,
        server: &str,
    ) -> Result<Option<ServerConsent>, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            db.prepare_cached(
                "SELECT workspace, server, fingerprint, verdict, shown, at FROM server_consent
                 WHERE workspace = ?1 AND server = ?2",
            )?
            .query_row(params![workspace, server], consent)
            .optional()
        })
    }

    /// Whether a server is approved exactly as it is now, by its fingerprint.
    pub fn is_server_approved(
        &self,
        workspace: &Path,
        server: &str,
        fingerprint: &Digest,
    ) -> Result<bool, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            db.prepare_cached(
                "SELECT 1 FROM server_consent WHERE workspace = ?1 AND server = ?2
                 AND fingerprint = ?3 AND verdict = ?4",
            )?
            .exists(params![workspace, server, fingerprint, Verdict::Approved])
        })
    }

    /// Forgets what was decided about a server, so that it is asked about again.
    pub fn forget_server(&self, workspace: &Path, server: &str) -> Result<Removal, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.write(|db| {
            db.prepare_cached("DELETE FROM server_consent WHERE workspace = ?1 AND server = ?2")?
                .execute(params![workspace, server])
                .map(Removal::of)
        })
    }

    /// What was decided about the servers of a workspace, in order of their names.
    pub fn server_consents(&self, workspace: &Path) -> Result<Listed<ServerConsent>, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            list(
                db.prepare_cached(
                    "SELECT workspace, server, fingerprint, verdict, shown, at FROM server_consent
                     WHERE workspace = ?1 ORDER BY server",
                )?
                .query_map([workspace], consent)?,
            )
        })
    }
}

fn consent(row: &Row<'_>) -> rusqlite::Result<ServerConsent> {
    Ok(ServerConsent {
        workspace: row.get::<_, PathColumn>(0)?.0,
        server: row.get(1)?,
        fingerprint: row.get(2)?,
        verdict: row.get(3)?,
        shown: row.get(4)?,
        at: row.get(5)?,
    })
}

/// Reads every row, to find one that cannot be.
pub(crate) fn scan(db: &Connection) -> rusqlite::Result<()> {
    db.prepare("SELECT workspace, server, fingerprint, verdict, shown, at FROM server_consent")?
        .query_map((), consent)?
        .try_for_each(|row| row.map(drop))
}
