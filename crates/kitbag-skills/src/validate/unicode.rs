//! Characters that a person does not see and a model reads.

use super::findings::{Findings, Place};
use super::lines::{Line, Text};
use super::rules;

/// The longest tag sequence of a flag emoji; the three in use have five letters.
const MAX_FLAG_TAGS: usize = 6;

/// Reports hidden, reordering, tag and control characters, one finding for a run of one kind.
pub(super) fn check(text: &Text<'_>, findings: &mut Findings) {
    for line in text.lines() {
        if line.text.bytes().all(|b| b.is_ascii_graphic() || b == b' ' || b == b'\t') {
            continue;
        }
        check_line(text, &line, findings);
    }
}

/// Reports such characters in `decoded`, which escapes of YAML made and which no look at the file shows.
pub(super) fn check_decoded(decoded: &str, place: Place<'_>, findings: &mut Findings) {
    let plain = decoded.replace(['\n', '\r'], " ");
    runs(&plain, 0, &mut |_, class, first, count| report(place, class, first, count, findings));
}

fn check_line(text: &Text<'_>, line: &Line<'_>, findings: &mut Findings) {
    runs(line.text, line.number, &mut |offset, class, first, count| {
        report(text.place(line, offset), class, first, count, findings);
    });
}

/// Tells the runs of characters of one class: where one begins, its class, its first character, its length.
fn runs(line: &str, number: u32, tell: &mut impl FnMut(usize, Class, char, usize)) {
    let characters: Vec<(usize, char)> = line.char_indices().collect();
    let mut at = 0;
    while at < characters.len() {
        let (offset, character) = characters[at];
        let Some(class) = classify(&characters, at, number) else {
            at += 1;
            continue;
        };
        if let Some(length) = flag_tags(&characters, at).filter(|_| class == Class::Tag) {
            at += length;
            continue;
        }
        let mut end = at + 1;
        while end < characters.len() && classify(&characters, end, number) == Some(class) {
            end += 1;
        }
        tell(offset, class, character, end - at);
        at = end;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Tag,
    Hidden,
    Bidi,
    Control,
}

fn report(place: Place<'_>, class: Class, first: char, count: usize, findings: &mut Findings) {
    let (rule, what, hint) = match class {
        Class::Tag => (
            &rules::TAG_CHARACTER,
            "Unicode tag character",
            "delete it: a model reads the text that is hidden there",
        ),
        Class::Hidden => {
            (&rules::HIDDEN_CHARACTER, "invisible character", "delete it, or write it as an escape")
        }
        Class::Bidi => (
            &rules::BIDI_CONTROL,
            "bidirectional control",
            "delete it: text is shown in another order than it is read",
        ),
        Class::Control => (&rules::CONTROL_CHARACTER, "control character", "delete it"),
    };
    let code = u32::from(first);
    let message = match count {
        1 => format!("{what} U+{code:04X}"),
        _ => format!("{count} characters in a row of the kind {what}, the first U+{code:04X}"),
    };
    findings.add(rule, place, message, hint);
}

fn classify(characters: &[(usize, char)], at: usize, line: u32) -> Option<Class> {
    let character = characters[at].1;
    let before = at.checked_sub(1).map(|at| characters[at].1);
    let after = characters.get(at + 1).map(|(_, c)| *c);
    match character {
        '\u{E0000}'..='\u{E007F}' => Some(Class::Tag),
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Some(Class::Bidi),
        '\t' => None,
        // A byte order mark at the very start has its own rule.
        '\u{FEFF}' if line == 1 && at == 0 => None,
        c if c.is_control() => Some(Class::Control),
        '\u{200C}' | '\u{200D}' => (!joins(before, after)).then_some(Class::Hidden),
        '\u{200B}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{061C}'
        | '\u{180E}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206A}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{FFA0}'
        | '\u{1D173}'..='\u{1D17A}' => Some(Class::Hidden),
        // One selector picks a glyph; a run of them carries bytes.
        c if is_selector(c) => (before.is_some_and(is_selector) || after.is_some_and(is_selector))
            .then_some(Class::Hidden),
        _ => None,
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Whether a joiner between these two does what it is for: emoji sequences and scripts whose letters join.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let joinable = |c: char| {
        is_selector(c)
            || matches!(c, '\u{0590}'..='\u{1FFF}' | '\u{2190}'..='\u{2BFF}' | '\u{A800}'..='\u{ABFF}')
            || matches!(c, '\u{1F000}'..='\u{1FAFF}')
    };
    before.is_some_and(joinable) && after.is_none_or(|c| joinable(c) || c.is_whitespace())
}

/// The length of the tags at `at` if they spell the region of a black flag, as emoji of subdivisions do.
fn flag_tags(characters: &[(usize, char)], at: usize) -> Option<usize> {
    if at.checked_sub(1).map(|at| characters[at].1) != Some('\u{1F3F4}') {
        return None;
    }
    let tags = characters[at..]
        .iter()
        .take_while(|(_, c)| matches!(c, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}'))
        .count();
    let ended = characters.get(at + tags).is_some_and(|(_, c)| *c == '\u{E007F}');
    (ended && (1..=MAX_FLAG_TAGS).contains(&tags)).then_some(tags + 1)
}
