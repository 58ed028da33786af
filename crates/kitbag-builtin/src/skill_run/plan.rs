//! What a call of `skill_run` would do, checked to the last point before it is done.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kitbag_skills::declaration::{MAX_ARGUMENT_BYTES, MAX_ARGUMENTS, Script};
use kitbag_skills::{Digest, Document, Library, Manifest, Skill, SkillName, SkillPath};
use kitbag_tool::Refusal;
use serde::Serialize;

use super::access::{Allowed, allowed};
use super::environment::RunEnvironment;
use super::folder::RunFolder;
use super::grant::{GrantFrom, VARIABLE, shown};
use super::port::{Access, PreparedRun, RunFailure};
use super::{Scripts, Scrub};

/// The most names that a hint lists.
const MAX_NAMES_IN_HINT: usize = 40;

/// A run, complete but for the folder that it will have.
///
/// The preview and the run are both made of this one value, so that what is shown is what runs.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) document: Arc<Document>,
    pub(crate) script: SkillPath,
    pub(crate) interpreter: String,
    /// The program by its absolute path, and its own arguments.
    command: Vec<OsString>,
    args: Vec<String>,
    lies_in: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) environment: RunEnvironment,
    env_warning: Option<String>,
    allowed: Allowed,
    pub(crate) digest: Digest,
    files: usize,
    bytes: u64,
}

/// What the person who is asked sees.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WillRun<'a> {
    skill: &'a str,
    interpreter: &'a str,
    /// The words that the command line begins with.
    program: Vec<String>,
    argv: Vec<&'a str>,
    cwd: String,
    timeout_ms: u64,
    env_names: Vec<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    env_not_set: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    env_warning: Option<&'a str>,
    may_read: &'a [String],
    may_write: &'a [String],
    may_reach: &'a [String],
    digest: String,
    digest_of: String,
}

/// Whether a declared script can run here.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    /// It can, by this program and with these variables.
    Runnable { program: PathBuf, env: Vec<String>, allowed: Box<Allowed> },
    /// The grant does not name it.
    NotGranted,
    /// The machine lacks something, or the skill does.
    Unavailable {
        /// What, in a sentence without its final stop.
        reason: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// Whether `script` can run here: the one answer that the list, `skill_load` and `skill_run` give. Blocks on I/O.
pub(crate) fn standing(
    scripts: &Scripts,
    document: &Document,
    script: &Script,
    manifest: &Manifest,
) -> Standing {
    let unavailable = |reason, hint| Standing::Unavailable { reason, hint };
    let Some(env) = scripts.grant.env_of(document.name.as_str(), script) else {
        return Standing::NotGranted;
    };
    let program = match scripts.interpreters.program(&script.interpreter) {
        Ok(program) => program,
        Err(missing) => {
            let offered = scripts.interpreters.offered().join(", ");
            return unavailable(
                missing.to_string(),
                Some(format!("The interpreters that are offered here are: {offered}.")),
            );
        }
    };
    if manifest.file(script.script.as_str()).is_none() {
        let reason = match document.folder.open(&script.script) {
            Err(error) => error.to_string(),
            Ok(_) => format!("`{}` is not among the files that are listed", script.script),
        };
        return unavailable(reason, None);
    }
    let allowed = match allowed(&script.needs, &document.name, &scripts.places, scripts.hosting) {
        Ok(allowed) => allowed,
        Err(reason) => return unavailable(reason, None),
    };
    match scripts.runner.check(&allowed.access) {
        Ok(()) => Standing::Runnable { program, env, allowed: Box::new(allowed) },
        Err(RunFailure { reason, hint }) => unavailable(reason, hint),
    }
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) script: String,
    pub(crate) args: Vec<String>,
}

