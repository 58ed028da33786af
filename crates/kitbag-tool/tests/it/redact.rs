//! Section 1 of the contract of the tools: every text of an error passes the redactor.

use kitbag_tool::redact::{MAX_TEXT_BYTES, redact};
use proptest::prelude::*;

/// A text, and what may leave of it.
const TABLE: &[(&str, &str)] = &[
    // Credentials of HTTP.
    ("Authorization: Bearer abcDEF123456.-_~+/=", "Authorization: Bearer [redacted]"),
    ("authorization: token 0a1b2c3d", "authorization: token [redacted]"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]"),
    ("curl -H 'Authorization: Bearer abcdefgh12'", "curl -H 'Authorization: Bearer [redacted]'"),
    ("sent bearer 0123456789abcdef to it", "sent bearer [redacted] to it"),
    ("sent basic dXNlcjpwYXNz to it", "sent basic [redacted] to it"),
    ("X-Api-Key: 12345\nAccept: */*", "X-Api-Key: [redacted]\nAccept: */*"),
    ("Cookie: sid=abc; theme=dark\nHost: x", "Cookie: [redacted]\nHost: x"),
    ("set-cookie: sid=abc; Path=/", "set-cookie: [redacted]"),
    // Tokens and keys that are known by their shape.
    ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "jwt [redacted] end"),
    ("key sk-ant-0000000000000000000", "key [redacted]"),
    ("key sk-proj-0123456789abcdefghij.", "key [redacted]."),
    ("key sk_live_0123456789abcdef", "key [redacted]"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"),
    ("gho_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"),
    ("github_pat_11ABCDEFG0123456789_abcdefghijklmnop", "[redacted]"),
    ("glpat-0123456789abcdefghij", "[redacted]"),
    ("xoxb-123456789012-abcdefghij", "[redacted]"),
    ("xapp-1-A0123456-abcdef", "[redacted]"),
    ("AKIAIOSFODNN7EXAMPLE is the id", "[redacted] is the id"),
    ("ASIAIOSFODNN7EXAMPLE", "[redacted]"),
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "[redacted]"),
    ("ya29.a0AfH6SMBx0123456789abcd", "[redacted]"),
    ("npm_0123456789abcdefghijklmnopqrstuvwxyz", "[redacted]"),
    ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "[redacted]"),
    (
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[redacted]\nb",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "[redacted]"),
    // Parts of URLs.
    (
        "fetching https://user:pass@host.example/x failed",
        "fetching https://[redacted]@host.example/x failed",
    ),
    ("git clone https://tok3n@host/x.git", "git clone https://[redacted]@host/x.git"),
    ("postgres://me:s3cret@db:5432/app", "postgres://[redacted]@db:5432/app"),
    (
        "GET /x?user=me&access_token=abc123&page=2#top",
        "GET /x?user=me&access_token=[redacted]&page=2#top",
    ),
    (
        "https://h/?api_key=1&X-Amz-Signature=2&key=3",
        "https://h/?api_key=[redacted]&X-Amz-Signature=[redacted]&key=[redacted]",
    ),
    ("https://h/?code=abc", "https://h/?code=[redacted]"),
    // Members and assignments that are named like a secret.
    (r#"{"token": "abc", "name": "x"}"#, r#"{"token": "[redacted]", "name": "x"}"#),
    (r#"{"access_token":"a\"b","n":1}"#, r#"{"access_token":"[redacted]","n":1}"#),
    (
        r#"body was {\"clientSecret\":\"abc\",\"n\":1}"#,
        r#"body was {\"clientSecret\":\"[redacted]\",\"n\":1}"#,
    ),
    ("{'password': 'hunter2'}", "{'password': '[redacted]'}"),
    ("GITHUB_TOKEN=abc123 npm test", "GITHUB_TOKEN=[redacted] npm test"),
    ("aws_secret_access_key = \"abc/def\"", "aws_secret_access_key = [redacted]"),
    ("DB_PASSWORD='a b' run", "DB_PASSWORD=[redacted] run"),
    // What is no secret stays.
    ("basic understanding of bearer tokens", "basic understanding of bearer tokens"),
    ("the token is missing", "the token is missing"),
    ("see https://host.example/a?page=2&sort=key", "see https://host.example/a?page=2&sort=key"),
    ("mail me@host.example", "mail me@host.example"),
    (r#"{"maxTokens": 10, "tokens": "many"}"#, r#"{"maxTokens": 10, "tokens": "many"}"#),
    ("sha256:0123456789abcdef0123456789abcdef", "sha256:0123456789abcdef0123456789abcdef"),
    (
        "references/guide.md is not a file in this skill",
        "references/guide.md is not a file in this skill",
    ),
    ("task-sk-1 and ask-me", "task-sk-1 and ask-me"),
    ("", ""),
];

#[test]
fn secrets_are_taken_out_and_the_rest_stays() {
    let wrong: Vec<_> = TABLE
        .iter()
        .map(|(text, expected)| (*text, redact(text).into_owned(), *expected))
        .filter(|(_, actual, expected)| actual != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_text_is_bounded() {
    let text = "あ".repeat(MAX_TEXT_BYTES);
    assert_eq!(redact(&text).len(), MAX_TEXT_BYTES / 3 * 3);
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing_more(
        parts in prop::collection::vec(prop_oneof![
            any::<String>(),
            prop::sample::select(TABLE).prop_map(|(text, _)| text.to_owned()),
        ], 0..4)
    ) {
        let text = parts.join(" ");
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once.clone());
    }
}
