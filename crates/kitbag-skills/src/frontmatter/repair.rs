//! The one repair pass over YAML that does not parse (decision 3).
//!
//! Each top-level entry is tried alone, so that an unclosed quote spoils its own entry and no other. One that fails has
//! the tabs of its indentation turned into spaces, or its value put in quotes, or those of the lines below its key; what
//! parses is left as it is.

use std::collections::HashSet;
use std::path::Path;

use super::yaml::{self, YamlErrorKind};
use crate::problem::{Position, Problem, Reason};

/// Fields whose value is prose, so that indented lines below the key are text even where they look like fields.
const PROSE: [&str; 7] = [
    "description",
    "when-to-use",
    "when_to_use",
    "argument-hint",
    "license",
    "compatibility",
    "name",
];

/// A text that may parse where the one it was made from did not.
pub(super) struct Repair {
    pub(super) text: String,
    changes: Vec<Change>,
}

struct Change {
    key: String,
    fix: Fix,
    position: Position,
    error: String,
}

#[derive(Clone, Copy)]
enum Fix {
    Quoted,
    Untabbed,
}

/// Repairs the entries of `text` that do not parse; `None` where no entry could be helped.
pub(super) fn repair(text: &str, first_line: u32) -> Option<Repair> {
    let mut repair = Repair { text: String::with_capacity(text.len() + 16), changes: Vec::new() };
    let mut line = first_line;
    let anchors = anchors(text);
    for entry in entries(text) {
        match fix(entry, &anchors, line) {
            Some((fixed, change)) => {
                repair.text.push_str(&fixed);
                repair.changes.push(change);
            }
            None => repair.text.push_str(entry),
        }
        let lines = u32::try_from(lines(entry).count()).unwrap_or(u32::MAX);
        line = line.saturating_add(lines);
    }
    (!repair.changes.is_empty()).then_some(repair)
}

impl Repair {
    /// One warning for each entry that was changed.
    pub(super) fn problems(&self, path: &Path) -> impl Iterator<Item = Problem> {
        self.changes.iter().map(move |Change { key, fix, position, error }| {
            let (detail, hint) = match fix {
                Fix::Quoted => (
                    format!("`{key}` was read as if its value stood in quotes ({error})"),
                    "put the value in quotes",
                ),
                Fix::Untabbed => (
                    format!("tabs below `{key}` were read as two spaces each ({error})"),
                    "indent with spaces",
                ),
            };
            Problem::warning(Reason::RepairedFrontmatter, path, detail).at(*position).hint(hint)
        })
    }
}

fn fix(entry: &str, anchors: &HashSet<&str>, line: u32) -> Option<(String, Change)> {
    let key = key(entry)?;
    let error = yaml::parse(entry, line).err()?;
    if !matches!(error.kind, YamlErrorKind::Syntax(_)) {
        return None;
    }
    let change =
        |fix, position| Change { key: key.to_owned(), fix, position, error: error.to_string() };
    let parses = |text: &str| yaml::parse(text, line).is_ok();

    let untabbed = untab(entry);
    if untabbed.as_deref().is_some_and(parses) {
        return Some((untabbed?, change(Fix::Untabbed, error.position)));
    }
    let spaced = untabbed.as_deref().unwrap_or(entry);
    let (quoted, at) = quote(spaced, key, anchors)
        .filter(|(quoted, _)| parses(quoted))
        .or_else(|| quote_lines(spaced, anchors).filter(|(quoted, _)| parses(quoted)))?;
    let position = Position::at(spaced, at);
    let position = Position { line: position.line.saturating_add(line - 1), ..position };
    Some((quoted, change(Fix::Quoted, position)))
}

/// The entry with its value in quotes, and the byte where the value begins.
fn quote(entry: &str, key: &str, anchors: &HashSet<&str>) -> Option<(String, usize)> {
    let first = lines(entry).next()?;
    let after_key = &first[key.len() + 1..];
    let on_first = !after_key.trim().is_empty();
    if !on_first && !PROSE.contains(&key) {
        return None;
    }
    let mut end = if on_first { first.trim_end().len() } else { 0 };
    let mut at = first.len();
    for line in lines(&entry[first.len()..]) {
        if line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            end = at + line.trim_end().len();
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            return None;
        }
        at += line.len();
    }
    let start = key.len() + 1;
    let start = start + entry.get(start..end)?.len() - entry[start..end].trim_start().len();
    let value = &entry[start..end];
    if is_block_header(value) || is_alias(value, anchors) {
        return None;
    }
    Some((format!("{}'{}'{}", &entry[..start], quotable(value), &entry[end..]), start))
}

