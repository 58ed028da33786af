//! The name of a skill, which is the name of its directory (decision 1).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most characters a skill's name may have.
pub const MAX_NAME_CHARS: usize = 64;

/// A skill's name: a letter or digit, then up to 63 letters, digits, `.`, `_` or `-`.
///
/// Letters and digits of every script count. The rule keeps a name from being read as a path, a flag or
/// markup wherever it is shown; the open specification's narrower rule is `kitbag skills validate`'s.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(Box<str>);

/// A text that cannot be a skill's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be a skill's name: {rule}", self.name.escape_debug())]
pub struct SkillNameError {
    name: String,
    rule: &'static str,
}

impl SkillName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillName {
    type Err = SkillNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |rule| Err(SkillNameError { name: text.chars().take(120).collect(), rule });
        let Some(first) = text.chars().next() else { return refuse("it is empty") };
        if !first.is_alphanumeric() {
            return refuse("it must begin with a letter or a digit");
        }
        if !text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-')) {
            return refuse("only letters, digits, `.`, `_` and `-` may stand in it");
        }
        if text.chars().count() > MAX_NAME_CHARS {
            return refuse("it is longer than 64 characters");
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for SkillName {
    type Error = SkillNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0.into()
    }
}

impl AsRef<str> for SkillName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
