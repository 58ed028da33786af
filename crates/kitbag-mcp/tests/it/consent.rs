//! Consent to what a repository names: decision 13, G-30 to G-33, fault rows G4 to G6.

use std::path::Path;

use kitbag_mcp::{
    ConfiguredServer, Fingerprint, NotApproved, SourceKind, Transport, card, card_diff,
};

use crate::{WORKSPACE, one};

/// The files of the workspace: `server.js` and `bin/run`.
fn digest(path: &Path) -> Option<[u8; 32]> {
    match path.to_str()? {
        "/work/space/server.js" => Some([1; 32]),
        "/work/space/bin/run" => Some([2; 32]),
        _ => None,
    }
}

fn fingerprint(server: &ConfiguredServer) -> Fingerprint {
    server.fingerprint(Path::new(WORKSPACE), &digest)
}

fn shown(server: &ConfiguredServer) -> String {
    card(server, Path::new(WORKSPACE), &digest)
}

const ENTRY: &str = r#"{"command": "node", "args": ["server.js", "--port", "1"], "env": {"A": "1", "B": "${TOKEN}"}, "cwd": "."}"#;

#[test]
fn g30_fault_g4_a_repositorys_server_is_not_released_before_consent() {
    for kind in [SourceKind::McpJson, SourceKind::KitbagMcpJson, SourceKind::ProjectSettings] {
        let server = one(kind, ENTRY);
        assert!(server.needs_consent());
        let now = fingerprint(&server);
        let refused = server.release(&now, None).unwrap_err();
        assert_eq!(refused, NotApproved::Never(server.name.clone()));
        assert_eq!(refused.to_string(), "server `one` is not approved");
        let released = server.release(&now, Some(&now)).unwrap();
        let entry = released.expand(&|name| Some(format!("value of {name}"))).unwrap();
        let Transport::Stdio(stdio) = entry.transport else { panic!() };
        assert_eq!(stdio.env[1].1.expose().expose(), "value of TOKEN");
    }
    for kind in [SourceKind::UserSettings, SourceKind::McpConfig, SourceKind::CommandLine] {
        let server = one(kind, ENTRY);
        assert!(server.release(&fingerprint(&server), None).is_ok());
    }
}

/// G-31 to G-33: commands, arguments, environment and working folder, and all else that is written.
#[test]
fn g31_g32_g33_fault_g5_every_change_asks_again() {
    let server = one(SourceKind::McpJson, ENTRY);
    let approved = fingerprint(&server);
    let others = [
        ENTRY.replace("node", "deno"),
        ENTRY.replace("\"1\"]", "\"2\"]"),
        ENTRY.replace("[\"server.js\", ", "[\"server.js --port\", "),
        ENTRY.replace("\"A\": \"1\"", "\"A\": \"2\""),
        ENTRY.replace("\"A\"", "\"C\""),
        ENTRY.replace("${TOKEN}", "${OTHER}"),
        ENTRY.replace("\".\"", "\"..\""),
        ENTRY.replace("{\"command\"", "{\"timeoutMs\": 5000, \"command\""),
        ENTRY.replace("{\"command\"", "{\"tools\": {\"deny\": []}, \"sandbox\": {}, \"command\""),
        r#"{"type": "http", "url": "https://h"}"#.to_owned(),
    ];
    let mut all = vec![approved];
    for other in others {
        let other = one(SourceKind::McpJson, &other);
        let now = fingerprint(&other);
        let refused = other.release(&now, Some(&approved)).unwrap_err();
        assert_eq!(refused.to_string(), "server `one` has changed since it was approved");
        all.push(now);
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 11);
    // Comments, order of names, and whether it is disabled change nothing of what would run.
    let same = r#"{"disabled": true, "cwd": ".", "env": {"B": "${TOKEN}", "A": "1"}, /* x */ "args": ["server.js", "--port", "1"], "command": "node"}"#;
    assert_eq!(fingerprint(&one(SourceKind::McpJson, same)), approved);
}

