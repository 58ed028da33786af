//! `skill_list`: which skills there are, and what is wrong with the rest.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kitbag_skills::{Catalog, Manifest, Origin, Problem, Reason, Root, Skill, extension_fault};
use kitbag_tool::Refusal;
use serde::{Deserialize, Serialize};

use super::{Shelf, for_models, guidance_note};
use crate::skill_run::{
    GRANT_VARIABLE as GRANT, Hosting, Scripts, Scrub, Standing, millis, standing,
};
use crate::skill_tools::wire_name;

/// The most skills of one answer.
pub(super) const PAGE_SKILLS: usize = 100;

/// The most problems of one answer; how many more there are is said.
const MAX_PROBLEMS: usize = 200;

#[derive(Debug, Deserialize)]
pub(super) struct Arguments {
    query: Option<String>,
    cursor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    roots: Vec<String>,
    roots_from: &'static str,
    total: usize,
    skills: Vec<ListedSkill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// How many more there are that only a person may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_only: Option<usize>,
    problems: Vec<ListedProblem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems_left_out: Option<usize>,
    #[serde(flatten)]
    running: Option<ScriptsHere>,
}

/// What decides about scripts; only where they run at all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScriptsHere {
    grant_from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_error: Option<String>,
    hosted: bool,
    scrub: &'static str,
}

/// What a skill runs; only where scripts run at all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedScripts {
    executable: bool,
    scripts: Vec<ListedScript>,
    unavailable_scripts: Vec<HeldScript>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ungranted_scripts: Vec<HeldScript>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declared_egress: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedScript {
    script: String,
    interpreter: String,
    timeout_ms: u64,
    env: Vec<String>,
}

