//! A skill's body with the arguments of one call put in (decision 8).
//!
//! A body is text and stays text: nothing here runs a command, and a value that was put in is never read again.

mod code;
mod scan;
mod words;

use crate::problem::Position;

use scan::{Names, Scanner};
use words::{Word, words};

pub use code::{MAX_PREVIEWS, PREVIEW_CHARS, Preview, Previews, code_placeholders};
pub use scan::{MAX_ARGUMENT_NAME_CHARS, PlaceholderKind, SKILL_DIR_VARIABLES};

/// The most bytes that the values of one call may add to a body.
pub const MAX_INSERTED_BYTES: usize = 1 << 20;

/// The most bytes of a call's arguments that are read.
pub const MAX_ARGUMENTS_BYTES: usize = 256 << 10;

/// The way of writing placeholders that a body follows (decision 8).
///
/// | in the body | `Kitbag` | `Claude` |
/// |---|---|---|
/// | `$ARGUMENTS` | everything typed | everything typed |
/// | `$1` | the first word; `$1` to `$9` only | the second word; any number, from `$0` |
/// | `$ARGUMENTS[0]` | left whole | the first word |
/// | `$name` | the word at the name's position, or nothing | the same |
/// | `\$1` | a backslash and the first word | `$1` |
/// | words of the arguments | between white space | between white space, quotes group |
/// | `${KITBAG_SKILL_DIR}` and its older spellings | the skill's directory | the same |
///
/// In both, an index with no word stays as written, and so does everything that is not in the table: `$10` (where
/// it is no index), `${name}`, `$HOME`, `$1st`, `$1.42B` and `$1,000` (amounts of money), `$name[0]`. `$$1` is a
/// dollar sign and the first word. A name ends where no letter, digit or `_` follows, and the longest declared name
/// wins, so `$environment` is never `$env`; a script without spaces may follow a placeholder directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Kitbag's own, in which words count from 1 (B-41 to B-51).
    Kitbag,
    /// That of skills written for `.claude/skills`, in which words count from 0.
    Claude,
}

/// What a call passes to a skill.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// Everything that was typed after the skill's name.
    pub text: &'a str,
    /// The names that the skill declares for the words of it, in order.
    ///
    /// A name that begins with a digit, holds anything but letters, digits, `_` and `-`, is longer than
    /// [`MAX_ARGUMENT_NAME_CHARS`] or is `ARGUMENTS` has no placeholder. Of two equal names the first counts.
    pub names: &'a [String],
}

/// What a call passes to a skill in values of their own, such as the arguments of an MCP prompt.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The value of each word, in order, whatever it holds; an empty one was not given.
    pub words: &'a [&'a str],
    /// The names that the skill declares for the words, as in [`Arguments`].
    pub names: &'a [String],
}

/// A body after [`substitute`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// What did not fit in.
    pub shortfall: Shortfall,
}

/// What the bounds of [`substitute`] kept out; all zero where they kept nothing out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// Placeholders left as written, since their values would pass [`MAX_INSERTED_BYTES`].
    pub placeholders: usize,
    /// Bytes of the arguments past [`MAX_ARGUMENTS_BYTES`], which were not read.
    pub argument_bytes: usize,
}

/// One placeholder of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// What it stands for.
    pub kind: PlaceholderKind<'a>,
    /// Its bytes in the body.
    pub span: std::ops::Range<usize>,
    /// Its place in the body.
    pub position: Position,
}

/// Puts `arguments` and the skill's directory into `body`, in one pass from left to right.
///
/// [`Dialect`] says what is replaced by what. Words that no placeholder took follow in a last line
/// `ARGUMENTS: <text>`, so that nothing a person typed is lost (B-50); white space around the arguments is not part
/// of them. Without a `skill_dir` its placeholders stay as written. The text is at most [`MAX_INSERTED_BYTES`] and
/// one arguments line longer than `body`.
pub fn substitute(
    body: &str,
    dialect: Dialect,
    arguments: &Arguments<'_>,
    skill_dir: Option<&str>,
) -> Expanded {
    let typed = &arguments.text[..arguments.text.floor_char_boundary(MAX_ARGUMENTS_BYTES)];
    let call = Call {
        text: typed.trim(),
        words: words(typed.trim(), dialect),
        skill_dir,
        asked: Asked::default(),
        shortfall: Shortfall {
            placeholders: 0,
            argument_bytes: arguments.text.len() - typed.len(),
        },
    };
    call.fill(body, dialect, arguments.names)
}

