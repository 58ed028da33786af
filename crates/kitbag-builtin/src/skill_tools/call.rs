//! One call of a handler: from the arguments to a process, from what it wrote to an output.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kitbag_skills::{Document, Folder};
use kitbag_tool::{
    CallError, Principal, Progress, ProgressUpdate, Refusal, ToolCall, ToolOutput, redact,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::table::Entry;
use super::{Shelf, answer, command};
use crate::blocking::blocking;
use crate::process::{self, End, Finished, Job, Limits, Log};
use crate::skill_server::left_to_people;
use crate::skill_server::load::read_body;

/// The version of the contract, which every call names.
const PROTOCOL: u32 = 1;

/// The most bytes of a SKILL.md whose text a handler finds in `SKILL_BODY_FILE`.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The most bytes that a handler may answer with.
pub(crate) const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The variables that handlers get as this process has them; everything else is made for them, or declared.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];

/// Under which conditions a call runs.
pub(super) struct Conditions {
    /// Ends the call.
    pub(super) stop: CancellationToken,
    pub(super) deadline: Option<Instant>,
    pub(super) progress: Progress,
    pub(super) principal: Principal,
}

/// Whether a person is at the beginning of it: `disable-model-invocation` keeps a model from a skill (decision 7).
fn is_for_a_person(principal: &Principal) -> bool {
    match principal {
        Principal::Person => true,
        Principal::Model | Principal::Client { .. } => false,
        Principal::Skill { for_, .. } => is_for_a_person(for_),
    }
}

/// Answers a call.
pub(super) async fn answer(
    shelf: Arc<Shelf>,
    call: ToolCall,
    conditions: Conditions,
) -> Result<ToolOutput, CallError> {
    let Conditions { stop, deadline, progress, principal } = conditions;
    let started = Instant::now();
    let entry = {
        let shelf = Arc::clone(&shelf);
        let name = call.name.clone();
        let found = blocking(move || shelf.tables.of(&shelf.library.look()).get(&name).cloned());
        found.await.ok_or_else(|| CallError::UnknownTool { name: call.name.clone() })?
    };
    let named = |refusal: Refusal| entry.refusal(refusal);
    if entry.skill.document.header.user_only && !is_for_a_person(&principal) {
        return Err(left_to_people(&entry.skill).into());
    }
    if let Some(why) = shelf.running.why_not(&entry.skill) {
        return Err(named(Refusal::new(format!("{why}."))).into());
    }
    let until = deadline.map_or(started + entry.declared().timeout, |deadline| {
        deadline.min(started + entry.declared().timeout)
    });
    let _permit = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        () = tokio::time::sleep_until(until) => None,
        permit = shelf.permits.acquire() => permit.ok(),
    };
    let (command, place) = {
        let entry = Arc::clone(&entry);
        let scratch = shelf.machine.scratch.clone();
        let prepare = move || {
            let command = command::check(&entry.skill.document, &entry.declared().argv)?;
            Ok((command, Place::make(&entry.skill.document, &scratch)?))
        };
        blocking(prepare).await.map_err(named)?
    };
    let argv = command::line(command, &shelf.interpreters).await.map_err(named)?;
    let job = Job {
        argv,
        cwd: place.folder.clone(),
        env: environment(&shelf, &entry, &place).map_err(named)?,
        stdin: envelope(&entry, &place, &call.arguments, until),
        limits: Limits {
            time: until.saturating_duration_since(Instant::now()),
            stdout_bytes: MAX_ANSWER_BYTES,
        },
    };
    let mut lines = 0_u32;
    let mut tell = |line: String| {
        lines += 1;
        let message = Some(redact::redact(&line).into_owned());
        progress.report(ProgressUpdate { done: f64::from(lines), total: None, message });
    };
    let mut log = Log::to(&mut tell);
    let finished = process::run(job, &stop, &mut log).await;
    let tail = log.tail();
    // What the handler left there may be a lot.
    blocking(move || drop(place)).await;
    let finished =
        finished.map_err(|error| named(Refusal::new(format!("it did not start: {error}."))))?;
    outcome(&entry, &call, &finished, &tail, started.elapsed())
}

