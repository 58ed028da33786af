//! Trust of a workspace: whether what its own settings grant counts.
//!
//! It is recorded in the store, outside the workspace, for the real path of each folder whose settings count (the
//! workspace's root and the working directory) and the digest of the settings in it. So a changed file ends it, a link
//! to a workspace is that workspace, and working in another folder of it ends nothing.

use std::path::Path;

use kitbag_settings::{KeyPath, Origin, Settings, Trust};
use kitbag_skills::shown;
use kitbag_store::{
    AuditRecord, Decision, Digest, MAX_SHOWN_BYTES, Removal, Reviewed, Timestamp, WorkspaceTrust,
};

use crate::audit::decided;
use crate::error::HostError;
use crate::host::Host;
use crate::layers::{Folder, project_folders};
use crate::place::{Where, real};
use crate::sections::sections;
use crate::state::{State, now};

/// Whether the owner said yes to the settings that a workspace brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// It brings none.
    Nothing,
    /// Nobody said yes.
    Untrusted,
    /// Somebody did, and they have changed since.
    Changed {
        /// When they said yes.
        since: Timestamp,
    },
    /// Somebody did, to exactly these.
    Trusted {
        /// When they said yes.
        since: Timestamp,
    },
}

impl TrustState {
    /// Whether what the workspace's settings grant counts; where there are none, nothing of theirs does.
    pub fn settings(self) -> Trust {
        match self {
            Self::Trusted { .. } => Trust::Trusted,
            Self::Nothing | Self::Untrusted | Self::Changed { .. } => Trust::Untrusted,
        }
    }

    /// The word for it on the wire and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing-to-trust",
            Self::Untrusted => "untrusted",
            Self::Changed { .. } => "changed",
            Self::Trusted { .. } => "trusted",
        }
    }
}

/// What a person looks at before they trust a workspace.
#[derive(Debug)]
pub struct Review {
    /// The folders whose settings it is about.
    pub folders: Vec<FolderReview>,
    /// What trust turns on, key by key: what counts in a trusted workspace only.
    pub grants: Vec<(KeyPath, Origin)>,
}

/// One folder of a [`Review`].
#[derive(Debug)]
pub struct FolderReview {
    /// Its real path.
    pub path: std::path::PathBuf,
    /// Its settings files with their text, what cannot be seen made visible.
    pub shown: String,
    /// What was shown when it was trusted last, and when.
    pub before: Option<(String, Timestamp)>,
    /// Whether the settings are others than those that were trusted last, if any were.
    pub has_changed: bool,
    /// The digest of the settings that were read.
    digest: Digest,
}

/// What is kept about a folder.
pub(crate) type Kept = Option<WorkspaceTrust>;

/// Looks up what is kept for the folders.
pub(crate) fn look_up(
    state: &State,
    place: &Where,
    folders: &[Folder],
) -> Result<(TrustState, Vec<Kept>), HostError> {
    if folders.is_empty() {
        return Ok((TrustState::Nothing, Vec::new()));
    }
    let Some(store) = state.existing(place)? else {
        return Ok((TrustState::Untrusted, folders.iter().map(|_| None).collect()));
    };
    let kept = folders
        .iter()
        .map(|folder| store.workspace_trust(&folder.real))
        .collect::<Result<Vec<Kept>, _>>()?;
    let holds = |(folder, kept): (&Folder, &Kept)| {
        kept.as_ref().is_some_and(|kept| kept.digest == digest(folder))
    };
    let since = kept.iter().flatten().map(|kept| kept.at).max();
    let has_changed = folders
        .iter()
        .zip(&kept)
        .any(|(folder, kept)| kept.as_ref().is_some_and(|kept| kept.digest != digest(folder)));
    let trust = match since {
        Some(since) if folders.iter().zip(&kept).all(holds) => TrustState::Trusted { since },
        Some(since) if has_changed => TrustState::Changed { since },
        _ => TrustState::Untrusted,
    };
    Ok((trust, kept))
}

fn digest(folder: &Folder) -> Digest {
    Digest::from(*folder.digest().as_bytes())
}

impl Host {
    /// What there is to look at before the workspace is trusted.
    pub fn review(&self) -> Review {
        let untrusted = Settings::new(self.settings.sources().to_vec(), Trust::Untrusted);
        let folders = self.folders.iter().zip(&self.kept).map(|(folder, kept)| FolderReview {
            path: folder.real.clone(),
            shown: text(folder),
            before: kept.as_ref().map(|kept| (kept.shown.clone(), kept.at)),
            has_changed: kept.as_ref().is_some_and(|kept| kept.digest != digest(folder)),
            digest: digest(folder),
        });
        Review { folders: folders.collect(), grants: untrusted.withheld(&sections()) }
    }

    /// Records that a person said yes to what they reviewed: to these bytes, whatever lies there meanwhile.
    pub fn trust_reviewed(&self, review: &Review) -> Result<(), HostError> {
        if let Some(folder) = review.folders.iter().find(|one| one.shown.len() > MAX_SHOWN_BYTES) {
            return Err(HostError::TooMuchToReview(folder.path.clone()));
        }
        let store = self.store()?;
        for folder in &review.folders {
            // First in the log, so that no trust is in force that the log does not know.
            let said = audit("trust", Decision::Approved, folder.digest, &folder.path);
            store.append_audit(&[said])?;
            let reviewed = Reviewed { digest: folder.digest, shown: &folder.shown, at: now() };
            store.trust_workspace(&folder.path, &reviewed)?;
        }
        Ok(())
    }
}

/// Takes the trust of the workspace back, also where its settings cannot be read.
pub fn revoke(place: &Where) -> Result<Removal, HostError> {
    let workspace = place.workspace()?;
    let Some(store) = State::default().existing(place)? else { return Ok(Removal::Absent) };
    let mut removal = Removal::Absent;
    for folder in project_folders(place, &workspace) {
        let folder = real(&folder)?;
        let Some(trust) = store.workspace_trust(&folder)? else { continue };
        if store.distrust_workspace(&folder)? == Removal::Removed {
            removal = Removal::Removed;
            let said = audit("trust --revoke", Decision::Refused, trust.digest, &folder);
            store.append_audit(&[said])?;
        }
    }
    Ok(removal)
}

fn audit(command: &str, decision: Decision, digest: Digest, folder: &Path) -> AuditRecord {
    let folder = shown::visible(&folder.display().to_string());
    decided(command, decision, digest, format!("the settings in {folder}"))
}

/// The settings files of a folder as a person reads them.
///
/// Their lines stand behind two blanks, so that none can be taken for the name of a file.
fn text(folder: &Folder) -> String {
    let mut text = String::new();
    for file in &folder.files {
        text.push_str(&shown::visible(&file.path.display().to_string()));
        text.push('\n');
        for line in String::from_utf8_lossy(&file.bytes).lines() {
            text.push_str("  ");
            for character in line.chars() {
                if character != '\t' && shown::is_invisible(character) {
                    text.extend(character.escape_unicode());
                } else {
                    text.push(character);
                }
            }
            text.push('\n');
        }
    }
    text
}
