//! `kitbag skills new`.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kitbag_skills::{is_specified_name, shown};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::json;

use crate::cli::{Extra, NewArgs};
use crate::environment::Environment;
use crate::failure::{Failure, Kind};
use crate::style::{DIM, NAME, paint};

/// The most characters of a description that the open specification allows.
const MAX_DESCRIPTION_CHARS: usize = 1024;

pub(crate) fn run(environment: &Environment, arguments: &NewArgs) -> Result<ExitCode, Failure> {
    let name = arguments.name.as_str();
    if !is_specified_name(name) {
        return Err(Failure::say(
            Kind::Usage,
            format!("`{}` cannot be a skill's name", name.escape_debug()),
        )
        .hint(
            "use 1 to 64 lower-case letters, digits and single hyphens, such as `release-notes`",
        ));
    }
    let description = arguments.description.clone().unwrap_or_else(|| {
        format!("Says what {name} does. Use when the task at hand calls for it.")
    });
    let description = description.trim();
    if description.is_empty() || description.chars().count() > MAX_DESCRIPTION_CHARS {
        return Err(Failure::say(
            Kind::Usage,
            format!("a description has 1 to {MAX_DESCRIPTION_CHARS} characters"),
        ));
    }
    if description
        .chars()
        .any(|character| shown::is_invisible(character) && !character.is_whitespace())
    {
        return Err(Failure::say(
            Kind::Usage,
            "the description holds a control or an invisible character",
        )
        .hint(format!("leave it out: `{}`", shown::visible(description))));
    }
    let parent = match (&arguments.dir, &environment.kitbag_home) {
        (Some(directory), _) => environment.cwd.join(directory),
        (None, Some(home)) => home.join("skills"),
        (None, None) => {
            return Err(Failure::say(
                Kind::Configuration,
                "there is no home directory to put it in",
            )
            .hint("name a folder with `--dir`, or set HOME"));
        }
    };
    let directory = parent.join(name);
    write(&parent, &directory, &files(name, description, &arguments.with))?;
    if arguments.json {
        super::print_json(&json!({ "name": name, "directory": directory.to_string_lossy() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    // As it was given, a path is shorter, and as right.
    let said = match &arguments.dir {
        Some(given) => given.join(name),
        None => directory,
    };
    let said = said.to_string_lossy();
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", paint(NAME, shown::visible(&said)))?;
    writeln!(
        out,
        "{}",
        paint(
            DIM,
            format!("Edit its SKILL.md, then: kitbag skills validate {}", super::shell_word(&said))
        )
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the whole skill beside its place, then puts it there in one step, unless something is there.
fn write(parent: &Path, directory: &Path, files: &[(&str, String)]) -> Result<(), Failure> {
    let at = |path: &Path, error: std::io::Error| {
        Failure::new(
            Kind::Configuration,
            anyhow::Error::new(error).context(format!("`{}` cannot be written", path.display())),
        )
    };
    let exists = || {
        Failure::say(Kind::Negative, format!("`{}` exists already", directory.display()))
            .hint("take another name, or remove it first")
    };
    if directory.symlink_metadata().is_ok() {
        return Err(exists());
    }
    fs::create_dir_all(parent).map_err(|error| at(parent, error))?;
    let staged = tempfile::Builder::new()
        .prefix(".kitbag-new-")
        .tempdir_in(parent)
        .map_err(|error| at(parent, error))?;
    let skill = staged.path().join("skill");
    for (path, text) in files {
        let path = skill.join(path);
        let folder: PathBuf = path.parent().unwrap_or(&skill).to_owned();
        fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    match settle(&skill, directory) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists()),
        Err(error) => Err(at(directory, error)),
    }
}

/// Moves the folder `staged` to `directory`, unless something is there.
fn settle(staged: &Path, directory: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, staged, CWD, directory, RenameFlags::NOREPLACE) {
        // Not every file system can; there, an empty directory of our own holds the place until it is replaced.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            fs::create_dir(directory)?;
            fs::rename(staged, directory).inspect_err(|_| drop(fs::remove_dir(directory)))
        }
        moved => moved.map_err(Into::into),
    }
}

fn files(name: &str, description: &str, with: &[Extra]) -> Vec<(&'static str, String)> {
    let mut body = format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {name}\n\n\
         Say what to do, in what order, and how to check that it worked. Write for a reader who knows the field\n\
         and not this place.\n\n\
         1. Look at what is there.\n\
         2. Do the work.\n\
         3. Check the result, and say what you checked.\n",
        yaml_text(description)
    );
    let mut files = Vec::new();
    if with.contains(&Extra::Reference) {
        body.push_str("\nRead `references/details.md` when a step needs more than this.\n");
        let text = "# Details\n\nWhat only some tasks need stands here, so that the others do not pay for it.\n";
        files.push(("references/details.md", text.to_owned()));
    }
    if with.contains(&Extra::Script) {
        body.push_str("\n`scripts/check.py --help` says what the script takes.\n");
        files.push(("scripts/check.py", SCRIPT.to_owned()));
        files.push(("kitbag.toml", SIDECAR.to_owned()));
    }
    files.insert(0, ("SKILL.md", body));
    files
}

const SCRIPT: &str = r#""""Reads text on standard input and prints what it counted, as JSON."""

import argparse
import json
import sys


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    text = sys.stdin.read()
    json.dump({"lines": len(text.splitlines()), "words": len(text.split())}, sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
"#;

const SIDECAR: &str = r#"# What this skill may run. See docs/reference/kitbag-toml.md.

version = 1

[[script]]
path = "scripts/check.py"
interpreter = "python3"
description = "Counts lines and words, as JSON. Reads only its standard input."
"#;

/// `text` as a YAML scalar on one line.
fn yaml_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A JSON string is a YAML double-quoted scalar.
    serde_json::Value::String(line).to_string()
}
