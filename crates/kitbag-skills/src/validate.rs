//! The strict side of reading a skill: what is wrong with it, by the open specification or for the clients there are.
//!
//! Loading forgives; validating does not (decision 3). The verdict is the reference validator's, but for the differences
//! that `docs/reference/validate.md` lists, and warnings go further than it does: hidden characters, keys, commands
//! that run what nobody has looked at, references to nothing. Nothing is executed and nothing is sent anywhere.

mod body;
mod commands;
mod fields;
mod files;
mod findings;
mod frontmatter;
mod lines;
mod locate;
mod references;
mod report;
mod rules;
mod secrets;
mod unicode;

use std::path::{Path, PathBuf};

use self::findings::Findings;
use self::lines::Text;
use crate::Severity;

pub use self::findings::{Finding, MAX_FINDINGS, MAX_FINDINGS_PER_FILE};
pub use self::locate::MAX_VALIDATED_BYTES;
pub use self::report::{to_json, to_sarif};
pub use self::rules::{RuleInfo, rules};

/// What a skill is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The open specification, with the reference validator's verdicts.
    Strict,
    /// What every client loads: the dialects of the specification are allowed, the gaps of single clients are not.
    Portable,
}

/// How to validate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidateOptions {
    /// What the skill is held against.
    pub profile: Profile,
}

/// What was found out about one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The path as it was given.
    pub path: PathBuf,
    /// The directory of the skill; the path itself where there is none.
    pub directory: PathBuf,
    /// The name that the skill's frontmatter gives.
    pub skill: Option<String>,
    /// What was found, the directory first, then `SKILL.md`, then other files, each in the order of its lines.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether no finding is an error.
    pub fn valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Error)
    }

    /// Whether there is nothing at the path, which is a fault in the call and not in a skill.
    pub fn is_missing(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule == rules::PATH_MISSING.id)
    }
}

/// The exit code of the command: 2 if some path does not exist, else 1 if some skill is not valid, else 0.
pub fn exit_code(reports: &[Report]) -> u8 {
    if reports.iter().any(Report::is_missing) {
        2
    } else {
        u8::from(!reports.iter().all(Report::valid))
    }
}

/// Validates the skill at `path`, a directory or the `SKILL.md` in it.
///
/// A path that ends in `.` or `..` is resolved, so that the directory has a name to compare with. What cannot be read is a
/// finding. At most [`MAX_FINDINGS`] findings are told, and [`MAX_FINDINGS_PER_FILE`] of one file.
pub fn validate(path: &Path, options: ValidateOptions) -> Report {
    let mut findings = Findings::new(options.profile);
    let mut report = Report {
        path: path.to_owned(),
        directory: path.to_owned(),
        skill: None,
        findings: Vec::new(),
    };
    if let Some(located) = locate::locate(path, &mut findings) {
        let parts =
            frontmatter::check(located.file, &located.text, located.name.as_deref(), &mut findings);
        let text = Text { file: located.file, content: &located.text, frontmatter: parts.lines };
        let body = located.text.get(parts.body..).unwrap_or_default();
        body::check(&text, &located.directory, body, &mut findings);
        check_text(&text, &located.directory, &mut findings);
        files::check(&located, &mut findings);
        report.skill = parts.name;
        report.directory = located.directory;
    }
    report.findings = findings.finish();
    report
}

/// What of one text file would surprise somebody who agrees to it: characters that nobody sees, keys, commands that
/// run what nobody has looked at.
pub(crate) fn look_for_surprises(file: &str, content: &str) -> Vec<Finding> {
    let mut findings = Findings::new(Profile::Strict);
    let text = Text { file, content, frontmatter: 0 };
    unicode::check(&text, &mut findings);
    secrets::check(&text, &mut findings);
    commands::check(&text, &mut findings);
    findings.finish()
}

/// The local checks of one text file, `SKILL.md` or another.
fn check_text(text: &Text<'_>, directory: &Path, findings: &mut Findings) {
    unicode::check(text, findings);
    secrets::check(text, findings);
    commands::check(text, findings);
    references::check(text, directory, findings);
}