/// Checks everything that can be checked before somebody is asked. Blocks on I/O.
///
/// In this order: what the machine owes, whether the script is declared, granted, has an interpreter, is a file of the
/// skill and may have what it needs, its arguments, the digest of the skill.
pub(crate) fn plan(
    scripts: &Scripts,
    library: &Library,
    skill: &Skill,
    wish: &Wish,
) -> Result<Plan, Refusal> {
    scrubbed(scripts)?;
    let document = &skill.document;
    let name = &document.name;
    let Some(script) = declared(document, &wish.script) else {
        return Err(not_declared(scripts, document, &wish.script));
    };
    let manifest = library.manifest(document);
    let (program, env, allowed) = match standing(scripts, document, script, &manifest) {
        Standing::Runnable { program, env, allowed } => (program, env, *allowed),
        Standing::NotGranted => return Err(not_granted(scripts, name, &script.script)),
        Standing::Unavailable { reason, hint } => {
            let text = format!("`{}` of `{name}` cannot run here: {reason}.", script.script);
            return Err(Refusal { message: text, hint });
        }
    };
    check_args(&wish.args)?;
    let digests = library.digests(document).map_err(|error| {
        Refusal::new(format!("`{name}` cannot be bound to what was approved: {error}."))
            .hint("A script runs only from a skill all of whose files can be digested.")
    })?;
    let lies_in = document.folder.directory().unwrap_or(Path::new(name.as_str())).to_owned();
    let environment =
        RunEnvironment::select(&scripts.environment, &env, scripts.places.data_of(name));
    Ok(Plan {
        document: Arc::clone(document),
        script: script.script.clone(),
        interpreter: script.interpreter.clone(),
        command: command(program, &script.interpreter),
        args: wish.args.clone(),
        lies_in,
        timeout: script.timeout,
        env_warning: warning(scripts.grant.from(), &environment),
        environment,
        allowed,
        digest: digests.skill,
        files: digests.files.len(),
        bytes: digests.files.iter().map(|file| file.size).sum(),
    })
}

impl Plan {
    /// What the run will do, for a person.
    pub(crate) fn will_run(&self) -> WillRun<'_> {
        let argv =
            std::iter::once(self.script.as_str()).chain(self.args.iter().map(String::as_str));
        WillRun {
            skill: self.document.name.as_str(),
            interpreter: &self.interpreter,
            program: self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            argv: argv.collect(),
            cwd: self.lies_in.display().to_string(),
            timeout_ms: millis(self.timeout),
            env_names: self.environment.names(),
            env_not_set: &self.environment.not_set,
            env_warning: self.env_warning.as_deref(),
            may_read: &self.allowed.reads,
            may_write: &self.allowed.writes,
            may_reach: &self.allowed.reaches,
            digest: format!("sha256:{}", self.digest),
            digest_of: format!("all {} files of the skill, {} bytes", self.files, self.bytes),
        }
    }

    /// The run itself, in its folder.
    pub(crate) fn prepared(&self, folder: &RunFolder) -> PreparedRun {
        let mut argv = self.command.clone();
        argv.push(folder.copy().join(self.script.as_str()).into());
        argv.extend(self.args.iter().map(OsString::from));
        PreparedRun {
            skill: self.document.name.clone(),
            script: self.script.clone(),
            argv,
            folder: folder.copy().to_owned(),
            shown_as: self.lies_in.clone(),
            scratch: folder.scratch().to_owned(),
            env: self.environment.within(folder),
            access: self.allowed.access.clone(),
            timeout: self.timeout,
            digest: self.digest,
        }
    }

    /// The hosts that it may reach.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.allowed.access.network
    }

    /// Whether it may read or write this very path.
    pub(crate) fn touches(&self, path: &Path) -> bool {
        let Access { read, write, .. } = &self.allowed.access;
        read.iter().chain(write).any(|touched| touched == path)
    }

    /// What a token is for.
    pub(crate) fn target(&self) -> String {
        format!("{}/{}", self.document.name, self.script)
    }
}

