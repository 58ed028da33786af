//! What each source says about one key, and whether it counts.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Fault, MAX_DIAGNOSTICS, Severity};
use crate::document::{Node, Tree};
use crate::key_path::KeyPath;
use crate::layer::{Source, Trust};
use crate::section::{FromProject, Key, Merge, Misfit, SectionSchema, Step, full_path, masked};

use super::{Settings, alone};

/// What a project's value is called when it does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Counts,
    Withheld,
    UserOnly,
}

/// What one source says about one key.
pub(super) struct Contribution<'a> {
    pub(super) source: &'a Source,
    pub(super) node: &'a Node,
    pub(super) verdict: Verdict,
    /// What of it fits: nothing, the value, or the entries and items that do.
    pub(super) value: Option<Value>,
    /// The entries that do not fit, for a key that merges by entry.
    pub(super) refused: HashSet<String>,
}

/// What the sources say about `key`, weakest first.
pub(super) fn of_key<'a>(
    settings: &'a Settings,
    section: &SectionSchema,
    key: &Key,
) -> (Vec<Contribution<'a>>, Vec<Diagnostic>) {
    let path = full_path(section.at, key);
    let mut found = Vec::new();
    let mut told = Vec::new();
    for source in &settings.sources {
        let node = match reach(source, &path) {
            Ok(Some(node)) => node,
            Ok(None) => continue,
            Err(diagnostic) => {
                // The same obstacle stands in the way of every key below it; the first one tells.
                if is_first_below(section, key, diagnostic.key.as_ref()) {
                    told.push(*diagnostic);
                }
                continue;
            }
        };
        let verdict = verdict(source, settings.trust, key.project);
        told.extend(withheld(source, node, &path, verdict));
        let value = fitting(source, node, section, key, &mut told);
        let refused = match (key.merge, &value) {
            (Merge::ByEntry, Some(value)) => node
                .members()
                .iter()
                .filter(|entry| value.get(&entry.name).is_none())
                .map(|entry| entry.name.clone())
                .collect(),
            _ => HashSet::new(),
        };
        found.push(Contribution { source, node, verdict, value, refused });
    }
    (found, told)
}

/// The value at `path`, if there is one; an error where something other than an object stands on the way.
fn reach<'a>(source: &'a Source, path: &KeyPath) -> Result<Option<&'a Node>, Box<Diagnostic>> {
    let mut node = source.root();
    for (depth, name) in path.keys().iter().enumerate() {
        if !matches!(node.tree, Tree::Object(_)) {
            let at = KeyPath::of(path.keys()[..depth].iter().cloned());
            return Err(Box::new(
                Diagnostic::new(
                    Severity::Error,
                    Fault::WrongType,
                    source.name(),
                    format!("`{at}` is {}, and must be an object", node.kind()),
                )
                .at(source.position(node.start))
                .hint(format!("write `\"{}\": {{ … }}`", at.keys().last().map_or("", |key| key)))
                .key(at),
            ));
        }
        let Some(member) = node.member(name) else { return Ok(None) };
        node = &member.value;
    }
    Ok(Some(node))
}

fn is_first_below(section: &SectionSchema, key: &Key, at: Option<&KeyPath>) -> bool {
    let below =
        |one: &&Key| at.is_some_and(|at| full_path(section.at, one).keys().starts_with(at.keys()));
    section.keys.iter().find(below).is_some_and(|first| first.path == key.path)
}

fn verdict(source: &Source, trust: Trust, rule: FromProject) -> Verdict {
    if !source.layer().is_project() {
        return Verdict::Counts;
    }
    match (rule, trust) {
        (FromProject::Never, _) => Verdict::UserOnly,
        (FromProject::OnceTrusted, Trust::Untrusted) => Verdict::Withheld,
        (FromProject::OnceTrusted, Trust::Trusted) | (FromProject::Always, _) => Verdict::Counts,
    }
}

