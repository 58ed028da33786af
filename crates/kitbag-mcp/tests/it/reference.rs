//! `docs/reference/mcp-json.md`, the schema and the reader speak of the same fields.

use std::collections::BTreeSet;

use kitbag_mcp::{McpSection, SourceKind};
use kitbag_settings::{SectionSchema, declaration_faults, schema};
use serde_json::Value;

use crate::problems;

const PAGE: &str = include_str!("../../../../docs/reference/mcp-json.md");

/// The first cells of the table under a heading, without their code spans.
fn fields(heading: &str) -> BTreeSet<String> {
    let section = PAGE.split_once(&format!("## {heading}\n")).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn b52_the_declaration_of_our_keys_is_sound() {
    assert_eq!(declaration_faults(&[SectionSchema::of::<McpSection>()]), Vec::<String>::new());
}

#[test]
fn the_page_the_schema_and_the_reader_know_the_same_fields() {
    let whole = schema(&[SectionSchema::of::<McpSection>()]);
    let of = |definition: &str| -> BTreeSet<String> {
        let properties = whole["$defs"][definition]["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    };
    let documented = fields("Fields of an entry");
    let top = |fields: &BTreeSet<String>| -> BTreeSet<String> {
        fields.iter().map(|field| field.split('.').next().unwrap().to_owned()).collect()
    };
    assert_eq!(top(&documented), of("ServerSettings"));
    for (object, definition) in
        [("sandbox", "SandboxSettings"), ("oauth", "OAuthSettings"), ("tools", "ToolSettings")]
    {
        let below: BTreeSet<String> = documented
            .iter()
            .filter_map(|field| field.strip_prefix(&format!("{object}.")).map(str::to_owned))
            .collect();
        assert_eq!(below, of(definition));
    }
    // The reader calls no field of either transport unknown.
    for kind in ["stdio", "http"] {
        let fields = top(&documented).into_iter().map(|field| (field, Value::Null));
        let mut entry: Value = Value::Object(fields.collect());
        entry["type"] = Value::from(kind);
        let text = serde_json::json!({ "mcpServers": { "one": entry } }).to_string();
        let told = problems(SourceKind::UserSettings, &text);
        assert!(!told.contains("unknown"), "{told}");
    }
}

#[test]
fn the_examples_of_the_page_are_read_without_a_problem() {
    let examples: Vec<&str> =
        PAGE.split("```jsonc\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        assert_eq!(problems(SourceKind::UserSettings, example), "");
    }
}
