//! Who said yes to the skills that a project or a package brings (decision 4).

mod judge;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::digest::Digest;

pub(crate) use judge::Judge;

/// Where approvals are kept.
pub trait Consents: fmt::Debug + Send + Sync {
    /// The approvals that hold in a workspace, by its real path, at this moment; the same `Arc` while nothing changed.
    ///
    /// Asked at every look at which a skill needs one; may block on I/O. What cannot be read is no approval, and
    /// [`Approvals::fault`] says so.
    fn approvals(&self, workspace: &Path) -> Arc<Approvals>;
}

/// The approvals of one workspace.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Approvals {
    /// What was approved of each skill: the [digest of its seal](crate::Seal::digest).
    pub digests: HashMap<ConsentKey, Digest>,
    /// Why approvals may be missing here, in a sentence without its final stop.
    pub fault: Option<String>,
}

/// Which skill an approval is for: its root and its directory (decision 1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConsentKey {
    /// The real path of the root that reached the skill.
    pub root: PathBuf,
    /// The path by which the skill is reached from there; no link on it is followed.
    pub directory: String,
}

/// What decides of skills that need an approval.
#[derive(Debug, Clone, Default)]
pub enum ConsentFrom {
    /// Nobody can: all of them are withheld.
    #[default]
    Nobody,
    /// What was recorded.
    Records(Arc<dyn Consents>),
    /// The user said yes to all of them for as long as this library lives (`--trust`); nothing is recorded.
    ThisRun,
}

/// Whether a skill may be used as far as its owner's consent goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// It is the user's own.
    NotNeeded,
    /// It is approved as it is: its document's folder is sealed.
    Approved,
    /// The user said yes for this run.
    ThisRun,
    /// It was never approved.
    Missing,
    /// It was approved, and is not what it was any more.
    Changed,
    /// It was approved, and cannot be compared with what was approved.
    Unclear {
        /// Why, in a sentence without its final stop.
        why: String,
    },
}

impl Consent {
    /// Whether the skill may be used.
    pub fn is_given(&self) -> bool {
        match self {
            Self::NotNeeded | Self::Approved | Self::ThisRun => true,
            Self::Missing | Self::Changed | Self::Unclear { .. } => false,
        }
    }

    /// Why the skill is withheld, in a sentence without its final stop.
    pub fn because(&self) -> Option<String> {
        match self {
            Self::NotNeeded | Self::Approved | Self::ThisRun => None,
            Self::Missing => Some("it comes with the project and has not been approved".to_owned()),
            Self::Changed => Some("it changed since it was approved".to_owned()),
            Self::Unclear { why } => {
                Some(format!("it cannot be compared with what was approved: {why}"))
            }
        }
    }
}
