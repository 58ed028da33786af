//! `${VAR}` (decision 11, G-29, fault row G1).

use kitbag_mcp::{ConfiguredServer, Expanded, ServerEntry, SourceKind, Transport, Unexpanded};

use crate::one;

fn lookup(name: &str) -> Option<String> {
    let value = match name {
        "HOME" => "/home/me",
        "EMPTY" => "",
        "ODD" => "${HOME}$${HOME}",
        "LINES" => "a\r\nX-Evil: 1",
        "NUL" => "a\0b",
        "URL" => "https://example.com",
        "LONG" => return Some("x".repeat(kitbag_mcp::MAX_EXPANDED_BYTES)),
        _ => return None,
    };
    Some(value.to_owned())
}

fn expand(server: &ConfiguredServer) -> Result<ServerEntry<Expanded>, String> {
    let fingerprint = server.fingerprint("/work/space".as_ref(), &|_| None);
    let released = server.release(&fingerprint, None).unwrap();
    released.expand(&lookup).map_err(|error| error.to_string())
}

/// An argument as a child would get it.
fn argument(text: &str) -> Result<String, String> {
    let entry = serde_json::json!({ "command": "x", "args": [text] }).to_string();
    let entry = expand(&one(SourceKind::UserSettings, &entry))?;
    let Transport::Stdio(stdio) = entry.transport else { panic!() };
    Ok(stdio.args[0].expose().to_owned())
}

#[test]
fn g29_variables_and_defaults() {
    for (written, expected) in [
        ("${HOME}", "/home/me"),
        ("a${HOME}b${HOME}", "a/home/meb/home/me"),
        ("${UNSET:-there}", "there"),
        ("${UNSET:-}", ""),
        ("${EMPTY}", ""),
        ("${EMPTY:-there}", "there"),
        ("${HOME:-there}", "/home/me"),
        ("${UNSET:-a:-b}", "a:-b"),
        ("$${HOME}", "${HOME}"),
        ("$$${HOME}", "$${HOME}"),
        ("$HOME $$ $ ${HOME}$", "$HOME $$ $ /home/me$"),
        ("{HOME}", "{HOME}"),
        // What is put in is not read again.
        ("${ODD}", "${HOME}$${HOME}"),
    ] {
        assert_eq!(argument(written).as_deref(), Ok(expected), "{written}");
    }
}

#[test]
fn fault_g1_all_six_places_are_expanded() {
    let stdio = one(
        SourceKind::UserSettings,
        r#"{"command": "${HOME}/bin", "args": ["${HOME}"], "env": {"A": "${HOME}"}, "cwd": "${HOME}"}"#,
    );
    let Transport::Stdio(stdio) = expand(&stdio).unwrap().transport else { panic!() };
    assert_eq!(stdio.command.expose(), "/home/me/bin");
    assert_eq!(stdio.args[0].expose(), "/home/me");
    assert_eq!(stdio.env[0].1.expose().expose(), "/home/me");
    assert_eq!(stdio.cwd.unwrap().expose(), "/home/me");
    let http = one(
        SourceKind::UserSettings,
        r#"{"type": "http", "url": "${URL}/v1", "headers": {"A": "Bearer ${HOME}"}}"#,
    );
    let Transport::Http(http) = expand(&http).unwrap().transport else { panic!() };
    assert_eq!(http.url.expose().expose(), "https://example.com/v1");
    assert_eq!(http.headers[0].1.expose().expose(), "Bearer /home/me");
}

#[test]
fn decision_11_an_unset_variable_fails_the_server_by_its_name() {
    let of = |entry: &str| expand(&one(SourceKind::UserSettings, entry)).unwrap_err();
    let told = [
        of(r#"{"command": "x", "args": ["a", "${NONE}"]}"#),
        of(r#"{"command": "x", "env": {"TOKEN": "s3cret-${NONE}"}}"#),
        of(r#"{"type": "http", "url": "https://h/${NONE}"}"#),
        of(
            r#"{"type": "http", "url": "https://h", "headers": {"Authorization": "Bearer ${NONE}"}}"#,
        ),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    server `one`: the variable `NONE` is not set, and argument 2 gives no default
    server `one`: the variable `NONE` is not set, and the variable `TOKEN` of `env` gives no default
    server `one`: the variable `NONE` is not set, and `url` gives no default
    server `one`: the variable `NONE` is not set, and the header `Authorization` gives no default
    "#);
}

#[test]
fn what_comes_out_must_fit_where_it_stands() {
    let of = |entry: &str| expand(&one(SourceKind::UserSettings, entry)).unwrap_err();
    let told = [
        of(r#"{"command": "${EMPTY}"}"#),
        of(r#"{"command": "x", "args": ["${NUL}"]}"#),
        of(r#"{"command": "x", "args": ["${LONG}x"]}"#),
        of(r#"{"type": "http", "url": "${HOME}"}"#),
        of(r#"{"type": "http", "url": "https://h", "headers": {"A": "${LINES}"}}"#),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    server `one`: with its variables replaced, `command` is empty
    server `one`: with its variables replaced, argument 1 holds a NUL
    server `one`: argument 1 has more than 131072 bytes when its variables are replaced
    server `one`: with its variables replaced, `url` is no address of a server
    server `one`: with its variables replaced, the header `A` holds a line end or another control character
    "#);
}

#[test]
fn variables_are_told_with_their_defaults() {
    let text = Unexpanded::parse("${A} $${B} ${C:-d}").unwrap();
    let told: Vec<(String, Option<String>)> =
        text.variables().map(|one| (one.name.clone(), one.default.clone())).collect();
    assert_eq!(told, [("A".to_owned(), None), ("C".to_owned(), Some("d".to_owned()))]);
    for wrong in ["${", "${}", "${1A}", "${A:-${B}}", "${A-b}", "${A b}", "${ä}"] {
        assert!(Unexpanded::parse(wrong).is_err(), "{wrong}");
    }
}