/// The words before a script: some interpreters take a script only after a word of their own.
///
/// The sandbox is the boundary, so an interpreter that has one of its own is told to stand aside: the same script does the
/// same under all of them.
fn command(program: PathBuf, interpreter: &str) -> Vec<OsString> {
    let words: &[&str] = match interpreter {
        "deno" => &["run", "--allow-all", "--no-prompt"],
        "bun" => &["run"],
        "uv" => &["run", "--script"],
        _ => &[],
    };
    std::iter::once(program.into()).chain(words.iter().map(OsString::from)).collect()
}

fn declared<'a>(document: &'a Document, script: &str) -> Option<&'a Script> {
    document.declaration.scripts.iter().find(|declared| declared.script.as_str() == script)
}

fn scrubbed(scripts: &Scripts) -> Result<(), Refusal> {
    let Scrub::Failed { reason } = &scripts.scrub else { return Ok(()) };
    if scripts.refuses_unscrubbed() {
        return Err(Refusal::new(format!(
            "No script runs: the environ that this hosted server was started with could not be wiped ({reason}), so \
             that a script could read its secrets."
        ))
        .hint("Whoever runs the server can set MCP_SKILL_ALLOW_UNSCRUBBED=1 to let scripts run all the same."));
    }
    Ok(())
}

fn not_declared(scripts: &Scripts, document: &Document, script: &str) -> Refusal {
    let name = &document.name;
    let refusal = Refusal::new(format!(
        "`{}` is not declared as a runnable script of the skill `{name}`.",
        shown(script)
    ));
    let may: Vec<&str> = document
        .declaration
        .scripts
        .iter()
        .filter(|script| scripts.grant.env_of(name.as_str(), script).is_some())
        .map(|script| script.script.as_str())
        .take(MAX_NAMES_IN_HINT)
        .collect();
    let how = "Scripts are declared in the skill's `kitbag.toml`, or under `mcp-host.run` in its SKILL.md; nothing else is run.";
    refusal.hint(if may.is_empty() {
        format!("The skill has no script that may run here. {how}")
    } else {
        format!("These may run: {}. {how}", may.join(", "))
    })
}

fn not_granted(scripts: &Scripts, name: &SkillName, script: &SkillPath) -> Refusal {
    let refusal = Refusal::new(format!(
        "`{script}` is declared by the skill `{name}` but is not granted for this registration."
    ));
    refusal.hint(match scripts.grant.from() {
        GrantFrom::HostedDefault => format!(
            "This server is hosted, and {VARIABLE} is not set; whoever runs it can grant the script there."
        ),
        GrantFrom::Variable | GrantFrom::Declaration => {
            format!("{VARIABLE} lists what may run; whoever registered this server can add it there.")
        }
    })
}

fn check_args(args: &[String]) -> Result<(), Refusal> {
    let bytes: usize = args.iter().map(String::len).sum();
    let fault = if args.len() > MAX_ARGUMENTS {
        format!("There are {} arguments, and a script takes {MAX_ARGUMENTS}.", args.len())
    } else if bytes > MAX_ARGUMENT_BYTES {
        format!("The arguments have {bytes} bytes, and a script takes {MAX_ARGUMENT_BYTES}.")
    } else if args.iter().any(|arg| arg.contains('\0')) {
        "An argument holds a NUL character.".to_owned()
    } else {
        return Ok(());
    };
    Err(Refusal::new(fault).hint("Pass what is long in another way, such as a file."))
}

/// What a person should know of the variables: that nobody but the skill itself chose them.
fn warning(from: GrantFrom, environment: &RunEnvironment) -> Option<String> {
    if from != GrantFrom::Declaration || environment.granted.is_empty() {
        return None;
    }
    let names = environment.granted.join(", ");
    Some(format!(
        "The skill asks for {names} and gets the values that this server has, since nothing says otherwise. Set \
         {VARIABLE} to choose which variables a script gets."
    ))
}

/// A duration as the wire has it.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
