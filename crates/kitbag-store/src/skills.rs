//! Approvals of skills that a repository or a package brings (decision 4).

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::digest::Digest;
use crate::error::StoreError;
use crate::place::{PathColumn, path_bytes};
use crate::store::{Listed, MAX_NAME_BYTES, MAX_SHOWN_BYTES, Store, bounded, list};
use crate::timestamp::Timestamp;

/// Which skill, in which workspace: a skill's identity is its root and its directory (decision 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillKey<'a> {
    /// The real path of the workspace that the approval holds for.
    pub workspace: &'a Path,
    /// The real path of the root that the skill was found in.
    pub root: &'a Path,
    /// The skill's directory inside the root.
    pub directory: &'a str,
}

/// What a person looked at when they decided, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reviewed<'a> {
    /// The digest of all that the decision covers: a change of it asks again.
    pub digest: Digest,
    /// What the person was shown, for a diff when it changes; at most [`MAX_SHOWN_BYTES`].
    ///
    /// It holds names of variables and headers, never their values.
    pub shown: &'a str,
    /// When they decided.
    pub at: Timestamp,
}

/// An approval as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillApproval {
    /// The workspace it holds for.
    pub workspace: PathBuf,
    /// The root of the skill.
    pub root: PathBuf,
    /// The skill's directory inside the root.
    pub directory: String,
    /// What was approved.
    pub digest: Digest,
    /// What the person was shown.
    pub shown: String,
    /// When.
    pub at: Timestamp,
}

/// An approval without what was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedSkill {
    /// The root of the skill.
    pub root: PathBuf,
    /// The skill's directory inside the root.
    pub directory: String,
    /// What was approved.
    pub digest: Digest,
}

/// Whether a row was there to be taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It was, and is no more.
    Removed,
    /// It was not.
    Absent,
}

impl Store {
    /// Approves a skill as it is now; an earlier approval of it gives way.
    pub fn approve_skill(
        &self,
        skill: &SkillKey<'_>,
        reviewed: &Reviewed<'_>,
    ) -> Result<(), StoreError> {
        let (workspace, root, directory) = columns(skill)?;
        let shown = bounded("what was shown", reviewed.shown, MAX_SHOWN_BYTES)?;
        self.write(|db| {
            db.prepare_cached(
                "INSERT INTO skill_approval (workspace, root, directory, digest, shown, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO UPDATE SET digest = ?4, shown = ?5, at = ?6",
            )?
            .execute(params![workspace, root, directory, reviewed.digest, shown, reviewed.at])
            .map(drop)
        })
    }

    /// Takes an approval back.
    pub fn revoke_skill(&self, skill: &SkillKey<'_>) -> Result<Removal, StoreError> {
        let key = columns(skill)?;
        self.write(|db| {
            db.prepare_cached(
                "DELETE FROM skill_approval WHERE workspace = ?1 AND root = ?2 AND directory = ?3",
            )?
            .execute(key)
            .map(Removal::of)
        })
    }

    /// Whether the skill is approved exactly as it is now, by its digest.
    pub fn is_skill_approved(
        &self,
        skill: &SkillKey<'_>,
        digest: &Digest,
    ) -> Result<bool, StoreError> {
        let (workspace, root, directory) = columns(skill)?;
        self.read(|db| {
            db.prepare_cached(
                "SELECT 1 FROM skill_approval
                 WHERE workspace = ?1 AND root = ?2 AND directory = ?3 AND digest = ?4",
            )?
            .exists(params![workspace, root, directory, digest])
        })
    }

    /// The approval that a skill has, of whatever digest.
    pub fn skill_approval(
        &self,
        skill: &SkillKey<'_>,
    ) -> Result<Option<SkillApproval>, StoreError> {
        let key = columns(skill)?;
        self.read(|db| {
            db.prepare_cached(
                "SELECT workspace, root, directory, digest, shown, at FROM skill_approval
                 WHERE workspace = ?1 AND root = ?2 AND directory = ?3",
            )?
            .query_row(key, approval)
            .optional()
        })
    }

    /// What is approved in a workspace, without what was shown: little to read, for whoever asks often.
    pub fn approved_skills(&self, workspace: &Path) -> Result<Listed<ApprovedSkill>, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            let approved = |row: &Row<'_>| {
                Ok(ApprovedSkill {
                    root: row.get::<_, PathColumn>(0)?.0,
                    directory: row.get(1)?,
                    digest: row.get(2)?,
                })
            };
            list(
                db.prepare_cached(
                    "SELECT root, directory, digest FROM skill_approval
                     WHERE workspace = ?1 ORDER BY root, directory",
                )?
                .query_map([workspace], approved)?,
            )
        })
    }

    /// The approvals of a workspace, in order of their roots and directories.
    pub fn skill_approvals(&self, workspace: &Path) -> Result<Listed<SkillApproval>, StoreError> {
        let workspace = path_bytes(workspace)?;
        self.read(|db| {
            list(
                db.prepare_cached(
                    "SELECT workspace, root, directory, digest, shown, at FROM skill_approval
                     WHERE workspace = ?1 ORDER BY root, directory",
                )?
                .query_map([workspace], approval)?,
            )
        })
    }
}

impl Removal {
    pub(crate) fn of(rows: usize) -> Self {
        if rows == 0 { Self::Absent } else { Self::Removed }
    }
}

fn columns<'a>(skill: &SkillKey<'a>) -> Result<(&'a [u8], &'a [u8], &'a str), StoreError> {
    Ok((
        path_bytes(skill.workspace)?,
        path_bytes(skill.root)?,
        bounded("the skill's directory", skill.directory, MAX_NAME_BYTES)?,
    ))
}

fn approval(row: &Row<'_>) -> rusqlite::Result<SkillApproval> {
    Ok(SkillApproval {
        workspace: row.get::<_, PathColumn>(0)?.0,
        root: row.get::<_, PathColumn>(1)?.0,
        directory: row.get(2)?,
        digest: row.get(3)?,
        shown: row.get(4)?,
        at: row.get(5)?,
    })
}

/// Reads every row, to find one that cannot be.
pub(crate) fn scan(db: &Connection) -> rusqlite::Result<()> {
    db.prepare("SELECT workspace, root, directory, digest, shown, at FROM skill_approval")?
        .query_map((), approval)?
        .try_for_each(|row| row.map(drop))
}
