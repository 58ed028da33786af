//! `kitbag skills show`.

use std::process::ExitCode;

use kitbag_builtin::{Caller, SkillCall};
use kitbag_skills::budget::Budget;
use kitbag_skills::catalogue::SEARCH_PREFIX;
use kitbag_skills::frontmatter::body_start;
use kitbag_skills::substitute::code_placeholders;
use kitbag_skills::{
    Catalog, Position, Problem, Reason, Severity, Skill, SkillFile, SkillPath, Status,
    estimate_tokens,
};
use serde_json::json;

use super::because;
use crate::cli::ShowArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style;

/// The most bytes of a SKILL.md that are searched for placeholders.
const MAX_SEARCHED_BYTES: usize = 4 * 1024 * 1024;

pub(crate) fn run(environment: &Environment, arguments: &ShowArgs) -> Result<ExitCode, Failure> {
    let library = super::library(environment, &arguments.roots, None)?;
    let name = arguments.name.as_str();
    let typed = arguments.arguments.join(" ");
    let call = SkillCall {
        name,
        arguments: &typed,
        resource: arguments.resource.as_deref(),
        offset: arguments.offset,
    };
    let budget = Budget::for_window(arguments.window);
    let text = kitbag_builtin::answer(&library, &call, Caller::Person, &budget);
    let tokens = estimate_tokens(&text);
    if name.starts_with(SEARCH_PREFIX) {
        if arguments.json {
            super::print_json(&json!({ "tokens": tokens, "text": text }))?;
        } else {
            super::print_text(&text)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let catalog = library.look();
    let Some(skill) = catalog.resolve(name) else {
        let of_roots = |problem: &&Problem| problem.reason == Reason::RootUnreadable;
        style::tell_problems(catalog.problems.iter().filter(of_roots));
        return Err(refusal(&catalog, name, &text));
    };
    style::tell_problems(skill.problems());
    match &arguments.resource {
        None => warn_of_placeholders(skill),
        Some(path) if open(skill, path).is_none() => {
            return Err(Failure::say(Kind::Negative, text.trim_end()));
        }
        Some(_) => {}
    }
    if arguments.json {
        super::print_json(&json!({
            "name": skill.name(),
            "origin": skill.origin.label(),
            "status": skill.status.word(),
            "foundAt": super::paths(&skill.found_at),
            "tokens": tokens,
            "text": text,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    super::print_text(&text)?;
    style::remark(format!("~{tokens} tokens"));
    Ok(ExitCode::SUCCESS)
}

/// Why no skill is shown as `name`; `answer` is what a model would be told.
fn refusal(catalog: &Catalog, name: &str, answer: &str) -> Failure {
    let unusable = catalog
        .skills
        .iter()
        .find(|skill| skill.name().as_str() == name || skill.qualified_name() == name);
    let Some(skill) = unusable else { return Failure::say(Kind::Negative, answer.trim_end()) };
    style::tell_problems(skill.problems());
    let reason = because(skill).unwrap_or_default();
    let failure =
        Failure::say(Kind::Negative, format!("`{name}` is {}: {reason}", skill.status.word()));
    let at = skill.found_at.first().map_or_else(|| "DIR".into(), |path| path.to_string_lossy());
    match &skill.status {
        Status::Disputed { directories } => {
            directories.iter().fold(failure, |failure, directory| {
                failure.hint(format!("one is `{}`", directory.display()))
            })
        }
        Status::Invalid { .. } => {
            failure.hint(format!("`kitbag skills validate {}` says more", super::shell_word(&at)))
        }
        Status::Withheld => failure
            .hint(format!("`kitbag skills approve {}` shows it, and asks", skill.name()))
            .hint(format!("`kitbag skills show {} --trust` prints it all the same", skill.name())),
        Status::Denied { .. } => failure.hint("take the rule out to use the skill"),
        Status::Used | Status::Shadowed { .. } | Status::OverLimit => failure,
    }
}

fn open(skill: &Skill, path: &str) -> Option<SkillFile> {
    let path: SkillPath = path.parse().ok()?;
    skill.document.folder.open(&path).ok()
}

/// Warns of code that arguments would change, in a skill that declares none (decision 8).
fn warn_of_placeholders(skill: &Skill) {
    let document = &skill.document;
    let file = document.folder.open(&document.skill_md).ok();
    let Some(chunk) = file.and_then(|file| file.read(0, MAX_SEARCHED_BYTES).ok()) else { return };
    let text = String::from_utf8_lossy(&chunk.bytes);
    let start = text.floor_char_boundary(body_start(text.as_bytes()));
    let above = Position::at(&text, start).line - 1;
    let previews = code_placeholders(&text[start..], skill.dialect, &document.header.arguments);
    let path = match skill.found_at.first() {
        Some(directory) => directory.join(document.skill_md.as_str()).display().to_string(),
        None => skill.qualified_name(),
    };
    for preview in &previews.shown {
        let message = format!(
            "{path}:{}:{}: called with arguments, `{}` becomes `{}` [argument-in-code]",
            preview.position.line.saturating_add(above),
            preview.position.column,
            preview.line,
            preview.becomes,
        );
        let hint =
            "declare the skill's `arguments`, or write the code without a `$` before a digit";
        style::tell_problem(Severity::Warning, &message, Some(hint));
    }
    if previews.more > 0 {
        let message = format!(
            "{path}: arguments would change {} more lines of code [argument-in-code]",
            previews.more
        );
        style::tell_problem(Severity::Warning, &message, None);
    }
}
