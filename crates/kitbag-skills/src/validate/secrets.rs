//! Keys that somebody left in a file. A finding says which kind and where, never the value.

use super::findings::Findings;
use super::lines::{Line, Text};
use super::rules;

/// The most characters of a key that are looked at.
const MAX_KEY_CHARS: usize = 512;

/// The fewest different characters in a real key; examples such as `ghp_xxxx` have fewer.
const MIN_DISTINCT: usize = 8;

/// A well-known shape: what it begins with, and what must follow.
struct Shape {
    kind: &'static str,
    prefix: &'static str,
    /// The fewest characters after the prefix.
    least: usize,
    alphabet: fn(char) -> bool,
}

const SHAPES: &[Shape] = &[
    Shape { kind: "AWS access key id", prefix: "AKIA", least: 16, alphabet: upper_or_digit },
    Shape { kind: "AWS temporary key id", prefix: "ASIA", least: 16, alphabet: upper_or_digit },
    Shape { kind: "GitHub token", prefix: "ghp_", least: 36, alphabet: alphanumeric },
    Shape { kind: "GitHub token", prefix: "gho_", least: 36, alphabet: alphanumeric },
    Shape { kind: "GitHub token", prefix: "ghu_", least: 36, alphabet: alphanumeric },
    Shape { kind: "GitHub token", prefix: "ghs_", least: 36, alphabet: alphanumeric },
    Shape { kind: "GitHub token", prefix: "ghr_", least: 36, alphabet: alphanumeric },
    Shape { kind: "GitHub token", prefix: "github_pat_", least: 59, alphabet: word },
    Shape { kind: "GitLab token", prefix: "glpat-", least: 20, alphabet: url_safe },
    Shape { kind: "Anthropic key", prefix: "sk-ant-", least: 40, alphabet: url_safe },
    Shape { kind: "OpenAI key", prefix: "sk-proj-", least: 40, alphabet: url_safe },
    Shape { kind: "OpenAI-like key", prefix: "sk-", least: 40, alphabet: alphanumeric },
    Shape { kind: "Google API key", prefix: "AIza", least: 35, alphabet: url_safe },
    Shape { kind: "Slack token", prefix: "xoxb-", least: 20, alphabet: url_safe },
    Shape { kind: "Slack token", prefix: "xoxp-", least: 20, alphabet: url_safe },
    Shape { kind: "Slack token", prefix: "xoxa-", least: 20, alphabet: url_safe },
    Shape { kind: "Slack token", prefix: "xoxs-", least: 20, alphabet: url_safe },
    Shape { kind: "Slack app token", prefix: "xapp-", least: 20, alphabet: url_safe },
    Shape { kind: "Stripe live key", prefix: "sk_live_", least: 24, alphabet: alphanumeric },
    Shape { kind: "Stripe live key", prefix: "rk_live_", least: 24, alphabet: alphanumeric },
    Shape { kind: "npm token", prefix: "npm_", least: 36, alphabet: alphanumeric },
    Shape { kind: "PyPI token", prefix: "pypi-AgE", least: 50, alphabet: url_safe },
    Shape { kind: "Hugging Face token", prefix: "hf_", least: 34, alphabet: alphanumeric },
    Shape { kind: "SendGrid key", prefix: "SG.", least: 60, alphabet: dotted },
    Shape { kind: "DigitalOcean token", prefix: "dop_v1_", least: 64, alphabet: alphanumeric },
    Shape { kind: "Databricks token", prefix: "dapi", least: 32, alphabet: hexadecimal },
];

/// Reports what has the shape of a key: a token with a known prefix, or a private key in PEM.
pub(super) fn check(text: &Text<'_>, findings: &mut Findings) {
    let mut key_header: Option<(Line<'_>, usize)> = None;
    for line in text.lines() {
        // The header alone is quoted in many a text; only key material after it makes a key.
        if let Some((header, at)) = key_header.take()
            && is_key_material(line.text)
        {
            report("private key", text, &header, at, findings);
        }
        if let Some(at) = line.text.find("-----BEGIN ")
            && line.text[at..].contains("PRIVATE KEY-----")
        {
            key_header = Some((line, at));
        }
        check_tokens(text, &line, findings);
    }
}

fn check_tokens(text: &Text<'_>, line: &Line<'_>, findings: &mut Findings) {
    let bytes = line.text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let begins = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let matched = (begins && bytes[at].is_ascii_alphabetic())
            .then(|| SHAPES.iter().find_map(|shape| matches(shape, &line.text[at..])))
            .flatten();
        let Some((kind, length)) = matched else {
            at += 1;
            while !line.text.is_char_boundary(at) {
                at += 1;
            }
            continue;
        };
        report(kind, text, line, at, findings);
        at += length;
    }
}

/// The kind and length of the key that `text` begins with.
fn matches(shape: &Shape, text: &str) -> Option<(&'static str, usize)> {
    let rest = text.strip_prefix(shape.prefix)?;
    let key: String =
        rest.chars().take(MAX_KEY_CHARS).take_while(|c| (shape.alphabet)(*c)).collect();
    let mut distinct: Vec<char> = key.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let lower = key.to_ascii_lowercase();
    let placeholder = ["example", "your", "xxxx", "redacted", "placeholder", "1234567890"]
        .iter()
        .any(|word| lower.contains(word));
    let varied = distinct.len() >= MIN_DISTINCT && key.chars().any(|c| c.is_ascii_digit());
    (key.len() >= shape.least && varied && !placeholder)
        .then_some((shape.kind, shape.prefix.len() + key.len()))
}

fn is_key_material(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 40 && line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
}

fn report(kind: &str, text: &Text<'_>, line: &Line<'_>, at: usize, findings: &mut Findings) {
    let article = if kind.starts_with(['A', 'O', 'n']) { "an" } else { "a" };
    findings.add(
        &rules::SECRET,
        text.place(line, at),
        format!("this looks like {article} {kind}"),
        "take it out, revoke it, and read it from the environment instead",
    );
}

fn upper_or_digit(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

fn alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn hexadecimal(c: char) -> bool {
    c.is_ascii_hexdigit()
}

fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn url_safe(c: char) -> bool {
    word(c) || c == '-'
}

fn dotted(c: char) -> bool {
    url_safe(c) || c == '.'
}