#[test]
fn decision_13_fault_g5_a_changed_file_of_the_workspace_asks_again() {
    let before = |text: &str| fingerprint(&one(SourceKind::McpJson, text));
    let after = |text: &str| {
        let changed = |path: &Path| digest(path).map(|_| [9; 32]);
        one(SourceKind::McpJson, text).fingerprint(Path::new(WORKSPACE), &changed)
    };
    for covered in [
        r#"{"command": "node", "args": ["server.js"]}"#,
        r#"{"command": "node", "args": ["./x/../server.js"]}"#,
        r#"{"command": "node", "args": ["/work/space/server.js"]}"#,
        r#"{"command": "node", "args": ["--require=server.js"]}"#,
        r#"{"command": "node", "args": ["${X:-server.js}"]}"#,
        r#"{"command": "node", "args": ["../server.js"], "cwd": "bin"}"#,
        r#"{"command": "./bin/run"}"#,
        r#"{"command": "/work/space/bin/run"}"#,
        r#"{"command": "x", "args": ["run"], "cwd": "${D:-bin}"}"#,
    ] {
        assert_ne!(before(covered), after(covered), "{covered}");
    }
    for other in [
        r#"{"command": "run"}"#,
        r#"{"command": "node", "args": ["/etc/passwd", "server"]}"#,
        r#"{"command": "node", "args": ["${X}server.js"]}"#,
        r#"{"type": "http", "url": "https://h/server.js"}"#,
    ] {
        assert_eq!(before(other), after(other), "{other}");
    }
}

