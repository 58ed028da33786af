//! The five modes of a session (decision 17).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What happens to a call that no rule decides (decision 17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Mode {
    /// Every call asks.
    #[default]
    Ask,
    /// Edits inside the workspace run, the rest asks.
    AcceptEdits,
    /// Our own read-only tools run and nothing else does, whatever a rule allows.
    Plan,
    /// Everything runs, but for what a rule denies or asks about.
    FullAuto,
    /// What would ask is denied.
    DontAsk,
}

/// A text that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` is no mode; the modes are `ask`, `accept-edits`, `plan`, `full-auto` and `dont-ask`"
)]
pub struct ModeError {
    shown: String,
}

impl Mode {
    /// Every mode, in the order in which the documentation lists them.
    pub const ALL: [Self; 5] =
        [Self::Ask, Self::AcceptEdits, Self::Plan, Self::FullAuto, Self::DontAsk];

    /// The name that settings and flags use, such as `accept-edits`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::FullAuto => "full-auto",
            Self::DontAsk => "dont-ask",
        }
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let named = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        named.ok_or_else(|| ModeError {
            shown: text.chars().take(40).flat_map(char::escape_debug).collect(),
        })
    }
}

impl TryFrom<String> for Mode {
    type Error = ModeError;

    fn try_from(text: String) -> Result<Self, ModeError> {
        text.parse()
    }
}

impl From<Mode> for &'static str {
    fn from(mode: Mode) -> Self {
        mode.as_str()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
