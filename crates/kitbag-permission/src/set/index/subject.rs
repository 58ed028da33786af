//! The rules of one tool by their subjects: one way to compare for each kind.

use std::collections::BTreeSet;

use super::super::problem::{RuleProblem, Severity};
use super::super::{Entry, Fit, MAX_SUBJECT_BYTES, WhyNot};
use super::paths::Paths;
use super::{ByText, Found, add, restricts};
use crate::action::{Subject, SubjectKind};
use crate::command::{Line, base_name, plain_words};
use crate::rule::Pattern;

/// The most words before `:*` in a rule for commands.
const MAX_PREFIX_WORDS: usize = 32;

/// What joins words in the tables, since no word of a rule holds it.
const JOINT: &str = "\0";

/// The rules with a subject of one tool.
#[derive(Debug, Clone, Default)]
pub(super) enum Subjects {
    #[default]
    None,
    Text(Texts),
    Path(Paths),
    Domain(Domains),
    Command(Commands),
}

/// Names and other texts: the very text, or its beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    exact: ByText,
    prefixes: ByText,
    lengths: BTreeSet<usize>,
}

/// Hosts.
#[derive(Debug, Clone, Default)]
pub(super) struct Domains {
    exact: ByText,
    below: ByText,
}

/// Lines for a shell.
#[derive(Debug, Clone, Default)]
pub(super) struct Commands {
    /// By the whole line.
    lines: ByText,
    /// By all words of a simple command.
    words: ByText,
    /// By the first words.
    prefixes: ByText,
    /// The most words and bytes of a key of `prefixes`.
    longest_prefix: (usize, usize),
    /// The most words of a key of `words`.
    most_words: usize,
}

impl Subjects {
    /// Compiles the rules; those that cannot work are added to `closed` and `problems`.
    pub(super) fn build(
        kind: SubjectKind,
        patterns: &[(usize, &Pattern)],
        entries: &[Entry],
        closed: &mut Vec<usize>,
        problems: &mut Vec<RuleProblem>,
    ) -> Self {
        let mut refuse = |id: usize, detail: String, hint: &str| {
            closed.push(id);
            let entry: &Entry = &entries[id];
            let detail = format!("`{}`: {detail}", entry.rule);
            problems.push(RuleProblem::new(Severity::Error, entry, detail, hint));
        };
        match kind {
            SubjectKind::Text => Self::Text(Texts::build(patterns, &mut refuse)),
            SubjectKind::Domain => Self::Domain(Domains::build(patterns, &mut refuse)),
            SubjectKind::Command => Self::Command(Commands::build(patterns, &mut refuse)),
            SubjectKind::Path => {
                let paths = Paths::build(patterns, &mut refuse);
                problems.extend(
                    patterns.iter().filter_map(|&(id, pattern)| top_only(&entries[id], pattern)),
                );
                Self::Path(paths)
            }
        }
    }

    /// Adds the rules that hit; whether the subject could be compared at all.
    pub(super) fn find(&self, subject: &Subject, found: &mut Found) -> bool {
        if subject.longest() > MAX_SUBJECT_BYTES {
            return false;
        }
        match (self, subject) {
            (Self::Text(texts), Subject::Text(text)) => texts.find(text, found),
            (Self::Path(paths), Subject::Path(path)) => return paths.find(path, found),
            (Self::Domain(domains), Subject::Domain(host)) => domains.find(host, found),
            (Self::Command(commands), Subject::Command(line)) => commands.find(line, found),
            _ => return false,
        }
        true
    }
}

/// Notes a rule that restricts a bare file name, which only the top of the workspace has.
fn top_only(entry: &Entry, pattern: &Pattern) -> Option<RuleProblem> {
    let Pattern::Literal(glob) = pattern else { return None };
    if glob.contains('/') || &**glob == "**" || &**glob == "~" || !restricts(entry) {
        return None;
    }
    let detail = format!("`{}` hits at the top of the workspace only", entry.rule);
    let hint = format!("`**/{glob}` hits in every directory");
    Some(RuleProblem::new(Severity::Note, entry, detail, hint))
}

impl Texts {
    fn build(patterns: &[(usize, &Pattern)], refuse: &mut impl FnMut(usize, String, &str)) -> Self {
        let mut texts = Self::default();
        for &(id, pattern) in patterns {
            match pattern {
                Pattern::Literal(text) => texts.exact.entry(text.clone()).or_default().push(id),
                Pattern::Prefix(text) => {
                    texts.lengths.insert(text.len());
                    texts.prefixes.entry(text.clone()).or_default().push(id);
                }
                Pattern::Domain { .. } | Pattern::Every => {
                    refuse(id, "this tool is not about hosts".to_owned(), "write the name alone");
                }
            }
        }
        texts
    }