#[test]
fn the_fingerprint_is_of_one_server() {
    let entry = r#"{"command": "x"}"#;
    let text = format!(r#"{{"mcpServers": {{"a": {entry}, "b": {entry}}}}}"#);
    let servers = crate::layered(&[(SourceKind::McpJson, &text)]).servers;
    let prints: Vec<Fingerprint> = servers.values().map(fingerprint).collect();
    assert_ne!(prints[0], prints[1]);
    let text = prints[0].to_string();
    assert_eq!(text.parse::<Fingerprint>(), Ok(prints[0]));
    for wrong in ["", &text[1..], &text.to_uppercase(), &"g".repeat(64)] {
        assert!(wrong.parse::<Fingerprint>().is_err());
    }
}

/// Approvals outlive us, so the digest of an entry must not drift.
#[test]
fn the_fingerprint_stays_what_it_is() {
    insta::assert_snapshot!(fingerprint(&one(SourceKind::McpJson, ENTRY)), @"ea1424101a532521ff8ce41b4a0948ee652890d1ba657fc43d2bb2cbce70ba4f");
}

#[test]
fn decision_13_the_card_says_what_would_run() {
    insta::assert_snapshot!(shown(&one(SourceKind::McpJson, ENTRY)), @r#"
    server     one
    from       .mcp.json
    runs       node server.js --port 1
    in         .
    env        A, B
    sandbox    none
    values     sha256:668f7d08bdd0ee6df291a99d71395991b1ff645920944c666140485221511928 (not shown)
    expands    ${TOKEN} (must be set)
    file       server.js sha256:0101010101010101010101010101010101010101010101010101010101010101
    not covered what these files, the command and the environment load besides
    "#);
    let odd = r#"{"command": "no\u200bde", "args": ["a b", "", "it's", "\\u{200b}", "line\nend", "\u202egpj.exe", "${HOME}/x", "${P:-8080}"],
        "env": {"T": "${TOKEN:-s3cret}", "A B": "x"}, "sandbox": {"network": ["*.example.com"], "read": ["workspace", "/srv/my data"]},
        "timeoutMs": 120000, "connectTimeoutMs": 30000, "tools": {"allow": ["read"], "deny": ["wipe out"]}, "pins": "strict"}"#;
    insta::assert_snapshot!(shown(&one(SourceKind::McpJson, odd)), @r#"
    server     one
    from       .mcp.json
    runs       'no\u{200b}de' 'a b' '' 'it'\''s' '\\u{200b}' 'line\u{a}end' '\u{202e}gpj.exe' '${HOME}/x' '${P:-8080}'
    in         the workspace
    env        'A B', T
    sandbox    connects to '*.example.com'; reads the workspace, '/srv/my data'; writes nothing
    values     sha256:85af007c96c487ffa4a51958473ed30180dfe35bbb0045d483cbd6e7dc38f703 (not shown)
    expands    ${HOME} (must be set)
    expands    ${P} (else 8080)
    expands    ${TOKEN} (has a default)
    connects   within 30000 ms
    answers    within 120000 ms
    offers     only read
    offers     never 'wipe out'
    pins       strict
    not covered a file that argument 7 names, since it holds a variable
    not covered what these files, the command and the environment load besides
    "#);
    let http = r#"{"type": "http", "url": "https://${HOST:-example.com}/v1?k=1", "headers": {"X-Key": "${KEY}", "Authorization": "x"},
        "oauth": {"clientId": "me", "clientSecret": "s3cret", "scopes": ["read", "write all"], "callbackPort": 8080}}"#;
    insta::assert_snapshot!(shown(&one(SourceKind::KitbagMcpJson, http)), @r#"
    server     one
    from       .kitbag/mcp.json
    connects   'https://${HOST:-example.com}/v1?k=1'
    headers    Authorization, X-Key
    client     me
    client     with a secret
    scopes     read, 'write all'
    callback   port 8080
    values     sha256:f11f0cd406253ebfdfea5aaff28d123defea90954cdcd885bd12ce3fbf6dbe44 (not shown)
    expands    ${HOST} (else example.com)
    expands    ${KEY} (must be set)
    "#);
    let moved = r#"{"command": "node", "args": ["server.js"], "cwd": "${DIR}"}"#;
    insta::assert_snapshot!(shown(&one(SourceKind::McpJson, moved)), @r#"
    server     one
    from       .mcp.json
    runs       node server.js
    in         '${DIR}'
    sandbox    none
    expands    ${DIR} (must be set)
    not covered files that the command line names, since `cwd` holds a variable
    not covered what these files, the command and the environment load besides
    "#);
}

#[test]
fn fault_g5_a_change_is_shown_by_lines() {
    let before = shown(&one(SourceKind::McpJson, ENTRY));
    let after = shown(&one(
        SourceKind::McpJson,
        &ENTRY.replace("server.js", "bin/run").replace("\"A\"", "\"EXTRA\""),
    ));
    insta::assert_snapshot!(card_diff(&before, &after).join("\n"), @r#"
      server     one
      from       .mcp.json
    - runs       node server.js --port 1
    + runs       node bin/run --port 1
      in         .
    - env        A, B
    + env        B, EXTRA
      sandbox    none
    - values     sha256:668f7d08bdd0ee6df291a99d71395991b1ff645920944c666140485221511928 (not shown)
    + values     sha256:de5522915aeb9f8cb5597d38c14343cb5d26c048f16ac3f51d2101983b925786 (not shown)
      expands    ${TOKEN} (must be set)
    - file       server.js sha256:0101010101010101010101010101010101010101010101010101010101010101
    + file       bin/run sha256:0202020202020202020202020202020202020202020202020202020202020202
      not covered what these files, the command and the environment load besides
    "#);
    assert_eq!(card_diff(&before, &before), Vec::<String>::new());
    // The value of a variable of the environment is not shown, and that it changed is.
    let after = shown(&one(SourceKind::McpJson, &ENTRY.replace("\"1\", \"B\"", "\"2\", \"B\"")));
    insta::assert_snapshot!(card_diff(&before, &after).join("\n"), @r#"
      server     one
      from       .mcp.json
      runs       node server.js --port 1
      in         .
      env        A, B
      sandbox    none
    - values     sha256:668f7d08bdd0ee6df291a99d71395991b1ff645920944c666140485221511928 (not shown)
    + values     sha256:35225d1a8548648b4246269673dc0a5e633f9a1d255b5c5937fb9ad1b2a90843 (not shown)
      expands    ${TOKEN} (must be set)
      file       server.js sha256:0101010101010101010101010101010101010101010101010101010101010101
      not covered what these files, the command and the environment load besides
    "#);
}

/// Fault row G6: what a repository's file says of approval is an unknown key.
#[test]
fn fault_g6_a_repository_cannot_approve_its_own_server() {
    let text = r#"{"mcpServers": {"one": {"command": "x", "approved": true}}}"#;
    insta::assert_snapshot!(crate::problems(SourceKind::McpJson, text), @r#"
    Warning .mcp.json:1:41: server `one`: the key `approved` is unknown, so the server is left out
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    "#);
}
