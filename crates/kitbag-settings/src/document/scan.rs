//! A look at the text before it is parsed: nesting, strings, and what is left open.

use crate::diagnostic::{Diagnostic, Fault, Position, Severity, SourceName};

use super::MAX_DEPTH;

/// A stretch of a text of JSON with comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// One of `{`, `}`, `[`, `]`, `,` and `:`.
    Mark(u8),
    /// A string with its quotes; `closed` tells whether the second is there.
    Text { closed: bool },
    /// A comment; one to the end of the line does not hold that end.
    Comment,
    /// Space, tab, and the ends of lines.
    Space,
    /// Anything else.
    Other,
}

/// Splits `text` into pieces, each with its first byte and the one behind its last.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (usize, usize, Piece)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let first = *bytes.get(start)?;
        let (length, piece) = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => (1, Piece::Mark(first)),
            b'"' => string(&bytes[start..]),
            b'/' if bytes.get(start + 1) == Some(&b'/') => {
                (run(&bytes[start..], |byte| !matches!(byte, b'\n' | b'\r')), Piece::Comment)
            }
            b'/' if bytes.get(start + 1) == Some(&b'*') => {
                let inner = text[start + 2..].find("*/");
                (inner.map_or(bytes.len() - start, |end| end + 4), Piece::Comment)
            }
            _ if first.is_ascii_whitespace() => {
                (run(&bytes[start..], |byte| byte.is_ascii_whitespace()), Piece::Space)
            }
            _ => (1 + run(&bytes[start + 1..], is_other), Piece::Other),
        };
        at = start + length;
        Some((start, at, piece))
    })
}

fn run(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !holds(*byte)).unwrap_or(bytes.len())
}

fn is_other(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"{}[],:\"/".contains(&byte)
}

fn string(bytes: &[u8]) -> (usize, Piece) {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return (at + 1, Piece::Text { closed: true }),
            b'\n' | b'\r' => break,
            b'\\' if bytes.get(at + 1).is_some_and(|next| !matches!(next, b'\n' | b'\r')) => {
                at += 2;
            }
            _ => at += 1,
        }
    }
    (at.min(bytes.len()), Piece::Text { closed: false })
}

/// Refuses what the parser should not see or explains badly, and returns what is open at the end.
///
/// What is open is the byte of the innermost bracket that nothing closes.
pub(super) fn check(source: &SourceName, text: &str) -> Result<Option<Open>, Box<Diagnostic>> {
    let refuse = |fault, offset, message: String, hint: &str| {
        let fault = Diagnostic::new(Severity::Error, fault, source, message);
        Err(Box::new(fault.at(Some(Position::at(text, offset))).hint(hint)))
    };
    let mut open = Vec::new();
    for (start, end, piece) in pieces(text) {
        match piece {
            Piece::Mark(b'{' | b'[') => {
                open.push(start);
                if open.len() > MAX_DEPTH {
                    return refuse(
                        Fault::TooDeep,
                        start,
                        format!("objects and lists are nested deeper than {MAX_DEPTH} levels"),
                        "settings are flat: see whether a closing bracket is missing above",
                    );
                }
            }
            Piece::Mark(mark @ (b'}' | b']')) => {
                let Some(opened) = open.pop() else { continue };
                let (wanted, stands) = if mark == b'}' { ('[', '}') } else { ('{', ']') };
                if text[opened..].starts_with(wanted) {
                    let Position { line, column } = Position::at(text, opened);
                    return refuse(
                        Fault::Syntax,
                        start,
                        format!(
                            "a `{stands}` cannot close the `{wanted}` of line {line}, column {column}"
                        ),
                        "see whether a bracket is missing or too many between the two",
                    );
                }
            }
            Piece::Text { closed } => {
                let control = text[start..end].char_indices().find(|(_, one)| *one < ' ');
                if let Some((at, character)) = control {
                    let (name, escape) = control_name(character);
                    return refuse(
                        Fault::ControlCharacter,
                        start + at,
                        format!("{name} stands inside a string"),
                        &format!("write `{escape}` instead"),
                    );
                }
                if !closed && end == text.len() {
                    return refuse(
                        Fault::CutOff,
                        start,
                        "the file ends inside the string that begins here".to_owned(),
                        "the file seems cut off: restore its end, or close the string",
                    );
                }
                if !closed {
                    return refuse(
                        Fault::Syntax,
                        start,
                        "the string that begins here is not closed on its line".to_owned(),
                        "close it with `\"`, and write a line end inside a string as `\\n`",
                    );
                }
            }
            Piece::Comment | Piece::Mark(_) | Piece::Space | Piece::Other => {}
        }
    }
    Ok(open.pop().map(|offset| Open { offset }))
}

/// A bracket that nothing closes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) offset: usize,
}

fn control_name(character: char) -> (String, String) {
    match character {
        '\t' => ("a tab".to_owned(), "\\t".to_owned()),
        other => {
            let code = u32::from(other);
            (format!("the control character U+{code:04X}"), format!("\\u{code:04x}"))
        }
    }
}
