//! Asking the user behind a client.

use std::sync::Arc;

use kitbag_server::Served;
use kitbag_testkit::{Era, FakeSource, Reply};
use kitbag_tool::{Gate, Mode, OfferedTool, RuleSet, ToolSpec, Toolbox, Traits};
use serde_json::{Value, json};

use crate::{Connected, ERAS, connect_to, served};

const FORM: fn() -> Value = || json!({ "elicitation": { "form": {} } });

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirmed": true } })
}

/// Everything that is not a yes.
fn noes() -> [Value; 5] {
    [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "confirmed": false } }),
        json!({ "action": "accept", "content": { "confirmed": "true" } }),
    ]
}

/// A server whose gate asks about every tool but `ask`, which asks by itself, and a client that can do this.
async fn asked(era: Era, capabilities: Value) -> Connected {
    let source = FakeSource::new("fake");
    let schema = json!({ "type": "object" }).as_object().unwrap().clone();
    let ask = ToolSpec::new("ask".parse().unwrap(), schema);
    source.add_offered(OfferedTool::own(ask, Traits::AsksItself));
    let gate = Gate::new(RuleSet::empty(), Mode::Ask);
    let view = Toolbox::new(vec![source.clone()], gate, None).view();
    let served = Served { view, ..served(&source) };
    let mut connected = connect_to(served, Arc::clone(&source), era);
    connected.client = connected.client.that_can(capabilities);
    connected.client.open().await;
    connected
}

fn echo() -> Value {
    json!({ "name": "echo", "arguments": { "text": "hi" } })
}

fn ask(text: &str) -> Value {
    json!({ "name": "ask", "arguments": { "text": text } })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// The same call with an answer, and with the state that came with the question.
fn again(mut call: Value, required: &Value, response: &Value) -> Value {
    call["requestState"] = required["requestState"].clone();
    call["inputResponses"] = json!({ "confirmation": response });
    call
}

#[tokio::test]
async fn k40_a_client_of_the_handshake_is_sent_the_question_while_its_call_waits() {
    let mut connected = asked(Era::Handshake, FORM()).await;
    let client = &mut connected.client;
    client.will_reply([Reply::With(yes())]);
    let result = client.request("tools/call", echo()).await;
    assert_eq!((text(&result), &result["isError"]), ("hi", &Value::Null));
    let [question] = client.questions().try_into().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let schema = &question["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["confirmed"]["type"], "boolean");
    assert_eq!(schema["required"], json!(["confirmed"]));
    insta::assert_snapshot!(question["params"]["message"].as_str().unwrap(), @r#"
    Allow `echo` for client testkit? It is asked because no rule hits, and a call asks unless something lets it run.

    {
      "text": "hi"
    }
    "#);
    for no in noes() {
        client.will_reply([Reply::With(no.clone())]);
        let result = client.request("tools/call", echo()).await;
        assert_eq!(result["isError"], true, "{no}");
        assert!(text(&result).contains("was not called"), "{result}");
    }
    client.will_reply([Reply::Fail]);
    let result = client.request("tools/call", echo()).await;
    assert!(text(&result).contains("the user could not be asked"), "{result}");
}

#[tokio::test]
async fn k40_a_stateless_client_makes_the_call_again_with_the_answer() {
    let mut connected = asked(Era::Stateless, FORM()).await;
    let client = &mut connected.client;
    let required = client.request("tools/call", echo()).await;
    assert_eq!(required["resultType"], "input_required");
    let question = &required["inputRequests"]["confirmation"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("\"text\": \"hi\""));
    let result = client.request("tools/call", again(echo(), &required, &yes())).await;
    assert_eq!((&result["resultType"], text(&result)), (&json!("complete"), "hi"));
    for no in noes() {
        let required = client.request("tools/call", echo()).await;
        let result = client.request("tools/call", again(echo(), &required, &no)).await;
        assert_eq!(result["isError"], true);
    }
}

/// Section 10, weakness 8: an acceptance counts only for what was asked, and once.
#[tokio::test]
async fn weakness_8_an_acceptance_is_bound_to_its_question_and_good_once() {
    let mut connected = asked(Era::Stateless, FORM()).await;
    let client = &mut connected.client;
    // Brought along unasked.
    let mut filled = echo();
    filled["inputResponses"] = json!({ "confirmation": yes() });
    let result = client.request("tools/call", filled.clone()).await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("without the `requestState`"), "{result}");
    // With a state that nobody gave out.
    filled["requestState"] = json!("rs1.AAAA.BBBB");
    let required = client.request("tools/call", filled).await;
    assert_eq!(required["resultType"], "input_required");
    // For other arguments, and for another tool.
    let mut other = again(echo(), &required, &yes());
    other["arguments"]["text"] = json!("bye");
    assert_eq!(client.request("tools/call", other).await["resultType"], "input_required");
    let other = again(json!({ "name": "data" }), &required, &yes());
    assert_eq!(client.request("tools/call", other).await["resultType"], "input_required");
    // Twice.
    let good = again(echo(), &required, &yes());
    assert_eq!(text(&client.request("tools/call", good.clone()).await), "hi");
    assert_eq!(client.request("tools/call", good).await["resultType"], "input_required");
}

/// A state that another client got, or that was touched, is none.
#[tokio::test]
async fn weakness_8_a_state_is_one_clients_own() {
    let mut connected = asked(Era::Stateless, FORM()).await;
    let client = &mut connected.client;
    let required = client.request("tools/call", echo()).await;
    let mut call = again(echo(), &required, &yes());
    call["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": FORM(),
        "io.modelcontextprotocol/clientInfo": { "name": "somebody else", "version": "0" },
    });
    let line = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call });
    client.expect(900);
    client.send_line(&line.to_string()).await;
    assert_eq!(client.finish(900).await.unwrap()["resultType"], "input_required");

    let state = required["requestState"].as_str().unwrap();
    let mut touched = required.clone();
    touched["requestState"] = json!(format!("{}x", &state[..state.len() - 1]));
    let result = client.request("tools/call", again(echo(), &touched, &yes())).await;
    assert_eq!(result["resultType"], "input_required");
}

