//! Where an edit cuts and what it puts there.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::document::{Member, Node, Piece, pieces};

/// What one level is indented by where the file does not show it.
const INDENT: &str = "  ";

/// `text` in the place of the bytes from `start` to `end`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Splice {
    start: usize,
    end: usize,
    text: String,
}

/// The text after the splices, which do not overlap and stand in order.
pub(super) fn apply(text: &str, splices: Vec<Splice>) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        changed.push_str(&text[at..splice.start]);
        changed.push_str(&splice.text);
        at = splice.end;
    }
    changed.push_str(&text[at..]);
    changed
}

fn put(at: usize, text: String) -> Splice {
    Splice { start: at, end: at, text }
}

fn cut(start: usize, end: usize) -> Splice {
    Splice { start, end, text: String::new() }
}

/// An object with the value, behind all that a file without a value holds.
pub(super) fn new_root(text: &str, keys: &[String], value: &Value) -> Splice {
    let style = Style { line_end: line_end(text), unit: INDENT };
    let before = if text.is_empty() || text.ends_with(['\n', '\r']) { "" } else { style.line_end };
    let Style { line_end, unit } = style;
    let property = property(keys, value, unit, Some(&style));
    put(text.len(), format!("{before}{{{line_end}{unit}{property}{line_end}}}{line_end}"))
}

/// Another value in the place of `node`.
pub(super) fn replace(text: &str, root: &Node, node: &Node, value: &Value) -> Splice {
    let style = Style::of(text, root);
    let spread = text[node.start..node.end].contains(['\n', '\r']) || begins_line(text, node.start);
    let written = written(value, indent(text, node.start), spread.then_some(&style));
    Splice { start: node.start, end: node.end, text: written }
}

/// The property `keys` leads to, behind the last one of `object`.
pub(super) fn insert(
    text: &str,
    root: &Node,
    object: &Node,
    keys: &[String],
    value: &Value,
) -> Vec<Splice> {
    let style = Style::of(text, root);
    match object.members().last() {
        Some(last) => insert_behind(text, object, last, keys, value, &style),
        None => vec![insert_first(text, object, keys, value, &style)],
    }
}

fn insert_behind(
    text: &str,
    object: &Node,
    last: &Member,
    keys: &[String],
    value: &Value,
    style: &Style<'_>,
) -> Vec<Splice> {
    let end = last.value.end;
    let comma = comma(text, end, object.end - 1);
    if !begins_line(text, last.start) {
        let property = property(keys, value, indent(text, object.start), None);
        return vec![match comma {
            Some(comma) => put(comma + 1, format!(" {property},")),
            None => put(end, format!(", {property}")),
        }];
    }
    let own = indent(text, last.start);
    let line = format!("{}{own}{}", style.line_end, property(keys, value, own, Some(style)));
    let behind = comma.map_or(end, |comma| comma + 1);
    let behind = behind_comments(text, behind, object.end - 1);
    match comma {
        Some(_) => vec![put(behind, format!("{line},"))],
        None if behind == end => vec![put(end, format!(",{line}"))],
        None => vec![put(end, ",".to_owned()), put(behind, line)],
    }
}

/// The end of the comments that follow on the line of `from`, if nothing but them does; else `from`.
fn behind_comments(text: &str, from: usize, to: usize) -> usize {
    let mut end = from;
    for (start, stop, piece) in pieces(&text[from..to]) {
        let all = &text[from + start..from + stop];
        match piece {
            Piece::Comment if !all.contains(['\n', '\r']) => end = from + stop,
            Piece::Space if all.contains(['\n', '\r']) => return end,
            Piece::Space => {}
            _ => return from,
        }
    }
    from
}

fn insert_first(
    text: &str,
    object: &Node,
    keys: &[String],
    value: &Value,
    style: &Style<'_>,
) -> Splice {
    let close = object.end - 1;
    let base = indent(text, object.start);
    let own = format!("{base}{}", style.unit);
    let line = format!("{}{own}{}", style.line_end, property(keys, value, &own, Some(style)));
    let behind = pieces(&text[object.start + 1..close])
        .filter(|(_, _, piece)| *piece == Piece::Comment)
        .map(|(_, end, _)| object.start + 1 + end)
        .last()
        .unwrap_or(object.start + 1);
    if text[behind..close].contains(['\n', '\r']) {
        put(behind, line)
    } else {
        put(close, format!("{line}{}{base}", style.line_end))
    }
}

