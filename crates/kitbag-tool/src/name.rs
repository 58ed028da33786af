//! The names that tools and sources go by.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The most bytes a name may have, as the Model Context Protocol asks of tool names.
const MAX_NAME_BYTES: usize = 128;

/// How many characters of a refused name an error shows.
const SHOWN_CHARS: usize = 120;

/// The name that callers know a tool by: 1 to 128 ASCII letters, digits, `_`, `-`, `.` or `/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

/// The name of a [`Source`](crate::Source) within its toolbox; the same rule as for [`ToolName`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SourceId(Arc<str>);

/// A text that cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` cannot be a name: 1 to 128 ASCII letters, digits, `_`, `-`, `.` and `/` may stand in one"
)]
pub struct NameError {
    shown: String,
}

fn check(text: &str) -> Result<Arc<str>, NameError> {
    let fits = (1..=MAX_NAME_BYTES).contains(&text.len());
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b'/');
    if fits && text.bytes().all(plain) {
        return Ok(text.into());
    }
    Err(NameError { shown: text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect() })
}

macro_rules! name {
    ($name:ident) => {
        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                check(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

name!(ToolName);
name!(SourceId);
