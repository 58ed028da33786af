//! What holds for any bytes and any text.

use std::path::Path;

use kitbag_mcp::{
    ConfigFile, Configuration, SourceKind, Transport, Unexpanded, card, card_diff, read_file,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::one;

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]",
        "\\$",
        "\\{",
        "\\}",
        ":-",
        "\\$\\{A\\}",
        "\\$\\{B:-d\\}",
        "\\$\\$\\{",
        "é",
        "\u{200b}",
        "\n"
    ];
    vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// A file that is nearly one: the keys and values of entries, put together in any way.
fn nearly() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("command"),
        Just("args"),
        Just("env"),
        Just("url"),
        Just("type"),
        Just("headers"),
        Just("cwd"),
        Just("timeoutMs"),
        Just("tools"),
        Just("sandbox"),
        Just("oauth"),
        Just("hints"),
        Just("pins"),
        Just("x")
    ];
    let value = prop_oneof![
        text().prop_map(|text| serde_json::Value::from(text).to_string()),
        Just("[\"a\", \"${A}\"]".to_owned()),
        Just("{\"A\": \"b\"}".to_owned()),
        Just("5000".to_owned()),
        Just("\"http\"".to_owned()),
        Just("\"https://h\"".to_owned()),
        Just("null".to_owned()),
        Just("{\"allow\": [\"a\"]}".to_owned()),
        Just("{\"read\": [\"workspace\"]}".to_owned()),
    ];
    let entry = vec((key, value), 0..5).prop_map(|fields| {
        let fields: Vec<String> =
            fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", fields.join(", "))
    });
    vec(("[ab_ /]{0,3}", entry), 0..4).prop_map(|entries| {
        let entries: Vec<String> =
            entries.iter().map(|(name, entry)| format!("\"{name}\": {entry}")).collect();
        format!("{{\"mcpServers\": {{{}}}, \"disabledMcpServers\": [\"a\"]}}", entries.join(", "))
    })
}

const KINDS: [SourceKind; 6] = [
    SourceKind::McpJson,
    SourceKind::KitbagMcpJson,
    SourceKind::ProjectSettings,
    SourceKind::UserSettings,
    SourceKind::McpConfig,
    SourceKind::CommandLine,
];

/// Reads the bytes as every kind of file, and looks at everything that can be seen of them.
fn read_all(bytes: &[u8]) {
    let files: Vec<ConfigFile> = KINDS
        .iter()
        .map(|&kind| {
            let (file, problems) = read_file(kind, Path::new("f"), bytes);
            let _told = crate::told(&problems);
            file
        })
        .collect();
    for server in Configuration::layer(files).servers.values() {
        let card = card(server, Path::new("/w"), &|_| Some([0; 32]));
        assert!(card.lines().all(|line| !line.chars().any(char::is_control)));
        assert!(!card_diff(&card, "").is_empty());
        let now = server.fingerprint(Path::new("/w"), &|_| None);
        let released = server.release(&now, Some(&now)).unwrap();
        let _expanded = released.expand(&|_| Some("${A}".to_owned()));
    }
}

/// What the documentation says of expansion, in the plainest way.
fn plainly(text: &str, value: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix("$${") {
        return Some(format!("${{{}", plainly(rest, value)?));
    }
    if let Some(rest) = text.strip_prefix("${") {
        let (inner, rest) = rest.split_once('}')?;
        let name = inner.split(":-").next()?;
        let named = name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty();
        let plain = !inner.contains("${");
        return (named && plain).then(|| Some(format!("{value}{}", plainly(rest, value)?)))?;
    }
    let Some(c) = text.chars().next() else { return Some(String::new()) };
    Some(format!("{c}{}", plainly(&text[c.len_utf8()..], value)?))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200), nearly in nearly(), text in any::<String>()) {
        read_all(&bytes);
        read_all(nearly.as_bytes());
        read_all(text.as_bytes());
    }

    /// Decision 11: one pass. What is put in is never read again, and what is not a variable stays as it was.
    #[test]
    fn expansion_is_one_pass(text in text(), value in "(\\$\\{A\\}|\\$|x|\\})+") {
        let parsed = Unexpanded::parse(&text);
        let expected = plainly(&text, &value);
        prop_assert_eq!(parsed.is_ok(), expected.is_some(), "{}", text);
        let Some(expected) = expected else { return Ok(()) };
        let parsed = parsed.unwrap();
        prop_assert_eq!(parsed.written(), text.as_str());
        let entry = serde_json::json!({ "command": "x", "args": [text] }).to_string();
        let server = one(SourceKind::UserSettings, &entry);
        let now = server.fingerprint(Path::new("/w"), &|_| None);
        let entry = server.release(&now, None).unwrap().expand(&|_| Some(value.clone())).unwrap();
        let Transport::Stdio(stdio) = entry.transport else { panic!() };
        prop_assert_eq!(stdio.args[0].expose(), expected.as_str());
    }

    /// Two entries that differ in what is written have other fingerprints, and other cards if it is not a covered value.
    #[test]
    fn what_is_written_otherwise_reads_otherwise(one_text in text(), other_text in text()) {
        prop_assume!(one_text != other_text);
        prop_assume!(Unexpanded::parse(&one_text).is_ok() && Unexpanded::parse(&other_text).is_ok());
        let server = |text: &str| one(SourceKind::McpJson, &serde_json::json!({ "command": "x", "args": [text] }).to_string());
        let (first, second) = (server(&one_text), server(&other_text));
        let card = |server| card(server, Path::new("/w"), &|_| None);
        prop_assert_ne!(card(&first), card(&second));
        let print = |server: &kitbag_mcp::ConfiguredServer| server.fingerprint(Path::new("/w"), &|_| None);
        prop_assert_ne!(print(&first), print(&second));
    }
}
