//! The frontmatter as a whole: its fences, and the YAML between them.

use std::ops::Range;

use super::fields::{self, Fields};
use super::findings::{Findings, Place, shown};
use super::rules;
use crate::frontmatter::split::{self, Before, Closing, Fence};
use crate::frontmatter::yaml::{self, Content, Document, Finding, Node, Style};

/// What the checks of the body need to know.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The name as the frontmatter gives it.
    pub(super) name: Option<String>,
    /// How many lines the frontmatter takes, its fences included.
    pub(super) lines: u32,
    /// The byte at which the body begins.
    pub(super) body: usize,
}

/// Checks the frontmatter of `text`, which lies in a directory named `directory`.
pub(super) fn check(
    file: &str,
    text: &str,
    directory: Option<&str>,
    findings: &mut Findings,
) -> Parts {
    let split = split::split(text.as_bytes());
    let top = Place::at(file, 1, 1);
    if split.bom {
        findings.add(
            &rules::BYTE_ORDER_MARK,
            top,
            "the file begins with a byte order mark",
            "save it as UTF-8 without one; some clients take the frontmatter for text because of it",
        );
    }
    let (yaml, body, closing_line, closing) = match split.fence {
        Fence::Closed { yaml, body, closing_line, closing } => (yaml, body, closing_line, closing),
        other => {
            not_closed(&other, file, text, findings);
            return Parts::default();
        }
    };
    let parts = Parts { name: None, lines: closing_line, body };
    if closing == Closing::Dots {
        findings.add(
            &rules::FRONTMATTER_DOTS,
            Place::at(file, closing_line, 1),
            "`...` closes the frontmatter",
            "close it with `---`",
        );
    }
    let opening =
        super::lines::split_lines(text.trim_start_matches('\u{FEFF}')).next().unwrap_or_default();
    if opening.contains('\t') {
        let message = "a tab follows the `---` of the first line";
        findings.add(
            &rules::FRONTMATTER_FENCE,
            Place::at(file, 1, 4),
            message,
            "write `---` alone",
        );
    } else if opening != "---" {
        let message = "blanks follow the `---` of the first line";
        findings.add(&rules::FENCE_BLANK, Place::at(file, 1, 4), message, "delete them");
    }
    let source = text.get(yaml).unwrap_or_default();
    inner_fences(file, source, findings);
    match yaml::parse(source, 2) {
        Ok(document) => {
            Parts { name: document_checks(file, &document, directory, findings), ..parts }
        }
        Err(error) => {
            findings.add(
                &rules::YAML_INVALID,
                Place::at(file, error.position.line, error.position.column),
                format!("the frontmatter is no YAML that can be taken: {error}"),
                "put quotes around a value that holds `: ` or begins with a special character",
            );
            parts
        }
    }
}

fn not_closed(fence: &Fence, file: &str, text: &str, findings: &mut Findings) {
    let top = Place::at(file, 1, 1);
    let hint = "begin the file with `---`, `name:`, `description:` and `---`, each on its line";
    match fence {
        Fence::Misplaced { line, before, .. } => {
            let what = match before {
                Before::Blank => "blank lines",
                Before::Comment => "a comment",
                Before::Text => "text",
            };
            findings.add(
                &rules::FRONTMATTER_NOT_FIRST,
                Place::at(file, *line, 1),
                format!("{what} before the frontmatter, which begins on line {line}"),
                "make `---` the first line",
            );
        }
        Fence::Tagged { tag } => {
            let message = format!("`{}` follows the `---` of the first line", shown(tag));
            findings.add(&rules::FRONTMATTER_FENCE, top, message, "write `---` alone");
        }
        Fence::Unclosed => findings.add(
            &rules::FRONTMATTER_UNCLOSED,
            top,
            "no line `---` closes the frontmatter",
            "put a line of exactly `---` after the last field",
        ),
        Fence::TooLong => findings.add(
            &rules::YAML_INVALID,
            top,
            "the frontmatter is longer than 64 KiB",
            "move text into the body",
        ),
        Fence::Absent if text.trim_start_matches('\u{FEFF}').starts_with("---") => findings.add(
            &rules::FRONTMATTER_FENCE,
            top,
            "the first line begins with `---` and goes on",
            "write `---` alone",
        ),
        Fence::Absent | Fence::Utf16 | Fence::Closed { .. } => {
            findings.add(&rules::FRONTMATTER_MISSING, top, "there is no frontmatter", hint);
        }
    }
}

