//! The tools that skills declare in their `kitbag.toml`, run as processes (`docs/reference/handler.md`).

mod answer;
mod call;
mod command;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use kitbag_skills::{GivenBy, Library, Origin, Skill, Trust};
use kitbag_tool::{
    BoxFuture, CallContext, CallError, Offer, OfferedTool, Refusal, Source, SourceId, ToolCall,
    ToolOutput,
};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::interpreters::Interpreters;
use table::Tables;
pub(crate) use table::wire_name;
pub use table::{DeclaredTool, declared_tools};

/// How many handlers run at a time; further calls wait, and the wait counts as their time.
pub const MAX_RUNNING_HANDLERS: usize = 8;

/// Why handlers do not run where no person started them.
pub const NOT_IN_A_SANDBOX: &str =
    "it runs only by `kitbag run` at a terminal, since nothing confines it";

/// Whether the tools that skills declare are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Running {
    /// Those of the person's own skills, since that person typed the command: skills in their home, and those that the
    /// command line or their settings name. Not what a project or a package brings, approved or not.
    ForPerson,
    /// None.
    Unavailable {
        /// Why, as the end of a sentence about one tool.
        reason: String,
    },
}

/// Looks up an environment variable by its name.
pub type Variables = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// What handlers get of this machine.
#[derive(Clone)]
pub struct Machine {
    /// What is looked up: `PATH`, where interpreters are found, the few that say language and time zone,
    /// and those that a tool declares.
    pub variable: Arc<Variables>,
    /// The directory in which each call gets a folder of its own while it lasts.
    pub scratch: PathBuf,
}

/// Offers each tool that a used skill declares, as `SKILL__TOOL` (decision 16).
///
/// A tool that does not run here is in no list, so that no model wastes a call on it; `skill_load` and `skill_list` say
/// why it does not run, and so does a call of it.
pub struct SkillTools {
    id: SourceId,
    shelf: Arc<Shelf>,
    offer: watch::Receiver<Arc<Offer>>,
    /// The calls that run, each of which ends its process before it ends.
    calls: TaskTracker,
    _follower: AbortOnDropHandle<()>,
}

/// What calls need.
struct Shelf {
    library: Arc<Library>,
    running: Running,
    machine: Machine,
    interpreters: Interpreters,
    tables: Tables,
    permits: Semaphore,
}

impl Running {
    /// No handler runs, for want of a sandbox.
    pub fn without_sandbox() -> Self {
        Self::Unavailable { reason: NOT_IN_A_SANDBOX.to_owned() }
    }

    /// Why the tools of `skill` do not run here; none where they do.
    pub fn why_not(&self, skill: &Skill) -> Option<&str> {
        match self {
            Self::Unavailable { reason } => Some(reason),
            Self::ForPerson if is_own(skill) => None,
            Self::ForPerson => {
                Some("only tools of your own skills run while nothing confines them")
            }
        }
    }
}

/// Whether the person put the skill there, or named it.
fn is_own(skill: &Skill) -> bool {
    let own = match &skill.origin {
        Origin::User { .. } | Origin::Given { by: GivenBy::CommandLine | GivenBy::Settings } => {
            true
        }
        Origin::Given { by: GivenBy::Variable }
        | Origin::Project { .. }
        | Origin::Package { .. }
        | Origin::Bundled => false,
    };
    own && skill.trust == Trust::Trusted
}

impl SkillTools {
    /// Offers the tools of the skills of `library`; at first those that its last look found.
    ///
    /// Nothing is read here (B-2). Whenever a look finds another catalogue the offer follows, by a task of the current
    /// runtime that ends with the source.
    pub fn new(library: Arc<Library>, running: Running, machine: Machine) -> Self {
        let mut changes = library.changes();
        let latest = changes.borrow_and_update().clone();
        let shelf = Arc::new(Shelf {
            interpreters: Interpreters::on((machine.variable)("PATH")),
            tables: Tables::default(),
            permits: Semaphore::new(MAX_RUNNING_HANDLERS),
            library,
            running,
            machine,
        });
        let (publish, offer) = watch::channel(Arc::new(shelf.offer(&shelf.tables.of(&latest))));
        let follower = {
            let shelf = Arc::clone(&shelf);
            tokio::spawn(async move {
                while changes.changed().await.is_ok() {
                    let catalog = changes.borrow_and_update().clone();
                    let offer = Arc::new(shelf.offer(&shelf.tables.of(&catalog)));
                    publish.send_if_modified(|latest| {
                        let is_other = **latest != *offer;
                        *latest = offer;
                        is_other
                    });
                }
            })
        };
        Self {
            id: "skill-tools".parse().expect("the name is a source's"),
            shelf,
            offer,
            calls: TaskTracker::new(),
            _follower: AbortOnDropHandle::new(follower),
        }
    }

    /// Waits until no handler runs: also those whose calls were given up, which have a moment to end by themselves.
    pub async fn idle(&self) {
        self.calls.close();
        self.calls.wait().await;
        self.calls.reopen();
    }
}

impl Shelf {
    fn offer(&self, table: &table::Table) -> Offer {
        let offered = |entry: &Arc<table::Entry>| {
            let (skill, tool) = (entry.skill.name().as_str(), &entry.declared().name);
            let offered = OfferedTool::of_skill(Arc::clone(&entry.spec), skill, tool);
            Arc::new(match self.running.why_not(&entry.skill) {
                None => offered,
                Some(why) => offered.unavailable(entry.refusal(Refusal::new(format!("{why}.")))),
            })
        };
        let tools = table.entries().map(offered).collect();
        Offer { tools, ..Offer::default() }
    }
}

impl Source for SkillTools {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn offer(&self) -> watch::Receiver<Arc<Offer>> {
        self.offer.clone()
    }

    fn call<'a>(
        &'a self,
        call: ToolCall,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, CallError>> {
        Box::pin(async move {
            let stop = CancellationToken::new();
            // Where this future is dropped, the task goes on until its process is gone.
            let _stop = stop.clone().drop_guard();
            let work = call::answer(
                Arc::clone(&self.shelf),
                call,
                call::Conditions {
                    stop,
                    deadline: context.deadline,
                    progress: context.progress.clone(),
                    principal: context.principal.clone(),
                },
            );
            match self.calls.spawn(work).await {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime is shutting down: nobody waits for the answer any more.
                    Err(_cancelled) => std::future::pending().await,
                },
            }
        })
    }
}

impl std::fmt::Debug for SkillTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillTools").field("id", &self.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Machine {
    /// Leaves out the environment.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("scratch", &self.scratch).finish_non_exhaustive()
    }
}
