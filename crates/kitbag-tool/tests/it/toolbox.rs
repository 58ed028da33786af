use std::sync::Arc;
use std::time::Duration;

use kitbag_testkit::FakeSource;
use kitbag_tool::{
    CallContext, CallError, Content, Gate, MAX_OUTPUT_BYTES, ReadError, ResourceBody, ToolCall,
    ToolOutput, Toolbox,
};
use serde_json::{Value, json};
use tokio::time::Instant;

fn call(name: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall { name: name.parse().unwrap(), arguments }
}

async fn answer(toolbox: &Toolbox, call: ToolCall) -> String {
    match toolbox.call(call, &CallContext::default()).await {
        Ok(output) => serde_json::to_string(&output).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_call_finds_its_source() {
    let toolbox = Toolbox::new(vec![FakeSource::new("a")], Gate::open(), None);
    let echo = answer(&toolbox, call("echo", json!({ "text": "hi" }))).await;
    insta::assert_snapshot!(echo, @r#"{"content":[{"type":"text","text":"hi"}]}"#);
    let data = answer(&toolbox, call("data", json!({}))).await;
    insta::assert_snapshot!(data, @r#"{"content":[],"structuredContent":{"words":["b","a"],"answer":42}}"#);
    let unknown = answer(&toolbox, call("nope", json!({}))).await;
    insta::assert_snapshot!(unknown, @"tool `nope` is not known");
}

/// What a broken schema was to keep out cannot be told from what it lets in, so nothing is called.
#[tokio::test]
async fn a_tool_whose_input_schema_cannot_be_used_is_not_called() {
    let source = FakeSource::new("a");
    for (name, broken) in [
        ("pattern", json!({ "type": "object", "properties": { "a": { "pattern": "(" } } })),
        ("local", json!({ "type": "object", "$ref": "#/nope" })),
        ("remote", json!({ "type": "object", "$ref": "https://example.com/schema.json" })),
        ("kind", json!({ "type": "object", "properties": { "a": { "type": "intger" } } })),
    ] {
        let serde_json::Value::Object(schema) = broken else { unreachable!() };
        let spec = kitbag_tool::ToolSpec::new(name.parse().unwrap(), schema);
        source.add_offered(kitbag_tool::OfferedTool::of_server(Arc::new(spec), "a", name));
    }
    let toolbox = Toolbox::new(vec![source], Gate::open(), None);
    for name in ["pattern", "local", "remote", "kind"] {
        let error = toolbox.call(call(name, json!({})), &CallContext::default()).await.unwrap_err();
        let told = error.to_string();
        assert!(told.contains("the tool's own input schema cannot be used"), "{name}: {told}");
    }
}

#[tokio::test]
async fn arguments_are_checked_against_the_published_schema() {
    let toolbox = Toolbox::new(vec![FakeSource::new("a")], Gate::open(), None);
    let refused = async |arguments| {
        let error =
            toolbox.call(call("echo", arguments), &CallContext::default()).await.unwrap_err();
        error.to_output().content[0].as_text().unwrap().into_owned()
    };
    insta::assert_snapshot!(refused(json!({})).await, @r#"Input validation error: Invalid arguments for tool echo: "text" is a required property"#);
    insta::assert_snapshot!(refused(json!({ "text": "" })).await, @r#"Input validation error: Invalid arguments for tool echo: text: "" is shorter than 1 character"#);
    insta::assert_snapshot!(refused(json!({ "text": "x", "times": 0 })).await, @"Input validation error: Invalid arguments for tool echo: times: 0 is less than the minimum of 1");
    let known = answer(&toolbox, call("echo", json!({ "text": "x", "unknown": [1] }))).await;
    insta::assert_snapshot!(known, @r#"{"content":[{"type":"text","text":"x"}]}"#);
}

#[tokio::test]
async fn a_refusal_is_an_output_with_its_hint_and_without_secrets() {
    let toolbox = Toolbox::new(vec![FakeSource::new("a")], Gate::open(), None);
    let secret = json!({ "secret": "ghp_0123456789abcdefghijklmnopqrstuvwxyz" });
    let error = toolbox.call(call("refuse", secret), &CallContext::default()).await.unwrap_err();
    let output = serde_json::to_string(&error.to_output()).unwrap();
    insta::assert_snapshot!(output, @r#"{"content":[{"type":"text","text":"will not do it with [redacted]\n\nHint: ask for something else"}],"isError":true}"#);
}

#[tokio::test]
async fn a_source_that_panics_fails_one_call() {
    let toolbox = Toolbox::new(vec![FakeSource::new("a")], Gate::open(), None);
    let broken = answer(&toolbox, call("panic", json!({}))).await;
    insta::assert_snapshot!(broken, @"`a` failed inside; the call was given up");
    let echo = answer(&toolbox, call("echo", json!({ "text": "still here" }))).await;
    insta::assert_snapshot!(echo, @r#"{"content":[{"type":"text","text":"still here"}]}"#);
}

#[tokio::test(start_paused = true)]
async fn cancelling_drops_the_work() {
    let source = FakeSource::new("a");
    let toolbox = Toolbox::new(vec![source.clone()], Gate::open(), None);
    let context = CallContext::default();
    let (result, ()) = tokio::join!(toolbox.call(call("hang", json!({})), &context), async {
        assert_eq!(source.hanging(), 1);
        context.cancel.cancel();
    });
    insta::assert_snapshot!(result.unwrap_err(), @"the call was cancelled");
    assert_eq!(source.hanging(), 0);
    assert!(matches!(
        toolbox.call(call("echo", json!({ "text": "x" })), &context).await,
        Err(CallError::Interrupted(_)),
    ));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_drops_the_work() {
    let source = FakeSource::new("a");
    let toolbox = Toolbox::new(vec![source.clone()], Gate::open(), None);
    let started = Instant::now();
    let deadline = Some(started + Duration::from_secs(5));
    let context = CallContext { deadline, ..CallContext::default() };
    let error = toolbox.call(call("hang", json!({})), &context).await.unwrap_err();
    insta::assert_snapshot!(error, @"the call ran past its deadline");
    assert_eq!((started.elapsed().as_secs(), source.hanging()), (5, 0));
}

#[tokio::test]
async fn an_output_is_bounded_at_a_character_and_says_so() {
    let toolbox = Toolbox::new(vec![FakeSource::new("a")], Gate::open(), None);
    // Three bytes each, so that the bound falls inside a character.
    let text = "あ".repeat(MAX_OUTPUT_BYTES / 3 + 10);
    let bytes = text.len();
    let output =
        toolbox.call(call("echo", json!({ "text": text })), &CallContext::default()).await.unwrap();
    let [Content::Text(kept), Content::Text(note)] = &output.content[..] else {
        panic!("{}", output.content.len())
    };
    assert_eq!(kept.len(), MAX_OUTPUT_BYTES / 3 * 3);
    assert_eq!(
        *note,
        format!(
            "[the output was {bytes} bytes; what is past {MAX_OUTPUT_BYTES} bytes is left out. The whole was not kept.]"
        ),
    );
    let whole = ToolOutput::text("x".repeat(MAX_OUTPUT_BYTES));
    let echoed = toolbox
        .call(
            call("echo", json!({ "text": "x".repeat(MAX_OUTPUT_BYTES) })),
            &CallContext::default(),
        )
        .await
        .unwrap();
    assert!(echoed == whole);
}

#[tokio::test]
async fn the_first_source_has_a_name_that_two_claim() {
    let (first, second) = (FakeSource::new("first"), FakeSource::new("second"));
    first.put("both", "from the first");
    second.put("both", "from the second");
    let toolbox = Toolbox::new(vec![first, second], Gate::open(), None);
    let snapshot = toolbox.snapshot();
    let names: Vec<&str> = snapshot.tools().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["data", "echo", "hang", "panic", "refuse", "steps"]);
    let broken = answer(&toolbox, call("panic", json!({}))).await;
    insta::assert_snapshot!(broken, @"`first` failed inside; the call was given up");
}

#[tokio::test]
async fn a_resource_is_read_from_whichever_source_has_it() {
    let (first, second) = (FakeSource::new("first"), FakeSource::new("second"));
    second.put("b", "bytes:xyz");
    let toolbox = Toolbox::new(vec![first, second], Gate::open(), None);
    let read = toolbox.read("fake://second/b", &CallContext::default()).await.unwrap();
    assert_eq!(read[0].body, ResourceBody::Blob(b"xyz".to_vec()));
    let missing = toolbox.read("fake://third/b", &CallContext::default()).await;
    assert_eq!(missing, Err(ReadError::NotFound { uri: "fake://third/b".into() }));
}

#[tokio::test]
async fn a_snapshot_is_the_same_until_an_offer_changes() {
    let source = FakeSource::new("a");
    let toolbox = Toolbox::new(vec![source.clone()], Gate::open(), None);
    let before = toolbox.snapshot();
    assert_eq!(toolbox.snapshot().generation(), before.generation());
    source.add_tool("later");
    let after = toolbox.snapshot();
    assert_eq!(after.generation(), before.generation() + 1);
    assert!(before.tool("later").is_none() && after.tool("later").is_some());
    assert_eq!(
        answer(&toolbox, call("later", json!({}))).await,
        r#"{"content":[{"type":"text","text":""}]}"#
    );
}
