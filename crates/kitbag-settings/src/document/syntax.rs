//! The parser's errors in words that say what to do. No message quotes the file: it may hold secrets.

use jsonc_parser::ParseStringErrorKind as StringKind;
use jsonc_parser::errors::{ParseError, ParseErrorKind as Kind};

use crate::diagnostic::{Diagnostic, Fault, Position, Severity, SourceName};

use super::scan::Open;

pub(super) fn explain(
    source: &SourceName,
    text: &str,
    error: &ParseError,
    open: Option<Open>,
) -> Diagnostic {
    let start = error.range().start;
    let diagnostic = |fault, offset, message: &str, hint: &str| {
        Diagnostic::new(Severity::Error, fault, source, message)
            .at(Some(Position::at(text, offset)))
            .hint(hint)
    };
    if let (true, Some(open)) = (is_cut_off(text, error), open) {
        let (opener, closer) = match text.as_bytes().get(open.offset) {
            Some(b'[') => ("[", "]"),
            _ => ("{", "}"),
        };
        let end = Position::at(text, text.len());
        return diagnostic(
            Fault::CutOff,
            open.offset,
            &format!("the file ends at line {} before the `{opener}` here is closed", end.line),
            &format!("the file seems cut off: restore its end, or add the missing `{closer}`"),
        );
    }
    let (message, hint) = words(error.kind());
    diagnostic(Fault::Syntax, start, message, hint)
}

/// Whether the parser stopped because nothing follows, or no more than the beginning of a word.
fn is_cut_off(text: &str, error: &ParseError) -> bool {
    matches!(
        error.kind(),
        Kind::UnterminatedObject | Kind::UnterminatedArray | Kind::ExpectedObjectValue
    ) || text[error.range().start.min(text.len())..].trim().chars().all(char::is_alphanumeric)
}

fn words(kind: &Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::ExpectedComma => ("a comma is missing here", "separate the two with `,`"),
        Kind::ExpectedColonAfterObjectKey => ("no `:` follows the key", "write `\"key\": value`"),
        Kind::ExpectedObjectValue => ("no value follows the key", "write `\"key\": value`"),
        Kind::ExpectedStringObjectProperty => {
            ("a key stands without double quotes", "write it as `\"key\"`")
        }
        Kind::SingleQuotedStringsNotAllowed => {
            ("a string stands in single quotes", "use double quotes")
        }
        Kind::MultipleRootJsonValues => (
            "something follows the end of the settings",
            "delete it, or see whether a `}` above closes too much",
        ),
        Kind::UnterminatedCommentBlock => {
            ("the comment that begins here is not closed", "close it with `*/`")
        }
        Kind::UnterminatedObject => ("an object is not closed", "add the missing `}`"),
        Kind::UnterminatedArray => ("a list is not closed", "add the missing `]`"),
        Kind::UnexpectedCloseBrace => {
            ("a `}` closes nothing here", "delete it, or write the value that is missing")
        }
        Kind::UnexpectedCloseBracket => {
            ("a `]` closes nothing here", "delete it, or write the value that is missing")
        }
        Kind::UnexpectedColon => ("a `:` stands where a value belongs", "write the value"),
        Kind::UnexpectedComma => {
            ("a comma stands where a value belongs", "delete it, or write the value")
        }
        Kind::UnexpectedWord | Kind::UnexpectedToken => (
            "what stands here is no JSON",
            "put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`",
        ),
        Kind::UnexpectedTokenInObject => {
            ("a key in double quotes belongs here", "write `\"key\": value`, one comma between two")
        }
        Kind::BareDecimalPointNumbersNotAllowed
        | Kind::ExpectedDigit
        | Kind::ExpectedDigitFollowingNegativeSign
        | Kind::ExpectedPlusMinusOrDigitInNumberLiteral
        | Kind::HexadecimalNumbersNotAllowed
        | Kind::NonFiniteNumbersNotAllowed
        | Kind::UnaryPlusNumbersNotAllowed => (
            "the number is not written as JSON wants it",
            "write it in decimal, as `12`, `-0.5` or `1e6`",
        ),
        Kind::String(StringKind::InvalidUnicodeEscapeSequence(_)) => (
            "half of a surrogate pair stands in a string",
            "write both halves, or the character itself",
        ),
        Kind::String(_) => (
            "a string holds an escape that JSON does not know",
            "the escapes are `\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\u` with four hexadecimal digits",
        ),
        Kind::NestingDepthExceeded | Kind::CommentsNotAllowed | Kind::TrailingCommasNotAllowed => {
            ("the text is not JSON with comments", "see the reference of the settings format")
        }
    }
}
