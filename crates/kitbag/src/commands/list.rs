//! `kitbag skills list`.

mod table;

use std::io::Write as _;
use std::process::ExitCode;

use kitbag_skills::review::requests;
use kitbag_skills::{Catalog, Library, Problem, Skill, estimate_tokens};
use serde_json::{Value, json};

use super::because;
use crate::cli::ListArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::style;

pub(crate) fn run(environment: &Environment, arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let library = super::library(environment, &arguments.roots, None)?;
    let catalog = library.look();
    if arguments.json {
        super::print_json(&json(&library, &catalog))?;
    } else {
        let mut out = anstream::stdout().lock();
        out.write_all(table::text(&catalog, style::columns()).as_bytes())?;
        out.flush()?;
        style::tell_problems(&all_problems(&library, &catalog));
    }
    Ok(ExitCode::SUCCESS)
}

fn json(library: &Library, catalog: &Catalog) -> Value {
    let skill = |skill: &Skill| {
        let header = &skill.document.header;
        json!({
            "name": skill.name(),
            "alias": skill.alias,
            "qualifiedName": skill.qualified_name(),
            "status": skill.status.word(),
            "because": because(skill),
            "origin": skill.origin.label(),
            "root": skill.root.to_string_lossy(),
            "foundAt": super::paths(&skill.found_at),
            "description": header.description,
            "whenToUse": header.when_to_use,
            "argumentHint": header.argument_hint,
            "userOnly": header.user_only,
            "tokens": { "catalogue": line_tokens(skill), "instructions": instruction_tokens(skill) },
            "trust": skill.trust,
            "requests": requests(&skill.document),
            "files": library.manifest(&skill.document).files.len(),
            "problems": problems(library, skill),
        })
    };
    json!({
        "roots": catalog.roots,
        "skills": catalog.skills.iter().map(|entry| skill(entry)).collect::<Vec<_>>(),
        "problems": all_problems(library, catalog),
    })
}

/// What is wrong with a skill and with its files.
fn problems(library: &Library, skill: &Skill) -> Vec<Problem> {
    let manifest = library.manifest(&skill.document);
    skill.problems().iter().chain(&manifest.problems).cloned().collect()
}

fn all_problems(library: &Library, catalog: &Catalog) -> Vec<Problem> {
    let of_files = catalog.skills.iter().map(|skill| library.manifest(&skill.document));
    let mut problems = catalog.problems.clone();
    problems.extend(of_files.flat_map(|manifest| manifest.problems.clone()));
    problems
}

/// What the skill costs in every request.
fn line_tokens(skill: &Skill) -> usize {
    estimate_tokens(&format!("- {} — {}", skill.name(), skill.description()))
}

/// What its instructions cost once they are read: about a token for four bytes.
fn instruction_tokens(skill: &Skill) -> usize {
    let bytes = skill.document.size.saturating_sub(skill.document.body_start);
    usize::try_from(bytes / 4).unwrap_or(usize::MAX)
}
