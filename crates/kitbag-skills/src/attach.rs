//! Skills that say which files they belong to (decision 6; G-15, G-16).

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::problem::{Problem, Reason};
use crate::shown;

/// The most `autoAttach` globs of a skill that are taken.
pub const MAX_GLOBS: usize = 64;

/// The most characters of a glob that is taken.
pub const MAX_GLOB_CHARS: usize = 256;

/// The most names in the hint line.
const HINTED_NAMES: usize = 3;

/// The most characters of a name in the hint line.
const HINTED_NAME_CHARS: usize = 64;

/// The `autoAttach` globs of one skill, ready to match.
#[derive(Debug, Clone, Default)]
pub struct AutoAttach {
    globs: GlobSet,
}

impl AutoAttach {
    /// Reads the globs that the `SKILL.md` at `file` gives; one that cannot be taken is a problem and the rest count.
    ///
    /// `*` and `?` stop at `/`, `**` does not, and `{a,b}` and `[a-z]` choose. A glob without a `/` matches the file's
    /// name in any folder; one with a `/` matches the path from the workspace down; one that ends in `/` matches all
    /// below it. Case counts.
    pub fn new(globs: &[String], file: &Path) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut set = GlobSetBuilder::new();
        for glob in globs.iter().take(MAX_GLOBS) {
            match build(glob) {
                Ok(glob) => {
                    set.add(glob);
                }
                Err(rule) => problems.push(refusal(file, glob, &rule)),
            }
        }
        if globs.len() > MAX_GLOBS {
            let detail = format!(
                "of {} `autoAttach` globs, only the first {MAX_GLOBS} are used",
                globs.len()
            );
            problems.push(Problem::warning(Reason::FrontmatterField, file, detail));
        }
        let globs = set.build().unwrap_or_else(|error| {
            problems.push(refusal(file, &globs.join(" "), &error.to_string()));
            GlobSet::empty()
        });
        (Self { globs }, problems)
    }

    /// Whether any of `open_files`, given relative to the workspace and with `/`, matches.
    pub fn matches(&self, open_files: &[&str]) -> bool {
        !self.globs.is_empty()
            && open_files
                .iter()
                .any(|file| self.globs.is_match(file.strip_prefix("./").unwrap_or(file)))
    }
}

/// The one line that goes into the user's message when skills match the open files, without a line break (G-16).
///
/// It names three at most and counts the others. Nothing matches, nothing is added.
pub fn hint(matching: &[&str]) -> Option<String> {
    let named: Vec<String> = matching
        .iter()
        .take(HINTED_NAMES)
        .map(|name| format!("`{}`", shown::line(name, HINTED_NAME_CHARS)))
        .collect();
    let others = matching.len() - named.len();
    match (named.as_slice(), others) {
        ([], _) => None,
        ([name], 0) => Some(format!("(Skill {name} fits the open files.)")),
        (names, 0) => Some(format!("(Skills {} fit the open files.)", names.join(", "))),
        (names, others) => {
            Some(format!("(Skills {} and {others} more fit the open files.)", names.join(", ")))
        }
    }
}

fn build(glob: &str) -> Result<globset::Glob, String> {
    let written = glob.trim();
    if written.is_empty() {
        return Err("it is empty".to_owned());
    }
    if written.chars().nth(MAX_GLOB_CHARS).is_some() {
        return Err(format!("it is longer than {MAX_GLOB_CHARS} characters"));
    }
    if written.starts_with('!') {
        return Err("a glob cannot exclude".to_owned());
    }
    let relative = written.strip_prefix("./").unwrap_or(written);
    let mut whole = match relative.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if relative.trim_end_matches('/').contains('/') => relative.to_owned(),
        None => format!("**/{relative}"),
    };
    if whole.ends_with('/') {
        whole.push_str("**");
    }
    GlobBuilder::new(&whole)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| error.kind().to_string())
}

fn refusal(file: &Path, glob: &str, rule: &str) -> Problem {
    let detail = format!("the `autoAttach` glob {} is not used: {rule}", shown::name(glob));
    Problem::warning(Reason::FrontmatterField, file, detail)
        .hint("write a glob such as `*.rs` or `src/**/*.ts`")
}
