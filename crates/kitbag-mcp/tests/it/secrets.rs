//! B-64, fault row G3: a marker in every secret place is found in no output.

use std::path::Path;

use kitbag_mcp::{SourceKind, card, read_file};

use crate::{file, one, told};

const MARKER: &str = "s3cr3t-marker";

fn entries() -> [String; 2] {
    [
        format!(r#"{{"command": "x", "env": {{"TOKEN": "{MARKER}", "B": "${{V:-{MARKER}}}"}}}}"#),
        format!(
            r#"{{"type": "http", "url": "https://{MARKER}@h/p?key={MARKER}#{MARKER}", "headers": {{"Authorization": "{MARKER}"}},
                "oauth": {{"clientSecret": "{MARKER}"}}}}"#
        ),
    ]
}

/// Values of the wrong kind or form, each with the marker.
fn faulty() -> [String; 7] {
    [
        format!(r#"{{"command": "x", "env": {{"A": ["{MARKER}"]}}}}"#),
        format!(r#"{{"command": "x", "env": {{"A": "${{{MARKER}}}"}}}}"#),
        format!(r#"{{"command": "x", "env": {{"A": "${{A:-${{{MARKER}}}}}"}}}}"#),
        format!(r#"{{"command": "x", "env": {{"A": "{MARKER}\u0000"}}}}"#),
        format!(
            r#"{{"type": "http", "url": "https://h", "headers": {{"A": "${{{MARKER}", "a": "{MARKER}"}}}}"#
        ),
        format!(r#"{{"type": "http", "url": "https://h", "headers": "{MARKER}"}}"#),
        format!(
            r#"{{"type": "http", "url": "https://u:{MARKER}@h?{MARKER}", "oauth": {{"clientSecret": "${{{MARKER}}}"}}}}"#
        ),
    ]
}

#[test]
fn b64_fault_g3_values_are_in_no_debug_and_no_card() {
    for entry in entries() {
        let (read, problems) =
            file(SourceKind::UserSettings, &format!(r#"{{"mcpServers": {{"one": {entry}}}}}"#));
        // A user part in an address is refused, and the words do not hold it.
        assert!(!told(&problems).contains(MARKER));
        assert!(!format!("{read:?}{read:#?}").contains(MARKER));
    }
    let server = one(SourceKind::McpJson, &entries()[0]);
    let card = card(&server, Path::new("/work/space"), &|_| None);
    assert!(card.contains("TOKEN") && !card.contains(MARKER));
    // Also once the variables are replaced, and in what went wrong with that.
    let text = r#"{"command": "${C}", "args": ["${C}"], "env": {"A": "${C}"}, "cwd": "${C}"}"#;
    let server = one(SourceKind::UserSettings, text);
    let now = server.fingerprint(Path::new("/"), &|_| None);
    let released = server.release(&now, None).unwrap();
    let expanded = released.expand(&|_| Some(MARKER.to_owned())).unwrap();
    assert!(!format!("{expanded:?}").contains(MARKER));
    let error = released.expand(&|_| Some(format!("{MARKER}\0"))).unwrap_err();
    assert!(!format!("{error}{error:?}").contains(MARKER));
}

#[test]
fn b64_values_are_in_no_problem() {
    for entry in faulty() {
        for kind in [SourceKind::McpJson, SourceKind::UserSettings] {
            let text = format!(r#"{{"mcpServers": {{"one": {entry}}}}}"#);
            let (_, problems) = read_file(kind, Path::new("f"), text.as_bytes());
            assert!(!problems.is_empty(), "{entry}");
            assert!(!told(&problems).contains(MARKER), "{}", told(&problems));
            assert!(!format!("{problems:?}").contains(MARKER));
        }
    }
}
