//! Which file's entry counts.

use kitbag_mcp::{Configuration, Disabled, ServerName, SourceKind, Transport};

use crate::{file, layered};

fn commands(configuration: &Configuration) -> Vec<String> {
    let servers = configuration.servers.values();
    servers
        .map(|server| {
            let what = match &server.entry.transport {
                Transport::Stdio(stdio) => format!("{} {:?}", stdio.command.written(), stdio.env),
                Transport::Http(http) => http.address(),
            };
            let disabled = match &server.disabled {
                None => String::new(),
                Some(Disabled::Entry) => " disabled".to_owned(),
                Some(Disabled::List(source)) => format!(" disabled by {source}"),
            };
            let replaces: Vec<String> = server.replaces.iter().map(ToString::to_string).collect();
            format!("{}: {what} from {} over {replaces:?}{disabled}", server.name, server.source)
        })
        .collect()
}

const WEAKEST: (SourceKind, &str) = (
    SourceKind::McpJson,
    r#"{"mcpServers": {"a": {"command": "repository", "env": {"EVIL": "1"}}, "b": {"command": "b0"}, "m": {"command": "m"}}}"#,
);

const USERS: (SourceKind, &str) = (
    SourceKind::UserSettings,
    r#"{"mcpServers": {"a": {"command": "mine", "env": {"TOKEN": "t"}}, "h": {"type": "http", "url": "https://h/x"}},
        "disabledMcpServers": ["h"], "model": "m"}"#,
);

/// Decision 9, B-53, B-68, G-25 to G-27: the strongest file's entry counts whole, whatever the order the files are given in.
#[test]
fn b53_b68_g25_g26_g27_later_wins_by_name_and_replaces_the_whole_entry() {
    let files = [
        USERS,
        (
            SourceKind::McpConfig,
            r#"{"mcpServers": {"b": {"command": "bundle"}, "n": {"command": "new"}}}"#,
        ),
        WEAKEST,
        (
            SourceKind::KitbagMcpJson,
            r#"{"mcpServers": {"b": {"command": "b1"}, "m": {"command": "m1"}}}"#,
        ),
    ];
    insta::assert_snapshot!(commands(&layered(&files)).join("\n"), @r#"
    a: mine [("TOKEN", [covered])] from ~/.kitbag/settings.json over [".mcp.json"]
    b: bundle [] from bundle.json over [".mcp.json", ".kitbag/mcp.json"]
    h: https://h/x from ~/.kitbag/settings.json over [] disabled by ~/.kitbag/settings.json
    m: m1 [] from .kitbag/mcp.json over [".mcp.json"]
    n: new [] from bundle.json over []
    "#);
    let mut reversed = files;
    reversed.reverse();
    assert_eq!(layered(&files), layered(&reversed));
}

#[test]
fn of_one_kind_the_later_file_is_the_stronger() {
    let outer = (SourceKind::McpJson, r#"{"mcpServers": {"a": {"command": "outer"}}}"#);
    let inner = (SourceKind::McpJson, r#"{"mcpServers": {"a": {"command": "inner"}}}"#);
    insta::assert_snapshot!(commands(&layered(&[outer, inner])).join("\n"), @r#"a: inner [] from .mcp.json over [".mcp.json"]"#);
}

/// B-59: nothing half understood is carried on, and nothing weaker takes its place.
#[test]
fn an_entry_that_cannot_be_taken_uncovers_no_weaker_one() {
    let mine = (SourceKind::UserSettings, r#"{"mcpServers": {"a": {"comand": "mine"}}}"#);
    let servers = layered(&[WEAKEST, mine]).servers;
    assert_eq!(servers.keys().map(ServerName::as_str).collect::<Vec<_>>(), ["b", "m"]);
}

#[test]
fn b52_b54_b55_disabled_names_accumulate_over_all_files() {
    let files = [
        WEAKEST,
        (SourceKind::ProjectSettings, r#"{"disabledMcpServers": ["a", "nobody"]}"#),
        (
            SourceKind::UserSettings,
            r#"{"mcpServers": {"a": {"command": "mine"}}, "disabledMcpServers": ["b"]}"#,
        ),
        (SourceKind::CommandLine, r#"{"mcpServers": {"c": {"command": "c", "disabled": true}}}"#),
    ];
    insta::assert_snapshot!(commands(&layered(&files)).join("\n"), @r#"
    a: mine [] from ~/.kitbag/settings.json over [".mcp.json"] disabled by .kitbag/settings.json
    b: b0 [] from .mcp.json over [] disabled by ~/.kitbag/settings.json
    c: c [] from command-line.json over [] disabled
    m: m [] from .mcp.json over []
    "#);
}

/// G-28 does not hold: decision 12 takes HTTP servers from every file.
#[test]
fn decision_12_http_servers_are_taken_from_every_file() {
    let text = r#"{"mcpServers": {"h": {"type": "http", "url": "https://h"}}}"#;
    for kind in [SourceKind::McpJson, SourceKind::KitbagMcpJson, SourceKind::UserSettings] {
        assert_eq!(layered(&[(kind, text)]).servers.len(), 1);
    }
}

/// B-6: a file that is empty, or says nothing of servers, names none, and that is no fault.
#[test]
fn b6_files_that_name_no_server() {
    for text in ["{}", r#"{"mcpServers": {}}"#, r#"{"model": "m"}"#] {
        let (empty, problems) = file(SourceKind::UserSettings, text);
        assert_eq!(problems, Vec::new());
        assert_eq!(Configuration::layer(vec![empty]), Configuration::default());
    }
}

/// G-36, fault row G9: what is touched is restarted, and nothing else.
#[test]
fn g36_fault_g9_only_what_is_written_otherwise_has_changed() {
    let before = layered(&[USERS, WEAKEST]);
    let comments = USERS.1.replace("\"model\": \"m\"", "\"model\": \"n\" // other\n");
    assert_eq!(layered(&[(USERS.0, &comments), WEAKEST]).changed(&before).len(), 0);
    let changed = |text: &str| {
        let names = layered(&[(USERS.0, text), WEAKEST]).changed(&before);
        names.into_iter().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(changed(&USERS.1.replace("\"t\"", "\"u\"")), ["a"]);
    assert_eq!(changed(&USERS.1.replace("[\"h\"]", "[]")), ["h"]);
    // The repository's server of that name comes to light, and is another one.
    assert_eq!(changed(&USERS.1.replace("\"a\":", "\"z\":")), ["a", "z"]);
}