/// The entry with those values of the lines below its key in quotes that don't parse alone, and where the first begins.
fn quote_lines(entry: &str, anchors: &HashSet<&str>) -> Option<(String, usize)> {
    let mut out = String::with_capacity(entry.len() + 16);
    let mut first = None;
    let mut at = 0;
    for line in lines(entry) {
        let start = line.len() - after_marks(line).len();
        let value = line[start..].trim_end();
        if at > 0 && is_block_header(value) {
            return None;
        }
        if at == 0 || is_alias(value, anchors) || yaml::parse(line.trim(), 1).is_ok() {
            out.push_str(line);
        } else {
            first.get_or_insert(at + start);
            let end = start + value.len();
            out.extend([&line[..start], "'", &quotable(value), "'", &line[end..]]);
        }
        at += line.len();
    }
    first.map(|first| (out, first))
}

/// What follows the indentation, the dashes of list items and the key of a line.
fn after_marks(line: &str) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start_matches([' ', '\t']);
    }
    let after_key = key(rest).map_or(rest, |key| &rest[key.len() + 1..]);
    after_key.trim_start_matches([' ', '\t'])
}

/// The text of a value as it stands between single quotes.
fn quotable(value: &str) -> String {
    unquote(value).replace('\'', "''")
}

/// Whether the value is an alias of an anchor in another entry, which needs no quotes though it does not parse alone.
fn is_alias(value: &str, anchors: &HashSet<&str>) -> bool {
    value.strip_prefix('*').is_some_and(|name| anchors.contains(name))
}

/// The text that a value in broken quotes stands for.
///
/// Quotes around the whole are taken off, unless the first one is closed by another before the end: `"a" or "b"` means
/// its quotes, `"say "a" twice"` does not mean the outer ones.
fn unquote(value: &str) -> String {
    let Some(mark) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return value.to_owned();
    };
    let after = &value[1..];
    if !after.contains(mark) {
        return after.to_owned();
    }
    let Some(inner) = after.strip_suffix(mark) else { return value.to_owned() };
    if let Some(at) = inner.find(mark) {
        let closes = inner[..at].ends_with(|c: char| !c.is_whitespace() && c != '\\')
            && inner[at + 1..].starts_with(|c: char| c.is_whitespace() || ",.;:!?)".contains(c));
        if closes {
            return value.to_owned();
        }
    }
    if mark == '"' {
        inner.replace("\\\"", "\"").replace("\\\\", "\\")
    } else {
        inner.replace("''", "'")
    }
}

fn is_block_header(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['|', '>']) else { return false };
    let header = rest.lines().next().unwrap_or_default();
    let header = header.split_once(" #").map_or(header, |(header, _)| header);
    header.trim_end().chars().all(|c| matches!(c, '+' | '-' | '1'..='9'))
}

/// The names of the anchors in `text`.
fn anchors(text: &str) -> HashSet<&str> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '[' | '{' | ','));
    words.filter_map(|word| word.strip_prefix('&')).collect()
}

/// The text with each tab of its indentation as two spaces; `None` where there is none.
fn untab(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut found = false;
    for line in lines(text) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        found |= line[..indent].contains('\t');
        out.push_str(&line[..indent].replace('\t', "  "));
        out.push_str(&line[indent..]);
    }
    found.then_some(out)
}

/// The text in pieces that each begin with a key in the first column, but for what stands before the first.
fn entries(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in lines(text) {
        if at > 0 && key(line).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn key(line: &str) -> Option<&str> {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let (key, follows) = line.split_at(line.bytes().take_while(|b| is_part(b)).count());
    let after = follows.strip_prefix(':')?;
    let spaced = after.is_empty() || after.starts_with([' ', '\t', '\n', '\r']);
    (spaced && !key.is_empty() && !key.starts_with('-')).then_some(key)
}

/// The lines with what ends them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = rest
            .find(['\n', '\r'])
            .map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, after) = rest.split_at(length);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}
