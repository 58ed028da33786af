//! The name that a configuration gives to a server.

use std::fmt;
use std::str::FromStr;

use kitbag_skills::shown::is_invisible;
use serde::{Deserialize, Serialize};

use crate::shown;

/// The most characters of a server's name.
pub const MAX_NAME_CHARS: usize = 64;

/// A server's name: 1 to 64 characters that can be seen, with no white space but blanks inside.
///
/// Names are exact and case counts. `__`, `/`, blanks and every script are allowed, since people have such names and rules can
/// quote them; what a model is shown is made from the name by decision 16. What a server calls itself is never a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(Box<str>);

/// A text that cannot be a server's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} cannot be a server's name: {rule}")]
pub struct ServerNameError {
    shown: String,
    rule: &'static str,
}

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = ServerNameError;

    fn from_str(text: &str) -> Result<Self, ServerNameError> {
        let refuse = |rule| Err(ServerNameError { shown: shown::name(text), rule });
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.chars().nth(MAX_NAME_CHARS).is_some() {
            return refuse("it is longer than 64 characters");
        }
        if text.chars().any(is_invisible) {
            return refuse("a character that cannot be seen stands in it");
        }
        if text.trim() != text {
            return refuse("a blank stands at its beginning or end");
        }
        if text.chars().any(|c| c.is_whitespace() && c != ' ') {
            return refuse("no white space but blanks may stand in it");
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for ServerName {
    type Error = ServerNameError;

    fn try_from(text: String) -> Result<Self, ServerNameError> {
        text.parse()
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0.into()
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
