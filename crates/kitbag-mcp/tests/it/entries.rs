//! One entry: what is taken of it, and what is refused.

use std::time::Duration;

use kitbag_mcp::{
    Hints, Place, ServerName, SourceKind, ToolFilter, Transport, Unexpanded, pins::PinMode,
};

use crate::{file, of_entry, one, problems};

#[test]
fn b56_b57_an_entry_without_type_is_a_child_process() {
    let server = one(
        SourceKind::UserSettings,
        r#"{"command": "npx", "args": ["-y", "server", "${HOME}/data"], "env": {"B": "2", "A": "1"}, "cwd": "sub",
            "inheritEnv": true, "sandbox": {"network": ["*.example.com"], "read": ["workspace", "/srv"], "write": ["data"]},
            "hints": "schedule", "tools": {"allow": ["a"], "deny": ["b"]}, "pins": "off",
            "timeoutMs": 2000, "connectTimeoutMs": 30000, "disabled": true}"#,
    );
    let entry = server.entry;
    let Transport::Stdio(stdio) = &entry.transport else { panic!("{entry:?}") };
    assert_eq!(stdio.command.written(), "npx");
    let args: Vec<&str> = stdio.args.iter().map(Unexpanded::written).collect();
    assert_eq!(args, ["-y", "server", "${HOME}/data"]);
    let env: Vec<(&str, &str)> =
        stdio.env.iter().map(|(name, value)| (name.as_str(), value.expose().written())).collect();
    assert_eq!(env, [("A", "1"), ("B", "2")]);
    assert_eq!(stdio.cwd.as_ref().map(Unexpanded::written), Some("sub"));
    assert!(stdio.inherit_env);
    let sandbox = stdio.sandbox.as_ref().unwrap();
    assert_eq!(sandbox.network, ["*.example.com"]);
    assert_eq!(sandbox.read, [Place::Workspace, Place::Path("/srv".to_owned())]);
    assert_eq!(sandbox.write, [Place::Data]);
    assert_eq!(entry.hints, Hints::Schedule);
    assert_eq!(entry.pins, Some(PinMode::Off));
    assert_eq!(entry.timeout, Duration::from_secs(2));
    assert_eq!(entry.connect_timeout, Duration::from_secs(30));
    assert!(entry.disabled);
}

#[test]
fn b58_an_http_entry_has_an_address_and_headers() {
    let server = one(
        SourceKind::UserSettings,
        r#"{"type": "http", "url": "https://u:p@example.com/v1?key=${KEY}", "headers": {"Authorization": "Bearer x"},
            "oauth": {"clientId": "id", "clientSecret": "s", "scopes": ["read"], "callbackPort": 8080}}"#,
    );
    let Transport::Http(http) = &server.entry.transport else { panic!() };
    assert_eq!(http.url.expose().written(), "https://u:p@example.com/v1?key=${KEY}");
    assert_eq!(http.address(), "https://example.com/v1?…");
    assert_eq!(http.headers[0].0, "Authorization");
    let oauth = http.oauth.as_ref().unwrap();
    assert_eq!(
        (oauth.scopes.as_slice(), oauth.callback_port),
        (&["read".to_owned()][..], Some(8080))
    );
}

