//! Files of MCP servers: no bytes panic, no card has a line that hides another, and nothing of a project is let go unapproved.
#![no_main]

use std::path::Path;

use kitbag_mcp::{Configuration, SourceKind, card, read_file};
use libfuzzer_sys::fuzz_target;

const KINDS: [SourceKind; 3] =
    [SourceKind::McpJson, SourceKind::KitbagMcpJson, SourceKind::UserSettings];

fuzz_target!(|data: &[u8]| {
    let workspace = Path::new("/work/space");
    for kind in KINDS {
        let (file, problems) = read_file(kind, Path::new("mcp.json"), data);
        assert!(problems.iter().all(|problem| !problem.to_string().contains('\n')));
        for server in Configuration::layer(vec![file]).servers.values() {
            let shown = card(server, workspace, &|_| Some([0; 32]));
            assert!(shown.lines().all(|line| !line.chars().any(char::is_control)));
            let now = server.fingerprint(workspace, &|_| None);
            assert_eq!(server.release(&now, None).is_ok(), !kind.is_project());
            let released = server.release(&now, Some(&now)).expect("it is approved as it is");
            let _expanded = released.expand(&|_| Some("${A}".to_owned()));
        }
    }
});
