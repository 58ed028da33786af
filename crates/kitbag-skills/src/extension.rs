//! What the Skills extension of MCP asks of a skill before it may be listed (decision 21).

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::document::{Document, SKILL_MD};

/// The most files of a skill whose digests are published; one with more is `"dynamic"`.
pub const MAX_EXTENSION_FILES: usize = 512;

/// The most bytes of a skill whose digests are published; one with more is `"dynamic"`.
pub const MAX_EXTENSION_BYTES: u64 = 16 * 1024 * 1024;

/// The most characters of a description that the open specification allows.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// The most characters of `compatibility` that the open specification allows.
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// Why the extension may not list this skill; nothing when it may.
///
/// It lists a skill whose frontmatter has a `name` that the open specification allows and that equals the directory's,
/// a `description`, and no field that breaks the specification: a client refuses a whole page of skills for one such
/// entry.
pub fn extension_fault(document: &Document) -> Option<String> {
    if document.skill_md.as_str() != SKILL_MD {
        return Some(format!("its SKILL.md is spelt `{}`", document.skill_md));
    }
    let wire = &document.header.wire;
    name_fault(wire.get("name"), document.name.as_str())
        .or_else(|| description_fault(wire.get("description")))
        .or_else(|| compatibility_fault(wire.get("compatibility")))
        .or_else(|| metadata_fault(wire.get("metadata")))
        .map(str::to_owned)
}

fn name_fault(name: Option<&Value>, directory: &str) -> Option<&'static str> {
    match name {
        None => Some("the frontmatter has no `name`"),
        Some(Value::String(name)) if name != directory => {
            Some("`name` in the frontmatter differs from the directory's name")
        }
        Some(Value::String(name)) if name.is_ascii() && is_specified_name(name) => None,
        Some(Value::String(_)) => Some(
            "its name is not one that the open specification allows: lower-case letters, digits and single hyphens",
        ),
        Some(_) => Some("`name` in the frontmatter is not text; put it in quotes"),
    }
}

fn description_fault(description: Option<&Value>) -> Option<&'static str> {
    match description {
        None => Some("the frontmatter has no `description`"),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Some("the frontmatter has no `description`")
        }
        Some(Value::String(text)) if text.chars().count() > MAX_DESCRIPTION_CHARS => {
            Some("its description is longer than 1024 characters")
        }
        Some(Value::String(_)) => None,
        Some(_) => Some("`description` in the frontmatter is not text; put it in quotes"),
    }
}

fn compatibility_fault(compatibility: Option<&Value>) -> Option<&'static str> {
    let fits = |text: &String| (1..=MAX_COMPATIBILITY_CHARS).contains(&text.chars().count());
    match compatibility {
        None => None,
        Some(Value::String(text)) if fits(text) => None,
        Some(_) => Some("`compatibility` in the frontmatter is not text of 1 to 500 characters"),
    }
}

fn metadata_fault(metadata: Option<&Value>) -> Option<&'static str> {
    match metadata {
        None => None,
        Some(Value::Object(fields)) if fields.values().all(Value::is_string) => None,
        Some(_) => Some(
            "`metadata` in the frontmatter maps to something else than text; put values in quotes",
        ),
    }
}

/// Whether the open specification allows the name: 1 to 64 characters, each a digit, a hyphen or a letter that is its
/// own lower case, no hyphen at an end and no two in a row.
pub fn is_specified_name(name: &str) -> bool {
    let name: String = name.nfkc().collect();
    let allowed = |c: char| c == '-' || (c.is_alphanumeric() && c.to_lowercase().eq([c]));
    (1..=64).contains(&name.chars().count())
        && name.chars().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}
