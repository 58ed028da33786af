use std::time::Duration;

use kitbag_testkit::Era;
use serde_json::{Value, json};

use crate::{ERAS, open};

#[tokio::test]
async fn a_tool_answers() {
    for era in ERAS {
        let mut connected = open(era).await;
        let params = json!({ "name": "echo", "arguments": { "text": "hi", "unknown": 1 } });
        let mut result = connected.client.request("tools/call", params).await;
        result.as_object_mut().unwrap().remove("resultType");
        result.as_object_mut().unwrap().remove("_meta");
        insta::allow_duplicates! {
            insta::assert_snapshot!(result, @r#"{"content":[{"type":"text","text":"hi"}]}"#);
        }
    }
}

#[tokio::test]
async fn structured_output_comes_with_its_one_line_json_as_text() {
    for era in ERAS {
        let mut connected = open(era).await;
        let result = connected.client.request("tools/call", json!({ "name": "data" })).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, r#"{"words":["b","a"],"answer":42}"#);
        assert_eq!(text, result["structuredContent"].to_string());
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn reports_come_in_order_and_before_the_answer() {
    for era in ERAS {
        let mut connected = open(era).await;
        let params = json!({ "name": "steps", "_meta": { "progressToken": "t" } });
        let result = connected.client.request("tools/call", params).await;
        assert_eq!(result["content"][0]["text"], "done");
        // All are here already: nothing more is read from the server.
        let reports = connected.client.notifications_within(Duration::ZERO).await;
        let reports: Vec<Value> = reports
            .iter()
            .map(|report| {
                assert_eq!(report["method"], "notifications/progress");
                let params = &report["params"];
                json!([
                    params["progressToken"],
                    params["progress"],
                    params["total"],
                    params["message"]
                ])
            })
            .collect();
        assert_eq!(
            reports,
            [
                json!(["t", 1.0, 3.0, "step 1"]),
                json!(["t", 2.0, 3.0, "step 2"]),
                json!(["t", 3.0, 3.0, "step 3"])
            ],
        );
    }
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_the_connection_goes_on() {
    for era in ERAS {
        let mut connected = open(era).await;
        let id = connected.client.start("tools/call", json!({ "name": "hang" })).await;
        connected.source.hanging_becomes(1).await;
        connected.client.cancel(id).await;
        connected.source.hanging_becomes(0).await;
        let echo = json!({ "name": "echo", "arguments": { "text": "on" } });
        let result = connected.client.request("tools/call", echo).await;
        assert_eq!(result["content"][0]["text"], "on");
    }
}

#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let mut connected = open(Era::Stateless).await;
    connected.client.start("tools/call", json!({ "name": "hang" })).await;
    connected.source.hanging_becomes(1).await;
    let echo = json!({ "name": "echo", "arguments": { "text": "on" } });
    let result = connected.client.request("tools/call", echo).await;
    assert_eq!(result["content"][0]["text"], "on");
    assert_eq!(connected.source.hanging(), 1);
}

#[tokio::test]
async fn k56_a_prompt_gives_its_text_and_a_resource_its_text_or_bytes() {
    for era in ERAS {
        let mut connected = open(era).await;
        connected.source.put("demo", "the body");
        connected.source.put("raw", "bytes:\u{1}");
        let listed = connected.client.request("prompts/list", json!({})).await;
        assert_eq!(listed["prompts"][0], json!({ "name": "demo", "description": "Says demo." }),);
        let prompt = connected.client.request("prompts/get", json!({ "name": "demo" })).await;
        assert_eq!(
            prompt["messages"],
            json!([{ "role": "user", "content": { "type": "text", "text": "the body" } }]),
        );
        let listed = connected.client.request("resources/list", json!({})).await;
        assert_eq!(
            listed["resources"],
            json!([
                { "uri": "fake://fake/demo", "name": "demo" },
                { "uri": "fake://fake/raw", "name": "raw" },
            ]),
        );
        let mut read = async |uri: &str| {
            connected.client.request("resources/read", json!({ "uri": uri })).await["contents"]
                .take()
        };
        assert_eq!(
            read("fake://fake/demo").await,
            json!([{ "uri": "fake://fake/demo", "mimeType": "text/plain", "text": "the body" }]),
        );
        assert_eq!(
            read("fake://fake/raw").await,
            json!([{ "uri": "fake://fake/raw", "mimeType": "text/plain", "blob": "AQ==" }]),
        );
    }
}
