//! `--mcp-config`.

use std::path::Path;

use kitbag_mcp::{Configuration, SourceKind, read_mcp_config};

use crate::{file, told};

fn read(text: &str) -> Result<(kitbag_mcp::ConfigFile, String), String> {
    let read = read_mcp_config(Path::new("bundle.json"), Some(text.as_bytes()));
    read.map(|(file, problems)| (file, told(&problems))).map_err(|error| error.to_string())
}

#[test]
fn b69_a_path_that_does_not_exist() {
    let error = read_mcp_config(Path::new("./no.json"), None).unwrap_err();
    assert_eq!(error.to_string(), "--mcp-config: ./no.json does not exist");
}

#[test]
fn b70_a_file_without_servers() {
    for text in ["{}", "", r#"{"servers": {}}"#] {
        assert_eq!(read(text).unwrap_err(), "--mcp-config: bundle.json has no mcpServers");
    }
    // One that is broken may have them.
    insta::assert_snapshot!(read("{\"mcpServers\": {").unwrap().1, @r#"
    Error bundle.json:1:16: the file ends at line 1 before the `{` here is closed
      hint: the file seems cut off: restore its end, or add the missing `}`
    "#);
}

#[test]
fn b65_b66_only_its_servers_are_taken() {
    let text =
        r#"{"mcpServers": {"a": {"command": "a"}}, "disabledMcpServers": ["a"], "permissions": 7}"#;
    let (bundle, problems) = read(text).unwrap();
    assert_eq!(problems, "");
    let configuration = Configuration::layer(vec![bundle]);
    assert!(configuration.servers.values().all(|server| server.disabled.is_none()));
    assert!(configuration.servers.values().all(|server| !server.needs_consent()));
}

#[test]
fn b67_it_stands_above_the_files_and_below_the_command_line() {
    assert!(SourceKind::UserSettings < SourceKind::McpConfig);
    assert!(SourceKind::McpConfig < SourceKind::CommandLine);
    let (bundle, _) = read(r#"{"mcpServers": {"a": {"command": "bundle"}}}"#).unwrap();
    let (mine, _) = file(
        SourceKind::UserSettings,
        r#"{"mcpServers": {"a": {"command": "mine"}, "b": {"command": "b"}}}"#,
    );
    let configuration = Configuration::layer(vec![bundle, mine]);
    let kinds: Vec<SourceKind> = configuration.servers.values().map(|server| server.kind).collect();
    assert_eq!(kinds, [SourceKind::McpConfig, SourceKind::UserSettings]);
}

/// Decision 10: it is as strict as our own files.
#[test]
fn b63_an_unknown_key_in_it_is_a_failure() {
    insta::assert_snapshot!(read(r#"{"mcpServers": {"a": {"command": "a", "x": 1}}}"#).unwrap().1, @r#"
    Error bundle.json:1:39: server `a`: the key `x` is unknown
      hint: known here: `command`, `args`, `env`, `cwd`, `inheritEnv`, `sandbox`, `type`, `disabled`, `timeoutMs`, `connectTimeoutMs`, `hints`, `tools`, `pins`
    "#);
}
