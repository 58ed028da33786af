//! Consent to the skills that a project or a package brings (decision 4): who said yes to what, and what changed since.
//!
//! An approval is kept in the store, outside the workspace, for the workspace's real path, the root and the directory of
//! the skill, and the digest of its [seal](kitbag_skills::Seal).

mod difference;
mod record;
mod stored;

use std::sync::Arc;

use kitbag_permission::{
    Action, Because, Mode, RuleSet, Subject, ToolIdentity, Traits, Verdict, decide,
};
use kitbag_skills::review::Review;
use kitbag_skills::{ConsentFrom, ConsentKey, Denials, Library, SealError, SkillLimit, SkillName};
use kitbag_store::{
    AuditRecord, Decision, Digest, Removal, Reviewed, SkillKey, StoreError, Timestamp,
};

use crate::audit::decided;
use crate::error::HostError;
use crate::host::Host;
use crate::state::now;

pub use difference::{Change, Difference};
pub use record::{MAX_RECORD_BYTES, Record};
pub(crate) use stored::StoredConsents;

/// Which skills of a project are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillTrust {
    /// Those that were approved.
    Approved,
    /// All of them, for as long as the library lives; nothing is recorded (`--trust`).
    ThisRun,
}

/// What is known of an earlier approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// When somebody said yes.
    pub at: Timestamp,
    /// What changed since; none where what was shown then cannot be read any more.
    pub difference: Option<Difference>,
}

/// Why an answer was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The skill is not what was shown any more.
    #[error("it changed while it was shown")]
    Changed,
    /// Whether it is cannot be told any more.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The skill's path is no text, so nothing can be kept for it.
    #[error("its path is not UTF-8")]
    NoKey,
    /// The host or the store failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl From<StoreError> for ConsentError {
    fn from(error: StoreError) -> Self {
        Self::Host(error.into())
    }
}

impl Host {
    /// The skills of the place, of which at most `limit` are used; a project's as far as `trust` goes.
    pub fn library(&self, limit: SkillLimit, trust: SkillTrust) -> Library {
        let consents = match trust {
            SkillTrust::Approved => ConsentFrom::Records(Arc::new(StoredConsents::new(self))),
            SkillTrust::ThisRun => ConsentFrom::ThisRun,
        };
        let (rules, mode) = (self.rules().clone(), self.mode());
        let denials = Denials::new(move |name| denied(&rules, mode, name));
        Library::new(self.skill_places(), limit).with_consents(consents).with_denials(denials)
    }

    /// Records that a person said yes to what they reviewed; blocks until that is on the disk.
    ///
    /// What was shown is what is approved: where the skill holds something else by now, nothing is recorded. It goes to
    /// the audit log first, so that no consent is in force that the log does not know.
    pub fn approve_skill(&self, review: &Review) -> Result<(), ConsentError> {
        let key = review.key.as_ref().ok_or(ConsentError::NoKey)?;
        if !review.still_holds()? {
            return Err(ConsentError::Changed);
        }
        let store = self.store()?;
        let digest = Digest::from(*review.digest.as_bytes());
        store.append_audit(&[audit(review.document.name.as_str(), digest, Answer::Yes)])?;
        let shown = Record::of(review).to_json();
        let reviewed = Reviewed { digest, shown: &shown, at: now() };
        Ok(store.approve_skill(&self.key(key), &reviewed)?)
    }

    /// Records in the audit log that a person said no; nothing else changes.
    pub fn refuse_skill(&self, review: &Review) -> Result<(), ConsentError> {
        let digest = Digest::from(*review.digest.as_bytes());
        let record = audit(review.document.name.as_str(), digest, Answer::No);
        self.store()?.append_audit(&[record])?;
        Ok(())
    }

    /// Takes an approval back; blocks until that is on the disk.
    pub fn revoke_skill(&self, key: &ConsentKey) -> Result<Removal, HostError> {
        let Some(store) = self.existing_store()? else { return Ok(Removal::Absent) };
        let Some(approval) = store.skill_approval(&self.key(key))? else {
            return Ok(Removal::Absent);
        };
        let removal = store.revoke_skill(&self.key(key))?;
        store.append_audit(&[audit(&key.directory, approval.digest, Answer::Revoked)])?;
        Ok(removal)
    }

    /// What is approved in this workspace, whether it is still there or not, in order of roots and directories.
    pub fn approved_skills(&self) -> Result<Vec<ConsentKey>, HostError> {
        let Some(store) = self.existing_store()? else { return Ok(Vec::new()) };
        let approved = store.approved_skills(&self.workspace.real)?.items;
        let key = |skill: kitbag_store::ApprovedSkill| ConsentKey {
            root: skill.root,
            directory: skill.directory,
        };
        Ok(approved.into_iter().map(key).collect())
    }

    /// When the reviewed skill was approved last, and what changed since.
    pub fn earlier_approval(&self, review: &Review) -> Result<Option<Earlier>, HostError> {
        let (Some(key), Some(store)) = (&review.key, self.existing_store()?) else {
            return Ok(None);
        };
        let Some(approval) = store.skill_approval(&self.key(key))? else { return Ok(None) };
        let record = Record::from_json(&approval.shown);
        let difference = record.map(|record| Difference::between(&record, review));
        Ok(Some(Earlier { at: approval.at, difference }))
    }

    fn key<'a>(&'a self, key: &'a ConsentKey) -> SkillKey<'a> {
        SkillKey { workspace: &self.workspace.real, root: &key.root, directory: &key.directory }
    }
}

/// The rule that denies the skill, whoever asks for it.
fn denied(rules: &RuleSet, mode: Mode, skill: &SkillName) -> Option<String> {
    let action = Action {
        tool: ToolIdentity::Own("Skill".to_owned()),
        shown_as: None,
        subject: Some(Subject::Text(skill.as_str().to_owned())),
        claims: Traits::Trusted,
    };
    let decision = decide(rules, mode, &action);
    match decision.because {
        Because::Rule(rule) | Because::RuleUnanswered(rule) => {
            (decision.verdict == Verdict::Deny).then(|| rule.to_string())
        }
        Because::Mode(_) | Because::TrustedTool | Because::AsksItself | Because::Default => None,
    }
}

#[derive(Clone, Copy)]
enum Answer {
    Yes,
    No,
    Revoked,
}

/// A consent as the log has it: the hash that stands for the arguments is the digest of the skill.
fn audit(skill: &str, digest: Digest, answer: Answer) -> AuditRecord {
    let (decision, tool) = match answer {
        Answer::Yes => (Decision::Approved, "skills approve"),
        Answer::No => (Decision::Refused, "skills approve"),
        Answer::Revoked => (Decision::Refused, "skills approve --revoke"),
    };
    decided(tool, decision, digest, format!("the skill `{skill}` of this workspace"))
}
