//! `kitbag skills to-prompt`: the catalogue as XML, in the form of the reference implementation.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kitbag_skills::{Catalog, Library, SKILL_MD, Skill, SkillLimit, Status, shown};

use crate::cli::ToPromptArgs;
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style;

pub(crate) fn run(
    environment: &Environment,
    arguments: &ToPromptArgs,
) -> Result<ExitCode, Failure> {
    let mut skills: Vec<Arc<Skill>> = Vec::new();
    if arguments.paths.is_empty() {
        let catalog = super::library(environment, &arguments.roots, None)?.look();
        style::tell_problems(&catalog.problems);
        skills.extend(catalog.used().filter(|skill| !skill.document.header.user_only).cloned());
    }
    for path in &arguments.paths {
        skills.push(single(environment, path)?);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(xml(&skills).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The skill at `path`, a directory or its SKILL.md.
fn single(environment: &Environment, path: &Path) -> Result<Arc<Skill>, Failure> {
    let absolute = environment.cwd.join(path);
    if absolute.symlink_metadata().is_err() {
        return Err(Failure::say(Kind::Usage, format!("there is nothing at `{}`", path.display()))
            .hint("give a skill's directory, or its SKILL.md"));
    }
    let is_skill_md = absolute.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_MD));
    let directory = if is_skill_md && absolute.is_file() {
        absolute.parent().unwrap_or(&absolute).to_owned()
    } else {
        absolute
    };
    let places = environment.host(std::slice::from_ref(&directory), Vec::new()).places();
    let catalog: Arc<Catalog> = Library::new(places, SkillLimit(usize::MAX)).look();
    let real = directory.canonicalize().unwrap_or(directory);
    let found = catalog.skills.iter().find(|skill| {
        skill.status == Status::Used
            && skill
                .found_at
                .iter()
                .any(|found| found.canonicalize().is_ok_and(|found| found == real))
    });
    found.cloned().ok_or_else(|| {
        style::tell_problems(&catalog.problems);
        Failure::say(
            Kind::Negative,
            format!("`{}` is not a skill that can be used", path.display()),
        )
        .hint(format!(
            "`kitbag skills validate {}` says what is wrong",
            super::shell_word(&path.to_string_lossy())
        ))
    })
}

fn xml(skills: &[Arc<Skill>]) -> String {
    let mut text = String::from("<available_skills>\n");
    for skill in skills {
        let location = match skill.found_at.first() {
            Some(path) => {
                let real = path.canonicalize();
                let path = real.as_ref().unwrap_or(path);
                path.join(skill.document.skill_md.as_str()).display().to_string()
            }
            None => format!("{}:{}", skill.origin.label(), skill.name()),
        };
        let tags = [
            ("name", skill.name().as_str()),
            ("description", skill.description()),
            ("location", &location),
        ];
        text.push_str("<skill>\n");
        for (tag, value) in tags {
            text.push_str(&["<", tag, ">\n", &escaped(value), "\n</", tag, ">\n"].concat());
        }
        text.push_str("</skill>\n");
    }
    text.push_str("</available_skills>\n");
    text
}

/// `text` so that it cannot end or open a tag and hides nothing; every value, paths too (fault C-35).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            '\n' => out.push('\n'),
            '\t' | '\r' => out.push(' '),
            hidden if shown::is_invisible(hidden) => {}
            other => out.push(other),
        }
    }
    out
}
