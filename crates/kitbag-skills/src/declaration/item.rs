//! A value of a declaration with its place, from YAML or TOML alike, and the complaints about it.

use std::path::Path;

use serde_json::{Number, Value};

use super::{MAX_DECLARATION_PROBLEMS, MAX_ROWS};
use crate::problem::{Position, Problem, Reason};

/// A value somebody wrote.
#[derive(Debug)]
pub(super) struct Item<V> {
    pub(super) value: V,
    pub(super) position: Position,
}

/// A table somebody wrote, entries in order.
pub(super) type Table = Vec<(Item<String>, Item<Datum>)>;

/// What a value is.
#[derive(Debug)]
pub(super) enum Datum {
    Text(String),
    /// A number that JSON has.
    Number(Number),
    Bool(bool),
    List(Vec<Item<Datum>>),
    Table(Table),
    /// Nothing, a date, or another thing that no field takes: what it is, and how it is written.
    Other(&'static str, String),
}

impl Datum {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(kind, _) => kind,
        }
    }

    /// The same as JSON; what JSON hasn't is the text that was written.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) | Self::Other(_, text) => Value::String(text.clone()),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Bool(flag) => Value::Bool(*flag),
            Self::List(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Self::Table(table) => Value::Object(
                table.iter().map(|(key, item)| (key.value.clone(), item.value.to_json())).collect(),
            ),
        }
    }
}

/// Gathers what is wrong with one declaration.
#[derive(Debug)]
pub(super) struct Complaints<'p> {
    path: &'p Path,
    problems: Vec<Problem>,
    more: usize,
}

impl<'p> Complaints<'p> {
    pub(super) fn about(path: &'p Path) -> Self {
        Self { path, problems: Vec::new(), more: 0 }
    }

    /// Says what is wrong and what to do.
    pub(super) fn say(
        &mut self,
        position: Position,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.problems.len() + 1 >= MAX_DECLARATION_PROBLEMS {
            self.more += 1;
            return;
        }
        let problem = Problem::warning(Reason::Declaration, self.path, detail);
        self.problems.push(problem.at(position).hint(hint));
    }

    /// The problems in the order of their places.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.position);
        if self.more > 0 {
            let detail = format!("{} more faults in this declaration", self.more);
            self.problems.push(Problem::warning(Reason::Declaration, self.path, detail));
        }
        self.problems
    }

    /// Names each key of `table` that isn't among `known`, with the known one that is nearest.
    pub(super) fn unknown_keys(&mut self, place: &str, table: &Table, known: &[&str]) {
        for (key, _) in table {
            if !known.contains(&key.value.as_str()) {
                let name = shown(&key.value);
                let hint = match nearest(&key.value, known) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("known here: {}", known.join(", ")),
                };
                self.say(key.position, format!("`{name}` is no known key of {place}"), hint);
            }
        }
    }

    /// The text under `key`; a complaint and `None` where something else stands there.
    pub(super) fn text<'t>(&mut self, table: &'t Table, key: &str) -> Option<&'t str> {
        let item = get(table, key)?;
        if let Datum::Text(text) = &item.value {
            return Some(text);
        }
        self.wrong_kind(key, item, "text in quotes");
        None
    }

    /// A text for people, without the white space around it; `None` for a blank one.
    pub(super) fn prose(&mut self, table: &Table, key: &str) -> Option<String> {
        let text = self.text(table, key)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn flag(&mut self, table: &Table, key: &str) -> bool {
        match get(table, key) {
            None => false,
            Some(Item { value: Datum::Bool(flag), .. }) => *flag,
            Some(item) => {
                self.wrong_kind(key, item, "`true` or `false`");
                false
            }
        }
    }

    /// The texts of the list under `key`, each with its place; what is no text is left out with a complaint.
    pub(super) fn texts<'t>(&mut self, table: &'t Table, key: &str) -> Vec<Item<&'t str>> {
        let mut texts = Vec::new();
        for item in self.list(table, key) {
            match &item.value {
                Datum::Text(text) => {
                    texts.push(Item { value: text.as_str(), position: item.position });
                }
                _ => self.wrong_entry(key, item, "text in quotes"),
            }
        }
        texts
    }

    /// The tables of the list under `key`, each with its place.
    pub(super) fn rows<'t>(&mut self, table: &'t Table, key: &str) -> Vec<Item<&'t Table>> {
        let mut rows = Vec::new();
        for item in self.list(table, key) {
            match &item.value {
                Datum::Table(table) => rows.push(Item { value: table, position: item.position }),
                _ => self.wrong_entry(key, item, "a table"),
            }
        }
        rows
    }

    fn list<'t>(&mut self, table: &'t Table, key: &str) -> &'t [Item<Datum>] {
        let Some(item) = get(table, key) else { return &[] };
        let Datum::List(items) = &item.value else {
            self.wrong_kind(key, item, "a list");
            return &[];
        };
        let (taken, left) = items.split_at(items.len().min(MAX_ROWS));
        if let Some(first) = left.first() {
            let detail =
                format!("`{key}` has {} entries, and the first {MAX_ROWS} are taken", items.len());
            self.say(first.position, detail, "shorten the list");
        }
        taken
    }

    /// Says that an entry of the list under `key` is of the wrong kind.
    pub(super) fn wrong_entry(&mut self, key: &str, item: &Item<Datum>, wanted: &str) {
        let kind = item.value.kind();
        let detail = format!("each entry of `{key}` must be {wanted}, not {kind}");
        self.say(item.position, detail, format!("write {wanted}"));
    }

    /// Says that what stands under `key` is of the wrong kind.
    pub(super) fn wrong_kind(&mut self, key: &str, item: &Item<Datum>, wanted: &str) {
        let kind = item.value.kind();
        let detail = format!("`{key}` must be {wanted}, not {kind}");
        self.say(item.position, detail, format!("write {wanted}"));
    }
}

/// The value under `key`; of several the last.
pub(super) fn get<'t>(table: &'t Table, key: &str) -> Option<&'t Item<Datum>> {
    table.iter().rev().find(|(name, _)| name.value == key).map(|(_, item)| item)
}

/// A text for a message: escaped, and cut to 80 characters.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

/// The known key that the fewest edits lead to, if they are few for its length.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let key: Vec<char> = key.chars().take(40).map(|c| c.to_ascii_lowercase()).collect();
    let distances = known.iter().map(|name| (edits(&key, name), *name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.len() / 3).then_some(name)
}

/// The number of characters to put in, take out or change between two names (Levenshtein).
fn edits(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let change = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
