//! The words of a call's arguments.

use std::borrow::Cow;
use std::ops::Range;

use super::Dialect;

/// One word, and where it was typed.
pub(super) struct Word<'a> {
    value: Cow<'a, str>,
    pub(super) span: Range<usize>,
}

impl<'a> Word<'a> {
    /// A word that stands at `span`, as it is.
    pub(super) fn new(value: &'a str, span: Range<usize>) -> Self {
        Self { value: Cow::Borrowed(value), span }
    }

    /// The word without the quotes that grouped it.
    pub(super) fn value(&self) -> &str {
        &self.value
    }
}

/// Splits `text` into its words.
///
/// Both dialects split at white space. In [`Dialect::Claude`], `'…'` and `"…"` group, a backslash takes white space,
/// a quote or a backslash as it is, and inside double quotes a quote or a backslash. A quote that nothing closes is
/// a character like any other (`fix Bob's test`), and so is a backslash before anything else (`C:\temp`).
pub(super) fn words(text: &str, dialect: Dialect) -> Vec<Word<'_>> {
    match dialect {
        Dialect::Kitbag => plain(text),
        Dialect::Claude => quoted(text),
    }
}

fn plain(text: &str) -> Vec<Word<'_>> {
    text.split_whitespace()
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            Word { value: Cow::Borrowed(word), span: start..start + word.len() }
        })
        .collect()
}

fn quoted(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let next = at + character.len_utf8();
        if character.is_whitespace() {
            words.extend(
                open.take().map(|(start, value)| Word { value: value.into(), span: start..at }),
            );
            at = next;
            continue;
        }
        let (_, value) = open.get_or_insert_with(|| (at, String::new()));
        let literal = |value: &mut String| {
            value.push(character);
            next
        };
        at = match character {
            '\'' | '"' => close(&text[next..], character, value)
                .map_or_else(|| literal(value), |length| next + length),
            '\\' => match text[next..].chars().next() {
                Some(taken) if taken.is_whitespace() || matches!(taken, '\'' | '"' | '\\') => {
                    value.push(taken);
                    next + taken.len_utf8()
                }
                _ => {
                    value.push(character);
                    next
                }
            },
            _ => {
                value.push(character);
                next
            }
        };
    }
    words.extend(open.map(|(start, value)| Word { value: value.into(), span: start..text.len() }));
    words
}

/// Appends what stands before the closing `quote` to `value`, and gives the bytes up to and with that quote.
fn close(text: &str, quote: char, value: &mut String) -> Option<usize> {
    let before = value.len();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Some(at + quote.len_utf8());
        }
        let escaped = if quote == '"' && character == '\\' {
            text[at + 1..].chars().next().filter(|next| matches!(next, '"' | '\\'))
        } else {
            None
        };
        value.push(escaped.unwrap_or(character));
        if escaped.is_some() {
            characters.next();
        }
    }
    value.truncate(before);
    None
}
