//! One skill of a catalogue: what its author wrote, where it was found, and whether it may be used.

use std::path::PathBuf;
use std::sync::Arc;

use crate::catalogue::{Guidance, Listing};
use crate::consent::{Consent, ConsentKey};
use crate::document::Document;
use crate::name::SkillName;
use crate::origin::{Origin, Trust};
use crate::problem::{Problem, Reason};
use crate::substitute::Dialect;

/// A skill as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What its author wrote.
    pub document: Arc<Document>,
    /// Where the strongest root that reaches it came from.
    pub origin: Origin,
    /// The root that reached it, as it was named.
    pub root: PathBuf,
    /// The rank of that root; smaller is stronger.
    pub rank: usize,
    /// Whether it waits for an approval.
    pub trust: Trust,
    /// Whether its owner said yes to it.
    pub consent: Consent,
    /// What an approval of it is kept under, where it needs one and can have one.
    pub consent_key: Option<ConsentKey>,
    /// Every path by which it was reached, the strongest first; the same content elsewhere counts too.
    pub found_at: Vec<PathBuf>,
    /// The frontmatter's name, where the skill answers to it too (decision 1).
    pub alias: Option<String>,
    /// How placeholders in its body are read (decision 8).
    pub dialect: Dialect,
    /// Whether it is used, and if not, why.
    pub status: Status,
}

/// What becomes of a skill that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It answers to its name.
    Used,
    /// A stronger one of the same name is used; this one answers to `origin:name`.
    Shadowed {
        /// `origin:name` of the stronger one.
        by: String,
    },
    /// It waits for an approval (decision 4).
    Withheld,
    /// A permission rule refuses it, to whoever asks.
    Denied {
        /// The rule, with its place.
        by: String,
    },
    /// It cannot be used.
    Invalid {
        /// Why.
        reason: Reason,
        /// The same in a sentence.
        detail: String,
    },
    /// Another one of the same rank bears the name, so neither is used.
    Disputed {
        /// Every directory that bears the name.
        directories: Vec<PathBuf>,
    },
    /// More skills were found than are used.
    OverLimit,
}

impl Status {
    /// The word for it in listings.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Shadowed { .. } => "shadowed",
            Self::Withheld => "withheld",
            Self::Denied { .. } => "denied",
            Self::Invalid { .. } => "invalid",
            Self::Disputed { .. } => "disputed",
            Self::OverLimit => "over-limit",
        }
    }
}

impl Skill {
    /// The name: its directory's.
    pub fn name(&self) -> &SkillName {
        &self.document.name
    }

    /// The description; empty only for a skill that is invalid.
    pub fn description(&self) -> &str {
        self.document.header.description.as_deref().unwrap_or_default()
    }

    /// The name that reaches exactly this skill, such as `user.agents:deploy`.
    pub fn qualified_name(&self) -> String {
        format!("{}:{}", self.origin.label(), self.name())
    }

    /// Whose guidance it is, which a model is told (G-24).
    pub fn guidance(&self) -> Guidance {
        match self.origin {
            Origin::Project { .. } | Origin::Package { .. } => Guidance::Project,
            Origin::Given { .. } | Origin::User { .. } | Origin::Bundled => Guidance::User,
        }
    }

    /// What the catalogue says of it; `attached` tells whether one of its globs matches an open file.
    pub fn listing(&self, attached: bool) -> Listing<'_> {
        let header = &self.document.header;
        Listing {
            name: self.name().as_str(),
            description: self.description(),
            when_to_use: header.when_to_use.as_deref(),
            hint: header.argument_hint.as_deref(),
            attached,
            bundled: self.origin == Origin::Bundled,
            guidance: self.guidance(),
        }
    }

    /// Whether it may be sent and read: in use, or shadowed and asked for by its qualified name.
    pub fn is_reachable(&self) -> bool {
        matches!(self.status, Status::Used | Status::Shadowed { .. })
    }

    /// What is wrong with it.
    pub fn problems(&self) -> &[Problem] {
        &self.document.problems
    }
}
