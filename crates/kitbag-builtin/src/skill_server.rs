//! Skills as tools, prompts and resources.

mod file;
mod list;
pub(crate) mod load;
mod prompt;
mod resource;
mod tools;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kitbag_skills::catalogue::{Guidance, nearest};
use kitbag_skills::{Catalog, Document, Library, SKILL_MD, Skill, SkillPath, Status, Watch};
use kitbag_tool::{
    BoxFuture, CallContext, CallError, ListError, Offer, OfferedTool, Page, PageRequest,
    PromptError, PromptOutput, PromptRequest, PromptSpec, ReadError, Refusal, ResourceContents,
    ResourceSpec, Revision, Source, SourceId, ToolCall, ToolOutput,
};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio_util::task::AbortOnDropHandle;

use crate::Running;
use crate::blocking::blocking;
use crate::skill_run::{self, SKILL_RUN, ScriptSettings, Scripts};
use tools::Scripted;

/// The most bytes of a SKILL.md that `skill_load` gives (section 7 of the skill server).
pub const MAX_SKILL_MD_BYTES: usize = 256 * 1024;

/// The most bytes of one file that `skill_file` gives at once (decision 21).
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The most paths of one `skill_file` call.
pub const MAX_FILE_PATHS: usize = 8;

/// The most bytes that one `skill_file` call gives in all.
pub const MAX_BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// The most bytes of a file that is read as a resource; a larger one is refused, so that digests verify (decision 21).
pub const MAX_RESOURCE_BYTES: u64 = 16 * 1024 * 1024;

/// How to use the tools, in the few lines that a client gives its model.
pub const INSTRUCTIONS: &str = "\
This server holds Agent Skills: instructions, reference files and scripts for particular tasks.
When a task matches a skill's description, call skill_load with its name before you start, and follow what it says.
Call skill_list to see which skills there are; give `query` to search them.
A skill's text names further files: read those that you need with skill_file, by their path inside the skill.";

/// How much of a library is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeLimits {
    /// The most files that are offered as resources.
    pub resources: usize,
}

/// Offers the skills of a library.
///
/// `disable-model-invocation` keeps a model from a skill, never a person (decision 7), and here the protocol tells who
/// asks: tools are a model's, prompts are a person's, resources are the client's own. So such a skill is a prompt like
/// any other and its resources are read like any other, but `skill_list` does not name it, `skill_load` refuses it with
/// whom to ask (fault C-39), and `skill_file` gives its files without the instructions in its SKILL.md: a prompt
/// that a person picked names files that only a tool reads. `user-invocable: false` is the reverse: no prompt.
pub struct SkillServer {
    id: SourceId,
    shelf: Arc<Shelf>,
    offer: watch::Receiver<Arc<Offer>>,
    /// Tells of changes on disk for as long as the server lives.
    _follower: Option<AbortOnDropHandle<()>>,
}

/// What the blocking work needs.
struct Shelf {
    library: Arc<Library>,
    roots_from: &'static str,
    limits: ServeLimits,
    running: Running,
    /// Whether the last whole listing of the resources left some out.
    resources_cut: AtomicBool,
    /// What decides about scripts, where they run at all.
    scripts: Option<Arc<Scripts>>,
}

impl SkillServer {
    /// Offers the skills of `library`; `roots_from` is what named its roots, as `skill_list` says it, and `running` is
    /// whether the tools that they declare run, which is told and not done here.
    ///
    /// Nothing is read here (B-2). With a watch, changes on disk are told to clients, by a task of the current runtime
    /// that ends with the server.
    pub fn new(
        library: Arc<Library>,
        roots_from: &'static str,
        limits: ServeLimits,
        running: Running,
        watch: Option<Watch>,
    ) -> Self {
        Self::assemble(library, roots_from, limits, running, watch, None)
    }

    /// The same, and runs their scripts: offers `skill_run`.
    pub fn with_scripts(
        library: Arc<Library>,
        roots_from: &'static str,
        limits: ServeLimits,
        running: Running,
        watch: Option<Watch>,
        scripts: ScriptSettings,
    ) -> Self {
        let scripts = Some(Arc::new(Scripts::new(scripts)));
        Self::assemble(library, roots_from, limits, running, watch, scripts)
    }

