use kitbag_testkit::Era;
use serde_json::json;

use crate::{ERAS, connect, open};

#[tokio::test]
async fn the_handshake_says_what_is_served() {
    let mut connected = connect(Era::Handshake);
    let result = connected.client.open().await;
    insta::assert_json_snapshot!(result, @r#"
    {
      "protocolVersion": "2025-06-18",
      "capabilities": {
        "prompts": {
          "listChanged": true
        },
        "resources": {
          "listChanged": true
        },
        "tools": {
          "listChanged": true
        }
      },
      "serverInfo": {
        "name": "kitbag",
        "version": "1.2.3"
      },
      "instructions": "Use the tools."
    }
    "#);
}

#[tokio::test]
async fn discovery_says_what_is_served() {
    let mut connected = connect(Era::Stateless);
    let result = connected.client.open().await;
    insta::assert_json_snapshot!(result, @r#"
    {
      "resultType": "complete",
      "supportedVersions": [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28"
      ],
      "capabilities": {
        "prompts": {
          "listChanged": true
        },
        "resources": {
          "listChanged": true
        },
        "tools": {
          "listChanged": true
        }
      },
      "instructions": "Use the tools.",
      "ttlMs": 3600000,
      "cacheScope": "private",
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "kitbag",
          "version": "1.2.3"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_version_that_is_asked_for_is_given() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut connected = connect(Era::Handshake);
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        let result = connected.client.request("initialize", params).await;
        assert_eq!(result["protocolVersion"], version);
    }
}

#[tokio::test]
async fn the_tools_are_listed_by_name_with_all_that_is_said_of_them() {
    for era in ERAS {
        let mut connected = open(era).await;
        let result = connected.client.request("tools/list", json!({})).await;
        let names: Vec<&str> = result["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["data", "echo", "hang", "panic", "refuse", "steps"]);
        insta::allow_duplicates! {
            insta::assert_json_snapshot!(result["tools"][1], @r#"
            {
              "name": "echo",
              "description": "Gives the text back.",
              "inputSchema": {
                "type": "object",
                "properties": {
                  "text": {
                    "type": "string",
                    "minLength": 1
                  },
                  "times": {
                    "type": "integer",
                    "minimum": 1
                  }
                },
                "required": [
                  "text"
                ]
              },
              "annotations": {
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false
              }
            }
            "#);
        }
        assert_eq!(result["tools"][0]["outputSchema"]["type"], "object");
    }
}

#[tokio::test]
async fn lists_of_the_stateless_era_may_not_be_kept() {
    let mut connected = open(Era::Stateless).await;
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let result = connected.client.request(method, json!({})).await;
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    }
}

#[tokio::test]
async fn the_end_of_input_ends_the_server() {
    for era in ERAS {
        let connected = open(era).await;
        connected.client.close().await;
        connected.server.await.unwrap().unwrap();
        let unopened = connect(era);
        unopened.client.close().await;
        unopened.server.await.unwrap().unwrap();
    }
}

/// Answers that are nearly there are still given: calls have a few seconds, which pass at once here.
#[tokio::test(start_paused = true)]
async fn the_end_of_input_ends_the_calls_under_way() {
    for era in ERAS {
        let mut connected = open(era).await;
        connected.client.start("tools/call", json!({ "name": "hang", "arguments": {} })).await;
        connected.source.hanging_becomes(1).await;
        connected.client.close().await;
        connected.server.await.unwrap().unwrap();
        connected.source.hanging_becomes(0).await;
    }
}

#[tokio::test]
async fn stopping_ends_the_server_before_and_after_the_opening() {
    for era in ERAS {
        let unopened = connect(era);
        unopened.stop.cancel();
        unopened.server.await.unwrap().unwrap();
        let mut connected = open(era).await;
        connected.client.start("tools/call", json!({ "name": "hang", "arguments": {} })).await;
        connected.source.hanging_becomes(1).await;
        connected.stop.cancel();
        connected.server.await.unwrap().unwrap();
        connected.source.hanging_becomes(0).await;
    }
}

#[tokio::test]
async fn a_line_that_is_no_json_is_survived() {
    let mut connected = open(Era::Handshake).await;
    connected.client.send_line("Debugger attached.").await;
    connected.client.request("ping", json!({})).await;
}
