//! The path of a file inside a skill, checked as a string before it is ever joined to anything.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most characters a path inside a skill may have.
pub const MAX_PATH_CHARS: usize = 1024;

/// How many characters of a refused path an error shows.
const SHOWN_CHARS: usize = 120;

/// A path inside a skill, relative to its directory, with `/` between segments.
///
/// Not empty, at most 1,024 characters, no NUL, no backslash, no `%`, and no segment that is empty, `.`, `..` or
/// only white space. A `SkillPath` says nothing about what lies there: reading it checks again, on what it resolves to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillPath(Box<str>);

/// A text that cannot be a path inside a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a path inside a skill: {rule}")]
pub struct SkillPathError {
    shown: String,
    rule: PathRule,
}

/// The rule that a refused path breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathRule {
    /// Nothing stands there.
    #[error("it is empty")]
    Empty,
    /// More than [`MAX_PATH_CHARS`] characters.
    #[error("it is longer than 1024 characters")]
    TooLong,
    /// A NUL byte.
    #[error("it holds a NUL")]
    Nul,
    /// A backslash.
    #[error("it holds a backslash")]
    Backslash,
    /// A percent sign, which a reader further on may take for an escape.
    #[error("it holds a `%`")]
    Percent,
    /// A leading, trailing or doubled slash.
    #[error("it has an empty segment")]
    EmptySegment,
    /// A `.` or `..` segment.
    #[error("it has a `{0}` segment")]
    DotSegment(&'static str),
    /// A segment of white space alone.
    #[error("it has a segment of white space")]
    BlankSegment,
}

impl SkillPathError {
    /// The rule that was broken.
    pub fn rule(&self) -> PathRule {
        self.rule
    }

    /// What a path must look like, as a remedy.
    pub fn hint() -> &'static str {
        "write the path relative to the skill's directory, such as `references/guide.md`"
    }
}

impl SkillPath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    fn check(text: &str) -> Result<(), PathRule> {
        if text.is_empty() {
            return Err(PathRule::Empty);
        }
        if text.chars().count() > MAX_PATH_CHARS {
            return Err(PathRule::TooLong);
        }
        for character in text.chars() {
            match character {
                '\0' => return Err(PathRule::Nul),
                '\\' => return Err(PathRule::Backslash),
                '%' => return Err(PathRule::Percent),
                _ => {}
            }
        }
        for segment in text.split('/') {
            match segment {
                "" => return Err(PathRule::EmptySegment),
                "." => return Err(PathRule::DotSegment(".")),
                ".." => return Err(PathRule::DotSegment("..")),
                _ if segment.chars().all(char::is_whitespace) => {
                    return Err(PathRule::BlankSegment);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl FromStr for SkillPath {
    type Err = SkillPathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match Self::check(text) {
            Ok(()) => Ok(Self(text.into())),
            Err(rule) => {
                let mut shown: String =
                    text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
                if text.chars().nth(SHOWN_CHARS).is_some() {
                    shown.push('…');
                }
                Err(SkillPathError { shown, rule })
            }
        }
    }
}

impl TryFrom<String> for SkillPath {
    type Error = SkillPathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SkillPath> for String {
    fn from(path: SkillPath) -> Self {
        path.0.into()
    }
}

impl AsRef<str> for SkillPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
