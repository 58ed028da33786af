//! What is wrong with a rule among the others, told so that a person can act on it.

use std::fmt;

use serde::Serialize;

use super::{Effect, Entry};

/// How much a [`RuleProblem`] costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The rule works, maybe not as meant.
    Note,
    /// The rule can be read and hits nothing.
    Warning,
    /// The rule cannot work.
    Error,
}

/// One thing that is wrong with a rule: which, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleProblem {
    /// What it costs.
    pub severity: Severity,
    /// The rule, with its origin.
    pub entry: Entry,
    /// What is wrong, in one sentence without its final stop.
    pub detail: String,
    /// What to do, in one sentence without its final stop.
    pub hint: String,
    /// A rule that may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl fmt::Display for RuleProblem {
    /// Writes `origin: detail`, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.entry.origin, self.detail)
    }
}

impl RuleProblem {
    pub(super) fn new(
        severity: Severity,
        entry: &Entry,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (detail, hint) = (detail.into(), hint.into());
        Self { severity, entry: entry.clone(), detail, hint, nearest: None }
    }

    pub(super) fn too_many(entry: &Entry) -> Self {
        let detail = "more than 10,000 rules; from this one on, rules that allow are not taken";
        Self::new(
            Severity::Error,
            entry,
            detail,
            "use prefixes, globs, or rules for a whole server",
        )
    }

    /// What problems are sorted by: the worst first, then by place.
    pub(super) fn rank(&self) -> (std::cmp::Reverse<Severity>, &super::Origin, &str) {
        (std::cmp::Reverse(self.severity), &self.entry.origin, self.entry.rule.as_str())
    }

    /// A tool that is not there.
    pub(super) fn unknown<'k>(
        entry: &Entry,
        name: &str,
        known: impl Iterator<Item = &'k str>,
    ) -> Self {
        let near = nearest(name, known);
        let detail = format!("`{}` speaks of `{name}`, and there is no such tool", entry.rule);
        let hint = match near {
            Some(near) => {
                format!("did you mean `{near}`? a server's tool is written `mcp__SERVER__TOOL`")
            }
            None => {
                "a server's tool is written `mcp__SERVER__TOOL`, a skill's `SKILL__TOOL`".to_owned()
            }
        };
        let meant = near.map(|near| entry.rule.as_str().replacen(name, near, 1));
        Self { nearest: meant, ..Self::new(Severity::Warning, entry, detail, hint) }
    }
}

/// Adds a problem for each rule that would allow and can be read as several tools (decision 16).
pub(super) fn readings(entries: &[Entry], problems: &mut Vec<RuleProblem>) {
    for entry in entries.iter().filter(|entry| entry.effect == Effect::Allow) {
        let readings = entry.rule.readings();
        if readings.len() < 2 {
            continue;
        }
        let listed: Vec<String> = readings.iter().take(4).map(|form| format!("`{form}`")).collect();
        let detail =
            format!("`{}` can be read as {} tools, so it allows none", entry.rule, readings.len());
        let hint = format!("write the one that is meant: {}", listed.join(" or "));
        problems.push(RuleProblem::new(Severity::Warning, entry, detail, hint));
    }
}

/// The known name that is fewest edits away, if it is near at all.
fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let most = 1 + name.chars().count() / 4;
    let small = name.to_lowercase();
    known
        .map(|other| (distance(&small, &other.to_lowercase()), other))
        .filter(|&(edits, _)| edits <= most)
        .min()
        .map(|(_, other)| other)
}

/// The number of characters to put in, take out or change between two names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, l) in left.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, &r) in right.iter().enumerate() {
            let best = (corner + usize::from(l != r)).min(row[column] + 1).min(row[column + 1] + 1);
            corner = std::mem::replace(&mut row[column + 1], best);
        }
    }
    row[right.len()]
}