/// Reports a `---` within a line: readers that search for the three characters end the frontmatter there.
fn inner_fences(file: &str, source: &str, findings: &mut Findings) {
    for (number, line) in (2_u32..).zip(super::lines::split_lines(source)) {
        let Some(at) = line.find("---") else { continue };
        let column =
            u32::try_from(line[..at].chars().count()).unwrap_or(u32::MAX).saturating_add(1);
        findings.add(
            &rules::FRONTMATTER_INNER_FENCE,
            Place::at(file, number, column),
            "some readers end the frontmatter at this `---`, and lose what follows",
            "write another dash in its place",
        );
    }
}

fn document_checks(
    file: &str,
    document: &Document<'_>,
    directory: Option<&str>,
    findings: &mut Findings,
) -> Option<String> {
    let Some(entries) = document.entries() else {
        let position = document.root.as_ref().map(|root| root.position);
        findings.add(
            &rules::YAML_NOT_A_MAPPING,
            Place { file: Some(file), position },
            "the frontmatter is not a mapping",
            "write `key: value` lines",
        );
        return None;
    };
    let fields = Fields { file, document, entries, directory };
    for entry in entries.iter().filter(|entry| entry.key.text().is_none()) {
        let message = format!("a key is {}", entry.key.kind_name());
        let place = Place { file: Some(file), position: Some(entry.key.position) };
        findings.add(&rules::YAML_KEY, place, message, "write a word before the colon");
    }
    for (finding, position) in &document.findings {
        let place = Place { file: Some(file), position: Some(*position) };
        match finding {
            Finding::Anchor | Finding::Alias => {
                findings.add(
                    &rules::YAML_ANCHOR,
                    place,
                    format!("{finding} is used"),
                    "write the value out",
                );
            }
            Finding::Tag(_) => {
                findings.add(&rules::YAML_TAG, place, format!("{finding} is used"), "leave it out");
            }
            Finding::Flow => {
                findings.add(
                    &rules::YAML_FLOW,
                    place,
                    format!("{finding}"),
                    "write one item a line",
                );
            }
            Finding::DuplicateKey(key) => {
                let message = format!("the key `{}` stands here a second time", shown(key));
                findings.add(&rules::YAML_DUPLICATE_KEY, place, message, "keep one of them");
            }
            Finding::TrailingComment => fields::comment_cut(fields, *position, findings),
        }
    }
    tabs(file, document, findings);
    fields::check(fields, findings)
}

/// Reports tabs outside of quotes, block text and comments.
///
/// YAML 1.2 allows most of them; the reference's reader refuses them all.
fn tabs(file: &str, document: &Document<'_>, findings: &mut Findings) {
    let source = document.text;
    if !source.contains('\t') || document.findings.iter().any(|(f, _)| *f == Finding::Alias) {
        return;
    }
    let mut texts = Vec::new();
    if let Some(root) = &document.root {
        guarded_ranges(root, &mut texts);
    }
    for (number, line) in (2_u32..).zip(super::lines::split_lines(source)) {
        // The lines are slices of the text, so where one begins is how far its pointer is on.
        let start = line.as_ptr() as usize - source.as_ptr() as usize;
        let mut before = ' ';
        for (column, (at, character)) in (1_u32..).zip(line.char_indices()) {
            if texts.iter().any(|range| range.contains(&(start + at))) {
                before = 'x';
                continue;
            }
            match character {
                '#' if before.is_whitespace() => break,
                '\t' => {
                    let message = "a tab stands outside of quotes and block text";
                    let place = Place::at(file, number, column);
                    findings.add(&rules::YAML_TAB, place, message, "use spaces");
                    break;
                }
                _ => before = character,
            }
        }
    }
}

/// The bytes of every quoted or block scalar; without aliases there are no more of them than the text has bytes.
fn guarded_ranges(node: &Node, ranges: &mut Vec<Range<usize>>) {
    match &node.content {
        Content::Scalar(_) if node.style == Style::Plain => {}
        Content::Scalar(_) => ranges.push(node.source.clone()),
        Content::List(items) => items.iter().for_each(|item| guarded_ranges(item, ranges)),
        Content::Map(entries) => entries.iter().for_each(|entry| {
            guarded_ranges(&entry.key, ranges);
            guarded_ranges(&entry.value, ranges);
        }),
    }
}
