//! The path of keys that leads to a value, such as `permissions.allow`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::document::MAX_DEPTH;

/// The keys that lead from the root of the settings to a value.
///
/// As text the keys are joined by `.`; one that is empty or holds anything but letters, digits, `_`, `-` and `$` is written as a
/// JSON string: `mcpServers."my.server".url`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct KeyPath(Vec<String>);

/// A text that is no path of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyPathError {
    /// Nothing stands there, or nothing between two dots.
    #[error("a key is empty; write `\"\"` if that is its name")]
    Empty,
    /// A quoted key is not a JSON string.
    #[error("a quoted key is no JSON string")]
    Quoting,
    /// A character that a bare key cannot hold.
    #[error("a key holds `{}`; put that key in double quotes", .0.escape_debug())]
    Character(char),
    /// More than [`MAX_DEPTH`] keys.
    #[error("more than {MAX_DEPTH} keys")]
    TooDeep,
}

impl KeyPath {
    /// The path of these keys, taken as they are.
    pub fn of<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self(keys.into_iter().map(Into::into).collect())
    }

    /// The keys, outermost first.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The path as a section declares it: bare keys between dots, and the root for nothing.
    pub(crate) fn declared(dotted: &str) -> Self {
        Self::of(dotted.split('.').filter(|key| !key.is_empty()))
    }

    pub(crate) fn join<K: Into<String>>(&self, keys: impl IntoIterator<Item = K>) -> Self {
        let mut joined = self.clone();
        joined.0.extend(keys.into_iter().map(Into::into));
        joined
    }
}

fn is_bare(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '$')
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            if !key.is_empty() && key.chars().all(is_bare) {
                f.write_str(key)?;
            } else {
                write!(f, "{}", serde_json::Value::from(key.as_str()))?;
            }
        }
        Ok(())
    }
}

impl FromStr for KeyPath {
    type Err = KeyPathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut keys = Vec::new();
        let mut rest = text;
        loop {
            if keys.len() == MAX_DEPTH {
                return Err(KeyPathError::TooDeep);
            }
            let length = if rest.starts_with('"') {
                let length = quoted_length(rest).ok_or(KeyPathError::Quoting)?;
                keys.push(
                    serde_json::from_str(&rest[..length]).map_err(|_| KeyPathError::Quoting)?,
                );
                length
            } else {
                let length = rest.find('.').unwrap_or(rest.len());
                let key = &rest[..length];
                if key.is_empty() {
                    return Err(KeyPathError::Empty);
                }
                if let Some(character) = key.chars().find(|character| !is_bare(*character)) {
                    return Err(KeyPathError::Character(character));
                }
                keys.push(key.to_owned());
                length
            };
            rest = &rest[length..];
            if rest.is_empty() {
                return Ok(Self(keys));
            }
            rest = rest.strip_prefix('.').ok_or(KeyPathError::Quoting)?;
        }
    }
}

/// The length of the JSON string that `text` begins with, quotes included.
fn quoted_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().skip(1).find_map(|(at, character)| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends.then_some(at + 1)
    })
}

impl Serialize for KeyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