#[derive(Debug, Serialize)]
struct HeldScript {
    script: String,
    reason: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedSkill {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when_to_use: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    source: String,
    files: usize,
    bytes: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable_tools: Vec<UnavailableTool>,
    #[serde(flatten)]
    running: Option<ListedScripts>,
}

/// A tool that the skill declares and that does not run here.
#[derive(Debug, Serialize)]
struct UnavailableTool {
    tool: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct ListedProblem {
    path: String,
    reason: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(super) fn list(shelf: &Shelf, arguments: &Arguments) -> Result<Listed, Refusal> {
    let catalog = shelf.library.look();
    let query = arguments.query.as_deref().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let matching: Vec<&Skill> =
        for_models(&catalog).map(AsRef::as_ref).filter(|skill| speaks_of(skill, &words)).collect();
    let total = matching.len();
    // A cursor names the skill that came last: what comes after it in today's order is what is left.
    let start = match &arguments.cursor {
        None => 0,
        Some(cursor) => match matching.iter().position(|skill| skill.name().as_str() == cursor) {
            Some(last) => last + 1,
            None => {
                return Err(Refusal::new("The cursor does not fit this list any more.")
                    .hint("Call skill_list without `cursor` to start again."));
            }
        },
    };
    let page: Vec<(&Skill, Arc<Manifest>)> = matching
        .into_iter()
        .skip(start)
        .take(PAGE_SKILLS)
        .map(|skill| (skill, shelf.library.manifest(&skill.document)))
        .collect();
    let next_cursor = page
        .last()
        .filter(|_| start + page.len() < total)
        .map(|(skill, _)| skill.name().as_str().to_owned());
    let mut problems = problems(shelf, &catalog, &page);
    let left_out = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    let user_only = catalog.used().count() - for_models(&catalog).count();
    Ok(Listed {
        roots: spoken_roots(&catalog).map(|root| shown(&root.path)).collect(),
        roots_from: shelf.roots_from,
        total,
        skills: page.iter().map(|(skill, manifest)| listed(shelf, skill, manifest)).collect(),
        next_cursor,
        user_only: (user_only > 0).then_some(user_only),
        problems: problems.into_iter().map(told).collect(),
        problems_left_out: (left_out > 0).then_some(left_out),
        running: shelf.scripts.as_deref().map(scripts_here),
    })
}

/// The roots that a model is told of: one that a package names is called what the package likes, so it counts only once
/// something in it is used.
fn spoken_roots(catalog: &Catalog) -> impl Iterator<Item = &Root> {
    let is_used = |root: &Root| catalog.used().any(|skill| skill.root == root.path);
    let is_spoken = move |root: &&Root| match root.origin {
        Origin::Package { .. } => is_used(root),
        _ => true,
    };
    catalog.roots.iter().filter(is_spoken)
}

/// Whether every one of the words, which are in lower case, is in what the list says of the skill.
fn speaks_of(skill: &Skill, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let header = &skill.document.header;
    let name = skill.name().as_str().to_lowercase();
    let [description, when] = [&header.description, &header.when_to_use]
        .map(|text| text.as_deref().unwrap_or_default().to_lowercase());
    words
        .iter()
        .all(|word| name.contains(word) || description.contains(word) || when.contains(word))
}

fn scripts_here(scripts: &Scripts) -> ScriptsHere {
    ScriptsHere {
        grant_from: scripts.grant.from().as_str(),
        grant_note: scripts.grant.note(),
        grant_error: scripts.grant.error(),
        hosted: scripts.hosting == Hosting::Hosted,
        scrub: scripts.scrub.as_str(),
    }
}

fn scripts_of(scripts: &Scripts, skill: &Skill, manifest: &Manifest) -> ListedScripts {
    let document = &skill.document;
    let mut listed = ListedScripts {
        executable: false,
        scripts: Vec::new(),
        unavailable_scripts: Vec::new(),
        ungranted_scripts: Vec::new(),
        declared_egress: document.declaration.egress.clone(),
    };
    for declared in &document.declaration.scripts {
        let script = declared.script.to_string();
        match standing(scripts, document, declared, manifest) {
            Standing::Runnable { env, .. } => listed.scripts.push(ListedScript {
                script,
                interpreter: declared.interpreter.clone(),
                timeout_ms: millis(declared.timeout),
                env,
            }),
            Standing::NotGranted => listed.ungranted_scripts.push(HeldScript {
                script,
                reason: "it is declared, and not granted for this registration".to_owned(),
            }),
            Standing::Unavailable { reason, .. } => {
                listed.unavailable_scripts.push(HeldScript { script, reason });
            }
        }
    }
    listed.executable = !listed.scripts.is_empty();
    listed
}

/// What is wrong with the grant, and with what the process was started with.
fn running_problems(scripts: &Scripts, catalog: &Catalog) -> Vec<Problem> {
    let declaration = |name: &str| catalog.get(name).map(|skill| &skill.document.declaration);
    let grant = scripts.grant.problems(declaration);
    let grant = grant.into_iter().map(|detail| Problem::warning(Reason::Grant, GRANT, detail));
    let scrub = match &scripts.scrub {
        Scrub::Failed { reason } if scripts.hosting == Hosting::Hosted => {
            let detail = format!(
                "the environment that the server was started with is still there: {reason}"
            );
            Some(Problem::warning(Reason::EnvironUnscrubbed, "/proc/self/environ", detail))
        }
        Scrub::Failed { .. } | Scrub::Scrubbed | Scrub::Unsupported => None,
    };
    grant.chain(scrub).collect()
}

fn listed(shelf: &Shelf, skill: &Skill, manifest: &Manifest) -> ListedSkill {
    let unavailable = shelf.running.why_not(skill).into_iter().flat_map(|reason| {
        skill.document.declaration.tools.iter().map(move |tool| UnavailableTool {
            tool: wire_name(skill.name().as_str(), &tool.name).to_string(),
            reason: reason.to_owned(),
        })
    });
    ListedSkill {
        name: skill.name().to_string(),
        description: skill.document.header.description.clone(),
        when_to_use: skill.document.header.when_to_use.clone(),
        note: guidance_note(skill),
        source: source(skill),
        files: manifest.files.len(),
        bytes: manifest.bytes(),
        unavailable_tools: unavailable.collect(),
        running: shelf.scripts.as_deref().map(|scripts| scripts_of(scripts, skill, manifest)),
    }
}

/// What is wrong: with the catalogue, with the files of the skills on this page, and with what the extension leaves out.
fn problems(shelf: &Shelf, catalog: &Catalog, page: &[(&Skill, Arc<Manifest>)]) -> Vec<Problem> {
    // Those that repeat what nobody approved are for people: `kitbag skills list` tells them.
    let mut problems: Vec<Problem> = catalog.problems_for_models().0.cloned().collect();
    problems.extend(empty_roots(catalog));
    for (skill, manifest) in page {
        problems.extend(manifest.problems.iter().cloned());
        for script in &skill.document.declaration.scripts {
            if manifest.file(script.script.as_str()).is_none() {
                problems.push(Problem::warning(
                    Reason::DeclaredScriptMissing,
                    Path::new(&source(skill)).join(skill.name().as_str()),
                    format!("`{}` is declared, and is not a file of the skill", script.script),
                ));
            }
        }
        if let Some(why) = extension_fault(&skill.document) {
            problems.push(Problem::note(
                Reason::ExtensionSkipped,
                Path::new(&source(skill)).join(skill.name().as_str()),
                format!("the Skills extension of MCP does not list it: {why}"),
            ));
        }
    }
    if shelf.resources_cut.load(Ordering::Relaxed) {
        problems.push(Problem::warning(
            Reason::FileLimit,
            catalog.roots.first().map(|root| root.path.clone()).unwrap_or_default(),
            format!(
                "{} files are offered as resources at most; the tools read the others",
                shelf.limits.resources
            ),
        ));
    }
    if let Some(scripts) = shelf.scripts.as_deref() {
        problems.extend(running_problems(scripts, catalog));
    }
    problems
}

/// The roots that were named outright and hold neither a skill nor anything wrong (section 10 of the skill server's
/// promises, weakness 18): a mistyped path must not look like a bag with nothing in it.
fn empty_roots(catalog: &Catalog) -> Vec<Problem> {
    let is_silent = |root: &&Root| {
        matches!(root.origin, Origin::Given { .. })
            && !catalog
                .skills
                .iter()
                .flat_map(|skill| &skill.found_at)
                .any(|at| at.starts_with(&root.path))
            && !catalog.problems.iter().any(|problem| problem.path.starts_with(&root.path))
    };
    let empty = catalog.roots.iter().filter(is_silent);
    let problem =
        |root: &Root| Problem::warning(Reason::NoSkillMd, &root.path, "no skill lies in this root");
    empty.map(problem).collect()
}

fn told(problem: Problem) -> ListedProblem {
    let mut detail = problem.detail;
    if let Some(position) = problem.position {
        detail = format!("line {}, column {}: {detail}", position.line, position.column);
    }
    ListedProblem {
        path: shown(&problem.path),
        reason: problem.reason.as_str(),
        detail,
        hint: problem.hint,
    }
}

/// The root of a skill as it was configured.
pub(super) fn source(skill: &Skill) -> String {
    match shown(&skill.root) {
        root if root.is_empty() => skill.origin.label(),
        root => root,
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
