//! Rules from all layers, compiled once.

mod index;
mod problem;

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::action::{Action, SubjectKind};
use crate::rule::Rule;

use index::Index;
pub use problem::{RuleProblem, Severity};

/// The most rules of a set; past it rules that allow are not taken.
///
/// Those that deny or ask are, since leaving one out would grant something.
pub const MAX_RULES: usize = 10_000;

/// The most bytes of a subject that is compared with rules.
///
/// With a longer one, every rule that denies or asks and has a subject hits, and none that allows does.
pub const MAX_SUBJECT_BYTES: usize = 1024 * 1024;

/// Where a rule comes from, weakest first. Deny wins from every layer; the order only says which rule is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// What kitbag brings.
    Default,
    /// `.kitbag/settings.json`; its rules that allow count once the workspace is trusted.
    Project,
    /// `.kitbag/settings.local.json`, a project file in every respect.
    ProjectLocal,
    /// `~/.kitbag/settings.json`.
    User,
    /// An environment variable.
    Environment,
    /// The command line.
    Flags,
    /// What was granted during the session.
    Session,
}

/// The exact place of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A line of a file.
    File {
        /// The file, as people know it.
        path: String,
        /// The line, from 1.
        line: u32,
    },
    /// A flag or an environment variable, by name.
    Named(String),
    /// Granted at a question.
    Granted,
}

/// What a rule does to the calls that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// They are refused, whatever else is said.
    Deny,
    /// They are asked about, even where a rule or the mode would let them run.
    Ask,
    /// They run.
    Allow,
}

/// One rule of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The layer.
    pub layer: Layer,
    /// The exact place.
    pub origin: Origin,
    /// What it does.
    pub effect: Effect,
    /// The rule.
    pub rule: Rule,
}

/// One of our own tools, so that a rule's subject can be checked and a misspelt name be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its calls work on.
    pub subject: Option<SubjectKind>,
}

/// Whether the owner said yes to the workspace's own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceTrust {
    /// Its rules count like the user's.
    Trusted,
    /// It may deny and ask, and its rules that allow do not count.
    Untrusted,
}

/// Why a rule that allows does not count for a call although it speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNot {
    /// It stands in a project file of a workspace that is not trusted.
    UntrustedWorkspace,
    /// Its text can be read as more than one tool.
    SeveralReadings,
    /// It was written for the shown name, which is not the exact one.
    ShownName,
    /// The command is not, or not for sure, that one command which the rule names.
    CompoundCommand,
    /// The path or where its links lead is not what the rule names.
    OtherPath,
    /// The rule and the subject cannot be compared.
    NotComparable,
}

/// How well a rule fits a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Under the strictest reading.
    Whole,
    /// Under some reading: enough to deny or ask, not to allow.
    Partial(WhyNot),
}

/// Every rule that counts, with an index by tool.
#[derive(Debug, Clone)]
pub struct RuleSet {
    entries: Vec<Entry>,
    index: Index,
    known: Vec<(String, Option<SubjectKind>)>,
    trust: WorkspaceTrust,
}

