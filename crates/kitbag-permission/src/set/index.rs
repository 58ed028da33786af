//! Which rules speak of a call, without looking at all of them.

mod paths;
mod subject;

use std::collections::HashMap;

use crate::action::{Action, SubjectKind, ToolIdentity};
use crate::rule::{Pattern, Target, pairs};

use super::problem::{RuleProblem, Severity};
use super::{Effect, Entry, Fit, WhyNot};
use subject::Subjects;

/// What a lookup adds to: the number of a rule and how well it fits.
pub(super) type Found = Vec<(usize, Fit)>;

/// Numbers of rules by a text.
pub(super) type ByText = HashMap<Box<str>, Vec<usize>>;

/// Numbers of rules by the first name of a pair, and by both.
#[derive(Debug, Clone, Default)]
struct Explicit {
    all: ByText,
    one: HashMap<Box<str>, ByText>,
}

/// The rules of one of our own tools.
#[derive(Debug, Clone, Default)]
struct Own {
    /// Those that hit every call.
    every: Vec<usize>,
    /// Those that cannot be compared with anything, so that they hit every call where they deny.
    closed: Vec<usize>,
    /// Those with a subject.
    with_subject: Vec<usize>,
    subjects: Subjects,
}

/// The rules of a set by what they speak of.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    own: HashMap<Box<str>, Own>,
    server_texts: ByText,
    skill_texts: ByText,
    servers: Explicit,
    skills: Explicit,
}

impl Index {
    pub(super) fn build(
        entries: &[Entry],
        kinds: &HashMap<&str, Option<SubjectKind>>,
        problems: &mut Vec<RuleProblem>,
    ) -> Self {
        let mut index = Self::default();
        let mut by_tool: HashMap<&str, Vec<(usize, &Pattern)>> = HashMap::new();
        for (id, entry) in entries.iter().enumerate() {
            match &entry.rule.target {
                Target::Own { name, subject } => {
                    if !kinds.contains_key(&**name) {
                        problems.push(RuleProblem::unknown(entry, name, kinds.keys().copied()));
                    }
                    match subject {
                        None | Some(Pattern::Every) => {
                            index.own.entry(name.clone()).or_default().every.push(id);
                        }
                        Some(pattern) => by_tool.entry(name).or_default().push((id, pattern)),
                    }
                }
                Target::ServerText(text) => {
                    index.server_texts.entry(text.clone()).or_default().push(id);
                }
                Target::SkillText(text) => {
                    index.skill_texts.entry(text.clone()).or_default().push(id);
                }
                Target::Server { server, tool } => index.servers.add(server, tool.as_deref(), id),
                Target::SkillTool { skill, tool } => index.skills.add(skill, tool.as_deref(), id),
            }
        }
        for (name, patterns) in by_tool {
            let own = index.own.entry(name.into()).or_default();
            own.with_subject = patterns.iter().map(|&(id, _)| id).collect();
            match kinds.get(name) {
                Some(Some(kind)) => {
                    own.subjects =
                        Subjects::build(*kind, &patterns, entries, &mut own.closed, problems);
                }
                declared => {
                    own.closed.clone_from(&own.with_subject);
                    let known = declared.is_some();
                    problems.extend(patterns.iter().filter(|_| known).map(|&(id, _)| {
                        let detail =
                            format!("`{}`: calls of `{name}` have no subject", entries[id].rule);
                        let hint = format!("write `{name}` for every call of it");
                        RuleProblem::new(Severity::Error, &entries[id], detail, hint)
                    }));
                }
            }
        }
        index
    }

    pub(super) fn find(&self, action: &Action, found: &mut Found) {
        self.find_whole(action, found);
        if let ToolIdentity::Own(name) = &action.tool
            && let Some(own) = self.own.get(name.as_str())
        {
            own.find(action, found);
        }
    }

    /// Finds the rules that speak of every call of the tool, whatever its subject.
    pub(super) fn find_whole(&self, action: &Action, found: &mut Found) {
        match &action.tool {
            ToolIdentity::Own(name) => {
                if let Some(own) = self.own.get(name.as_str()) {
                    add(Some(&own.every), Fit::Whole, found);
                    add(Some(&own.closed), Fit::Partial(WhyNot::NotComparable), found);
                }
            }
            ToolIdentity::Server { server, tool } => {
                self.servers.find(server, tool, found);
                add_text(&self.server_texts, &format!("{server}__{tool}"), found);
                // `mcp__a__b` allows the tool `b` of `a`, never all of a server that is called `a__b`.
                let fit = if server.contains("__") {
                    Fit::Partial(WhyNot::SeveralReadings)
                } else {
                    Fit::Whole
                };
                add(self.server_texts.get(server.as_str()), fit, found);
            }
            ToolIdentity::SkillTool { skill, tool } => {
                self.skills.find(skill, tool, found);
                add_text(&self.skill_texts, &format!("{skill}__{tool}"), found);
            }
        }
        if let Some(shown) = &action.shown_as {
            let fit = Fit::Partial(WhyNot::ShownName);
            if let Some(text) = shown.strip_prefix("mcp__") {
                add(self.server_texts.get(text), fit, found);
            }
            add(self.skill_texts.get(shown.as_str()), fit, found);
            add(self.own.get(shown.as_str()).map(|own| &own.every), fit, found);
        }
    }
}

impl Index {
    /// Finds the rules that speak of some calls of the tool, for the sake of their subjects.
    pub(super) fn find_subjects(&self, action: &Action, found: &mut Found) {
        if let ToolIdentity::Own(name) = &action.tool {
            let own = self.own.get(name.as_str());
            add(own.map(|own| &own.with_subject), Fit::Whole, found);
        }
    }
}

/// Adds the rules that are written as one name for a pair; they fit wholly only if no other pair is written so.
fn add_text(texts: &ByText, text: &str, found: &mut Found) {
    if let Some(ids) = texts.get(text) {
        let fit = match pairs(text).nth(1) {
            None => Fit::Whole,
            Some(_) => Fit::Partial(WhyNot::SeveralReadings),
        };
        add(Some(ids), fit, found);
    }
}

pub(super) fn add(ids: Option<&Vec<usize>>, fit: Fit, found: &mut Found) {
    found.extend(ids.into_iter().flatten().map(|&id| (id, fit)));
}

impl Explicit {
    fn add(&mut self, name: &str, tool: Option<&str>, id: usize) {
        let ids = match tool {
            None => self.all.entry(name.into()).or_default(),
            Some(tool) => self.one.entry(name.into()).or_default().entry(tool.into()).or_default(),
        };
        ids.push(id);
    }

    fn find(&self, name: &str, tool: &str, found: &mut Found) {
        add(self.all.get(name), Fit::Whole, found);
        add(self.one.get(name).and_then(|tools| tools.get(tool)), Fit::Whole, found);
    }
}

impl Own {
    /// Finds the rules whose subjects fit.
    fn find(&self, action: &Action, found: &mut Found) {
        let unknown = Fit::Partial(WhyNot::NotComparable);
        let judged =
            action.subject.as_ref().is_some_and(|subject| self.subjects.find(subject, found));
        if !judged {
            add(Some(&self.with_subject), unknown, found);
        }
    }
}

/// Whether losing the entry would grant something.
pub(super) fn restricts(entry: &Entry) -> bool {
    entry.effect != Effect::Allow
}
