//! Edits by command keep comments.

use kitbag_mcp::edit::{ServerEditError, add, disable, enable, remove};
use kitbag_mcp::{ServerName, SourceKind};
use serde_json::json;

use crate::told;

const TEXT: &str = r#"{
  // mine
  "model": "m",
  "mcpServers": {
    // the files
    "files": {
      "command": "npx", // from npm
      "disabled": true
    }
  },
  "disabledMcpServers": [
    "files", // slow
    "other"
  ]
}
"#;

fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

#[test]
fn a_server_comes_and_goes() {
    let entry = json!({"command": "uvx", "args": ["mcp-server-git"]});
    let added = add(TEXT, SourceKind::UserSettings, &name("my git"), &entry).unwrap();
    insta::assert_snapshot!(added, @r#"
    {
      // mine
      "model": "m",
      "mcpServers": {
        // the files
        "files": {
          "command": "npx", // from npm
          "disabled": true
        },
        "my git": {
          "command": "uvx",
          "args": [
            "mcp-server-git"
          ]
        }
      },
      "disabledMcpServers": [
        "files", // slow
        "other"
      ]
    }
    "#);
    assert_eq!(remove(&added, &name("my git")).unwrap(), TEXT);
    insta::assert_snapshot!(remove(TEXT, &name("files")).unwrap(), @r#"
    {
      // mine
      "model": "m",
      "mcpServers": {
        // the files
      },
      "disabledMcpServers": [
        // slow
        "other"
      ]
    }
    "#);
    insta::assert_snapshot!(add("", SourceKind::UserSettings, &name("a"), &json!({"command": "x"})).unwrap(), @r#"
    {
      "mcpServers": {
        "a": {
          "command": "x"
        }
      }
    }
    "#);
}

#[test]
fn what_cannot_be_is_refused() {
    let add = |at: &str, entry| add(TEXT, SourceKind::UserSettings, &name(at), &entry).unwrap_err();
    insta::assert_snapshot!(add("files", json!({"command": "x"})), @"server `files` is there already");
    let error = add("new", json!({"comand": "x", "url": "y"}));
    insta::assert_snapshot!(error, @"the entry of server `new` cannot be taken");
    let ServerEditError::Unusable(_, problems) = error else { panic!() };
    insta::assert_snapshot!(told(&problems), @r#"
    Error the new entry:1:23: server `new`: the key `comand` is unknown
      hint: did you mean `command`?
    Error the new entry:1:36: server `new`: `url` belongs to an http server, and this is a stdio server
      hint: take it out, or add `"type": "http"`
    Error the new entry:1:16: server `new`: `command` is missing
      hint: name the program, as in `"command": "npx"`
    "#);
    insta::assert_snapshot!(remove(TEXT, &name("gone")).unwrap_err(), @"server `gone` is not named in this file");
    insta::assert_snapshot!(disable("{\"disabledMcpServers\": 1}", &name("a")).unwrap_err(), @"`disabledMcpServers` at line 1 is a number, not a list");
    assert!(enable("{", &name("a")).is_err());
}

#[test]
fn b55_a_server_is_disabled_and_enabled() {
    insta::assert_snapshot!(disable(TEXT, &name("git")).unwrap(), @r#"
    {
      // mine
      "model": "m",
      "mcpServers": {
        // the files
        "files": {
          "command": "npx", // from npm
          "disabled": true
        }
      },
      "disabledMcpServers": [
        "files", // slow
        "other",
        "git"
      ]
    }
    "#);
    assert_eq!(disable(TEXT, &name("files")).unwrap(), TEXT);
    insta::assert_snapshot!(enable(TEXT, &name("files")).unwrap(), @r#"
    {
      // mine
      "model": "m",
      "mcpServers": {
        // the files
        "files": {
          "command": "npx" // from npm
        }
      },
      "disabledMcpServers": [
        // slow
        "other"
      ]
    }
    "#);
    assert_eq!(enable(TEXT, &name("git")).unwrap(), TEXT);
}
