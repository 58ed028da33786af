//! The strict validator: every rule has a fixture, every quirk of the reference a verdict.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod local;
mod rules;
mod shapes;
mod verdicts;

use std::fs;
use std::path::PathBuf;

use kitbag_skills::Severity;
use kitbag_skills::validate::{Profile, Report, ValidateOptions, validate};
use tempfile::TempDir;

/// A frontmatter that no rule objects to, for the directory `x`, up to where more fields would follow.
const GOOD: &str = "---\nname: x\ndescription: Sorts marbles. Use when marbles lie about.\n";

/// A directory that holds skills, gone when dropped.
struct Bag(TempDir);

impl Bag {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file of the bag and gives back the path of its first directory.
    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let full = self.0.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
        self.path(path.split('/').next().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }
}

fn strict(path: impl Into<PathBuf>) -> Report {
    validate(&path.into(), ValidateOptions { profile: Profile::Strict })
}

fn portable(path: impl Into<PathBuf>) -> Report {
    validate(&path.into(), ValidateOptions { profile: Profile::Portable })
}

/// `text` as the `SKILL.md` of a directory, under both profiles.
fn both(directory: &str, text: impl AsRef<[u8]>) -> (Report, Report) {
    let bag = Bag::new();
    let skill = bag.write(&format!("{directory}/SKILL.md"), text);
    (strict(&skill), portable(&skill))
}

/// `rule line:column` of every finding, errors marked.
fn told(report: &Report) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|finding| {
            let mark = if finding.severity == Severity::Error { "! " } else { "" };
            let place = finding.position.map(|at| format!(" {}:{}", at.line, at.column));
            format!("{mark}{}{}", finding.rule, place.unwrap_or_default())
        })
        .collect()
}

#[test]
fn a_plain_skill_has_nothing_to_be_told_of_it() {
    let (strict, portable) = both("x", format!("{GOOD}---\nSort them by colour.\n"));
    assert_eq!((strict.findings, portable.findings), (vec![], vec![]));
    assert_eq!(strict.skill.as_deref(), Some("x"));
}