/// Does the same as [`substitute`] with words that nobody has to part.
///
/// A placeholder of a word or a name becomes the whole value, blanks and quotes included, in both dialects.
/// `$ARGUMENTS`, and the last line for what no placeholder took, have the values with a blank between each two; one
/// that was not given leaves no gap there, and nothing in place of its own placeholder.
pub fn substitute_values(
    body: &str,
    dialect: Dialect,
    values: &Values<'_>,
    skill_dir: Option<&str>,
) -> Expanded {
    let mut text = String::new();
    let mut words = Vec::with_capacity(values.words.len());
    let mut argument_bytes = 0;
    for value in values.words {
        let room = MAX_ARGUMENTS_BYTES.saturating_sub(text.len());
        let kept = &value[..value.floor_char_boundary(room)];
        argument_bytes += value.len() - kept.len();
        if !text.is_empty() && !kept.is_empty() {
            text.push(' ');
        }
        let start = text.len();
        text.push_str(kept);
        words.push(Word::new(kept, start..text.len()));
    }
    let call = Call {
        text: &text,
        words,
        skill_dir,
        asked: Asked::default(),
        shortfall: Shortfall { placeholders: 0, argument_bytes },
    };
    call.fill(body, dialect, values.names)
}

/// Finds the placeholders of `body`, in order, whether or not a call has values for them.
pub fn placeholders<'a>(
    body: &'a str,
    dialect: Dialect,
    names: &'a [String],
) -> Vec<Placeholder<'a>> {
    let mut place = scan::Place::start(body);
    Scanner::new(body, dialect, &Names::new(names))
        .map(|found| Placeholder {
            position: place.advance(found.span.start),
            kind: found.kind,
            span: found.span,
        })
        .collect()
}

/// The values of one call, and which of them were taken.
struct Call<'a> {
    text: &'a str,
    words: Vec<Word<'a>>,
    skill_dir: Option<&'a str>,
    asked: Asked,
    shortfall: Shortfall,
}

/// The arguments that some placeholder took.
#[derive(Default)]
struct Asked {
    all: bool,
    words: std::collections::HashSet<usize>,
}

impl Call<'_> {
    /// The body with the values in it, and what nothing asked for behind it.
    fn fill(mut self, body: &str, dialect: Dialect, names: &[String]) -> Expanded {
        let mut text = self.expand(body, dialect, &Names::new(names));
        let unasked = self.unasked();
        if !unasked.is_empty() {
            let line_break = if body.contains("\r\n") { "\r\n" } else { "\n" };
            while !text.is_empty() && !text.ends_with(&line_break.repeat(2)) {
                text.push_str(line_break);
            }
            text.push_str("ARGUMENTS: ");
            text.push_str(&unasked);
        }
        Expanded { text, shortfall: self.shortfall }
    }

    fn expand(&mut self, body: &str, dialect: Dialect, names: &Names<'_>) -> String {
        let mut out = String::with_capacity(body.len());
        let mut inserted = 0;
        let mut copied = 0;
        for found in Scanner::new(body, dialect, names) {
            out.push_str(&body[copied..found.span.start]);
            copied = found.span.end;
            let written = &body[found.span.clone()];
            let value = match found.kind {
                PlaceholderKind::Arguments => Some(self.text),
                PlaceholderKind::Word(at) => self.words.get(at).map(Word::value),
                PlaceholderKind::Name { word, .. } => {
                    Some(self.words.get(word).map_or("", Word::value))
                }
                PlaceholderKind::SkillDir => self.skill_dir,
                PlaceholderKind::Escape => Some(&written[1..]),
            };
            match value {
                Some(value) if inserted + value.len() <= MAX_INSERTED_BYTES => {
                    inserted += value.len();
                    out.push_str(value);
                    self.asked.note(found.kind);
                }
                Some(_) => {
                    self.shortfall.placeholders += 1;
                    out.push_str(written);
                }
                None => out.push_str(written),
            }
        }
        out.push_str(&body[copied..]);
        out
    }

    /// The words that nothing took, as they were typed; a gap where one was taken is a blank.
    fn unasked(&self) -> String {
        if self.asked.all {
            return String::new();
        }
        if self.asked.words.is_empty() {
            return self.text.to_owned();
        }
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        let mut follows = false;
        for (at, word) in self.words.iter().enumerate() {
            if word.span.is_empty() {
                continue;
            }
            let taken = self.asked.words.contains(&at);
            match runs.last_mut() {
                _ if taken => {}
                Some(run) if follows => run.end = word.span.end,
                _ => runs.push(word.span.clone()),
            }
            follows = !taken;
        }
        let runs: Vec<&str> = runs.into_iter().map(|run| &self.text[run]).collect();
        runs.join(" ")
    }
}

impl Asked {
    fn note(&mut self, kind: PlaceholderKind<'_>) {
        match kind {
            PlaceholderKind::Arguments => self.all = true,
            PlaceholderKind::Word(word) | PlaceholderKind::Name { word, .. } => {
                self.words.insert(word);
            }
            PlaceholderKind::SkillDir | PlaceholderKind::Escape => {}
        }
    }
}
