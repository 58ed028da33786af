//! Section 1 of the contract of the tools: which failure is which error.

use kitbag_testkit::{Era, RpcError};
use serde_json::{Value, json};

use crate::{Client, ERAS, open};

async fn error(client: &mut Client, method: &str, params: Value) -> (i64, String, Option<Value>) {
    let RpcError { code, message, data } = client.try_request(method, params).await.unwrap_err();
    (code, message, data)
}

#[tokio::test]
async fn what_is_not_there_is_an_error_of_the_protocol() {
    for era in ERAS {
        let client = &mut open(era).await.client;
        assert_eq!(
            error(client, "tools/call", json!({ "name": "nope", "arguments": {} })).await,
            (-32602, "Tool nope not found".to_owned(), None),
        );
        assert_eq!(
            error(client, "tools/call", json!({ "name": "no pe\n" })).await,
            (-32602, "Tool no pe\n not found".to_owned(), None),
        );
        assert_eq!(
            error(client, "prompts/get", json!({ "name": "nope" })).await,
            (-32602, "Prompt nope not found".to_owned(), None),
        );
        let uri = "skill://demo/../outside.txt";
        assert_eq!(
            error(client, "resources/read", json!({ "uri": uri })).await,
            (-32602, format!("Resource not found: {uri}"), Some(json!({ "uri": uri }))),
        );
        for method in ["prompts/list", "resources/list", "tools/list"] {
            // The second is base64 all the same.
            for cursor in ["no cursor", "made-up", ""] {
                assert_eq!(
                    error(client, method, json!({ "cursor": cursor })).await,
                    (-32602, "Invalid cursor".to_owned(), None),
                    "{method} {cursor}",
                );
            }
        }
        assert_eq!(error(client, "skills/list", json!({})).await.0, -32601);
    }
}

#[tokio::test]
async fn what_a_model_can_mend_is_an_output() {
    let texts = async |client: &mut Client, params: Value| {
        let result = client.request("tools/call", params).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    for era in ERAS {
        let client = &mut open(era).await.client;
        let bad = texts(client, json!({ "name": "echo", "arguments": { "text": 5 } })).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(bad, @r#"Input validation error: Invalid arguments for tool echo: text: 5 is not of type "string""#);
        }
        let refused = texts(client, json!({ "name": "refuse" })).await;
        assert_eq!(refused, "will not do it with none\n\nHint: ask for something else");
        let panicked = texts(client, json!({ "name": "panic" })).await;
        assert_eq!(panicked, "`fake` failed inside; the call was given up");
        client.request("tools/list", json!({})).await;
    }
}

#[tokio::test]
async fn no_secret_leaves_in_an_error() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for era in ERAS {
        let client = &mut open(era).await.client;
        let uri = format!("https://me:pw@host/{secret}?token=abc");
        for (method, params) in [
            ("tools/call", json!({ "name": secret })),
            ("prompts/get", json!({ "name": secret })),
            ("resources/read", json!({ "uri": uri })),
            (secret, json!({})),
        ] {
            let (_, message, data) = error(client, method, params).await;
            let all = format!("{message} {data:?}");
            assert!(all.contains("[redacted]"), "{all}");
            assert!(
                !all.contains(secret) && !all.contains("me:pw") && !all.contains("=abc"),
                "{all}"
            );
        }
        let refuse = json!({ "name": "refuse", "arguments": { "secret": secret } });
        let result = client.request("tools/call", refuse).await.to_string();
        assert!(result.contains("[redacted]") && !result.contains(secret), "{result}");
    }
}

#[tokio::test]
async fn a_prompt_takes_only_strings() {
    let client = &mut open(Era::Handshake).await.client;
    assert_eq!(
        error(client, "prompts/get", json!({ "name": "p", "arguments": { "n": 5 } })).await,
        (-32602, "Invalid arguments for prompt p: n: it is not a string".to_owned(), None),
    );
}

#[tokio::test]
async fn wrong_params_are_said_to_be_wrong() {
    for era in ERAS {
        let client = &mut open(era).await.client;
        for (method, params, fault) in [
            ("tools/call", json!({}), "name: it is missing"),
            ("tools/call", json!({ "name": 5 }), "name: it is not a string"),
            ("tools/call", json!({ "name": null }), "name: it is not a string"),
            (
                "tools/call",
                json!({ "name": "echo", "arguments": [] }),
                "arguments: it is not an object",
            ),
            ("prompts/get", json!({ "arguments": {} }), "name: it is missing"),
            ("resources/read", json!({ "name": "x" }), "uri: it is missing"),
            (
                "tools/call",
                json!({ "name": "echo", "inputResponses": 5 }),
                "they are not as the protocol has them",
            ),
        ] {
            assert_eq!(
                error(client, method, params).await,
                (-32602, format!("Invalid params for {method}: {fault}"), None),
            );
        }
        for method in ["tools/nope", "skills/get", "resources/directory/read"] {
            assert_eq!(error(client, method, json!({})).await.0, -32601, "{method}");
        }
    }
}