/// What came of a call.
fn outcome(
    entry: &Entry,
    call: &ToolCall,
    finished: &Finished,
    tail: &str,
    took: Duration,
) -> Result<ToolOutput, CallError> {
    let name = &call.name;
    let said = if tail.is_empty() {
        "It wrote nothing to standard error.".to_owned()
    } else {
        format!("Its last lines on standard error:\n{tail}")
    };
    let broken = |what: String| Ok(ToolOutput::error(&format!("Tool {name} {what}. {said}")));
    match finished.end {
        End::Code(0) => Ok(answer::read(&finished.stdout, entry.check()).unwrap_or_else(|why| {
            ToolOutput::error(&format!("Tool {name} gave no usable answer: {why}"))
        })),
        End::Code(1) if tail.is_empty() => Ok(ToolOutput::error(&format!(
            "Tool {name} failed and wrote nothing to standard error."
        ))),
        End::Code(1) => Ok(ToolOutput::error(tail)),
        End::Code(2) => {
            let reason = if tail.is_empty() { "the tool refused them" } else { tail };
            let reason = redact::redact(reason).into_owned();
            Err(CallError::InvalidArguments { tool: name.clone(), path: String::new(), reason })
        }
        End::Code(code) => broken(format!("broke with exit code {code}")),
        End::Signal(signal) => broken(format!("was ended by signal {signal}")),
        End::Unknown => broken("ended, and how is not known".to_owned()),
        End::TimedOut => {
            broken(format!("was ended after {:.1} seconds, the time it has", took.as_secs_f64()))
        }
        End::Cancelled => broken("was ended, since the call was given up".to_owned()),
        End::TooMuchOutput => broken(format!(
            "was ended, since it wrote more than {MAX_ANSWER_BYTES} bytes to standard output"
        )),
    }
}

/// The folders of one call, removed when dropped.
struct Place {
    /// The skill's.
    folder: PathBuf,
    /// The text of its SKILL.md.
    body: PathBuf,
    /// Where the handler may write.
    call: PathBuf,
    id: String,
    _keep: TempDir,
}

impl Place {
    /// Makes them; blocks on I/O.
    fn make(document: &Document, scratch: &Path) -> Result<Self, Refusal> {
        let Folder::Disk(folder) = &document.folder else {
            return Err(Refusal::new("its skill has no folder on this machine."));
        };
        let body = read_body(document, MAX_BODY_BYTES)?.text;
        let make = || {
            let keep = tempfile::Builder::new()
                .prefix("kitbag-call-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(scratch)?;
            let (file, call) = (keep.path().join("body.md"), keep.path().join("call"));
            std::fs::write(&file, body)?;
            std::fs::create_dir(&call)?;
            let id = keep.path().file_name().unwrap_or_default().to_string_lossy();
            let id = id.trim_start_matches("kitbag-call-").to_owned();
            std::io::Result::Ok(Self { folder: folder.clone(), body: file, call, id, _keep: keep })
        };
        make().map_err(|error| {
            Refusal::new(format!(
                "no folder can be made for the call in `{}`: {error}.",
                scratch.display()
            ))
        })
    }
}

/// The whole environment of a handler. What is made for it wins over what it declares.
fn environment(
    shelf: &Shelf,
    entry: &Entry,
    place: &Place,
) -> Result<Vec<(OsString, OsString)>, Refusal> {
    let of_ours = |name: &str| (shelf.machine.variable)(name).map(|value| (name.into(), value));
    let declared = &entry.declared().env;
    for proposal in &entry.skill.document.declaration.env {
        let name = &proposal.name;
        if proposal.required && declared.contains(name) && of_ours(name).is_none() {
            let what = proposal.description.as_ref().map(|what| format!(" ({what})"));
            let what = what.unwrap_or_default();
            return Err(Refusal::new(format!("it needs the environment variable `{name}`{what}."))
                .hint(format!("Set `{name}` and call it again.")));
        }
    }
    let mut env: Vec<(OsString, OsString)> =
        declared.iter().map(String::as_str).chain(PASSED).filter_map(of_ours).collect();
    env.extend([
        ("PATH".into(), shelf.interpreters.path()),
        ("HOME".into(), place.call.clone().into()),
        ("TMPDIR".into(), place.call.clone().into()),
        ("SKILL_DIR".into(), place.folder.clone().into()),
        ("SKILL_BODY_FILE".into(), place.body.clone().into()),
        ("CALL_DIR".into(), place.call.clone().into()),
        // A module that was compiled into the skill's folder would be a change of the skill.
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
    ]);
    Ok(env)
}

/// What a handler reads: one line of JSON.
fn envelope(entry: &Entry, place: &Place, args: &Map<String, Value>, until: Instant) -> Vec<u8> {
    let left = until.saturating_duration_since(Instant::now()).as_millis();
    let envelope = json!({
        "protocol": PROTOCOL,
        "skill": entry.skill.name(),
        "tool": entry.declared().name,
        "args": args,
        "deadline_ms": u64::try_from(left).unwrap_or(u64::MAX),
        "call_id": place.id,
    });
    let mut line = envelope.to_string().into_bytes();
    line.push(b'\n');
    line
}
