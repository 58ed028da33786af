//! One look's verdicts on the skills that need an approval, and what of them still holds at the next.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use super::{Approvals, Consent, ConsentFrom, ConsentKey};
use crate::digest::Digest;
use crate::document::{Document, load_sealed};
use crate::origin::Trust;
use crate::seal::Seal;
use crate::skill::Skill;

/// What was found of skills that have an approval.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    approvals: Option<Arc<Approvals>>,
    /// By real directory.
    judged: HashMap<PathBuf, Judged>,
}

/// What was found of one folder.
#[derive(Debug)]
enum Judged {
    /// It is sealed; where that is what was approved, this is its document.
    Sealed { seal: Arc<Seal>, document: Option<Arc<Document>> },
    /// It could not be sealed, so it is tried again at every look.
    Unclear,
}

impl Judge {
    /// Takes the approvals as they are now; tells whether every verdict of the last look still holds.
    pub(crate) fn begin(&mut self, approvals: Option<Arc<Approvals>>) -> bool {
        let same = self.approvals == approvals;
        self.approvals = approvals;
        same && self.is_current()
    }

    fn is_current(&self) -> bool {
        /// Fewer are not worth a thread.
        const SHARE: usize = 256;
        let judged: Vec<&Judged> = self.judged.values().collect();
        let current = |part: &[&Judged]| part.iter().all(|judged| judged.is_current());
        let (here, there) = judged.split_at(judged.len() / 2);
        if here.len() < SHARE {
            return current(here) && current(there);
        }
        thread::scope(|scope| {
            let there = scope.spawn(|| current(there));
            current(here) & there.join().unwrap_or(false)
        })
    }

    /// Decides of every skill; an approved one gets the document that is made of what was approved.
    pub(crate) fn judge(&mut self, skills: &mut [Skill], from: &ConsentFrom) {
        let mut before = std::mem::take(&mut self.judged);
        let mut roots = HashMap::new();
        for skill in skills {
            if skill.trust == Trust::NeedsApproval {
                skill.consent_key = key(skill, &mut roots);
            }
            skill.consent = match (skill.trust, from) {
                (Trust::Trusted, _) => Consent::NotNeeded,
                (Trust::NeedsApproval, ConsentFrom::ThisRun) => Consent::ThisRun,
                (Trust::NeedsApproval, ConsentFrom::Nobody) => Consent::Missing,
                (Trust::NeedsApproval, ConsentFrom::Records(_)) => {
                    let approvals = self.approvals.as_ref();
                    let approved = skill
                        .consent_key
                        .as_ref()
                        .and_then(|key| approvals.and_then(|all| all.digests.get(key).copied()));
                    match (approved, skill.document.folder.directory()) {
                        (Some(approved), Some(directory)) => {
                            let directory = directory.to_owned();
                            let judged = before.remove(&directory);
                            let (judged, consent) = verdict(skill, &directory, approved, judged);
                            self.judged.insert(directory, judged);
                            consent
                        }
                        _ => Consent::Missing,
                    }
                }
            };
        }
    }

    /// The directories of the approved skills: a change in any of them withdraws one.
    pub(crate) fn directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let approved = self.judged.values().filter_map(|judged| match judged {
            Judged::Sealed { seal, document: Some(_) } => Some(seal),
            Judged::Sealed { document: None, .. } | Judged::Unclear => None,
        });
        approved.flat_map(|seal| seal.directories())
    }
}

impl Judged {
    fn is_current(&self) -> bool {
        match self {
            Self::Sealed { seal, .. } => seal.is_current(),
            Self::Unclear => false,
        }
    }
}

/// The verdict on a skill that has an approval; `before` is that of the last look.
fn verdict(
    skill: &mut Skill,
    directory: &Path,
    approved: Digest,
    before: Option<Judged>,
) -> (Judged, Consent) {
    let (seal, document) = match before {
        Some(Judged::Sealed { seal, document }) if seal.is_current() => (seal, document),
        before => {
            let earlier = match &before {
                Some(Judged::Sealed { seal, .. }) => Some(&**seal),
                Some(Judged::Unclear) | None => None,
            };
            match Seal::of(directory, skill.name(), earlier) {
                Ok(seal) => (Arc::new(seal), None),
                Err(error) => {
                    return (Judged::Unclear, Consent::Unclear { why: error.to_string() });
                }
            }
        }
    };
    if seal.digest() != approved {
        return (Judged::Sealed { seal, document: None }, Consent::Changed);
    }
    let document = match document {
        Some(document) => document,
        None => match load_sealed(&seal, &skill.document) {
            Ok(document) => Arc::new(document),
            Err(error) => return (Judged::Unclear, Consent::Unclear { why: error.to_string() }),
        },
    };
    skill.document = Arc::clone(&document);
    (Judged::Sealed { seal, document: Some(document) }, Consent::Approved)
}

/// What an approval of the skill is kept under; none where its path is no text.
///
/// A skill that is reached by a link bears the name of the folder behind it, so that name belongs to the key: a link put
/// where an approved skill lay does not pass its approval on to another name.
fn key(skill: &Skill, roots: &mut HashMap<PathBuf, Option<PathBuf>>) -> Option<ConsentKey> {
    let path = skill.found_at.first()?;
    let mut directory = path.strip_prefix(&skill.root).ok()?.to_str()?.to_owned();
    let name = skill.name().as_str();
    if path.file_name().is_none_or(|last| last != name) {
        directory = format!("{directory} -> {name}");
    }
    let root = roots
        .entry(skill.root.clone())
        .or_insert_with(|| fs::canonicalize(&skill.root).ok())
        .clone()?;
    Some(ConsentKey { root, directory })
}
