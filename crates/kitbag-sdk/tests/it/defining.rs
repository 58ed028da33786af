//! T-1 to T-12 and T-36 to T-42: what a definition is, and which are refused.

use std::collections::BTreeMap;
use std::convert::Infallible;

use kitbag_sdk::{DefineError, Definition, IntoOutput, Json, RunContext, define};
use kitbag_tool::{ToolHints, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::support::{Text, call, echo, echoing, named, raw, registry, shown, text};

async fn nothing(_: RunContext, _: Map<String, Value>) -> Result<ToolOutput, Infallible> {
    Ok(ToolOutput::default())
}

/// Defines a skill that takes an `I`.
fn taking<I>() -> Result<Definition, DefineError>
where
    I: JsonSchema + serde::de::DeserializeOwned + Send + 'static,
{
    define("x").typed(|_: RunContext, _: I| async { Ok::<_, Infallible>("done") })
}

fn schema_of<I>() -> Value
where
    I: JsonSchema + serde::de::DeserializeOwned + Send + 'static,
{
    Value::Object((*taking::<I>().unwrap().spec().input_schema).clone())
}

#[tokio::test]
async fn t1_t4_t7_t10_t42_a_definition_is_name_description_schema_and_handler() {
    let schema = json!({ "type": "object", "properties": { "a": {} }, "x-mine": [1] });
    let definition =
        define("x").description(" Two\nlines \u{1f600} ").raw(schema.clone(), nothing).unwrap();
    let spec = serde_json::to_value(&**definition.spec()).unwrap();
    assert_eq!(
        spec,
        json!({ "name": "x", "inputSchema": schema, "description": " Two\nlines \u{1f600} " })
    );
    // A definition without a handler cannot be written: `raw`, `typed` and `blocking` take one each.
    assert_eq!(shown(&call(&registry([definition]), "x", json!({})).await), r#"{"content":[]}"#);
}

#[test]
fn t2_t9_t36_a_name_follows_the_rule() {
    let longest = "a".repeat(64);
    for name in ["a", "A.b-c_9", "incident-triage", "-", longest.as_str()] {
        assert_eq!(named(name).typed(echo).unwrap().name(), name);
    }
    let too_long = "a".repeat(65);
    for name in
        ["", " ", "a b", "a/b", "a__b", "_a", "a_", "_", "a\n", "é", "a:b", too_long.as_str()]
    {
        assert!(matches!(named(name).typed(echo), Err(DefineError::Name { .. })), "{name:?}");
        assert!(matches!(named(name).raw(json!({}), nothing), Err(DefineError::Name { .. })));
    }
    insta::assert_snapshot!(
        named("a\u{202e}__").typed(echo).unwrap_err(),
        @r"`a\u{202e}__` cannot name a skill: 1 to 64 ASCII letters, digits, `-`, `.` and `_`, with no `_` at either end and no two in a row"
    );
}

/// Broken JSON cannot be given at all: the argument is a `Value`.
#[test]
fn t5_a_written_schema_is_an_object_about_objects_in_the_dialect() {
    for schema in [
        json!(null),
        json!([]),
        json!("object"),
        json!(true),
        json!({ "type": "string" }),
        json!({ "type": ["object", "null"] }),
        json!({ "properties": {} }),
        json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }),
        json!({ "type": "object", "$schema": 7 }),
        json!({ "type": "object", "properties": 7 }),
        json!({ "type": "object", "properties": { "a": { "$ref": "https://example.com/a" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/none" } } }),
    ] {
        let error = named("x").raw(schema.clone(), nothing).unwrap_err();
        assert!(matches!(&error, DefineError::Input { skill, .. } if skill == "x"), "{schema}");
        let error = named("x").output_schema(schema.clone()).raw(json!({}), nothing).unwrap_err();
        assert!(matches!(&error, DefineError::Output { skill, .. } if skill == "x"), "{schema}");
    }
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    let schema = json!({ "$schema": dialect, "type": "object" });
    assert!(named("x").raw(schema, nothing).is_ok());
    insta::assert_snapshot!(
        named("x").raw(json!({ "type": "string" }), nothing).unwrap_err(),
        @r#"input schema of skill `x`: the root of a tool's schema must say `"type": "object"`"#
    );
}

#[test]
fn t6_t12_an_empty_schema_is_any_object() {
    let definition = named("x").raw(json!({}), nothing).unwrap();
    assert_eq!(
        Value::Object((*definition.spec().input_schema).clone()),
        json!({ "type": "object" })
    );
}

#[tokio::test]
async fn t8_t53_rich_content() {
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let output: ToolOutput =
        serde_json::from_value(json!({ "content": [image, image], "_meta": { "a": 1 } })).unwrap();
    let by_hand = output.clone();
    let hand = raw("hand", move |_: RunContext, _: Map<String, Value>| {
        let output = by_hand.clone();
        async { Ok::<_, Infallible>(output) }
    });
    let by_type = output.clone();
    let typed = named("typed")
        .typed(move |_: RunContext, _: Text| {
            let output = by_type.clone();
            async { Ok::<_, Infallible>(output) }
        })
        .unwrap();
    assert_eq!(typed.spec().output_schema, None);
    let registry = registry([hand, typed]);
    assert_eq!(call(&registry, "hand", json!({})).await.unwrap(), output);
    assert_eq!(call(&registry, "typed", json!({})).await.unwrap(), output);
}

#[test]
fn t11_t19_what_callers_get_is_theirs() {
    let definition = echoing("x");
    let mut spec = (**definition.spec()).clone();
    std::sync::Arc::make_mut(&mut spec.input_schema).clear();
    spec.description = None;
    assert_eq!(**definition.spec(), **echoing("x").spec());
}

#[test]
fn t10_ours_title_and_hints_when_given() {
    let definition =
        named("x").title("An X").hints(ToolHints::reads_closed_world()).typed(echo).unwrap();
    assert_eq!(definition.spec().title.as_deref(), Some("An X"));
    assert_eq!(definition.spec().annotations, Some(ToolHints::reads_closed_world()));
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    #[expect(dead_code, reason = "only its schema counts")]
    id: u8,
}

/// Words about the whole.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Outer {
    /// How bad it is.
    severity: Severity,
    inner: Inner,
    list: Vec<Inner>,
    maybe: Option<Inner>,
    #[serde(default)]
    count: u32,
    free: BTreeMap<String, String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

#[test]
fn t37_t40_t41_the_schema_of_a_type_is_self_contained_and_closed() {
    insta::assert_json_snapshot!(schema_of::<Outer>(), @r##"
    {
      "type": "object",
      "properties": {
        "severity": {
          "type": "string",
          "enum": [
            "low",
            "high"
          ],
          "description": "How bad it is."
        },
        "inner": {
          "type": "object",
          "properties": {
            "id": {
              "type": "integer",
              "format": "uint8",
              "minimum": 0,
              "maximum": 255
            }
          },
          "required": [
            "id"
          ],
          "additionalProperties": false
        },
        "list": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "id": {
                "type": "integer",
                "format": "uint8",
                "minimum": 0,
                "maximum": 255
              }
            },
            "required": [
              "id"
            ],
            "additionalProperties": false
          }
        },
        "maybe": {
          "type": [
            "object",
            "null"
          ],
          "properties": {
            "id": {
              "type": "integer",
              "format": "uint8",
              "minimum": 0,
              "maximum": 255
            }
          },
          "required": [
            "id"
          ],
          "additionalProperties": false
        },
        "count": {
          "type": "integer",
          "format": "uint32",
          "minimum": 0,
          "default": 0
        },
        "free": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          }
        }
      },
      "required": [
        "severity",
        "inner",
        "list",
        "free"
      ],
      "description": "Words about the whole.",
      "additionalProperties": false
    }
    "##);
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Node {
    name: String,
    children: Vec<Node>,
}

/// What a type holds of itself cannot be inlined; the references stay within the schema.
#[tokio::test]
async fn t40_ours_a_recursive_type_refers_to_itself_and_is_enforced() {
    insta::assert_json_snapshot!(schema_of::<Node>(), @r##"
    {
      "type": "object",
      "properties": {
        "name": {
          "type": "string"
        },
        "children": {
          "type": "array",
          "items": {
            "$ref": "#"
          }
        }
      },
      "required": [
        "name",
        "children"
      ],
      "additionalProperties": false
    }
    "##);
    let registry = registry([taking::<Node>().unwrap()]);
    let good = json!({ "name": "a", "children": [{ "name": "b", "children": [] }] });
    assert!(call(&registry, "x", good).await.is_ok());
    let bad = json!({ "name": "a", "children": [{ "name": "b", "children": [{}] }] });
    insta::assert_snapshot!(
        shown(&call(&registry, "x", bad).await),
        @r#"input of skill `x` at `/children/0/children/0/name`: "name" is a required property"#
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Flat {
    a: u8,
    #[serde(flatten)]
    choice: Choice,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema counts")]
enum Choice {
    File { path: String },
    Link { url: String },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct FlatOpen {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct FlatTwice {
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    choice: Choice,
    #[serde(flatten)]
    other: Other,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema counts")]
enum Other {
    Left { left: u8 },
    Right { right: u8 },
}

/// Each row: what fits, and what has one property too many.
#[tokio::test]
async fn t41_t47_types_of_every_shape_are_closed_where_they_are() {
    let open = taking::<FlatOpen>().unwrap();
    assert!(call(&registry([open]), "x", json!({ "a": 1, "z": 2 })).await.is_ok());
    for (definition, good, more) in [
        (taking::<Choice>(), json!({ "kind": "file", "path": "p" }), "url"),
        (taking::<Flat>(), json!({ "a": 1, "kind": "link", "url": "u" }), "path"),
        (taking::<FlatTwice>(), json!({ "id": 1, "kind": "link", "url": "u", "left": 1 }), "x"),
        (taking::<Option<Inner>>(), json!({ "id": 1 }), "x"),
        (taking::<Box<Inner>>(), json!({ "id": 1 }), "x"),
        (taking::<Empty>(), json!({}), "x"),
    ] {
        let registry = registry([definition.unwrap()]);
        let answer = call(&registry, "x", good.clone()).await;
        assert_eq!(text(&answer.unwrap()), "done", "{good}");
        let mut bad = good;
        bad[more] = json!("one too many");
        let error = call(&registry, "x", bad.clone()).await;
        assert!(shown(&error).starts_with("input of skill `x` at "), "{bad}: {error:?}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[test]
fn t38_a_map_or_raw_json_means_any_object() {
    insta::assert_json_snapshot!(schema_of::<Value>(), @r#"
    {
      "type": "object"
    }
    "#);
    insta::assert_json_snapshot!(schema_of::<Map<String, Value>>(), @r#"
    {
      "type": "object",
      "additionalProperties": true
    }
    "#);
    assert_eq!(schema_of::<Option<Inner>>(), schema_of::<Inner>());
    assert_eq!(schema_of::<Box<Inner>>(), schema_of::<Inner>());
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema counts")]
enum Mixed {
    Object { a: u8 },
    Number(u8),
}

#[test]
fn t37_t39_a_type_that_is_not_always_an_object_is_refused() {
    for refused in [
        taking::<String>(),
        taking::<u8>(),
        taking::<Vec<Inner>>(),
        taking::<(u8, u8)>(),
        taking::<()>(),
        taking::<Severity>(),
        taking::<Mixed>(),
        taking::<Option<u8>>(),
    ] {
        assert!(matches!(refused, Err(DefineError::Input { skill, .. }) if skill == "x"));
    }
    insta::assert_snapshot!(
        taking::<String>().unwrap_err(),
        @"input schema of skill `x`: the arguments of a tool are an object, so the type must be a struct, a map, or an enum of structs"
    );
}

#[derive(Serialize, JsonSchema)]
struct Verdict {
    severity: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[test]
fn t52_the_output_schema_is_that_of_an_object_or_none() {
    insta::assert_json_snapshot!(Json::<Verdict>::output_schema(), @r##"
    {
      "type": "object",
      "properties": {
        "severity": {
          "type": "integer",
          "format": "uint8",
          "minimum": 0,
          "maximum": 255
        },
        "note": {
          "type": [
            "string",
            "null"
          ]
        }
      },
      "required": [
        "severity"
      ]
    }
    "##);
    assert_eq!(Json::<Vec<Verdict>>::output_schema(), None);
    assert_eq!(Json::<String>::output_schema(), None);
    assert_eq!(Json::<Value>::output_schema(), None);
    assert_eq!(Json::<Option<Verdict>>::output_schema(), None);
    assert_eq!(String::output_schema(), None);
}
