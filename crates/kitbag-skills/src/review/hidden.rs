//! Text that a model reads and a person who looks at the rendered page does not.

use crate::shown;

/// The most places that are told of one file.
const MAX_TOLD: usize = 20;

/// The most characters of a hidden text that are shown.
const SHOWN_CHARS: usize = 160;

/// So many blanks in a row push what follows out of sight.
const MANY_BLANKS: usize = 120;

/// So many empty lines in a row do the same.
const MANY_LINES: usize = 40;

/// What is hidden in `text` by the means that Markdown has, a sentence each.
pub(super) fn hidden(file: &str, text: &str) -> Vec<String> {
    let mut found = Found { told: Vec::new(), more: 0 };
    comments(text, &mut found);
    references(text, &mut found);
    blanks(text, &mut found);
    let Found { mut told, more } = found;
    told.sort();
    let mut lines: Vec<String> =
        told.into_iter().map(|(line, what)| format!("{file}:{line}: {what}")).collect();
    if more > 0 {
        lines.push(format!("{file}: {more} more texts are hidden in it"));
    }
    lines
}

/// What was found, with its line, and how much more.
struct Found {
    told: Vec<(usize, String)>,
    more: usize,
}

impl Found {
    fn add(&mut self, line: usize, what: impl FnOnce() -> String) {
        if self.told.len() < MAX_TOLD {
            self.told.push((line, what()));
        } else {
            self.more += 1;
        }
    }
}

/// The beginning of a text on one line, with what cannot be seen written as an escape.
fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if shown.chars().count() > SHOWN_CHARS {
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.extend(word.chars().take(SHOWN_CHARS));
    }
    let cut: String = shown.chars().take(SHOWN_CHARS).collect();
    let more = if cut.len() < shown.len() { "…" } else { "" };
    format!("`{}{more}`", shown::visible(&cut))
}

fn comments(text: &str, found: &mut Found) {
    let (mut at, mut line) = (0, 1);
    while let Some(open) = text[at..].find("<!--").map(|open| at + open) {
        let inside = open + "<!--".len();
        let end = text[inside..].find("-->").map_or(text.len(), |end| inside + end);
        line += text[at..open].matches('\n').count();
        found.add(line, || {
            format!(
                "a comment, which a rendered page does not show: {}",
                quoted(&text[inside..end])
            )
        });
        line += text[open..end].matches('\n').count();
        at = end;
    }
}

/// Link definitions that are used as comments, such as `[//]: # (text)`.
fn references(text: &str, found: &mut Found) {
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some((label, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"))
        else {
            continue;
        };
        let comment = label == "//" || label == "comment" || rest.trim_start().starts_with("# ");
        if comment {
            found.add(number + 1, || {
                format!("a link definition, which a rendered page does not show: {}", quoted(line))
            });
        }
    }
}

fn blanks(text: &str, found: &mut Found) {
    let mut empty = 0;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        if empty >= MANY_LINES {
            found.add(number + 1, || format!("text stands after {empty} empty lines"));
        }
        empty = 0;
        let gaps = line.trim_end().split(|c: char| !c.is_whitespace());
        let widest = gaps.map(|gap| gap.chars().count()).max().unwrap_or_default();
        if widest >= MANY_BLANKS {
            found.add(number + 1, || format!("text stands after {widest} blanks"));
        }
    }
}