/// A call may ask more than once; what was said yes to is not asked again, and does not outlive the call.
#[tokio::test]
async fn questions_of_one_call_come_one_after_the_other() {
    let mut connected = asked(Era::Stateless, FORM()).await;
    let client = &mut connected.client;
    let mut call = ask("one two three");
    let mut words = Vec::new();
    let mut states = Vec::new();
    for _ in 0..3 {
        let required = client.request("tools/call", call.clone()).await;
        let message = required["inputRequests"]["confirmation"]["params"]["message"].clone();
        words.push(message.as_str().unwrap().split("the word is ").nth(1).unwrap()[..3].to_owned());
        call = again(ask("one two three"), &required, &yes());
        states.push(call.clone());
    }
    assert_eq!(words, ["one", "two", "thr"]);
    assert_eq!(text(&client.request("tools/call", call).await), "done");
    for used in states {
        assert_eq!(client.request("tools/call", used).await["resultType"], "input_required");
    }

    let mut connected = asked(Era::Handshake, FORM()).await;
    let client = &mut connected.client;
    client.will_reply([Reply::With(yes()), Reply::With(json!({ "action": "decline" }))]);
    assert_eq!(text(&client.request("tools/call", ask("one two three")).await), "two: ");
    assert_eq!(client.questions().len(), 2);
}

#[tokio::test]
async fn a_client_that_cannot_show_a_form_is_not_asked_and_told_the_rule_to_add() {
    for era in ERAS {
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            let mut connected = asked(era, capabilities).await;
            let result = connected.client.request("tools/call", echo()).await;
            assert_eq!(result["isError"], true);
            assert!(text(&result).contains("nobody can be asked here"), "{result}");
        }
    }
    // One that says that it can ask and not how has not left forms out.
    let mut connected = asked(Era::Handshake, json!({ "elicitation": {} })).await;
    connected.client.will_reply([Reply::With(yes())]);
    assert_eq!(text(&connected.client.request("tools/call", echo()).await), "hi");
}

#[tokio::test]
async fn a_question_is_withdrawn_when_its_call_is_given_up() {
    let mut connected = asked(Era::Handshake, FORM()).await;
    let client = &mut connected.client;
    client.will_reply([Reply::Never]);
    let call = client.start("tools/call", echo()).await;
    client.is_asked().await;
    let [question] = client.questions().try_into().unwrap();
    client.cancel(call).await;
    let told = client.notification().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], question["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_given_up_after_a_while() {
    let mut connected = asked(Era::Handshake, FORM()).await;
    let client = &mut connected.client;
    client.will_reply([Reply::Never]);
    let call = client.start("tools/call", echo()).await;
    client.is_asked().await;
    tokio::time::advance(std::time::Duration::from_secs(601)).await;
    let result = client.finish(call).await.unwrap();
    assert!(text(&result).contains("the user could not be asked"), "{result}");
}

/// Decision 17: what cannot be seen in the arguments is made visible, and what is too long to be read is not asked.
#[tokio::test]
async fn decision_17_all_arguments_are_shown_and_nothing_in_them_is_hidden() {
    let mut connected = asked(Era::Handshake, FORM()).await;
    let client = &mut connected.client;
    client.will_reply([Reply::With(yes())]);
    let mut call = echo();
    call["arguments"]["text"] = json!("safe\u{202e}live\u{200b}\n\n{}");
    client.request("tools/call", call.clone()).await;
    let message = client.questions()[0]["params"]["message"].take();
    let message = message.as_str().unwrap();
    assert!(message.contains(r#""safe\u{202e}live\u{200b}\n\n{}""#), "{message}");
    call["arguments"]["text"] = json!("x".repeat(70_000));
    let result = client.request("tools/call", call).await;
    assert!(text(&result).contains("too long to be shown"), "{result}");
}
