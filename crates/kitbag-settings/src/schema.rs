//! The JSON Schema of all sections together, and the questions that are asked of it.

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::key_path::KeyPath;
use crate::section::SectionSchema;

/// How many references and alternatives are followed from one schema.
const MAX_FOLLOWED: usize = 256;

/// The JSON Schema (2020-12) of a settings file that holds these sections.
///
/// The same sections in the same order give the same value, so that a generated file can be compared with it. `allowComments` and
/// `allowTrailingCommas` are what editors ask for beside the standard.
pub fn schema(sections: &[SectionSchema]) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let mut root = object();
    root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".into(), json!("Settings of kitbag"));
    root.insert("allowComments".into(), json!(true));
    root.insert("allowTrailingCommas".into(), json!(true));
    let own = json!({ "type": "string", "description": "The schema that an editor checks this file with." });
    properties(&mut root).insert("$schema".into(), own);
    for section in sections {
        let generated = (section.generate)(&mut generator).to_value();
        if let Value::Object(generated) = generated {
            add(&mut root, KeyPath::declared(section.at).keys(), generated);
        }
    }
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    Value::Object(root)
}

/// Adds what a section's struct says to the object at `keys`; several sections may share one.
fn add(target: &mut Map<String, Value>, keys: &[String], mut generated: Map<String, Value>) {
    let Some((first, rest)) = keys.split_first() else {
        if let Some(Value::Object(named)) = generated.remove("properties") {
            properties(target).extend(named);
        }
        return;
    };
    let below = properties(target).entry(first.clone()).or_insert(Value::Null);
    if !below.is_object() {
        *below = Value::Object(object());
    }
    let Value::Object(below) = below else { return };
    if let (true, Some(description)) = (rest.is_empty(), generated.get("description")) {
        below.insert("description".into(), description.clone());
    }
    add(below, rest, generated);
}

fn object() -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("properties".into(), json!({}));
    object.insert("additionalProperties".into(), json!(false));
    object
}

fn properties(schema: &mut Map<String, Value>) -> &mut Map<String, Value> {
    let entry = schema.entry("properties").or_insert_with(|| json!({}));
    if !entry.is_object() {
        *entry = json!({});
    }
    entry.as_object_mut().expect("it was made an object")
}

/// What may lie in a value, as its schemas say.
#[derive(Default)]
pub(crate) struct Children<'a> {
    /// The schemas of the named keys.
    pub(crate) named: BTreeMap<&'a str, Vec<&'a Value>>,
    /// The schemas of keys that have no name in the schema.
    pub(crate) entries: Vec<&'a Value>,
    /// The schemas of a list's items.
    pub(crate) items: Vec<&'a Value>,
    /// Whether nothing is said about keys, so that every key may stand there.
    pub(crate) open: bool,
}

/// Collects what the alternatives `schemas` say about a value's children; `whole` holds the definitions.
pub(crate) fn children<'a>(whole: &'a Value, schemas: &[&'a Value]) -> Children<'a> {
    let mut found = Children::default();
    let mut describes_keys = false;
    let mut waiting: Vec<&Value> = schemas.to_vec();
    for _ in 0..MAX_FOLLOWED {
        let Some(schema) = waiting.pop() else { break };
        if schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty) {
            found.open = true;
            continue;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            waiting.extend(reference.strip_prefix('#').and_then(|at| whole.pointer(at)));
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            waiting.extend(schema.get(word).and_then(Value::as_array).into_iter().flatten());
        }
        if let Some(named) = schema.get("properties").and_then(Value::as_object) {
            describes_keys = true;
            for (name, below) in named {
                found.named.entry(name).or_default().push(below);
            }
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => describes_keys = true,
            Some(entry) => found.entries.push(entry),
            None => {}
        }
        found.items.extend(schema.get("items"));
    }
    if !describes_keys && found.entries.is_empty() {
        found.open = true;
    }
    found
}
