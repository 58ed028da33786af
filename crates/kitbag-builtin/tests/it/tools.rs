//! What the tools say of themselves (K-1 to K-3).

use serde_json::{Value, json};

use crate::bag::Bag;

#[tokio::test]
async fn k1_there_are_three_tools_each_with_a_description() {
    let bag = Bag::new();
    let snapshot = bag.toolbox.snapshot();
    let told: Vec<_> = snapshot
        .tools()
        .map(|spec| {
            assert!(!spec.description.as_ref().unwrap().trim().is_empty());
            assert!(spec.output_schema.is_some());
            format!("{}: {}", spec.name, spec.title.as_ref().unwrap())
        })
        .collect();
    assert_eq!(
        told,
        ["skill_file: Read skill files", "skill_list: List skills", "skill_load: Load a skill"]
    );
}

#[tokio::test]
async fn k2_the_input_schemas_name_what_is_required() {
    let bag = Bag::new();
    let snapshot = bag.toolbox.snapshot();
    let schema = |tool: &str| Value::Object((*snapshot.tool(tool).unwrap().input_schema).clone());
    let properties = |tool: &str| -> Vec<String> {
        schema(tool)["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(schema("skill_list")["required"], Value::Null);
    assert_eq!(properties("skill_list"), ["query", "cursor"]);
    assert_eq!(schema("skill_load")["required"], json!(["name"]));
    assert_eq!(properties("skill_load"), ["name"]);
    let file = schema("skill_file");
    assert_eq!(file["required"], json!(["name", "paths"]));
    assert_eq!(properties("skill_file"), ["name", "paths", "offset"]);
    let paths = &file["properties"]["paths"];
    assert_eq!(paths["type"], "array");
    assert_eq!(paths["items"], json!({ "type": "string", "minLength": 1 }));
    assert_eq!((&paths["minItems"], &paths["maxItems"]), (&json!(1), &json!(8)));
}

/// K-3: all three only read, from a closed set of things.
#[tokio::test]
async fn k3_every_tool_has_every_hint() {
    let bag = Bag::new();
    for spec in bag.toolbox.snapshot().tools() {
        let hints = spec.annotations.as_ref().unwrap();
        assert_eq!(
            (hints.read_only, hints.destructive, hints.idempotent, hints.open_world),
            (Some(true), Some(false), Some(true), Some(false)),
            "{}",
            spec.name
        );
    }
}

/// Section 1 of the skill server's promises: what no schema names is ignored.
#[tokio::test]
async fn arguments_that_nobody_knows_are_ignored() {
    let bag = Bag::new();
    bag.skill("r/demo");
    let listed = bag.call("skill_list", json!({ "verbose": true })).await;
    assert_eq!(listed["total"], 1);
    bag.call("skill_load", json!({ "name": "demo", "confirm": null })).await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_with_their_place() {
    let bag = Bag::new();
    bag.skill("r/demo");
    insta::assert_snapshot!(bag.refused("skill_load", json!({})).await, @r#"Input validation error: Invalid arguments for tool skill_load: "name" is a required property"#);
    insta::assert_snapshot!(bag.refused("skill_load", json!({ "name": "" })).await, @r#"Input validation error: Invalid arguments for tool skill_load: name: "" is shorter than 1 character"#);
    insta::assert_snapshot!(bag.refused("skill_file", json!({ "name": "demo", "paths": [1] })).await, @r#"Input validation error: Invalid arguments for tool skill_file: paths.0: 1 is not of type "string""#);
    insta::assert_snapshot!(bag.refused("skill_file", json!({ "name": "demo", "paths": [] })).await, @"Input validation error: Invalid arguments for tool skill_file: paths: [] has less than 1 item");
    insta::assert_snapshot!(bag.refused("skill_file", json!({ "name": "demo", "paths": ["a"], "offset": -1 })).await, @"Input validation error: Invalid arguments for tool skill_file: offset: -1 is less than the minimum of 0");
    let query = "x".repeat(1_001);
    assert!(bag.refused("skill_list", json!({ "query": query })).await.contains("query"));
}
