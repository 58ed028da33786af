//! The answers of the tool `Skill`: instructions, bundled files, and why there are none (decisions 5 and 7).
//!
//! Each answer is data that `Display` writes as a model reads it. What we say stands before the text of a skill,
//! and after it only how to read on.

mod piece;

use std::fmt;

use crate::catalogue::{Guidance, Nearest};
use crate::shown;
use crate::substitute::Shortfall;

pub use piece::{Cut, Piece, piece};

/// The most bundled files that an activation names.
pub const MAX_NAMED_FILES: usize = 40;

/// The most characters that the names of bundled files take.
pub const MAX_FILE_LIST_CHARS: usize = 2_000;

/// The names that [`Unknown`] offers (decision 7).
pub const MAX_NEAREST: usize = 20;

/// A skill's instructions, or the next piece of them (B-31).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// Whose guidance it is.
    pub guidance: Guidance,
    /// The skill's absolute directory, where it lies on this machine (fault C-44).
    pub directory: Option<&'a str>,
    /// The files beside `SKILL.md`.
    pub files: &'a [BundledFile<'a>],
    /// The expanded body, or as much of it as the budget allows.
    pub body: Piece<'a>,
    /// What the expansion had to leave out.
    pub shortfall: Shortfall,
}

/// A file beside a skill's `SKILL.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledFile<'a> {
    /// Its path inside the skill.
    pub path: &'a str,
    /// Its size in bytes.
    pub size: u64,
}

impl fmt::Display for Activation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Skill {}", shown::name(self.name))?;
        match self.guidance {
            Guidance::User => f.write_str(".\n")?,
            Guidance::Project => {
                f.write_str(
                    ". It comes with the project: project guidance, not the user's instructions.\n",
                )?;
            }
        }
        if let Some(directory) = self.directory {
            let directory = shown::visible(directory);
            writeln!(
                f,
                "Its directory is `{directory}`; a relative path in the text below starts there."
            )?;
        }
        if self.body.start == 0 {
            self.write_files(f)?;
        }
        if self.shortfall.placeholders > 0 {
            let placeholders = self.shortfall.placeholders;
            writeln!(
                f,
                "The arguments are too long: {placeholders} of their places were left as written."
            )?;
        }
        if self.shortfall.argument_bytes > 0 {
            writeln!(
                f,
                "The last {} bytes of the arguments were not read.",
                self.shortfall.argument_bytes
            )?;
        }
        self.body.write(f, "`name` and `arguments`")
    }
}

impl Activation<'_> {
    /// Writes the line of bundled files, and how many do not stand in it.
    fn write_files(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = 0;
        let mut named = 0;
        for file in self.files.iter().take(MAX_NAMED_FILES) {
            let path = shown::visible(file.path);
            chars += path.chars().count();
            if chars > MAX_FILE_LIST_CHARS {
                break;
            }
            let before =
                if named == 0 { "Its files, each read by `Skill` with `resource`: " } else { ", " };
            write!(f, "{before}`{path}` ({} bytes)", file.size)?;
            named += 1;
        }
        match (named, self.files.len() - named) {
            (0, 0) => Ok(()),
            (0, more) => writeln!(f, "It has {more} files, whose paths are too long to list."),
            (_, 0) => f.write_str(".\n"),
            (_, more) => writeln!(f, "; {more} more are not listed."),
        }
    }
}

/// A bundled file's text, or the next piece of it (G-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// The file's path inside the skill.
    pub path: &'a str,
    /// Whose guidance the skill is.
    pub guidance: Guidance,
    /// The text, or as much of it as the budget allows.
    pub text: Piece<'a>,
}

impl fmt::Display for Resource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown::visible(self.path);
        write!(f, "File `{path}` of skill {}", shown::name(self.name))?;
        match self.guidance {
            Guidance::User => f.write_str(".\n")?,
            Guidance::Project => f.write_str(", which comes with the project.\n")?,
        }
        self.text.write(f, "`name` and `resource`")
    }
}

/// The answer to a call that repeats one whose answer is still in the conversation (G-20).
///
/// After a compaction, or a change of the skill or the arguments, the body is due again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat<'a> {
    /// The skill's name.
    pub name: &'a str,
}

impl fmt::Display for Repeat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = shown::name(self.name);
        writeln!(
            f,
            "Skill {name} is already in this conversation, unchanged: go by the text you have of it."
        )
    }
}

/// The answer to a model's call of a skill with `disable-model-invocation` (fault C-39); a person may start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// The arguments that the model wanted to give, of which the answer repeats about a line.
    pub arguments: &'a str,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = shown::name(self.name);
        let typed = format!("/{} {}", self.name, self.arguments.trim());
        let typed = shown::name(typed.trim());
        writeln!(
            f,
            "Skill {name} can be started by a person only. Ask the user to type {typed}, and do not do its work in \
             another way."
        )
    }
}

/// The answer to a name that no skill has, which is no error (B-35).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown<'a> {
    /// The name that was called.
    pub name: &'a str,
    /// What exists, [`MAX_NEAREST`] names of it at most.
    pub nearest: Nearest<'a>,
}

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no skill {}. ", shown::name(self.name))?;
        write_nearest(f, &self.nearest, "skill")?;
        if self.nearest.total > self.nearest.names.len() {
            f.write_str("`Skill` with `?words` searches all of them.\n")?;
        }
        Ok(())
    }
}

/// The answer to a resource that the skill does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownResource<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// The path that was asked for.
    pub path: &'a str,
    /// What exists, [`MAX_NEAREST`] paths of it at most.
    pub nearest: Nearest<'a>,
}

impl fmt::Display for UnknownResource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Skill {} has no file {}. ", shown::name(self.name), shown::name(self.path))?;
        write_nearest(f, &self.nearest, "file")
    }
}

fn write_nearest(f: &mut fmt::Formatter<'_>, nearest: &Nearest<'_>, noun: &str) -> fmt::Result {
    let names: Vec<String> = nearest
        .names
        .iter()
        .take(MAX_NEAREST)
        .map(|name| format!("`{}`", shown::visible(name)))
        .collect();
    match (nearest.total, names.len()) {
        (0, _) => writeln!(f, "There is no {noun} at all."),
        (1, 1) => writeln!(f, "There is one {noun}: {}.", names.join(", ")),
        (total, shown) if shown < total => {
            writeln!(f, "There are {total} {noun}s; the nearest: {}.", names.join(", "))
        }
        (total, _) => writeln!(f, "There are {total} {noun}s: {}.", names.join(", ")),
    }
}
