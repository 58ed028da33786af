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
    let mut found: Vec<(usize, String)> = Vec::new();
    comments(text, &mut found);
    references(text, &mut found);
    blanks(text, &mut found);
    found.sort();
    let more = found.len().saturating_sub(MAX_TOLD);
    found.truncate(MAX_TOLD);
    let mut told: Vec<String> =
        found.into_iter().map(|(line, what)| format!("{file}:{line}: {what}")).collect();
    if more > 0 {
        told.push(format!("{file}: {more} more texts are hidden in it"));
    }
    told
}

fn comments(text: &str, found: &mut Vec<(usize, String)>) {
    let mut at = 0;
    while let Some(open) = text[at..].find("<!--").map(|open| at + open) {
        let inside = open + "<!--".len();
        let end = text[inside..].find("-->").map_or(text.len(), |end| inside + end);
        let what = format!(
            "a comment, which a rendered page does not show: `{}`",
            shown::visible(&shown::line(&text[inside..end], SHOWN_CHARS))
        );
        found.push((line_of(text, open), what));
        at = end;
    }
}

/// Link definitions that are used as comments, such as `[//]: # (text)`.
fn references(text: &str, found: &mut Vec<(usize, String)>) {
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some((label, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"))
        else {
            continue;
        };
        let comment = label == "//" || label == "comment" || rest.trim_start().starts_with("# ");
        if comment {
            let what = format!(
                "a link definition, which a rendered page does not show: `{}`",
                shown::visible(&shown::line(line, SHOWN_CHARS))
            );
            found.push((number + 1, what));
        }
    }
}

fn blanks(text: &str, found: &mut Vec<(usize, String)>) {
    let mut empty = 0;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        if empty >= MANY_LINES {
            found.push((number + 1, format!("it stands after {empty} empty lines")));
        }
        empty = 0;
        let gap =
            line.trim_end().split(|c: char| !c.is_whitespace()).map(|gap| gap.chars().count());
        let widest = gap.max().unwrap_or_default();
        if widest >= MANY_BLANKS {
            found.push((number + 1, format!("text stands after {widest} blanks")));
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}
