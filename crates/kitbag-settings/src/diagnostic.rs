//! What is wrong with a setting, told so that a person can act on it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::key_path::KeyPath;
use crate::settings::Origin;

/// The most diagnostics that one file, or one question to [`Settings`](crate::Settings), gives; a last one says that there are more.
pub const MAX_DIAGNOSTICS: usize = 100;

/// How much a [`Diagnostic`] costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// A value is not used, as the rules of trust want it, or something looks unlike what was meant.
    Warning,
    /// What is written cannot be taken. In the user's own settings this is a reason not to start.
    Error,
}

/// Why a [`Diagnostic`] was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read.
    Unreadable,
    /// The file is larger than is read.
    TooLarge,
    /// Objects and lists are nested deeper than is read.
    TooDeep,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text ends before what it opened is closed.
    CutOff,
    /// A control character, such as a tab, stands inside a string.
    ControlCharacter,
    /// The text is not JSON with comments.
    Syntax,
    /// A number cannot be held as it is written.
    Number,
    /// The text holds a value, but no object.
    NotAnObject,
    /// The file holds nothing at all.
    Empty,
    /// A key stands twice in one object.
    DuplicateKey,
    /// No feature knows the key.
    UnknownKey,
    /// A value does not fit the key's type.
    WrongType,
    /// A value has the key's type, and the feature that owns the key cannot take it.
    Refused,
    /// A project's value is not used before the workspace is trusted.
    Withheld,
    /// A project may never set this key.
    UserOnly,
    /// There are more faults than are told.
    More,
}

impl Fault {
    /// The name of the fault on the wire and in tables, such as `unknown-key`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too-large",
            Self::TooDeep => "too-deep",
            Self::NotUtf8 => "not-utf8",
            Self::CutOff => "cut-off",
            Self::ControlCharacter => "control-character",
            Self::Syntax => "syntax",
            Self::Number => "number",
            Self::NotAnObject => "not-an-object",
            Self::Empty => "empty",
            Self::DuplicateKey => "duplicate-key",
            Self::UnknownKey => "unknown-key",
            Self::WrongType => "wrong-type",
            Self::Refused => "refused",
            Self::Withheld => "withheld",
            Self::UserOnly => "user-only",
            Self::More => "more",
        }
    }
}

/// A place in a text file. Both counts start at 1; columns count characters, not bytes, and a byte order mark is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character within the line.
    pub column: u32,
}

impl Position {
    /// The place of byte `offset` in `text`; lines end at LF, CRLF or a lone CR.
    pub(crate) fn at(text: &str, offset: usize) -> Self {
        Places::of(text).next(offset)
    }
}

/// The places of bytes of a text in ascending order, all of them at the cost of one look at it.
pub(crate) struct Places<'a> {
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    reached: Position,
    after_cr: bool,
}

impl<'a> Places<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let reached = Position { line: 1, column: 1 };
        Self { rest: text.char_indices().peekable(), reached, after_cr: false }
    }

    /// The place of byte `offset`, which is none before the last one that was asked for.
    pub(crate) fn next(&mut self, offset: usize) -> Position {
        while let Some((_, character)) = self.rest.next_if(|&(at, _)| at < offset) {
            let Position { line, column } = &mut self.reached;
            match character {
                '\n' if self.after_cr => {}
                '\n' | '\r' => (*line, *column) = (line.saturating_add(1), 1),
                _ => *column = column.saturating_add(1),
            }
            self.after_cr = character == '\r';
        }
        self.reached
    }
}

/// Where a value was given: a file, or something with a name, such as a variable or a flag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceName {
    /// A settings file.
    File(PathBuf),
    /// An environment variable or a flag, by its name.
    Given(String),
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Given(name) => f.write_str(name),
        }
    }
}

/// One thing that is wrong: where, what, and what to do about it. It never holds the value of a secret key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The kind.
    pub fault: Fault,
    /// What it costs.
    pub severity: Severity,
    /// The file, variable or flag it is about.
    pub source: SourceName,
    /// The place in that file, where one is known.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The key it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyPath>,
    /// What is wrong, in one sentence without its final stop.
    pub message: String,
    /// What to do, in one sentence without its final stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// What a feature has to say about the value of its `key` that stands at `origin`.
    pub fn of_value(
        severity: Severity,
        origin: &Origin,
        key: &KeyPath,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(severity, Fault::Refused, &origin.source, message)
            .at(origin.position)
            .key(key.clone())
            .hint(hint)
    }

    pub(crate) fn new(
        severity: Severity,
        fault: Fault,
        source: &SourceName,
        message: impl Into<String>,
    ) -> Self {
        Self {
            fault,
            severity,
            source: source.clone(),
            position: None,
            key: None,
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.position = position;
        self
    }

    pub(crate) fn key(mut self, key: KeyPath) -> Self {
        self.key = Some(key);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    /// Writes `file:line:column: message`, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Cuts `diagnostics` to [`MAX_DIAGNOSTICS`], and says so.
pub fn bounded(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if diagnostics.len() > MAX_DIAGNOSTICS {
        let worst = diagnostics[MAX_DIAGNOSTICS..].iter().map(|fault| fault.severity).max();
        let source = diagnostics[MAX_DIAGNOSTICS].source.clone();
        diagnostics.truncate(MAX_DIAGNOSTICS);
        diagnostics.push(Diagnostic::new(
            worst.unwrap_or(Severity::Note),
            Fault::More,
            &source,
            format!("there are more faults than these {MAX_DIAGNOSTICS}"),
        ));
    }
    diagnostics
}
