//! The URI of a skill, or of something in it: `skill://<name>/<path>`.

use std::fmt;
use std::str::FromStr;

use crate::{SkillName, SkillNameError, SkillPath, SkillPathError};

/// The scheme, with what parts it from the rest.
const SCHEME: &str = "skill://";

/// The most bytes a URI may have: every character of the longest name and path as four escaped bytes.
const MAX_URI_BYTES: usize = 16 * 1024;

/// Names a skill, or a file or directory in it, to a client of the Model Context Protocol.
///
/// Written with the escapes that RFC 3986 asks for; read by undoing them once, segment by segment, before the
/// name and the path are checked. An escaped slash does not part segments and is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SkillUri {
    /// The skill.
    pub skill: SkillName,
    /// What in the skill is meant; none for the skill's own directory.
    pub path: Option<SkillPath>,
}

/// A text that is not the URI of anything in a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillUriError {
    /// It has another scheme, or is longer than any URI of a skill.
    #[error("it is not a `skill://` URI")]
    Scheme,
    /// It has a query or a fragment.
    #[error("it has a query or a fragment")]
    Query,
    /// A `%` is followed by no two hexadecimal digits, the bytes are no UTF-8, or a slash is escaped.
    #[error("it has an escape that cannot be undone")]
    Escape,
    /// The skill's name is none.
    #[error(transparent)]
    Name(#[from] SkillNameError),
    /// The path is none.
    #[error(transparent)]
    Path(#[from] SkillPathError),
}

impl SkillUri {
    /// The URI of a file or directory in a skill.
    pub fn of(skill: SkillName, path: SkillPath) -> Self {
        Self { skill, path: Some(path) }
    }
}

impl FromStr for SkillUri {
    type Err = SkillUriError;

    fn from_str(text: &str) -> Result<Self, SkillUriError> {
        if text.len() > MAX_URI_BYTES {
            return Err(SkillUriError::Scheme);
        }
        let (scheme, rest) = text.split_at_checked(SCHEME.len()).ok_or(SkillUriError::Scheme)?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return Err(SkillUriError::Scheme);
        }
        if rest.contains(['?', '#']) {
            return Err(SkillUriError::Query);
        }
        let (skill, path) = match rest.split_once('/') {
            Some((skill, path)) => (skill, Some(path)),
            None => (rest, None),
        };
        let skill = unescape(skill)?.parse()?;
        let path = match path {
            Some(path) => {
                let segments = path.split('/').map(unescape).collect::<Result<Vec<_>, _>>()?;
                Some(segments.join("/").parse()?)
            }
            None => None,
        };
        Ok(Self { skill, path })
    }
}

impl fmt::Display for SkillUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        escape(f, self.skill.as_str(), b"")?;
        for segment in self.path.iter().flat_map(|path| path.as_str().split('/')) {
            f.write_str("/")?;
            escape(f, segment, b":@")?;
        }
        Ok(())
    }
}

/// Writes one segment: unreserved characters, sub-delimiters and what `also` names as they are, all else escaped.
fn escape(f: &mut fmt::Formatter<'_>, segment: &str, also: &[u8]) -> fmt::Result {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || also.contains(&byte)
    };
    for byte in segment.bytes() {
        if plain(byte) {
            write!(f, "{}", char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

fn unescape(segment: &str) -> Result<String, SkillUriError> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return Err(SkillUriError::Escape) };
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let (Some(high), Some(low)) = (digit(high), digit(low)) else {
            return Err(SkillUriError::Escape);
        };
        let byte = high << 4 | low;
        if byte == b'/' {
            return Err(SkillUriError::Escape);
        }
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| SkillUriError::Escape)
}