    fn find(&self, text: &str, found: &mut Found) {
        add(self.exact.get(text), Fit::Whole, found);
        for prefix in self.lengths.iter().filter_map(|&length| text.get(..length)) {
            add(self.prefixes.get(prefix), Fit::Whole, found);
        }
    }
}

impl Domains {
    fn build(patterns: &[(usize, &Pattern)], refuse: &mut impl FnMut(usize, String, &str)) -> Self {
        let mut domains = Self::default();
        for &(id, pattern) in patterns {
            match pattern {
                Pattern::Domain { host, below: false } => {
                    domains.exact.entry(host.clone()).or_default().push(id);
                }
                Pattern::Domain { host, below: true } => {
                    domains.below.entry(host.clone()).or_default().push(id);
                }
                Pattern::Literal(_) | Pattern::Prefix(_) | Pattern::Every => {
                    let hint = "write `domain:HOST`, or `domain:*.HOST` for all below it";
                    refuse(id, "this tool is about hosts".to_owned(), hint);
                }
            }
        }
        domains
    }

    fn find(&self, host: &str, found: &mut Found) {
        let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
        add(self.exact.get(host.as_str()), Fit::Whole, found);
        // An address has no domains above it, but nothing that reads like `*.1.2.3` hits one by chance either.
        let mut rest = host.as_str();
        while let Some((_, above)) = rest.split_once('.') {
            add(self.below.get(above), Fit::Whole, found);
            rest = above;
        }
    }
}

impl Commands {
    fn build(patterns: &[(usize, &Pattern)], refuse: &mut impl FnMut(usize, String, &str)) -> Self {
        let mut commands = Self::default();
        for &(id, pattern) in patterns {
            match pattern {
                Pattern::Literal(text) => {
                    commands.lines.entry(text.clone()).or_default().push(id);
                    if let Some(words) = Line::read(text).simple {
                        commands.most_words = commands.most_words.max(words.len());
                        commands.words.entry(join(&words)).or_default().push(id);
                    }
                }
                Pattern::Prefix(text) => match plain_words(text) {
                    Some(words) if words.len() <= MAX_PREFIX_WORDS => {
                        let key = join(&words);
                        let (most, longest) = commands.longest_prefix;
                        commands.longest_prefix = (most.max(words.len()), longest.max(key.len()));
                        commands.prefixes.entry(key).or_default().push(id);
                    }
                    _ => {
                        let hint = "what stands before `:*` are up to 32 plain words, without quotes and operators";
                        refuse(id, "no simple command begins so".to_owned(), hint);
                    }
                },
                Pattern::Domain { .. } | Pattern::Every => {
                    refuse(id, "this tool is not about hosts".to_owned(), "write a command");
                }
            }
        }
        commands
    }

    fn find(&self, line: &str, found: &mut Found) {
        let line = Line::read(line);
        add(self.lines.get(line.text), Fit::Whole, found);
        if let Some(words) = &line.simple {
            self.begins(words, None, Fit::Whole, found);
        }
        let compound = Fit::Partial(WhyNot::CompoundCommand);
        for words in line.commands() {
            self.begins(words, None, compound, found);
            if let Some(first) = words.first() {
                let base = base_name(first);
                if base != first {
                    self.begins(words, Some(base), compound, found);
                }
            }
        }
    }

    /// Adds the rules for a command that begins with the words, the first of them maybe read as another.
    fn begins(&self, words: &[String], first: Option<&str>, fit: Fit, found: &mut Found) {
        let (most, longest) = self.longest_prefix;
        let mut joined = String::new();
        for (at, word) in words.iter().enumerate().take(most) {
            if at > 0 {
                joined.push_str(JOINT);
            }
            joined.push_str(first.filter(|_| at == 0).unwrap_or(word));
            if joined.len() > longest {
                break;
            }
            add(self.prefixes.get(joined.as_str()), fit, found);
        }
        // Allowing goes by the whole line; the same words in other quotes are denied alike, not allowed alike.
        if fit != Fit::Whole && words.len() <= self.most_words {
            let rest = words.iter().skip(1).map(String::as_str);
            let words: Vec<&str> =
                first.or(words.first().map(String::as_str)).into_iter().chain(rest).collect();
            add(self.words.get(words.join(JOINT).as_str()), fit, found);
        }
    }
}

fn join(words: &[String]) -> Box<str> {
    words.join(JOINT).into()
}
