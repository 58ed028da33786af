//! Which skills are meant.

use kitbag_skills::catalogue::nearest;
use kitbag_skills::{Catalog, ConsentKey, Skill, Status, Trust};

use super::super::because;
use crate::cli::ApproveArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};

/// How many names are offered in place of an unknown one.
const MAX_NEAREST: usize = 5;

/// The skills that are meant.
pub(super) struct Chosen<'a> {
    /// Those that wait for an approval.
    pub(super) waiting: Vec<&'a Skill>,
    /// Those that have one.
    pub(super) approved: Vec<&'a Skill>,
}

/// The skills that the command line names; without names, all that wait.
pub(super) fn choose<'a>(
    environment: &Environment,
    catalog: &'a Catalog,
    arguments: &ApproveArgs,
) -> Result<Chosen<'a>, Failure> {
    let foreign: Vec<&Skill> = catalog
        .skills
        .iter()
        .map(AsRef::as_ref)
        .filter(|skill| skill.trust == Trust::NeedsApproval)
        .collect();
    let mut chosen = Chosen { waiting: Vec::new(), approved: Vec::new() };
    if arguments.names.is_empty() {
        chosen.waiting.extend(foreign.iter().filter(|skill| skill.status == Status::Withheld));
        return Ok(chosen);
    }
    for name in &arguments.names {
        let skill = find(environment, catalog, &foreign, name)?;
        let list =
            if skill.consent.is_given() { &mut chosen.approved } else { &mut chosen.waiting };
        if !list.iter().any(|known| std::ptr::eq(*known, skill)) {
            list.push(skill);
        }
    }
    Ok(chosen)
}

fn find<'a>(
    environment: &Environment,
    catalog: &Catalog,
    foreign: &[&'a Skill],
    name: &str,
) -> Result<&'a Skill, Failure> {
    let path = environment.cwd.join(name);
    let is_meant = |skill: &&&Skill| {
        skill.name().as_str() == name
            || skill.qualified_name() == name
            || skill.found_at.contains(&path)
    };
    let meant: Vec<&Skill> = foreign.iter().filter(is_meant).copied().collect();
    match meant.as_slice() {
        [skill] => match &skill.status {
            Status::Invalid { .. } => {
                let why = because(skill).unwrap_or_default();
                Err(Failure::say(Kind::Negative, format!("`{name}` cannot be used: {why}")))
            }
            _ => Ok(skill),
        },
        [] => Err(unknown(catalog, foreign, name)),
        several => {
            let text = format!("`{name}` is the name of {} skills", several.len());
            Err(several.iter().fold(Failure::say(Kind::Usage, text), |failure, skill| {
                let at = skill.found_at.first().map_or("", |path| path.to_str().unwrap_or(""));
                failure.hint(format!(
                    "say {} or {}",
                    skill.qualified_name(),
                    super::super::shell_word(at)
                ))
            }))
        }
    }
}

fn unknown(catalog: &Catalog, foreign: &[&Skill], name: &str) -> Failure {
    if let Some(skill) = catalog.resolve(name) {
        let text = format!("`{}` needs no approval", skill.qualified_name());
        return Failure::say(Kind::Negative, text)
            .hint("only what a project or a package brings waits for one");
    }
    let text = format!("no skill that a project or a package brings is called `{name}`");
    let mut names: Vec<&str> = foreign.iter().map(|skill| skill.name().as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let near = nearest(name, &names, MAX_NEAREST).names;
    let failure = Failure::say(Kind::Negative, text);
    if near.is_empty() { failure } else { failure.hint(format!("there is {}", near.join(", "))) }
}

/// The approvals that are meant, and the names that mean none.
pub(super) fn revoked(
    catalog: &Catalog,
    keys: Vec<ConsentKey>,
    arguments: &ApproveArgs,
) -> (Vec<ConsentKey>, Vec<String>) {
    if arguments.all {
        return (keys, Vec::new());
    }
    let means = |key: &ConsentKey, name: &str| {
        let skills = catalog.skills.iter().filter(|skill| skill.consent_key.as_ref() == Some(key));
        let mut skills = skills.map(|skill| skill.qualified_name());
        key.directory == name
            || key.directory.rsplit('/').next() == Some(name)
            || key.root.join(&key.directory).to_str() == Some(name)
            || skills.any(|qualified| qualified == name)
    };
    let is_unknown = |name: &&String| !keys.iter().any(|key| means(key, name));
    let unknown = arguments.names.iter().filter(is_unknown).cloned().collect();
    let is_meant = |key: &ConsentKey| arguments.names.iter().any(|name| means(key, name));
    (keys.iter().filter(|key| is_meant(key)).cloned().collect(), unknown)
}
