//! Collecting findings, within a bound per file.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::Profile;
use super::rules::{self, RuleInfo};
use crate::{Position, Severity};

/// The most findings that are told of one file; a note says how many more there were.
pub const MAX_FINDINGS_PER_FILE: usize = 100;

/// The most findings that are told of one skill.
pub const MAX_FINDINGS: usize = 1_000;

/// The most characters of somebody's own text that a message shows.
const SHOWN_CHARS: usize = 60;

/// One rule that is broken at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The [`RuleInfo::id`] of the rule.
    pub rule: &'static str,
    /// What it costs under the profile that was asked for.
    pub severity: Severity,
    /// The file, relative to the skill's directory and with `/` between segments; `None` for the directory itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The place in the file, where one is known.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// What is wrong, in one sentence without its final stop.
    pub message: String,
    /// What to do, in one sentence without its final stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Where a finding is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The file, relative to the skill.
    pub(super) file: Option<&'a str>,
    /// The place in it.
    pub(super) position: Option<Position>,
}

impl<'a> Place<'a> {
    /// The skill's directory.
    pub(super) const DIRECTORY: Self = Self { file: None, position: None };

    /// All of `file`.
    pub(super) fn file(file: &'a str) -> Self {
        Self { file: Some(file), position: None }
    }

    /// A place in `file`.
    pub(super) fn at(file: &'a str, line: u32, column: u32) -> Self {
        Self { file: Some(file), position: Some(Position { line, column }) }
    }
}

/// The findings of one skill as they are made.
#[derive(Debug)]
pub(super) struct Findings {
    profile: Profile,
    list: Vec<Finding>,
    /// Of each file, how many findings are in the list and how many were left out.
    counts: BTreeMap<Option<String>, (usize, usize)>,
    /// What [`Findings::once`] told.
    told: HashSet<(&'static str, Option<String>, String)>,
}

impl Findings {
    pub(super) fn new(profile: Profile) -> Self {
        Self { profile, list: Vec::new(), counts: BTreeMap::new(), told: HashSet::new() }
    }

    /// Adds a finding if the profile looks at `rule` and the bounds allow it.
    ///
    /// The verdict hangs on errors, so the first error of a kind in a file is always told.
    pub(super) fn add(
        &mut self,
        rule: &RuleInfo,
        place: Place<'_>,
        message: impl Into<String>,
        hint: impl Into<Option<&'static str>>,
    ) {
        let Some(severity) = rule.severity(self.profile) else { return };
        let file = place.file.map(str::to_owned);
        let (listed, left_out) = self.counts.entry(file.clone()).or_default();
        let full = *listed >= MAX_FINDINGS_PER_FILE || self.list.len() >= MAX_FINDINGS;
        let first_error = || {
            severity == Severity::Error
                && !self.list.iter().any(|told| told.rule == rule.id && told.file == file)
        };
        if full && !first_error() {
            *left_out += 1;
            return;
        }
        *listed += 1;
        self.list.push(Finding {
            rule: rule.id,
            severity,
            file,
            position: place.position,
            message: message.into(),
            hint: hint.into().map(str::to_owned),
        });
    }

    /// The same as [`Findings::add`], unless the same sentence was told of the same file.
    pub(super) fn once(
        &mut self,
        rule: &RuleInfo,
        place: Place<'_>,
        message: String,
        hint: &'static str,
    ) {
        let key = (rule.id, place.file.map(str::to_owned), message);
        if self.told.contains(&key) {
            return;
        }
        self.add(rule, place, key.2.clone(), hint);
        if self.told.len() < MAX_FINDINGS {
            self.told.insert(key);
        }
    }

    /// The findings, by file and place, the skill's own file first.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        let cut = std::mem::take(&mut self.counts)
            .into_iter()
            .filter_map(|(file, (_, left_out))| (left_out > 0).then_some((file, left_out)));
        for (file, left_out) in cut {
            self.list.push(Finding {
                rule: rules::FINDINGS_CUT.id,
                severity: Severity::Note,
                file,
                position: None,
                message: format!("{left_out} more findings in this file are not shown"),
                hint: None,
            });
        }
        self.list.sort_by(|a, b| {
            let key = |f: &Finding| {
                let own = f.file.as_deref().is_some_and(|f| !f.eq_ignore_ascii_case("SKILL.md"));
                (
                    f.file.is_some(),
                    own,
                    f.file.clone(),
                    f.rule == rules::FINDINGS_CUT.id,
                    f.position,
                )
            };
            key(a).cmp(&key(b))
        });
        self.list
    }
}

/// `text` as a message may show it: on one line, invisible characters spelt out, cut at 60 characters.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
