//! The format against the published vector, and what makes a token worth nothing.

use std::convert::Infallible;

use kitbag_skills::Digest;
use serde_json::json;

use super::*;

const SECRET: &str = "correct horse battery staple";
const NOW: u64 = 1_800_000_000_000;
const EXPIRES: u64 = 1_800_000_600_000;
const NONCE: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn payload() -> Value {
    json!({ "tags": ["a", "b"], "id": "item-42", "note": "bye" })
}

fn binding(payload: &Value) -> Binding<'_> {
    Binding {
        tool: "thing_delete",
        target: "item-42",
        account: Some("me@example.com"),
        revision: Some("etag-7"),
        payload,
    }
}

fn written(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    text
}

fn check(token: &str, binding: &Binding<'_>, now_ms: u64) -> Result<Verified, Rejection> {
    check_by(&Key::stretched(SECRET.as_bytes()), token, binding, now_ms)
}

fn check_by(
    key: &Key,
    token: &str,
    binding: &Binding<'_>,
    now_ms: u64,
) -> Result<Verified, Rejection> {
    let Ok(outcome) = verify(key, token, binding, now_ms, |_| Ok::<_, Infallible>(false));
    outcome
}

/// The test vector of the specification: key, canonical payload, its hash, and the bytes of the token.
#[test]
fn k39_the_published_vector_is_reproduced() {
    let key = Key::stretched(SECRET.as_bytes());
    let hex = Digest::of(SECRET.as_bytes()).to_string();
    assert_eq!(hex, "c4bbcb1fbec99d65bf59d85c8cb62ee2db963f0fe106f483d9afa73bd4e39a8a");
    assert_eq!(&key.0, Digest::of(SECRET.as_bytes()).as_bytes());
    let payload = payload();
    assert_eq!(written(&payload), r#"{"id":"item-42","note":"bye","tags":["a","b"]}"#);
    assert_eq!(hash(&payload), "mpSgSQfB3JBIRLh2B62n-8c6K2hE21K_WJWh_cvZcQg");
    let token = issue(&key, &binding(&payload), EXPIRES, NONCE);
    assert_eq!(
        token,
        "mcpu.token.v1.eyJ0IjoidGhpbmdfZGVsZXRlIiwiYSI6Im1lQGV4YW1wbGUuY29tIiwiZyI6Iml0ZW0tNDIiLCJyIjoiZXRhZy03IiwiaCI6\
         Im1wU2dTUWZCM0pCSVJMaDJCNjJuLThjNksyaEUyMUtfV0pXaF9jdlpjUWciLCJleHAiOjE4MDAwMDA2MDAwMDAsIm4iOiJBQUVDQXdRRkJnY0lD\
         UW9MREEwT0R3In0.ANZcZ7foSdJBxLJWv0vHhbcpf8G3-1JhMe4SEc4zyd4"
    );
    let verified = check(&token, &binding(&payload), NOW);
    assert_eq!(
        verified,
        Ok(Verified { nonce: "AAECAwQFBgcICQoLDA0ODw".to_owned(), expires_ms: EXPIRES })
    );
}

/// The specification's example of tagged values, as far as JSON has them.
#[test]
fn the_canonical_form_sorts_by_utf_16_and_escapes_dollars() {
    assert_eq!(written(&json!({ "n": 1, "$id": 1, "a": null })), r#"{"$$id":1,"a":null,"n":1}"#);
    // U+FF5E comes before U+1F600 as text, and after its first UTF-16 unit.
    assert_eq!(
        written(&json!({ "\u{ff5e}": 1, "\u{1f600}": 2 })),
        "{\"\u{1f600}\":2,\"\u{ff5e}\":1}"
    );
    assert_eq!(written(&json!("\u{0}\"\\/é\n")), "\"\\u0000\\\"\\\\/é\\n\"");
}

#[test]
fn k39_each_claim_has_its_own_answer() {
    let payload = payload();
    let good = binding(&payload);
    let key = Key::stretched(SECRET.as_bytes());
    let token = issue(&key, &good, EXPIRES, NONCE);
    let other = json!({ "tags": ["a"], "id": "item-42", "note": "bye" });
    let invalid = Err(Rejection::Invalid);
    assert_eq!(check(&token, &Binding { tool: "other", ..good }, NOW), invalid);
    assert_eq!(check(&token, &Binding { target: "item-43", ..good }, NOW), invalid);
    assert_eq!(check(&token, &Binding { account: None, ..good }, NOW), invalid);
    assert_eq!(check_by(&Key::stretched(b"another"), &token, &good, NOW), invalid);
    assert_eq!(check(&token, &good, EXPIRES + 1), Err(Rejection::Expired));
    assert!(check(&token, &good, EXPIRES).is_ok(), "it holds to its last millisecond");
    let changed = Rejection::Changed(Changed::Revision);
    assert_eq!(check(&token, &Binding { revision: Some("etag-8"), ..good }, NOW), Err(changed));
    let changed = Rejection::Changed(Changed::Payload);
    assert_eq!(check(&token, &Binding { payload: &other, ..good }, NOW), Err(changed));
    let spent = verify(&key, &token, &good, EXPIRES + 1, |nonce| {
        Ok::<_, Infallible>(nonce == "AAECAwQFBgcICQoLDA0ODw")
    });
    assert_eq!(spent, Ok(Err(Rejection::Reused)), "reuse is told before age");
    assert_eq!(verify(&key, &token, &good, NOW, |_| Err("no disk")), Err("no disk"));
}

#[test]
fn k39_a_token_that_was_touched_is_worth_nothing() {
    let payload = payload();
    let token = issue(&Key::stretched(SECRET.as_bytes()), &binding(&payload), EXPIRES, NONCE);
    let rejected = |token: &str| check(token, &binding(&payload), NOW) == Err(Rejection::Invalid);
    for at in 0..token.len() {
        let mut touched = token.clone().into_bytes();
        touched[at] = if touched[at] == b'A' { b'B' } else { b'A' };
        let touched = String::from_utf8(touched).unwrap_or_default();
        // The last digit of the signature carries bits that no byte has: a strict reader takes only one writing.
        assert!(rejected(&touched), "{at}");
        assert!(rejected(&token[..at]), "{at}");
    }
    for text in ["", "mcpu.token.v1.", "mcpu.token.v1..", "mcpu.token.v1.x.y", "mcpu.token.v2.a.b"]
    {
        assert!(rejected(text), "{text}");
    }
    assert!(rejected(&format!("{token}A")) && rejected(&format!("{token}=")));
    assert!(rejected(&format!("{token}{}", "A".repeat(MAX_TOKEN_BYTES))));
}
