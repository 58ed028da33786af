//! Running the scripts that skills declare: the tool `skill_run`, and all that decides before one starts.
//!
//! What a script may do is its declaration, narrowed by the grant, shown before it runs, and enforced by a
//! [`ScriptRunner`], without which nothing runs. A run goes these ways, and each can end it: the skill is looked up;
//! the script must be declared, granted, of an interpreter that is here, a file of the skill, and ask for nothing that
//! is not given; somebody says yes to a preview that holds the digest of the whole skill; a place becomes free; the
//! skill is copied, and the copy must have that digest; a token, if there was one, is spent; the copy runs.

mod access;
mod confirm;
mod environment;
mod folder;
mod grant;
mod plan;
mod port;
mod receipt;
mod run;
mod slots;
mod spent;
mod token;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use crate::interpreters::Interpreters;

pub use access::RunPlaces;
pub use confirm::{ConfirmValues, Confirmation, DEFAULT_TTL, NoRandomness};
pub use grant::{Grant, GrantFrom, Hosting, MAX_GRANT_BYTES, MAX_GRANT_ROWS};
pub use port::{
    Access, Captured, Ended, Finished, MAX_STREAM_BYTES, PreparedRun, ProgressLines, RunFailure,
    ScriptRunner,
};
pub use slots::{DEFAULT_RUNS, DEFAULT_WAITING};

pub(crate) use confirm::SKILL_RUN;
pub(crate) use grant::VARIABLE as GRANT_VARIABLE;
pub(crate) use plan::{Standing, millis, standing};
pub(crate) use run::run;

/// Everything that decides about scripts, given by whoever knows this process and its user.
pub struct ScriptSettings {
    /// What runs them.
    pub runner: Arc<dyn ScriptRunner>,
    /// Which of the declared ones may run.
    pub grant: Grant,
    /// Whether the server runs for others.
    pub hosting: Hosting,
    /// Whether what the process was started with can still be read by what it starts.
    pub scrub: Scrub,
    /// What follows where it can.
    pub unscrubbed: Unscrubbed,
    /// Who says yes.
    pub confirmation: Confirmation,
    /// The variables of the server, of which scripts get a few; `PATH` also says where interpreters are.
    pub environment: BTreeMap<String, OsString>,
    /// The places that declarations can speak of.
    pub places: RunPlaces,
    /// How many run at once; at least one.
    pub runs: usize,
    /// How many more may wait.
    pub waiting: usize,
}

/// What became of the environment that the process was started with (section 5 of the skill server's promises).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scrub {
    /// There is nothing to wipe on this system.
    Unsupported,
    /// It was wiped.
    Scrubbed,
    /// It was not.
    Failed {
        /// Why, in a clause.
        reason: String,
    },
}

/// Whether a hosted server runs scripts though the environment could not be wiped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unscrubbed {
    /// It does not.
    Refuse,
    /// Whoever runs it said so (`MCP_SKILL_ALLOW_UNSCRUBBED`).
    Allow,
}

/// The settings, made ready.
pub(crate) struct Scripts {
    runner: Arc<dyn ScriptRunner>,
    pub(crate) grant: Grant,
    pub(crate) hosting: Hosting,
    pub(crate) scrub: Scrub,
    unscrubbed: Unscrubbed,
    confirmation: Confirmation,
    environment: BTreeMap<String, OsString>,
    places: RunPlaces,
    interpreters: Interpreters,
    slots: slots::Slots,
}

impl Scripts {
    pub(crate) fn new(settings: ScriptSettings) -> Self {
        let ScriptSettings {
            runner,
            grant,
            hosting,
            scrub,
            unscrubbed,
            confirmation,
            environment,
            places,
            runs,
            waiting,
        } = settings;
        let interpreters = Interpreters::on(environment.get("PATH").cloned());
        let slots = slots::Slots::new(runs, waiting);
        Self {
            runner,
            grant,
            hosting,
            scrub,
            unscrubbed,
            confirmation,
            environment,
            places,
            interpreters,
            slots,
        }
    }

    /// Whether scripts are held back because the environment could not be wiped (K-44).
    fn refuses_unscrubbed(&self) -> bool {
        matches!(self.scrub, Scrub::Failed { .. })
            && self.hosting == Hosting::Hosted
            && self.unscrubbed == Unscrubbed::Refuse
    }
}

impl Scrub {
    /// The word for it in `skill_list`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Scrubbed => "scrubbed",
            Self::Failed { .. } => "failed",
        }
    }
}

impl std::fmt::Debug for ScriptSettings {
    /// Without the environment: its values are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptSettings")
            .field("grant", &self.grant)
            .field("hosting", &self.hosting)
            .field("scrub", &self.scrub)
            .field("confirmation", &self.confirmation)
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}