/// Cuts the property at `at` of `object` with one comma, and the line if nothing else is left on it.
pub(super) fn remove(text: &str, object: &Node, at: usize) -> Vec<Splice> {
    let members = object.members();
    let member = &members[at];
    let (start, end) = (member.start, member.value.end);
    let until = members.get(at + 1).map_or(object.end - 1, |next| next.start);
    if let Some(comma) = comma(text, end, until) {
        if text[end..comma].trim().is_empty() {
            return vec![widened(text, start, comma + 1)];
        }
        return vec![cut(start, end), cut(comma, comma + 1)];
    }
    let before = at.checked_sub(1).map(|before| members[before].value.end);
    let Some(comma) = before.and_then(|before| comma(text, before, start)) else {
        return vec![widened(text, start, end)];
    };
    if text[comma + 1..start].bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
        return vec![cut(comma, end)];
    }
    vec![cut(comma, comma + 1), widened(text, start, end)]
}

/// The cut from `start` to `end`, with the whole line where it leaves nothing on it, else with the spaces of one side.
fn widened(text: &str, start: usize, end: usize) -> Splice {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let spaces = text.as_bytes()[end..].iter().take_while(|byte| blank(byte)).count();
    let rest = &text[end + spaces..];
    let line_end = ["\r\n", "\n", "\r"].into_iter().find(|one| rest.starts_with(one));
    match (line_end, begins_line(text, start)) {
        (Some(line_end), true) => {
            let begin = start - indent(text, start).len();
            cut(begin, end + spaces + line_end.len())
        }
        (None, _) if !rest.starts_with(['}', ']']) => cut(start, end + spaces),
        (_, true) => cut(start, end),
        (_, false) => {
            let before = text.as_bytes()[..start].iter().rev().take_while(|byte| blank(byte));
            cut(start - before.count(), end)
        }
    }
}

/// The first comma outside comments between two values.
fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    pieces(&text[from..to])
        .find(|(_, _, piece)| *piece == Piece::Mark(b','))
        .map(|(start, _, _)| from + start)
}

/// How the file is written.
struct Style<'a> {
    line_end: &'static str,
    unit: &'a str,
}

impl<'a> Style<'a> {
    fn of(text: &'a str, root: &Node) -> Self {
        let first = root.members().iter().find(|member| begins_line(text, member.start));
        let unit = first.map_or("", |member| indent(text, member.start));
        Self { line_end: line_end(text), unit: if unit.is_empty() { INDENT } else { unit } }
    }
}

fn line_end(text: &str) -> &'static str {
    let Some(at) = text.find(['\n', '\r']) else { return "\n" };
    ["\r\n", "\n", "\r"].into_iter().find(|one| text[at..].starts_with(one)).unwrap_or("\n")
}

/// Whether only white space precedes `at` on its line, and the line is not the first.
fn begins_line(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
}

/// The white space that the line of `at` begins with.
fn indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// `"key": value`, the keys before the last as objects around it; the value alone without keys, as for an item of a list.
fn property(keys: &[String], value: &Value, own: &str, style: Option<&Style<'_>>) -> String {
    let Some((first, rest)) = keys.split_first() else { return written(value, own, style) };
    let value = rest.iter().rev().fold(value.clone(), |value, key| {
        Value::Object([(key.clone(), value)].into_iter().collect())
    });
    format!("{}: {}", Value::from(first.as_str()), written(&value, own, style))
}

/// The value as JSON: over several lines with a style, else on one.
fn written(value: &Value, own: &str, style: Option<&Style<'_>>) -> String {
    let Some(style) = style else { return value.to_string() };
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(style.unit.as_bytes());
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        .expect("a JSON value can be written to memory");
    // A line end inside a string is written as an escape, so every one that is left is layout.
    String::from_utf8(bytes)
        .expect("JSON is UTF-8")
        .replace('\n', &format!("{}{own}", style.line_end))
}