fn withheld(source: &Source, node: &Node, path: &KeyPath, verdict: Verdict) -> Option<Diagnostic> {
    let (fault, message, hint) = match verdict {
        Verdict::Counts => return None,
        Verdict::Withheld => (
            Fault::Withheld,
            format!("`{path}` of this project does not count until the workspace is trusted"),
            "`kitbag trust --diff` shows what it says, `kitbag trust` accepts it",
        ),
        Verdict::UserOnly => (
            Fault::UserOnly,
            format!("`{path}` is the user's to set, and does not count in a project"),
            "set it in your own settings if you want it",
        ),
    };
    Some(
        Diagnostic::new(Severity::Warning, fault, source.name(), message)
            .at(source.position(node.start))
            .key(path.clone())
            .hint(hint),
    )
}

/// What of `node` fits the section; what does not is told.
fn fitting(
    source: &Source,
    node: &Node,
    section: &SectionSchema,
    key: &Key,
    told: &mut Vec<Diagnostic>,
) -> Option<Value> {
    // The place of a fault costs a look at the whole text, so no more are told than are kept.
    let mut fits = |value: Value, piece: &Piece<'_>| {
        let misfit = (section.fit)(&alone(&KeyPath::declared(key.path), value.clone())).err();
        let fits = misfit.is_none();
        if let Some(misfit) = misfit.filter(|_| told.len() <= MAX_DIAGNOSTICS) {
            told.push(misfit_told(source, section, key, piece, &value, misfit));
        }
        fits
    };
    match (key.merge, &node.tree) {
        (Merge::Accumulate, Tree::Array(items)) => {
            let mut fit = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let value = item.to_value();
                if fits(Value::Array(vec![value.clone()]), &Piece::Item(at, item)) {
                    fit.push(value);
                }
            }
            Some(Value::Array(fit))
        }
        (Merge::ByEntry, Tree::Object(entries)) => {
            let mut fit = Map::new();
            for entry in entries {
                let value = entry.value.to_value();
                let one = Map::from_iter([(entry.name.clone(), value.clone())]);
                if fits(Value::Object(one), &Piece::Whole(node)) {
                    fit.insert(entry.name.clone(), value);
                }
            }
            Some(Value::Object(fit))
        }
        _ => {
            let value = node.to_value();
            fits(value.clone(), &Piece::Whole(node)).then_some(value)
        }
    }
}

/// What was checked, to find the place of a fault in it.
enum Piece<'a> {
    Whole(&'a Node),
    Item(usize, &'a Node),
}

fn misfit_told(
    source: &Source,
    section: &SectionSchema,
    key: &Key,
    piece: &Piece<'_>,
    value: &Value,
    misfit: Misfit,
) -> Diagnostic {
    let relative = KeyPath::declared(key.path);
    let mut steps = misfit.steps.into_iter().skip(relative.keys().len());
    let mut path = full_path(section.at, key);
    let mut node = match piece {
        Piece::Whole(node) => *node,
        Piece::Item(at, node) => {
            steps.next();
            path = path.join([at.to_string()]);
            node
        }
    };
    for step in steps {
        let (below, name) = match (&step, &node.tree) {
            (Step::Key(name), Tree::Object(_)) => {
                (node.member(name).map(|member| &member.value), name.clone())
            }
            (Step::Item(at), Tree::Array(items)) => (items.get(*at), at.to_string()),
            _ => (None, String::new()),
        };
        let Some(below) = below else { break };
        (node, path) = (below, path.join([name]));
    }
    let covered = masked(value.clone(), key.secrecy, &[]);
    let words = if covered == *value {
        Some(misfit.message)
    } else {
        (section.fit)(&alone(&relative, covered)).err().map(|misfit| misfit.message)
    };
    let words = words.unwrap_or_else(|| "its value is not of the form that the key takes".into());
    Diagnostic::new(
        Severity::Error,
        Fault::WrongType,
        source.name(),
        format!("`{path}` does not fit: {}", crate::document::shown_text(&words)),
    )
    .at(source.position(node.start))
    .key(path)
}