impl RuleSet {
    /// Compiles the rules.
    ///
    /// A problem of [`Severity::Error`] is a rule that cannot work, and should stop a start. The set stays safe to use all
    /// the same: such a rule hits every call of its tool if it denies or asks, and none if it allows.
    pub fn build(
        rules: impl IntoIterator<Item = Entry>,
        known: &[KnownTool<'_>],
        trust: WorkspaceTrust,
    ) -> (Self, Vec<RuleProblem>) {
        let known = known.iter().map(|tool| (tool.name.to_owned(), tool.subject)).collect();
        Self::compile(rules.into_iter().collect(), known, trust)
    }

    /// A set without rules.
    pub fn empty() -> Self {
        Self::compile(Vec::new(), Vec::new(), WorkspaceTrust::Trusted).0
    }

    fn compile(
        mut entries: Vec<Entry>,
        known: Vec<(String, Option<SubjectKind>)>,
        trust: WorkspaceTrust,
    ) -> (Self, Vec<RuleProblem>) {
        // Stable, so that within a layer the order is the one in which the rules were given.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.layer));
        let mut problems = Vec::new();
        if entries.len() > MAX_RULES {
            let mut count = 0;
            entries.retain(|entry| {
                count += 1;
                let kept = count <= MAX_RULES || entry.effect != Effect::Allow;
                if !kept && problems.is_empty() {
                    problems.push(RuleProblem::too_many(entry));
                }
                kept
            });
        }
        let kinds: HashMap<&str, Option<SubjectKind>> =
            known.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let index = Index::build(&entries, &kinds, &mut problems);
        problem::readings(&entries, &mut problems);
        problems.sort_by(|one, other| one.rank().cmp(&other.rank()));
        (Self { entries, index, known, trust }, problems)
    }

    /// The same set with one more rule that allows, granted at a question.
    #[must_use]
    pub fn granting(&self, rule: Rule) -> Self {
        let granted =
            Entry { layer: Layer::Session, origin: Origin::Granted, effect: Effect::Allow, rule };
        let entries = self.entries.iter().cloned().chain([granted]).collect();
        Self::compile(entries, self.known.clone(), self.trust).0
    }

    /// The rules, strongest layer first; what was left out past [`MAX_RULES`] is not among them.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The rule that denies every call of the tool, whatever it works on.
    ///
    /// `action` names the tool and the name it is shown by; its subject is not looked at.
    pub fn denies_all(&self, action: &Action) -> Option<&Entry> {
        let mut found = Vec::new();
        self.index.find_whole(action, &mut found);
        let denies = |&id: &usize| self.entries[id].effect == Effect::Deny;
        found.into_iter().map(|(id, _)| id).filter(denies).min().map(|id| &self.entries[id])
    }

    /// Whether a rule that allows, and counts, speaks of some call of the tool.
    pub(crate) fn may_allow(&self, action: &Action) -> bool {
        let mut found = Vec::new();
        self.index.find_whole(action, &mut found);
        self.index.find_subjects(action, &mut found);
        found
            .into_iter()
            .map(|(id, fit)| self.judge(id, fit))
            .any(|(entry, fit)| entry.effect == Effect::Allow && fit == Fit::Whole)
    }

    /// Whether a tool of ours was declared as one whose calls have no subject.
    pub(crate) fn has_no_subject(&self, tool: &str) -> bool {
        self.known.iter().any(|(name, kind)| name == tool && kind.is_none())
    }

    /// Every rule that speaks of the call, strongest layer first, and how well it fits.
    pub(crate) fn hits(&self, action: &Action) -> Vec<(&Entry, Fit)> {
        let mut found = Vec::new();
        self.index.find(action, &mut found);
        // A rule may be found in more than one way; the best counts.
        found.sort_by_key(|&(id, fit)| (id, fit != Fit::Whole));
        found.dedup_by_key(|&mut (id, _)| id);
        found.into_iter().map(|(id, fit)| self.judge(id, fit)).collect()
    }

    fn judge(&self, id: usize, fit: Fit) -> (&Entry, Fit) {
        let entry = &self.entries[id];
        let project = matches!(entry.layer, Layer::Project | Layer::ProjectLocal);
        let withheld = project && self.trust == WorkspaceTrust::Untrusted;
        if withheld && entry.effect == Effect::Allow {
            return (entry, Fit::Partial(WhyNot::UntrustedWorkspace));
        }
        (entry, fit)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Named(name) => f.write_str(name),
            Self::Granted => f.write_str("granted in this session"),
        }
    }
}

impl Effect {
    /// The key of settings that holds such rules: `deny`, `ask` or `allow`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

impl Layer {
    /// The name of the layer, such as `project-local`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Project => "project",
            Self::ProjectLocal => "project-local",
            Self::User => "user",
            Self::Environment => "environment",
            Self::Flags => "flags",
            Self::Session => "session",
        }
    }
}

impl fmt::Display for Entry {
    /// Writes `deny Bash(rm:*) (user, ~/.kitbag/settings.json:7)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} ({}, {})",
            self.effect.as_str(),
            self.rule,
            self.layer.as_str(),
            self.origin
        )
    }
}
