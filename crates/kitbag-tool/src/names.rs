//! The names that tools go by outside (decision 16).
//!
//! A name depends on the tool's identity and on nothing else, so it stays what it is whatever comes, goes, or is listed in
//! another order. It is the exact text wherever that text fits the wire and can be read in one way only; everywhere else
//! it ends in a hash of the exact identity. Nobody takes a name apart: a toolbox finds its tool by a table.

use std::fmt::Write as _;

use kitbag_permission::ToolIdentity;
use sha2::{Digest as _, Sha256};

use crate::ToolName;

/// The most bytes of a name, which is what the providers of models take.
pub const MAX_WIRE_NAME_BYTES: usize = 64;

/// How many hexadecimal digits of the hash a name ends in.
const HASH_DIGITS: usize = 16;

/// The most bytes of a server's or skill's name in a name that ends in a hash.
const MAX_OWNER_BYTES: usize = 20;

/// What stands for a name of which nothing is left.
const NAMELESS: &str = "x";

/// The name for a model: `mcp__<server>__<tool>`, `<skill>__<tool>`, or the name of one of our own tools.
pub fn model_name(tool: &ToolIdentity) -> ToolName {
    match tool {
        ToolIdentity::Own(name) => own(tool, name),
        ToolIdentity::SkillTool { skill, tool: name } => pair(tool, "", skill, name),
        ToolIdentity::Server { server, tool: name } => pair(tool, "mcp__", server, name),
    }
}

/// The name for clients of the gateway: `<server>__<tool>`, otherwise as [`model_name`].
///
/// A server and a skill of one name with tools of one name have the same one; the toolbox gives it to whichever source
/// comes first, and reports the other.
pub fn gateway_name(tool: &ToolIdentity) -> ToolName {
    match tool {
        ToolIdentity::Server { server, tool: name } => pair(tool, "", server, name),
        ToolIdentity::Own(_) | ToolIdentity::SkillTool { .. } => model_name(tool),
    }
}

fn own(identity: &ToolIdentity, name: &str) -> ToolName {
    if fits(name) && !name.contains("__") && !ends_in_hash(name) {
        return parsed(name);
    }
    hashed(identity, &clean(name))
}

fn pair(identity: &ToolIdentity, prefix: &str, owner: &str, tool: &str) -> ToolName {
    let exact = format!("{prefix}{owner}__{tool}");
    // The first `__` after the prefix then parts the two names, what looks like a name of another kind is none, and the text
    // is a rule: none ends in `__`, as a server's name with nothing behind it.
    let one_reading = !owner.is_empty()
        && !tool.is_empty()
        && !owner.contains("__")
        && !owner.ends_with('_')
        && !tool.starts_with('_')
        && !tool.ends_with("__")
        && (!prefix.is_empty() || owner != "mcp")
        && !ends_in_hash(&exact);
    if one_reading && fits(&exact) {
        return parsed(&exact);
    }
    let (mut owner, tool) = (clean(owner), clean(tool));
    owner.truncate(MAX_OWNER_BYTES);
    let owner = owner.trim_end_matches('_');
    hashed(identity, &format!("{prefix}{owner}__{tool}"))
}

/// `[A-Za-z_][A-Za-z0-9_-]{0,63}`
fn fits(name: &str) -> bool {
    let bytes = name.as_bytes();
    (1..=MAX_WIRE_NAME_BYTES).contains(&bytes.len())
        && !bytes[0].is_ascii_digit()
        && bytes[0] != b'-'
        && bytes.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}

/// Whether a text could be taken for one that ends in a hash; those are left to names that do.
fn ends_in_hash(name: &str) -> bool {
    name.rsplit_once('_').is_some_and(|(_, end)| {
        end.len() == HASH_DIGITS && end.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The readable part of a name that ends in a hash: what the wire does not take becomes one `_`, and none stand at the ends.
fn clean(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words: Vec<&str> = name.split(|c| !plain(c)).filter(|word| !word.is_empty()).collect();
    let cleaned = words.join("_");
    let cleaned = cleaned.trim_start_matches('-');
    match cleaned.as_bytes().first() {
        None => NAMELESS.to_owned(),
        Some(c) if c.is_ascii_digit() => format!("{NAMELESS}{cleaned}"),
        Some(_) => cleaned.to_owned(),
    }
}

fn hashed(identity: &ToolIdentity, readable: &str) -> ToolName {
    let mut name = readable.to_owned();
    name.truncate(MAX_WIRE_NAME_BYTES - 1 - HASH_DIGITS);
    let kept = name.trim_end_matches('_').len();
    name.truncate(kept);
    name.push('_');
    for byte in &hash(identity)[..HASH_DIGITS / 2] {
        write!(name, "{byte:02x}").expect("a text takes whatever is written");
    }
    parsed(&name)
}

/// The hash of the exact identity: of its kind and its names, each after its length, so that no two are written alike.
fn hash(identity: &ToolIdentity) -> [u8; 32] {
    let (kind, names) = match identity {
        ToolIdentity::Own(name) => (b'o', [name.as_str(), ""]),
        ToolIdentity::SkillTool { skill, tool } => (b'k', [skill.as_str(), tool]),
        ToolIdentity::Server { server, tool } => (b's', [server.as_str(), tool]),
    };
    let mut hash = Sha256::new();
    hash.update([kind]);
    for name in names {
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
    }
    hash.finalize().into()
}

fn parsed(name: &str) -> ToolName {
    name.parse().expect("letters, digits, `_` and `-` up to the limit are a name")
}
