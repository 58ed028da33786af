//! Forbids properties that a type does not have.

use serde_json::Value;

/// Keywords whose schemas look at the same value.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "if", "then", "else", "$ref"];

/// Keywords whose value is a schema, or a list of them, for a part of the value.
const PARTS: [&str; 5] =
    ["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties"];

/// Keywords whose value maps names to schemas for a part of the value.
const NAMED_PARTS: [&str; 3] = ["properties", "patternProperties", "$defs"];

/// Forbids unknown properties wherever a schema names the properties of an object and does not say what holds for
/// others (statement T-41).
pub(super) fn close(schema: &mut Value) {
    close_from(schema, Scope::Whole);
}

/// Who says what holds for the other properties of the value that a schema looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The schema itself.
    Whole,
    /// One around it that looks at the same value, so that this one must leave its properties alone.
    Part,
}

fn close_from(schema: &mut Value, scope: Scope) {
    let Value::Object(map) = schema else { return };
    let names_properties =
        map.contains_key("properties") || map.get("type").is_some_and(names_object);
    let gathers = matches!(map.get("allOf"), Some(Value::Array(all)) if all.iter().any(is_object));
    let says =
        map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties");
    let speaks = names_properties || gathers;
    if scope == Scope::Whole && speaks && !says {
        // Only `unevaluatedProperties` sees the properties that schemas for the same value name.
        let shared = SAME_VALUE.iter().any(|key| map.contains_key(*key));
        let key = if shared { "unevaluatedProperties" } else { "additionalProperties" };
        map.insert(key.to_owned(), Value::Bool(false));
    }
    let below = if speaks { Scope::Part } else { scope };
    for (key, value) in map.iter_mut() {
        let key = key.as_str();
        if SAME_VALUE.contains(&key) {
            each(value, below);
        } else if PARTS.contains(&key) {
            each(value, Scope::Whole);
        } else if NAMED_PARTS.contains(&key)
            && let Value::Object(parts) = value
        {
            parts.values_mut().for_each(|part| close_from(part, Scope::Whole));
        }
    }
}

fn each(value: &mut Value, scope: Scope) {
    match value {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| close_from(schema, scope)),
        schema => close_from(schema, scope),
    }
}

/// Whether a branch is about an object, itself or in its own branches.
fn is_object(schema: &Value) -> bool {
    schema.get("properties").is_some()
        || schema.get("type").is_some_and(names_object)
        || SAME_VALUE.iter().any(|key| {
            schema.get(*key).and_then(Value::as_array).is_some_and(|all| all.iter().any(is_object))
        })
}

/// Whether `type` lets objects through.
fn names_object(names: &Value) -> bool {
    names == "object"
        || names.as_array().is_some_and(|names| names.iter().any(|name| name == "object"))
}