#[test]
fn b72_limits_have_the_documented_defaults() {
    let entry = one(SourceKind::UserSettings, r#"{"command": "x"}"#).entry;
    assert_eq!(entry.connect_timeout, Duration::from_secs(5));
    assert_eq!(entry.timeout, Duration::from_mins(1));
    assert_eq!((entry.hints, entry.pins, entry.disabled), (Hints::Ignore, None, false));
    assert_eq!(entry.tools, ToolFilter::default());
}

#[test]
fn tools_are_filtered_by_exact_names_and_deny_wins() {
    let filter = |allow: Option<&[&str]>, deny: &[&str]| ToolFilter {
        allow: allow.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
        deny: deny.iter().map(|&name| name.to_owned()).collect(),
    };
    assert!(filter(None, &[]).admits("a"));
    assert!(!filter(Some(&[]), &[]).admits("a"));
    assert!(filter(Some(&["a"]), &["b"]).admits("a"));
    assert!(!filter(Some(&["a"]), &["a"]).admits("a"));
    assert!(!filter(None, &["a"]).admits("a"));
    assert!(filter(None, &["a"]).admits("A"));
}

#[test]
fn b60_b61_fields_of_the_other_transport_are_named() {
    insta::assert_snapshot!(of_entry(r#"{"command": "x", "url": "https://h/", "headers": {}, "oauth": {}}"#), @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: `url` belongs to an http server, and this is a stdio server
      hint: take it out, or add `"type": "http"`
    Error ~/.kitbag/settings.json:1:62: server `one`: `headers` belongs to an http server, and this is a stdio server
      hint: take it out, or add `"type": "http"`
    Error ~/.kitbag/settings.json:1:77: server `one`: `oauth` belongs to an http server, and this is a stdio server
      hint: take it out, or add `"type": "http"`
    "#);
    insta::assert_snapshot!(
        of_entry(r#"{"type": "http", "url": "https://h/", "command": "x", "args": [], "env": {}, "cwd": "/", "inheritEnv": false, "sandbox": {}}"#),
        @r#"
    Error ~/.kitbag/settings.json:1:62: server `one`: `command` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    Error ~/.kitbag/settings.json:1:78: server `one`: `args` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    Error ~/.kitbag/settings.json:1:90: server `one`: `env` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    Error ~/.kitbag/settings.json:1:101: server `one`: `cwd` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    Error ~/.kitbag/settings.json:1:113: server `one`: `inheritEnv` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    Error ~/.kitbag/settings.json:1:134: server `one`: `sandbox` belongs to a stdio server, and this is an http server
      hint: take it out, or take `"type": "http"` out
    "#
    );
}

#[test]
fn b62_b63_what_is_missing_and_what_is_unknown() {
    insta::assert_snapshot!(of_entry("{}"), @r#"
    Error ~/.kitbag/settings.json:1:17: server `one`: `command` is missing
      hint: name the program, as in `"command": "npx"`
    "#);
    insta::assert_snapshot!(of_entry(r#"{"type": "http"}"#), @r#"
    Error ~/.kitbag/settings.json:1:17: server `one`: `url` is missing
      hint: write the address, as in `"url": "https://example.com/mcp"`
    "#);
    insta::assert_snapshot!(
        of_entry(r#"{"command": "x", "comand": 1, "timeout": 30, "autoApprove": ["a"], "\u001b[2J": 1}"#),
        @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: the key `comand` is unknown
      hint: did you mean `command`?
    Error ~/.kitbag/settings.json:1:54: server `one`: the key `timeout` is unknown
      hint: write `timeoutMs`, in milliseconds
    Error ~/.kitbag/settings.json:1:69: server `one`: the key `autoApprove` is unknown
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    Error ~/.kitbag/settings.json:1:91: server `one`: the key `\u{1b}[2J` is unknown
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    "#
    );
}

#[test]
fn decision_12_sse_is_refused_with_what_to_use() {
    insta::assert_snapshot!(of_entry(r#"{"type": "sse", "url": "https://h/sse"}"#), @r#"
    Error ~/.kitbag/settings.json:1:25: server `one`: the transport `sse` is not spoken
      hint: servers that had it answer to `"type": "http"`, often at an address that ends in `/mcp` in place of `/sse`
    "#);
    insta::assert_snapshot!(of_entry(r#"{"type": "websocket", "url": "wss://h"}"#), @r#"
    Error ~/.kitbag/settings.json:1:25: server `one`: `type` is `websocket`
      hint: write `stdio` for a child process, or `http` for streamable HTTP
    "#);
    insta::assert_snapshot!(of_entry(r#"{"type": "streamable-http", "url": "https://h"}"#), @r#"
    Error ~/.kitbag/settings.json:1:25: server `one`: `type` is `streamable-http`
      hint: write `stdio` for a child process, or `http` for streamable HTTP
    "#);
    // Others write it so, and their file is read as they mean it.
    let (_, problems) = file(
        SourceKind::McpJson,
        r#"{"mcpServers": {"one": {"type": "streamable-http", "url": "https://h"}}}"#,
    );
    assert_eq!(problems, Vec::new());
}

/// Fault row D13: a limit in seconds is not read as milliseconds.
#[test]
fn fault_d13_a_limit_that_was_meant_in_seconds() {
    insta::assert_snapshot!(
        of_entry(r#"{"command": "x", "timeoutMs": 30, "connectTimeoutMs": 700000}"#),
        @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: `timeoutMs` is 30 milliseconds, and 1000 to 600000 can be taken
      hint: it counts milliseconds: 30 seconds are written 30000
    Error ~/.kitbag/settings.json:1:58: server `one`: `connectTimeoutMs` is 700000 milliseconds, and 1000 to 600000 can be taken
      hint: write a number from 1000 to 600000
    "#
    );
    insta::assert_snapshot!(of_entry(r#"{"command": "x", "timeoutMs": "30", "connectTimeoutMs": 1.5}"#), @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: `timeoutMs` is a string, not a whole number of milliseconds
      hint: write a whole number of milliseconds
    Error ~/.kitbag/settings.json:1:60: server `one`: `connectTimeoutMs` is a number, not a whole number of milliseconds
      hint: write a whole number of milliseconds
    "#);
}

#[test]
fn values_of_the_wrong_kind() {
    insta::assert_snapshot!(
        of_entry(
            r#"{"command": ["npx"], "args": "-y", "env": {"A": 1, "B=": "x", "C": "${a b}"}, "cwd": "", "inheritEnv": "yes",
                "sandbox": {"network": ["https://h"], "read": ["../x"], "files": []}, "hints": "believe",
                "tools": {"allow": ["a*", 1], "denny": []}, "pins": 1, "disabled": null}"#
        ),
        @r#"
    Error ~/.kitbag/settings.json:1:25: server `one`: `command` is a list, not a string
      hint: write a string
    Error ~/.kitbag/settings.json:1:45: server `one`: `args` is a string, not a list of strings
      hint: write a list of strings
    Error ~/.kitbag/settings.json:1:67: server `one`: the value of `A` in `env` is a number, not a string
      hint: put it between double quotes
    Error ~/.kitbag/settings.json:1:75: server `one`: `B=` is no name for `env`
      hint: use letters, digits, `_` and `-`
    Error ~/.kitbag/settings.json:1:86: server `one`: the value of `C` in `env` holds a `${` that is no variable
      hint: write `${NAME}`, `${NAME:-default}`, or `$${` for a plain `${`
    Error ~/.kitbag/settings.json:1:102: server `one`: `cwd` is empty
      hint: write a value, or leave the key out
    Error ~/.kitbag/settings.json:1:113: server `one`: `inheritEnv` is a string, not `true` or `false`
      hint: write `true` or `false`
    Error ~/.kitbag/settings.json:2:73: server `one`: the key `files` is unknown in `sandbox`
      hint: known here: `network`, `read`, `write`
    Error ~/.kitbag/settings.json:2:29: server `one`: `https://h` is no host
      hint: write a name such as `api.example.com`, without scheme and port
    Error ~/.kitbag/settings.json:2:55: server `one`: `../x` is no place
      hint: write `workspace`, `data`, or a path from `/` or `~/` without `..`
    Error ~/.kitbag/settings.json:3:72: server `one`: `disabled` is `null`, not `true` or `false`
      hint: write `true` or `false`
    Error ~/.kitbag/settings.json:2:87: server `one`: `hints` is `believe`
      hint: write `ignore` or `schedule`
    Error ~/.kitbag/settings.json:3:47: server `one`: the key `denny` is unknown in `tools`
      hint: known here: `allow`, `deny`
    Error ~/.kitbag/settings.json:3:27: server `one`: item 2 of `tools.allow` is a number, not a string
      hint: put it between double quotes
    Error ~/.kitbag/settings.json:3:61: server `one`: `pins` is a number, not a string
      hint: write a string
    "#
    );
    insta::assert_snapshot!(
        of_entry(
            r#"{"type": "http", "url": "ftp://h", "headers": {"A b": "x", "X-A": "1", "x-a": "2"},
                "oauth": {"callbackPort": 0, "scopes": "read", "secret": "x"}}"#
        ),
        @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: `url` is no address of a server
      hint: write `https://` or `http://` and a host; a user and a password belong in a header
    Error ~/.kitbag/settings.json:1:71: server `one`: `A b` is no name for `headers`
      hint: use letters, digits, `_` and `-`
    Error ~/.kitbag/settings.json:1:95: server `one`: `x-a` stands in `headers` twice, in other letters
      hint: keep one of the two
    Error ~/.kitbag/settings.json:2:64: server `one`: the key `secret` is unknown in `oauth`
      hint: known here: `clientId`, `clientSecret`, `scopes`, `callbackPort`
    Error ~/.kitbag/settings.json:2:46: server `one`: `oauth.scopes` is a string, not a list of strings
      hint: write a list of strings
    Error ~/.kitbag/settings.json:2:27: server `one`: `oauth.callbackPort` is no port
      hint: write a number from 1 to 65535
    "#
    );
    insta::assert_snapshot!(of_entry("[]"), @r#"
    Error ~/.kitbag/settings.json:1:17: server `one`: the entry is a list, not an object
      hint: write `{"command": "..."}` or `{"type": "http", "url": "..."}`
    "#);
    insta::assert_snapshot!(of_entry(r#"{"command": "x", "args": ["${A:-${B}}", "${", "${env:FOO}", "a\u0000"]}"#), @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: argument 1: the default of `A` holds another `${`, and defaults are plain text
      hint: write `${NAME}`, `${NAME:-default}`, or `$${` for a plain `${`
    Error ~/.kitbag/settings.json:1:41: server `one`: argument 2: a `${` has no `}`
      hint: write `${NAME}`, `${NAME:-default}`, or `$${` for a plain `${`
    Error ~/.kitbag/settings.json:1:41: server `one`: argument 3: `${env:FOO}` is no variable
      hint: write `${NAME}`, `${NAME:-default}`, or `$${` for a plain `${`
    Error ~/.kitbag/settings.json:1:41: server `one`: argument 4 holds a NUL, which no process or header can be given
      hint: take it out
    "#);
}

#[test]
fn decision_17_decision_20_a_repository_cannot_say_what_only_the_user_may() {
    let text = r#"{"mcpServers": {"one": {"command": "x", "inheritEnv": true, "hints": "schedule", "pins": "off"}}}"#;
    insta::assert_snapshot!(problems(SourceKind::McpJson, text), @r#"
    Warning .mcp.json:1:41: server `one`: `inheritEnv` with this value counts in your own settings only, so the server is left out
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    Warning .mcp.json:1:61: server `one`: `hints` with this value counts in your own settings only, so the server is left out
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    Warning .mcp.json:1:82: server `one`: `pins` with this value counts in your own settings only, so the server is left out
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    "#);
    insta::assert_snapshot!(problems(SourceKind::ProjectSettings, text), @r#"
    Error .kitbag/settings.json:1:41: server `one`: `inheritEnv` with this value counts in your own settings only
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    Error .kitbag/settings.json:1:61: server `one`: `hints` with this value counts in your own settings only
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    Error .kitbag/settings.json:1:82: server `one`: `pins` with this value counts in your own settings only
      hint: define the server in `~/.kitbag/settings.json`, or take the key out
    "#);
    let harmless = r#"{"mcpServers": {"one": {"command": "x", "inheritEnv": false, "hints": "ignore", "pins": "strict"}}}"#;
    assert_eq!(problems(SourceKind::McpJson, harmless), "");
}

#[test]
fn decision_10_others_files_lose_an_entry_and_ours_the_start() {
    let text = r#"{
  "other": {"of": "somebody"},
  "mcpServers": {
    "good": {"command": "a"},
    "bad": {"command": "b", "alwaysAllow": []},
    "sse": {"type": "sse", "url": "https://h/sse"}
  }
}"#;
    insta::assert_snapshot!(problems(SourceKind::McpJson, text), @r#"
    Warning .mcp.json:5:29: server `bad`: the key `alwaysAllow` is unknown, so the server is left out
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    Warning .mcp.json:6:13: server `sse`: the transport `sse` is not spoken, so the server is left out
      hint: servers that had it answer to `"type": "http"`, often at an address that ends in `/mcp` in place of `/sse`
    "#);
    insta::assert_snapshot!(problems(SourceKind::KitbagMcpJson, text), @r#"
    Error .kitbag/mcp.json:2:3: the key `other` is unknown
      hint: this file holds `mcpServers` and `disabledMcpServers`; other settings belong to `.kitbag/settings.json`
    Error .kitbag/mcp.json:5:29: server `bad`: the key `alwaysAllow` is unknown
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    Error .kitbag/mcp.json:6:13: server `sse`: the transport `sse` is not spoken
      hint: servers that had it answer to `"type": "http"`, often at an address that ends in `/mcp` in place of `/sse`
    "#);
    let server = crate::layered(&[(SourceKind::McpJson, text)]).servers;
    assert_eq!(server.keys().map(ServerName::as_str).collect::<Vec<_>>(), ["good"]);
}

#[test]
fn b59_a_broken_file_is_told_by_its_place() {
    insta::assert_snapshot!(problems(SourceKind::McpJson, "{\"mcpServers\": {\"a\": {\"command\" \"x\"}}}"), @r#"
    Warning .mcp.json:1:33: no `:` follows the key
      hint: write `"key": value`
    "#);
    insta::assert_snapshot!(problems(SourceKind::UserSettings, "{\"mcpServers\": [], \"disabledMcpServers\": [1]}"), @r#"
    Error ~/.kitbag/settings.json:1:2: `mcpServers` is not an object
      hint: write `{"NAME": {...}}`
    Error ~/.kitbag/settings.json:1:20: `disabledMcpServers` is not a list of strings
      hint: write `["NAME"]`
    "#);
    insta::assert_snapshot!(
        problems(SourceKind::McpJson, "\u{feff}{ // ours\n\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\",},}}"),
        @r#"
    Warning .mcp.json:2:39: the key `a` stands here again, after line 2
      hint: keep one of the two
    "#
    );
}

#[test]
fn names_are_exact_and_can_be_seen() {
    for name in ["a", "a__b", "_a_", "github.com/org/server", "my server", "größe", "*"] {
        assert_eq!(name.parse::<ServerName>().unwrap().as_str(), name);
    }
    let refused = ["", " a", "a ", "a\nb", "a\u{200b}", "a\u{2003}b", "a\0", &"x".repeat(65)];
    let told: Vec<String> =
        refused.iter().map(|name| name.parse::<ServerName>().unwrap_err().to_string()).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    `` cannot be a server's name: it is empty
    ` a` cannot be a server's name: a blank stands at its beginning or end
    `a ` cannot be a server's name: a blank stands at its beginning or end
    `a\u{a}b` cannot be a server's name: a character that cannot be seen stands in it
    `a\u{200b}` cannot be a server's name: a character that cannot be seen stands in it
    `a\u{2003}b` cannot be a server's name: no white space but blanks may stand in it
    `a\u{0}` cannot be a server's name: a character that cannot be seen stands in it
    `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` cannot be a server's name: it is longer than 64 characters
    "#);
    insta::assert_snapshot!(
        problems(SourceKind::UserSettings, "{\"mcpServers\": {\n  \"a\u{202e}\": {\"command\": \"x\"}}}"),
        @r#"
    Error ~/.kitbag/settings.json:2:3: `a\u{202e}` cannot be a server's name: a character that cannot be seen stands in it
      hint: give it another name
    "#
    );
}

#[test]
fn bounds_are_told() {
    let many: Vec<String> = (0..300).map(|at| format!(r#""s{at}": {{"command": "x"}}"#)).collect();
    let text = format!(r#"{{"mcpServers": {{{}}}}}"#, many.join(","));
    insta::assert_snapshot!(problems(SourceKind::UserSettings, &text), @r#"
    Error ~/.kitbag/settings.json:1:2: 300 servers are named, and 256 are taken
      hint: take some out
    "#);
    assert_eq!(
        crate::layered(&[(SourceKind::UserSettings, &text)]).servers.len(),
        kitbag_mcp::MAX_SERVERS
    );
    let args = vec![r#""a""#; 300].join(",");
    insta::assert_snapshot!(of_entry(&format!(r#"{{"command": "x", "args": [{args}]}}"#)), @r#"
    Error ~/.kitbag/settings.json:1:41: server `one`: `args` has 300 items
      hint: at most 256 are taken
    "#);
    insta::assert_snapshot!(of_entry(&format!(r#"{{"command": "{}"}}"#, "x".repeat(40_000))), @r#"
    Error ~/.kitbag/settings.json:1:17: server `one`: the entry has 40014 bytes
      hint: at most 32768 are taken
    "#);
    let unknown: Vec<String> = (0..2000).map(|at| format!(r#""k{at}": 1"#)).collect();
    let text = format!(r#"{{"mcpServers": {{"one": {{{}}}}}}}"#, unknown.join(","));
    let (_, problems) = file(SourceKind::UserSettings, &text);
    assert_eq!(problems.len(), kitbag_mcp::MAX_PROBLEMS);
    // 2000 keys, and `command` is missing.
    assert!(problems[99].message.ends_with("; and 1901 more faults are not told"));
}
