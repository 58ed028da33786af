//! One module a command; each ends with the exit code.

pub(crate) mod approve;
pub(crate) mod audit;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod to_prompt;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod validate;

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use kitbag_host::consent::SkillTrust;
use kitbag_host::{AuditLog, Host, HostError, Where};
use kitbag_settings::{Diagnostic, Severity};
use kitbag_skills::{Catalog, Consent, Library, Skill, SkillLimit, Status, shown};

use crate::cli::RootArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style;

/// How many skills are used at most, where nobody says otherwise (decision 21).
const MAX_SKILLS: usize = 10_000;

/// How long the end of a command waits for the audit log.
const LOG_PATIENCE: Duration = Duration::from_secs(5);

/// How many skills are used at most when hosted (decision 21).
const MAX_SKILLS_HOSTED: usize = 32;

/// Puts together what a command needs; `place` says where.
///
/// What is wrong with the settings is told one by one, unless it is one thing, which is the failure itself.
fn host(place: Where) -> Result<Host, Failure> {
    let host = Host::open(place).map_err(|error| match error {
        HostError::Settings(diagnostics) => settings_failure(&diagnostics),
        error => failure(error),
    })?;
    tell_set_aside(&host);
    Ok(host)
}

fn settings_failure(diagnostics: &[Diagnostic]) -> Failure {
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
    if let ([only], 1) = (diagnostics, errors) {
        let failure = Failure::say(Kind::Configuration, only);
        return match &only.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
    }
    style::tell_diagnostics(diagnostics);
    let errors = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
    Failure::say(Kind::Configuration, format!("the settings hold {errors}"))
        .hint("nothing of such settings is used, since what they deny could be lost")
}

/// The failure that an error of the host is, with its remedy.
fn failure(error: HostError) -> Failure {
    let hint = error.hint();
    let failure = Failure::new(Kind::Configuration, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Says what of the store was damaged, once it was opened.
fn tell_set_aside(host: &Host) {
    if let Some(set_aside) = host.set_aside() {
        style::tell_problem(kitbag_skills::Severity::Warning, &set_aside.to_string(), None);
    }
}

/// How many skills are used at most: as many as somebody says, or as is usual.
fn limit(environment: &Environment, said: Option<usize>) -> SkillLimit {
    let usual = if environment.hosted { MAX_SKILLS_HOSTED } else { MAX_SKILLS };
    SkillLimit(said.unwrap_or(usual))
}

/// The skills that the command line, the environment, the settings and the directories name.
fn library(
    environment: &Environment,
    roots: &RootArgs,
    said: Option<usize>,
) -> Result<Library, Failure> {
    let host = host(environment.host(&roots.skills, Vec::new()))?;
    Ok(library_of(&host, environment, roots, said))
}

/// Waits until all calls are in the log, and says so where they are not.
async fn finish(audit: Option<&AuditLog>) {
    let Some(audit) = audit else { return };
    match tokio::time::timeout(LOG_PATIENCE, audit.finish()).await {
        Ok(Ok(())) => {}
        // What could not be opened was told when it was tried.
        Ok(Err(error)) => tracing::error!(%error, "the last calls may be missing in the audit log"),
        Err(_) => tracing::error!(
            "the disk does not answer; the last calls may be missing in the audit log"
        ),
    }
    if let Some(lost) = audit.health().map(|health| health.lost).filter(|lost| *lost > 0) {
        tracing::error!(
            lost,
            "calls are missing in the audit log: it could not be written, or not fast enough"
        );
    }
}

/// The skills of a host. With `--trust` it says which of them are used for this run alone.
fn library_of(
    host: &Host,
    environment: &Environment,
    roots: &RootArgs,
    said: Option<usize>,
) -> Library {
    let of_skills = |one: &&Diagnostic| {
        one.key.as_ref().is_some_and(|key| key.keys().first().is_some_and(|key| key == "skills"))
    };
    style::tell_diagnostics(host.warnings().iter().filter(of_skills));
    let trust = if roots.trust { SkillTrust::ThisRun } else { SkillTrust::Approved };
    let library = host.library(limit(environment, said), trust);
    if roots.trust {
        tell_trusted(&library.look());
    }
    library
}

/// Says which skills are used without an approval.
fn tell_trusted(catalog: &Catalog) {
    /// The most names that are told.
    const TOLD: usize = 10;
    let trusted = catalog.skills.iter().filter(|skill| skill.consent == Consent::ThisRun);
    let names: Vec<String> = trusted.map(|skill| skill.qualified_name()).collect();
    if names.is_empty() {
        return;
    }
    let more = match names.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("for this run, skills that nobody approved are used: {names}{more}");
    style::tell_problem(kitbag_skills::Severity::Note, &message, None);
}

/// Prints a JSON value and a line break; what cannot be seen, or could move a cursor, is written as an escape.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let plain = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    writeln!(std::io::stdout().lock(), "{}", visible_json(&plain))?;
    Ok(())
}

/// A JSON value on one line, for a stream of them.
fn json_line(value: &impl serde::Serialize) -> Result<String, Failure> {
    let plain = serde_json::to_string(value).map_err(std::io::Error::from)?;
    Ok(visible_json(&plain) + "\n")
}

/// The same JSON in which what cannot be seen, or could move a cursor, is written as an escape.
fn visible_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        // Between the strings only line breaks occur, and inside them JSON has escaped its own controls.
        if character != '\n' && shown::is_invisible(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a text cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text
}

/// Prints the text byte for byte; on a terminal, so that it shows all of itself and ends its last line.
fn print_text(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        out.write_all(style::harmless(text).as_bytes())?;
        if !text.ends_with('\n') {
            writeln!(out)?;
        }
    } else {
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

/// Paths as text: what is not UTF-8 in one is shown as U+FFFD, since JSON can hold nothing else.
fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Why a skill is not used, in a sentence without its final stop.
fn because(skill: &Skill) -> Option<String> {
    match &skill.status {
        Status::Used => None,
        Status::Shadowed { by } => {
            Some(format!("shadowed by {by}; it answers to {}", skill.qualified_name()))
        }
        Status::Withheld => skill.consent.because(),
        Status::Denied { by } => Some(format!("the rule {by}")),
        Status::Invalid { detail, .. } => Some(detail.clone()),
        Status::Disputed { directories } => {
            Some(format!("{} directories have this name", directories.len()))
        }
        Status::OverLimit => Some("more skills were found than are used".to_owned()),
    }
}

/// `text` as one word of a shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
