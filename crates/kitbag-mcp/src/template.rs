//! Texts with `${VAR}` in them: as they were written, and with the variables replaced (decision 11, G-29).

use std::fmt;

use crate::covered::Covered;
use crate::shown;

/// The most bytes of a text whose variables have been replaced: the longest argument that Linux takes.
pub const MAX_EXPANDED_BYTES: usize = 128 * 1024;

/// A text as it was written. `Debug` shows it so, variables and all.
#[derive(Clone, PartialEq, Eq)]
pub struct Unexpanded {
    written: Box<str>,
    pieces: Vec<Piece>,
}

/// A text whose variables have been replaced. `Debug` shows it as it was written.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    value: Covered<String>,
    written: Box<str>,
}

/// A variable that a text asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What takes its place where it is unset or empty; without, an unset one is an error.
    pub default: Option<String>,
}

/// A text whose `${` is no variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It has no `}`.
    #[error("a `${{` has no `}}`")]
    Unclosed,
    /// What stands between the braces is not a name, nor a name and a default.
    #[error("{0} is no variable")]
    NotAVariable(String),
    /// A default holds another `${`.
    #[error("the default of `{0}` holds another `${{`, and defaults are plain text")]
    Nested(String),
}

/// Why a text has no expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unset {
    /// This variable is unset and has no default.
    Variable(String),
    /// The result would be longer than [`MAX_EXPANDED_BYTES`].
    TooLong,
}

#[derive(Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Variable(Variable),
}

impl Unexpanded {
    /// Reads `${VAR}`, `${VAR:-default}` and `$${`, which is a plain `${`; every other `$` is plain.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("$${") {
                plain.push_str("${");
                rest = after;
            } else if let Some(after) = rest.strip_prefix("${") {
                let (inner, after) = after.split_once('}').ok_or(TemplateError::Unclosed)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain).into()));
                }
                pieces.push(Piece::Variable(variable(inner)?));
                rest = after;
            } else {
                plain.push('$');
                rest = &rest[1..];
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into()));
        }
        Ok(Self { written: text.into(), pieces })
    }

    /// The text as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The variables, in order; one that is asked for twice stands twice.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable(variable) => Some(variable),
            Piece::Text(_) => None,
        })
    }

    /// What comes out when no variable is set; nothing where one has no default.
    pub(crate) fn without_variables(&self) -> Option<String> {
        self.expand(&|_| None).ok().map(|expanded| expanded.value.expose().clone())
    }

    /// Replaces the variables in one pass: what is put in is never read again.
    ///
    /// A default takes the place of a variable that is unset or empty, as in a shell.
    pub(crate) fn expand(
        &self,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Expanded, Unset> {
        let mut value = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => value.push_str(text),
                Piece::Variable(Variable { name, default }) => match (lookup(name), default) {
                    (Some(set), None) => value.push_str(&set),
                    (Some(set), Some(_)) if !set.is_empty() => value.push_str(&set),
                    (_, Some(default)) => value.push_str(default),
                    (None, None) => return Err(Unset::Variable(name.clone())),
                },
            }
            if value.len() > MAX_EXPANDED_BYTES {
                return Err(Unset::TooLong);
            }
        }
        Ok(Expanded { value: Covered::new(value), written: self.written.clone() })
    }
}

impl Expanded {
    /// The text, for the process or the server that it is meant for.
    pub fn expose(&self) -> &str {
        self.value.expose()
    }

    /// The text as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }
}

fn variable(inner: &str) -> Result<Variable, TemplateError> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        // A default could be a secret, and is not needed to see what is wrong.
        return Err(TemplateError::NotAVariable(shown::name(&format!("${{{name}}}"))));
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(TemplateError::Nested(name.to_owned()));
    }
    Ok(Variable { name: name.to_owned(), default: default.map(str::to_owned) })
}

impl fmt::Debug for Unexpanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.written, f)
    }
}

impl fmt::Debug for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.written, f)
    }
}
