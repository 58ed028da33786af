//! One module a command; each ends with the exit code.

pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod to_prompt;
pub(crate) mod tour;
pub(crate) mod validate;

use std::io::Write as _;

use kitbag_skills::{Library, Skill, SkillLimit, Status};

use crate::environment::Environment;
use crate::failure::Failure;

/// How many skills are used at most, where nobody says otherwise (decision 21).
const MAX_SKILLS: usize = 10_000;

/// How many skills are used at most when hosted (decision 21).
const MAX_SKILLS_HOSTED: usize = 32;

/// The skills that the command line, the environment and the directories name.
fn library(
    environment: &Environment,
    given: &[std::path::PathBuf],
    limit: Option<usize>,
) -> Library {
    let usual = if environment.hosted { MAX_SKILLS_HOSTED } else { MAX_SKILLS };
    Library::new(environment.places(given), SkillLimit(limit.unwrap_or(usual)))
}

/// Prints a JSON value and a line break.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}

/// Why a skill is not used, in a sentence without its final stop.
fn because(skill: &Skill) -> Option<String> {
    match &skill.status {
        Status::Used => None,
        Status::Shadowed { by } => {
            Some(format!("shadowed by {by}; it answers to {}", skill.qualified_name()))
        }
        Status::Withheld => Some("it comes with the project and has not been approved".to_owned()),
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