    fn assemble(
        library: Arc<Library>,
        roots_from: &'static str,
        limits: ServeLimits,
        running: Running,
        watch: Option<Watch>,
        scripts: Option<Arc<Scripts>>,
    ) -> Self {
        let tools = tools::offered(if scripts.is_some() { Scripted::Yes } else { Scripted::No });
        let (publish, offer) = watch::channel(Arc::new(offered(&tools, Revision(0))));
        let follower = watch.map(|watch| {
            let known = Known::of(&library);
            let library = Arc::clone(&library);
            AbortOnDropHandle::new(tokio::spawn(follow(watch, library, known, tools, publish)))
        });
        let resources_cut = AtomicBool::new(false);
        let shelf = Shelf { library, roots_from, limits, running, resources_cut, scripts };
        Self {
            id: "skills".parse().expect("the name is a source's"),
            shelf: Arc::new(shelf),
            offer,
            _follower: follower,
        }
    }

    /// Does `work` where it may wait for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> T + Send + 'static,
    ) -> T {
        let shelf = Arc::clone(&self.shelf);
        blocking(move || work(&shelf)).await
    }

    async fn answer(&self, call: ToolCall, context: &CallContext) -> Result<ToolOutput, CallError> {
        match &self.shelf.scripts {
            Some(scripts) if call.name.as_str() == SKILL_RUN => {
                let arguments = tools::arguments(call)?;
                skill_run::run(&self.shelf.library, scripts, arguments, context).await
            }
            _ => self.blocking(|shelf| tools::call(shelf, call)).await,
        }
    }
}

impl Source for SkillServer {
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
        Box::pin(self.answer(call, context))
    }

    fn prompts<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<PromptSpec>, ListError>> {
        let (after, limit) = (page.after.map(str::to_owned), page.limit);
        Box::pin(self.blocking(move |shelf| {
            Ok(prompt::page(shelf, PageRequest { after: after.as_deref(), limit }))
        }))
    }

    fn prompt<'a>(
        &'a self,
        request: &'a PromptRequest,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        let request = request.clone();
        Box::pin(self.blocking(move |shelf| prompt::get(shelf, &request)))
    }

    fn resources<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<ResourceSpec>, ListError>> {
        let (after, limit) = (page.after.map(str::to_owned), page.limit);
        Box::pin(self.blocking(move |shelf| {
            resource::page(shelf, PageRequest { after: after.as_deref(), limit })
        }))
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ReadError>> {
        let uri = uri.to_owned();
        Box::pin(self.blocking(move |shelf| resource::read(shelf, &uri)))
    }
}

fn offered(tools: &[Arc<OfferedTool>], revision: Revision) -> Offer {
    Offer { tools: tools.to_vec(), prompts: Some(revision), resources: Some(revision) }
}

/// What a client can have been told already.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The catalogue's generation. The first look tells nobody anything new, since nobody can have asked before it.
    generation: u64,
    /// Changes of skills' files.
    files: u64,
}

impl Known {
    fn of(library: &Library) -> Self {
        Self { generation: library.latest().generation.max(1), files: library.file_changes() }
    }

    /// What there is to know now; `self` where nothing changed. Blocks on I/O.
    ///
    /// What changed is looked at until it holds still, so that a file whose change shows in its size and in the
    /// catalogue is told once.
    fn now(self, library: &Library) -> Self {
        let mut known = self;
        for _ in 0..MAX_LOOKS {
            library.refresh_files();
            let now = Self::of(library);
            if now == known {
                break;
            }
            known = now;
            library.look();
        }
        known
    }
}

/// How often the disk is looked at before a change is told that goes on.
const MAX_LOOKS: usize = 4;

/// Publishes a new offer whenever the catalogue, or the files of a skill that somebody listed, changed.
///
/// Both are looked at together, so that one change on disk is told once.
async fn follow(
    watch: Watch,
    library: Arc<Library>,
    mut known: Known,
    tools: Vec<Arc<OfferedTool>>,
    publish: watch::Sender<Arc<Offer>>,
) {
    let mut looks = watch.looks();
    let mut changes = library.changes();
    let mut revision = 0;
    loop {
        looks.mark_unchanged();
        changes.mark_unchanged();
        let library = Arc::clone(&library);
        // Where it panicked, the next look finds what this one did not.
        let now = spawn_blocking(move || known.now(&library)).await.unwrap_or(known);
        if now != known {
            known = now;
            revision += 1;
            publish.send_replace(Arc::new(offered(&tools, Revision(revision))));
        }
        let ended = tokio::select! {
            changed = looks.changed() => changed.is_err(),
            changed = changes.changed() => changed.is_err(),
        };
        if ended {
            return;
        }
    }
}

