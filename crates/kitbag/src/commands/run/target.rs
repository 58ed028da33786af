//! What is meant by a name.

use std::sync::Arc;

use kitbag_builtin::{DeclaredTool, declared_tools};
use kitbag_skills::catalogue::nearest;
use kitbag_skills::{Catalog, Skill, Status};
use kitbag_tool::ToolName;

use crate::failure::{Failure, Kind};
use crate::style;

/// How many names are offered in place of an unknown one.
const MAX_NEAREST: usize = 5;

/// What is to be run.
#[derive(Debug)]
pub(super) enum Target {
    /// A tool.
    Tool {
        name: ToolName,
        /// Whether it is run as a process.
        process: bool,
    },
    /// A skill that is text alone.
    Prose(Arc<Skill>),
}

/// The tool or the skill called `name`: `SKILL__TOOL`, `SKILL/TOOL`, a skill with one tool, or a skill of prose.
pub(super) fn find(catalog: &Catalog, name: &str, own: &[ToolName]) -> Result<Target, Failure> {
    let declared = declared_tools(catalog);
    if let Some(tool) = declared.iter().find(|tool| tool.name.as_str() == name) {
        return Ok(process(tool));
    }
    if let Some(name) = own.iter().find(|own| own.as_str() == name) {
        return Ok(Target::Tool { name: name.clone(), process: false });
    }
    let of = |skill: &Arc<Skill>| {
        let of_skill = |tool: &&DeclaredTool| Arc::ptr_eq(&tool.skill, skill);
        declared.iter().filter(of_skill).collect::<Vec<_>>()
    };
    if let Some((skill, tool)) = name.split_once('/')
        && let Some(skill) = catalog.resolve(skill)
    {
        let tools = of(skill);
        return match tools.iter().find(|known| known.tool == tool) {
            Some(tool) => Ok(process(tool)),
            None => {
                Err(choose(skill, &tools, &format!("`{}` declares no tool `{tool}`", skill.name())))
            }
        };
    }
    if let Some(skill) = catalog.resolve(name) {
        if let Status::Shadowed { by } = &skill.status {
            return Err(Failure::say(Kind::Negative, format!("`{name}` is shadowed by {by}"))
                .hint(format!("`kitbag skills show {name}` prints its text")));
        }
        let tools = of(skill);
        return match tools.as_slice() {
            [] => Ok(Target::Prose(Arc::clone(skill))),
            [tool] => Ok(process(tool)),
            several => {
                let count = several.len();
                Err(choose(skill, several, &format!("`{name}` declares {count} tools; name one")))
            }
        };
    }
    Err(unknown(catalog, name, own, &declared))
}

fn process(tool: &DeclaredTool) -> Target {
    Target::Tool { name: tool.name.clone(), process: true }
}

/// Says which tools a skill has.
fn choose(skill: &Skill, tools: &[&DeclaredTool], text: &str) -> Failure {
    let failure = Failure::say(Kind::Usage, text);
    if tools.is_empty() {
        return failure.hint(format!("`kitbag run {}` prints its text", skill.name()));
    }
    let names: Vec<String> =
        tools.iter().map(|tool| format!("{}/{}", skill.name(), tool.tool)).collect();
    failure.hint(format!("it has {}", names.join(", ")))
}

/// Says why nothing is run as `name`.
fn unknown(catalog: &Catalog, name: &str, own: &[ToolName], declared: &[DeclaredTool]) -> Failure {
    let skill = name.split_once('/').map_or(name, |(skill, _)| skill);
    let unusable = catalog
        .skills
        .iter()
        .find(|found| found.name().as_str() == skill || found.qualified_name() == skill);
    if let Some(unusable) = unusable {
        style::tell_problems(unusable.problems());
        let why = super::super::because(unusable).unwrap_or_default();
        let text = format!("`{skill}` is {}: {why}", unusable.status.word());
        let kind = match unusable.status {
            Status::Denied { .. } => Kind::Denied,
            _ => Kind::Negative,
        };
        return Failure::say(kind, text)
            .hint("`kitbag skills list` shows every skill, and why it is not used");
    }
    let failure = Failure::say(Kind::Usage, format!("no tool and no skill is called `{name}`"));
    let mut names: Vec<&str> = catalog.used().map(|skill| skill.name().as_str()).collect();
    names.extend(declared.iter().map(|tool| tool.name.as_str()));
    names.extend(own.iter().map(ToolName::as_str));
    names.sort_unstable();
    names.dedup();
    let near = nearest(name, &names, MAX_NEAREST).names;
    if near.is_empty() {
        return failure.hint("`kitbag skills list` shows where skills are looked for");
    }
    failure.hint(format!("the nearest names are {}", near.join(", ")))
}
