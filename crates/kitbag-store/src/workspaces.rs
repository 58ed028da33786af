//! Trust of workspaces: recorded outside them, for a real path and the digest of the project's settings.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::digest::Digest;
use crate::error::StoreError;
use crate::place::{PathColumn, path_bytes};
use crate::skills::{Removal, Reviewed};
use crate::store::{Listed, MAX_SHOWN_BYTES, Store, bounded, list};
use crate::timestamp::Timestamp;

/// Trust as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceTrust {
    /// The real path of the workspace.
    pub workspace: PathBuf,
    /// The digest of its project settings when it was trusted.
    pub digest: Digest,
    /// What the person was shown.
    pub shown: String,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// Trusts a workspace with its settings as they are now; earlier trust gives way.
    pub fn trust_workspace(
        &self,
        workspace: &Path,
        reviewed: &Reviewed<'_>,
    ) -> Result<(), StoreError> {
        let workspace = path_bytes(workspace)?;
        let shown = bounded("what was shown", reviewed.shown, MAX_SHOWN_BYTES)?;
        self.write(|db| {
            db.prepare_cached(
                "INSERT INTO workspace_trust (workspace, digest, shown, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET digest = ?2, shown = ?3, at = ?4",
            )?
            .execute(params![workspace, reviewed.digest, shown, reviewed.at])
            .map(drop)
        })
    }

    /// Takes trust back.
    pub fn distrust_workspace(&self, workspace: &Path) -> Result<Removal, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.write(|db| {
            db.prepare_cached("DELETE FROM workspace_trust WHERE workspace = ?1")?
                .execute([workspace])
                .map(Removal::of)
        })
    }

    /// Whether the workspace is trusted with its settings exactly as they are now, by their digest.
    pub fn is_workspace_trusted(
        &self,
        workspace: &Path,
        digest: &Digest,
    ) -> Result<bool, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            db.prepare_cached("SELECT 1 FROM workspace_trust WHERE workspace = ?1 AND digest = ?2")?
                .exists(params![workspace, digest])
        })
    }

    /// The trust that a workspace has, of whatever digest.
    pub fn workspace_trust(&self, workspace: &Path) -> Result<Option<WorkspaceTrust>, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            db.prepare_cached(
                "SELECT workspace, digest, shown, at FROM workspace_trust WHERE workspace = ?1",
            )?
            .query_row([workspace], trust)
            .optional()
        })
    }

    /// Every workspace that was ever trusted and not distrusted since, in order of the paths.
    pub fn trusted_workspaces(&self) -> Result<Listed<WorkspaceTrust>, StoreError> {
        self.read(|db| {
            list(
                db.prepare_cached(
                    "SELECT workspace, digest, shown, at FROM workspace_trust ORDER BY workspace",
                )?
                .query_map((), trust)?,
            )
        })
    }
}

fn trust(row: &Row<'_>) -> rusqlite::Result<WorkspaceTrust> {
    Ok(WorkspaceTrust {
        workspace: row.get::<_, PathColumn>(0)?.0,
        digest: row.get(1)?,
        shown: row.get(2)?,
        at: row.get(3)?,
    })
}

/// Reads every row, to find one that cannot be.
pub(crate) fn scan(db: &Connection) -> rusqlite::Result<()> {
    db.prepare("SELECT workspace, digest, shown, at FROM workspace_trust")?
        .query_map((), trust)?
        .try_for_each(|row| row.map(drop))
}
