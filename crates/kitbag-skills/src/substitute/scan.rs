//! Where the placeholders of a body stand.

use std::collections::HashMap;
use std::ops::Range;

use crate::problem::Position;
use crate::tokens::is_unspaced;

use super::Dialect;

/// The longest declared name that has a placeholder.
pub const MAX_ARGUMENT_NAME_CHARS: usize = 64;

/// The variables that stand for the skill's own directory, written `${NAME}`, in both dialects (decision 8; B-45).
pub const SKILL_DIR_VARIABLES: [&str; 3] =
    ["KITBAG_SKILL_DIR", "CLAUDE_SKILL_DIR", "BINGO_SKILL_DIR"];

const ARGUMENTS: &str = "ARGUMENTS";

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceholderKind<'a> {
    /// Everything that was typed.
    Arguments,
    /// The word at a position that the placeholder gives, here counted from 0 in both dialects.
    Word(usize),
    /// The word at the position of a declared name.
    Name {
        /// The position, counted from 0.
        word: usize,
        /// The name.
        name: &'a str,
    },
    /// The skill's directory.
    SkillDir,
    /// A backslash and what would be a placeholder without it; the backslash goes.
    Escape,
}

/// A placeholder and the bytes it takes up.
pub(super) struct Found<'a> {
    pub(super) kind: PlaceholderKind<'a>,
    pub(super) span: Range<usize>,
}

/// The declared names that have placeholders, by name.
pub(super) struct Names<'a> {
    words: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(names: &'a [String]) -> Self {
        let mut words = HashMap::new();
        for (word, name) in names.iter().enumerate() {
            let usable = name.chars().next().is_some_and(begins_name)
                && name.chars().all(continues_name)
                && name.chars().count() <= MAX_ARGUMENT_NAME_CHARS
                && name != ARGUMENTS;
            if usable {
                words.entry(name.as_str()).or_insert(word);
            }
        }
        Self { words }
    }

    /// The longest declared name that `text` begins with and that ends there.
    fn longest(&self, text: &str) -> Option<(&'a str, usize)> {
        if self.words.is_empty() {
            return None;
        }
        let mut found = None;
        for (at, character) in text.char_indices().take(MAX_ARGUMENT_NAME_CHARS) {
            if !continues_name(character) {
                break;
            }
            let end = at + character.len_utf8();
            if ends_word(&text[end..])
                && let Some((name, word)) = self.words.get_key_value(&text[..end])
            {
                found = Some((*name, *word));
            }
        }
        found
    }
}

/// Yields the placeholders of a body from left to right.
pub(super) struct Scanner<'b, 'n, 'a> {
    body: &'b str,
    at: usize,
    dialect: Dialect,
    names: &'n Names<'a>,
}

impl<'b, 'n, 'a> Scanner<'b, 'n, 'a> {
    pub(super) fn new(body: &'b str, dialect: Dialect, names: &'n Names<'a>) -> Self {
        Self { body, at: 0, dialect, names }
    }

    /// What follows a dollar sign: its kind, and the bytes of it.
    fn read(&self, after: &str) -> Option<(PlaceholderKind<'a>, usize)> {
        let first = after.chars().next()?;
        if first == '{' {
            let name = SKILL_DIR_VARIABLES.iter().find(|name| {
                after[1..].strip_prefix(**name).is_some_and(|rest| rest.starts_with('}'))
            })?;
            return Some((PlaceholderKind::SkillDir, name.len() + 2));
        }
        if first.is_ascii_digit() {
            let (number, length) = number(after)?;
            let rest = &after[length..];
            if !ends_word(rest) || is_fraction(rest) {
                return None;
            }
            let word = match self.dialect {
                Dialect::Kitbag if (1..=9).contains(&number) => number - 1,
                Dialect::Kitbag => return None,
                Dialect::Claude => number,
            };
            return Some((PlaceholderKind::Word(word), length));
        }
        if !begins_name(first) {
            return None;
        }
        if let Some((name, word)) = self.names.longest(after)
            && !after[name.len()..].starts_with('[')
        {
            return Some((PlaceholderKind::Name { word, name }, name.len()));
        }
        let rest = after.strip_prefix(ARGUMENTS)?;
        if let Some(index) = rest.strip_prefix('[') {
            let (word, length) = number(index)?;
            let closed = self.dialect == Dialect::Claude && index[length..].starts_with(']');
            return closed.then_some((PlaceholderKind::Word(word), ARGUMENTS.len() + length + 2));
        }
        ends_word(rest).then_some((PlaceholderKind::Arguments, ARGUMENTS.len()))
    }

    /// Whether the dollar sign at `dollar` stands behind an odd number of backslashes.
    fn is_escaped(&self, dollar: usize) -> bool {
        let before = &self.body.as_bytes()[..dollar];
        self.dialect == Dialect::Claude
            && before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    }
}

impl<'a> Iterator for Scanner<'_, '_, 'a> {
    type Item = Found<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let dollar = self.at + self.body[self.at..].find('$')?;
            let after = &self.body[dollar + 1..];
            let read = self.read(after);
            self.at = dollar + 1 + read.map_or(0, |(_, length)| length);
            if self.is_escaped(dollar) {
                // An amount such as `\$1.42` was escaped for the sake of its digit, though it needs no escape here.
                if read.is_some() || after.starts_with(|first: char| first.is_ascii_digit()) {
                    return Some(Found {
                        kind: PlaceholderKind::Escape,
                        span: dollar - 1..self.at,
                    });
                }
            } else if let Some((kind, _)) = read {
                return Some(Found { kind, span: dollar..self.at });
            }
        }
    }
}

/// Follows the line and column through a text, forwards only.
pub(super) struct Place<'a> {
    rest: std::str::CharIndices<'a>,
    position: Position,
    after_cr: bool,
}

impl<'a> Place<'a> {
    pub(super) fn start(text: &'a str) -> Self {
        Self {
            rest: text.char_indices(),
            position: Position { line: 1, column: 1 },
            after_cr: false,
        }
    }

    /// The place of byte `offset`, which lies no earlier than the last one asked for.
    pub(super) fn advance(&mut self, offset: usize) -> Position {
        while self.rest.offset() < offset
            && let Some((_, character)) = self.rest.next()
        {
            let Position { line, column } = self.position;
            self.position = match character {
                '\n' if self.after_cr => self.position,
                '\n' | '\r' => Position { line: line.saturating_add(1), column: 1 },
                _ => Position { line, column: column.saturating_add(1) },
            };
            self.after_cr = character == '\r';
        }
        self.position
    }
}

/// The number that `text` begins with and the bytes of it, unless it is padded or too large to be an index.
fn number(text: &str) -> Option<(usize, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = &text[..length];
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    digits.parse().ok().map(|number| (number, length))
}

/// Whether `rest`, which follows digits, goes on with a decimal or thousands part.
fn is_fraction(rest: &str) -> bool {
    let mut bytes = rest.bytes();
    matches!(bytes.next(), Some(b'.' | b','))
        && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

fn begins_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn continues_name(character: char) -> bool {
    matches!(character, '_' | '-') || character.is_alphanumeric()
}

/// Whether a word ends before `rest`. A character of a script without spaces does not prolong a word.
fn ends_word(rest: &str) -> bool {
    !rest
        .chars()
        .next()
        .is_some_and(|next| next == '_' || (next.is_alphanumeric() && !is_unspaced(next)))
}
