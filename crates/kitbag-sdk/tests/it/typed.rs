//! T-43 to T-54: what a function with types sees, and what becomes of what it gives.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kitbag_sdk::{Definition, Json, RunContext, SkillError};
use kitbag_tool::{Content, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::support::{Text, call, echoing, named, registry, shown};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Order {
    count: u32,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    address: Address,
    #[serde(rename = "a/b~c")]
    odd: Option<u8>,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Address {
    street: String,
    /// A number that the schema lets through and the type does not.
    small: Small,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Small(u32);

impl<'de> Deserialize<'de> for Small {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        let too_large = || serde::de::Error::custom(format!("{number} is more than nine"));
        if number > 9 { Err(too_large()) } else { Ok(Self(number)) }
    }
}

/// A skill that takes an order and counts how often its function was called.
fn ordering(calls: &Arc<AtomicUsize>) -> Definition {
    let calls = calls.clone();
    named("order")
        .typed(move |_: RunContext, order: Order| {
            calls.fetch_add(1, Ordering::Relaxed);
            async { Ok::<_, Infallible>(Json(order)) }
        })
        .unwrap()
}

#[tokio::test]
async fn t43_each_call_sees_its_own_input() {
    let registry = registry([ordering(&Arc::default())]);
    let full = json!({ "count": 1, "notes": ["n"], "address": { "street": "s", "small": 1 } });
    assert!(call(&registry, "order", full).await.is_ok());
    let structured = call(&registry, "order", json!({ "count": 2 })).await.unwrap().structured;
    insta::assert_snapshot!(structured.unwrap().get(), @r#"{"count":2,"notes":[],"address":{"street":"","small":0},"a/b~c":null}"#);
}

#[tokio::test]
async fn t44_arguments_become_the_type() {
    let registry = registry([echoing("echo")]);
    let odd = "\u{0}\u{7f}\u{202e}\u{1f600}\"\\/";
    let output = call(&registry, "echo", json!({ "text": odd })).await.unwrap();
    let back: Value = serde_json::from_str(output.structured.unwrap().get()).unwrap();
    assert_eq!(back, json!({ "text": odd }));
}

/// Where nothing is required, no arguments are the default.
#[tokio::test]
async fn t45_without_arguments_the_function_sees_its_defaults() {
    let registry = registry([echoing("echo")]);
    let output = call(&registry, "echo", Value::Null).await.unwrap();
    assert_eq!(output.structured.unwrap().get(), r#"{"text":""}"#);
}

#[tokio::test]
async fn t46_t47_t48_input_is_refused_with_its_place_and_the_function_is_not_called() {
    let calls = Arc::new(AtomicUsize::new(0));
    let registry = registry([ordering(&calls)]);
    let mut said = Vec::new();
    for arguments in [
        json!({}),
        json!({ "count": "one" }),
        json!({ "count": -1 }),
        json!({ "count": 4_294_967_296_u64 }),
        json!({ "count": 1, "cuont": 2 }),
        json!({ "count": 1, "notes": ["a", 2] }),
        json!({ "count": 1, "address": { "street": "s" } }),
        json!({ "count": 1, "address": { "street": "s", "small": 1, "zip": 1 } }),
        json!({ "count": 1, "address": { "street": "s", "small": 10 } }),
        json!({ "count": 1, "a/b~c": "x" }),
    ] {
        let error = call(&registry, "order", arguments).await.unwrap_err();
        assert!(matches!(&error, SkillError::Input { skill, .. } if skill == "order"));
        said.push(error.to_string());
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    insta::assert_snapshot!(said.join("\n"), @r#"
    input of skill `order` at `/count`: "count" is a required property
    input of skill `order` at `/count`: "one" is not of type "integer"
    input of skill `order` at `/count`: -1 is less than the minimum of 0
    input of skill `order` at `/count`: invalid value: integer `4294967296`, expected u32
    input of skill `order` at `/cuont`: Additional properties are not allowed ('cuont' was unexpected)
    input of skill `order` at `/notes/1`: 2 is not of type "string"
    input of skill `order` at `/address/small`: "small" is a required property
    input of skill `order` at `/address/zip`: Additional properties are not allowed ('zip' was unexpected)
    input of skill `order` at `/address/small`: 10 is more than nine
    input of skill `order` at `/a~1b~0c`: "x" is not of types "null", "integer"
    "#);
}

/// A message may quote what was given, but not all of it.
#[tokio::test]
async fn t46_ours_a_message_is_bounded() {
    let registry = registry([ordering(&Arc::default())]);
    let long = json!({ "count": "x".repeat(100_000) });
    let error = call(&registry, "order", long).await.unwrap_err();
    let SkillError::Input { message, .. } = error else { panic!("{error}") };
    assert_eq!(message.chars().count(), 500);
}

#[tokio::test]
async fn t50_t52_an_output_is_one_block_of_compact_json_and_structured_content() {
    let registry = registry([echoing("echo")]);
    let output = shown(&call(&registry, "echo", json!({ "text": "a" })).await);
    insta::assert_snapshot!(output, @r#"{"content":[{"type":"text","text":"{\"text\":\"a\"}"}],"structuredContent":{"text":"a"}}"#);
}

#[tokio::test]
async fn t52_ours_what_is_no_object_is_text_alone() {
    let list = named("list")
        .typed(|_: RunContext, _: Text| async { Ok::<_, Infallible>(Json(vec![1, 2])) })
        .unwrap();
    assert_eq!(list.spec().output_schema, None);
    let output = shown(&call(&registry([list]), "list", json!({})).await);
    insta::assert_snapshot!(output, @r#"{"content":[{"type":"text","text":"[1,2]"}]}"#);
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Numbers {
    list: Vec<f64>,
    map: BTreeMap<String, f32>,
    pair: (u8, f64),
    choice: Option<Choice>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
enum Choice {
    New(f64),
    Two(f64, f64),
    Named { x: f64 },
}

#[tokio::test]
async fn t51_numbers_that_json_cannot_write_are_refused_with_their_place() {
    let good = Numbers {
        list: vec![1.5],
        map: BTreeMap::from([("k/e~y".to_owned(), 0.0)]),
        pair: (1, f64::MAX),
        choice: Some(Choice::Two(-0.0, f64::MIN_POSITIVE)),
    };
    let bad = [
        Numbers { list: vec![0.0, f64::NAN], ..good.clone() },
        Numbers { map: BTreeMap::from([("k/e~y".to_owned(), f32::INFINITY)]), ..good.clone() },
        Numbers { pair: (1, f64::NEG_INFINITY), ..good.clone() },
        Numbers { choice: Some(Choice::New(f64::NAN)), ..good.clone() },
        Numbers { choice: Some(Choice::Two(0.0, f64::NAN)), ..good.clone() },
        Numbers { choice: Some(Choice::Named { x: f64::NAN }), ..good.clone() },
    ];
    let giving = |numbers: Numbers| {
        let give = move |_: RunContext, _: Text| {
            let numbers = numbers.clone();
            async { Ok::<_, Infallible>(Json(numbers)) }
        };
        registry([named("numbers").typed(give).unwrap()])
    };
    assert!(call(&giving(good), "numbers", json!({})).await.is_ok());
    let mut said = Vec::new();
    for numbers in bad {
        let error = call(&giving(numbers), "numbers", json!({})).await.unwrap_err();
        assert!(matches!(error, SkillError::Output { .. }), "{error}");
        said.push(error.to_string());
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    output of skill `numbers` at `/list/1`: NaN is no number that JSON can write
    output of skill `numbers` at `/map/k~1e~0y`: inf is no number that JSON can write
    output of skill `numbers` at `/pair/1`: -inf is no number that JSON can write
    output of skill `numbers` at `/choice/New`: NaN is no number that JSON can write
    output of skill `numbers` at `/choice/Two/1`: NaN is no number that JSON can write
    output of skill `numbers` at `/choice/Named/x`: NaN is no number that JSON can write
    "#);
}

#[tokio::test]
async fn t51_a_map_without_names_is_refused() {
    let give = |_: RunContext, _: Text| async {
        Ok::<_, Infallible>(Json(BTreeMap::from([(vec![1], 1)])))
    };
    let registry = registry([named("keys").typed(give).unwrap()]);
    let error = call(&registry, "keys", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "output of skill `keys` at ``: key must be a string");
}

#[tokio::test]
async fn t52_ours_a_written_output_schema_is_enforced() {
    let give = |_: RunContext, arguments: Map<String, Value>| async move {
        let mut output = ToolOutput::structured(&arguments).unwrap();
        if arguments.contains_key("none") {
            output.structured = None;
        }
        output.is_error = arguments.contains_key("failed");
        Ok::<_, Infallible>(output)
    };
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let definition = named("x").output_schema(schema.clone()).raw(json!({}), give).unwrap();
    let published = definition.spec().output_schema.clone().unwrap();
    assert_eq!(Value::Object((*published).clone()), schema);
    let registry = registry([definition]);
    for good in [json!({ "n": 1 }), json!({ "n": "a", "failed": true })] {
        assert!(call(&registry, "x", good).await.is_ok());
    }
    insta::assert_snapshot!(
        shown(&call(&registry, "x", json!({ "n": "a" })).await),
        @r#"output of skill `x` at `/n`: "a" is not of type "integer""#
    );
    insta::assert_snapshot!(
        shown(&call(&registry, "x", json!({ "none": 1 })).await),
        @"output of skill `x` at ``: the output schema asks for structured content, and there is none"
    );
}

#[tokio::test]
async fn t53_ours_a_function_may_give_text_and_blocks() {
    let words = named("text")
        .typed(|_: RunContext, _: Text| async { Ok::<_, Infallible>("a".to_owned()) })
        .unwrap();
    let blocks = named("blocks")
        .typed(|_: RunContext, _: Text| async {
            Ok::<_, Infallible>(vec![Content::Text("a".into()), Content::Text("b".into())])
        })
        .unwrap();
    let registry = registry([words, blocks]);
    insta::assert_snapshot!(shown(&call(&registry, "text", json!({})).await), @r#"{"content":[{"type":"text","text":"a"}]}"#);
    insta::assert_snapshot!(shown(&call(&registry, "blocks", json!({})).await), @r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#);
}

/// There is no variant that panics: a start-up function passes the error on.
#[test]
fn t54_ours_errors_of_defining_are_values() {
    fn start() -> Result<Definition, Box<dyn std::error::Error>> {
        Ok(named("not a name").typed(crate::support::echo)?)
    }
    assert!(start().is_err());
}
