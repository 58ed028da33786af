//! A long text read in pieces.

use std::fmt;

/// A part of a text that fits into a budget. Offsets and counts are characters of the whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The part.
    pub text: &'a str,
    /// Where it begins.
    pub start: usize,
    /// Where it ends, which is the offset to read on with.
    pub end: usize,
    /// The length of the whole text.
    pub total: usize,
    /// Why it ends there.
    pub cut: Cut,
}

/// Why a [`Piece`] ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// The text ends.
    End,
    /// The next line does not fit.
    Line,
    /// The line does not fit into a piece of its own.
    MidLine,
}

/// Takes the piece of `text` that begins at character `offset` and has at most `chars` characters, at least one.
///
/// It ends after a line break, or inside a line only where that line has more than `chars` characters. The pieces
/// from 0 on, each begun where the last one ended, are the whole text. An offset past the end gives an empty piece.
pub fn piece(text: &str, offset: usize, chars: usize) -> Piece<'_> {
    let total = text.chars().count();
    let start = offset.min(total);
    let rest = &text[byte_of(text, start)..];
    let room = &rest[..byte_of(rest, chars.max(1))];
    let (text, cut) = if room.len() == rest.len() {
        (rest, Cut::End)
    } else if let Some(end) = last_line_end(rest, room.len()) {
        (&rest[..end], Cut::Line)
    } else {
        (mid_line(rest, room), Cut::MidLine)
    };
    Piece { text, start, end: start + text.chars().count(), total, cut }
}

impl Piece<'_> {
    /// Writes the text after a blank line, and then how to read on with the same `keys`.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, keys: &str) -> fmt::Result {
        let Self { text, start, end, total, cut } = *self;
        if start > 0 && start == total {
            return writeln!(f, "Nothing is left: the text has {total} characters.");
        }
        if start > 0 {
            writeln!(f, "It goes on from character {start} of {total}.")?;
        }
        write!(f, "\n{text}")?;
        if cut == Cut::End {
            return Ok(());
        }
        let line_break = if text.ends_with(['\n', '\r']) { "" } else { "\n" };
        let left = total - end;
        let inside = if cut == Cut::MidLine { ", in the middle of a long line" } else { "" };
        writeln!(
            f,
            "{line_break}\n[Cut here{inside}: {left} of {total} characters are left. To read on, call `Skill` with the \
             same {keys} and `offset` {end}.]"
        )
    }
}

/// The byte at which character `at` of `text` begins, or the text's length.
fn byte_of(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

/// The end of the last line that ends within the first `room` bytes of `rest`, which go on behind them.
fn last_line_end(rest: &str, room: usize) -> Option<usize> {
    let bytes = rest.as_bytes();
    (1..=room).rev().find(|end| match bytes[end - 1] {
        b'\n' => true,
        b'\r' => bytes.get(*end) != Some(&b'\n'),
        _ => false,
    })
}

/// As much of `room` as does not part a CR from its LF.
fn mid_line<'a>(rest: &str, room: &'a str) -> &'a str {
    match room.strip_suffix('\r') {
        Some(before) if !before.is_empty() && rest[room.len()..].starts_with('\n') => before,
        _ => room,
    }
}