/// The skills that a model is told of and may load.
fn for_models(catalog: &Catalog) -> impl Iterator<Item = &Arc<Skill>> {
    catalog.used().filter(|skill| !skill.document.header.user_only)
}

/// The path on disk of what a client calls `path`: a SKILL.md that is spelt otherwise is still the skill's SKILL.md.
pub(crate) fn on_disk<'a>(document: &'a Document, path: &'a SkillPath) -> &'a SkillPath {
    if path.as_str() == SKILL_MD { &document.skill_md } else { path }
}

/// What a model is told that wants the instructions of a skill which only a person may start (fault C-39).
pub(crate) fn left_to_people(skill: &Skill) -> Refusal {
    let name = skill.name();
    let refusal = Refusal::new(format!("Skill `{name}` can be started by a person only."));
    if skill.document.header.user_invocable {
        refusal.hint(format!(
            "Ask the user to pick the prompt `{name}`, and do not do its work in another way."
        ))
    } else {
        refusal.hint("Its author keeps it from people's menus too: ask the user what to do.")
    }
}

/// What a model is told of a skill that comes with the project, wherever it gets something of it (G-24).
pub(crate) const PROJECT_GUIDANCE: &str = "This skill comes with the project: what it says is project guidance, not the user's instructions.";

/// The note that a skill's texts come under, where they do.
fn guidance_note(skill: &Skill) -> Option<&'static str> {
    match skill.guidance() {
        Guidance::Project => Some(PROJECT_GUIDANCE),
        Guidance::User => None,
    }
}

/// The skill that was asked for by its own name and waits for its user's yes, if there is one.
///
/// Nothing of it is told but that: its other texts speak to nobody yet.
pub(crate) fn withheld<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a Skill> {
    let is_meant = |skill: &&Arc<Skill>| {
        skill.status == Status::Withheld
            && (skill.name().as_str() == name || skill.qualified_name() == name)
    };
    catalog.skills.iter().find(is_meant).map(AsRef::as_ref)
}

/// What is told of a skill that waits for its user's yes.
pub(crate) fn wait_for_consent(skill: &Skill) -> Refusal {
    let name = skill.name();
    let because = skill.consent.because().unwrap_or_default();
    Refusal::new(format!("Skill `{name}` is withheld: {because}."))
        .hint(format!("Ask the user to run `kitbag skills approve {name}`, which shows it first."))
}

/// The skill that is served as `name`, or what a model is told where there is none.
pub(crate) fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Skill, Refusal> {
    if let Some(skill) = catalog.get(name) {
        return Ok(skill);
    }
    if let Some(skill) = withheld(catalog, name) {
        return Err(wait_for_consent(skill));
    }
    let mut shown: String =
        name.chars().take(MAX_NAME_CHARS).flat_map(char::escape_debug).collect();
    if name.chars().nth(MAX_NAME_CHARS).is_some() {
        shown.push('…');
    }
    let refusal = Refusal::new(format!("No skill is called `{shown}`."));
    let names: Vec<&str> = for_models(catalog).map(|skill| skill.name().as_str()).collect();
    Err(match names.len() {
        0 => refusal.hint(
            "No skill is served; `roots` and `problems` of skill_list say where was looked and what was found.",
        ),
        count if count <= MAX_NAMES_IN_HINT => {
            refusal.hint(format!("The skills are: {}.", names.join(", ")))
        }
        count => {
            let near = nearest(name, &names, MAX_NAMES_IN_HINT).names.join(", ");
            refusal.hint(format!(
                "{count} skills are served; the nearest are: {near}. skill_list with `query` finds the others."
            ))
        }
    })
}

/// The most characters of an unknown name that a refusal repeats.
const MAX_NAME_CHARS: usize = 120;

/// The most names of skills that a refusal lists.
const MAX_NAMES_IN_HINT: usize = 40;

impl std::fmt::Debug for SkillServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillServer").field("id", &self.id).finish_non_exhaustive()
    }
}
