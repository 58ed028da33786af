//! Taking secrets out of a text before it leaves, and whatever else could name one.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// The most bytes of a text that are looked at; what is past them is cut off, since nobody vouches for it.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// The end of a name that says that what it names is secret.
macro_rules! secret_name {
    () => {
        r"(?:token|secret|passw(?:or)?d|passphrase|(?:api|access|secret|private|signing|encryption)[_-]?key)"
    };
}

/// Shapes of secrets. The group `keep` stands before one and stays; all else that a shape matches goes.
///
/// Order matters where two shapes overlap: the one that keeps more of the text comes first.
const SHAPES: &[&str] = &[
    // A private key in PEM, or what is there of it.
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
    // The user part of a URL; its password, or the token that stands in place of both.
    r"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#@]+@",
    // A query or form parameter whose name says that it is secret.
    concat!(
        r"(?i)(?P<keep>[?&;](?:[a-z0-9_.-]*(?:",
        secret_name!(),
        r"|signature|credential)|key|sig|auth|code|pwd)=)[^&\s#\x22'<>]+"
    ),
    // The headers that carry credentials, to the end of the line.
    r"(?i)(?P<keep>\b(?:set-)?cookie2?\s*:\s*)[^\r\n]+",
    r"(?i)(?P<keep>\b(?:proxy-)?authorization\s*:\s*(?:[a-z]+\s+)?)[^\s,;\x22']+",
    r"(?i)(?P<keep>\bx-(?:api-key|auth-token|access-token|csrf-token)\s*:\s*)[^\s,;\x22']+",
    // A member of JSON, also escaped inside another string, whose name says that it is secret.
    concat!(
        r#"(?i)(?P<keep>"(?:[a-z0-9_.-]*"#,
        secret_name!(),
        r#"|authorization|cookie|pwd|credentials?)"\s*:\s*")(?:[^"\\]|\\.)+"#
    ),
    concat!(
        r"(?i)(?P<keep>'(?:[a-z0-9_.-]*",
        secret_name!(),
        r"|authorization|cookie|pwd|credentials?)'\s*:\s*')(?:[^'\\]|\\.)+"
    ),
    concat!(
        r#"(?i)(?P<keep>\\"(?:[a-z0-9_.-]*"#,
        secret_name!(),
        r#"|authorization|cookie|pwd|credentials?)\\"\s*:\s*\\")(?:\\\\\\"|[^"\\]|\\[^"])+"#
    ),
    // An assignment of the same, as in an environment or a settings file.
    concat!(
        r#"(?i)(?P<keep>\b[a-z0-9_.-]*"#,
        secret_name!(),
        r#"\s*=\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;,]+)"#
    ),
    // The scheme of a credential and the credential.
    r"(?i)(?P<keep>\bbearer\s+)[a-z0-9._~+/=-]{8,}",
    // Base64 goes from small to capital letters and digits inside a word, as prose after `basic` does not.
    r"(?P<keep>(?i:\bbasic\s+))[A-Za-z0-9+/_-]*[a-z0-9][A-Z0-9][A-Za-z0-9+/_-]*={0,2}",
    // A JSON Web Token.
    r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*",
    // Keys whose issuers gave them a prefix.
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
    r"\bxapp-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{32,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bdop_v1_[a-f0-9]{40,}",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}",
];

/// The shapes, made ready once.
static READY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let ready = |shape: &&str| Regex::new(shape).expect("each shape is a valid expression");
    SHAPES.iter().map(ready).collect()
});

/// `text` without what looks like a secret, and no longer than [`MAX_TEXT_BYTES`].
///
/// Known by shape, not by value: bearer and basic credentials, JSON Web Tokens, keys with a well-known prefix,
/// cookies, the user part of URLs, and values whose parameter, header or member is named like a secret. What a
/// secret is part of stays readable. Runs in time linear in the text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    READY.iter().fold(Cow::Borrowed(text), |text, shape| {
        let replace = |found: &Captures<'_>| {
            let keep = found.name("keep").map_or("", |keep| keep.as_str());
            let at = if found[0].ends_with('@') && keep.ends_with("://") { "@" } else { "" };
            format!("{keep}{REDACTED}{at}")
        };
        let replaced = match shape.replace_all(&text, replace) {
            Cow::Borrowed(_) => None,
            Cow::Owned(replaced) => Some(replaced),
        };
        replaced.map_or(text, Cow::Owned)
    })
}
