//! Schemas: inferred from types, closed, checked at the root, and enforced.

mod close;

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use close::close;

/// The most characters of a message about a value; it may quote the value.
const MAX_MESSAGE_CHARS: usize = 500;

/// The one dialect that tools of the Model Context Protocol have by default and that is enforced here.
const DIALECT: &str = "json-schema.org/draft/2020-12/schema";

/// What does not fit, and where.
#[derive(Debug)]
pub(crate) struct Violation {
    /// A JSON pointer (RFC 6901).
    pub(crate) pointer: String,
    /// At most [`MAX_MESSAGE_CHARS`] characters.
    pub(crate) message: String,
}

/// A schema made ready for checking.
pub(crate) struct Validator(Box<jsonschema::Validator>);

/// The schema of what `T` reads: self-contained, closed to unknown properties, an object at its root.
///
/// Everything is inlined. What a type holds of itself cannot be, so a recursive type keeps `$defs` and references
/// into them, and nothing else does.
pub(crate) fn input_of<T: JsonSchema>() -> Result<Map<String, Value>, String> {
    let mut schema = infer::<T>(SchemaSettings::draft2020_12().for_deserialize());
    close(&mut schema);
    let Value::Object(schema) = schema else { return Err("the type accepts nothing".to_owned()) };
    object_root(schema).ok_or_else(|| {
        "the arguments of a tool are an object, so the type must be a struct, a map, or an enum of structs"
            .to_owned()
    })
}

/// The schema of what `T` writes; none where that is not always an object, which no `outputSchema` can say.
pub(crate) fn output_of<T: JsonSchema>() -> Option<Map<String, Value>> {
    let schema = infer::<T>(SchemaSettings::draft2020_12().for_serialize());
    if may_be_null(&schema) {
        return None;
    }
    match schema {
        // A type that says nothing about itself may write anything.
        Value::Object(schema) if asserts(&schema) => object_root(schema),
        _ => None,
    }
}

/// Checks a schema that somebody wrote: an object with `type: object` at its root, in the dialect that is enforced.
/// An empty one stands for any object (statement T-6).
pub(crate) fn written(schema: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(mut schema) = schema else {
        return Err("a schema must be a JSON object".to_owned());
    };
    if schema.is_empty() {
        schema.insert("type".to_owned(), "object".into());
    }
    if schema.get("type") != Some(&Value::from("object")) {
        return Err("the root of a tool's schema must say `\"type\": \"object\"`".to_owned());
    }
    match schema.get("$schema") {
        None => Ok(schema),
        Some(Value::String(dialect)) if is_dialect(dialect) => Ok(schema),
        Some(other) => Err(format!(
            "`$schema` is {other}; write the schema in `https://{DIALECT}`, or leave `$schema` out"
        )),
    }
}

fn is_dialect(uri: &str) -> bool {
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.strip_suffix('#').unwrap_or(rest) == DIALECT)
}

/// Keywords that say what a value may be, as far as types give them at a root.
const ASSERTIONS: [&str; 8] = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];

fn asserts(schema: &Map<String, Value>) -> bool {
    schema.keys().any(|key| ASSERTIONS.contains(&key.as_str()))
}

/// Whether a schema says of itself that it lets null through.
fn may_be_null(schema: &Value) -> bool {
    let branches = |key: &str| schema.get(key).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(name) => name == "null",
        None => ["anyOf", "oneOf"]
            .iter()
            .filter_map(|key| branches(key))
            .any(|branches| branches.iter().any(may_be_null)),
    }
}

fn infer<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(map) = &mut schema
        && map.get("title").is_some_and(|title| *title == *T::schema_name())
    {
        // The name of a Rust type means nothing to whoever reads the tool.
        map.shift_remove("title");
    }
    if schema == Value::Bool(true) {
        schema = Value::Object(Map::new());
    }
    schema
}

/// The schema with `type: object` at its root; none where it lets something else through that means anything.
fn object_root(mut schema: Map<String, Value>) -> Option<Map<String, Value>> {
    let root = Value::Object(schema.clone());
    if kind(&root, &root) != Kind::Object && asserts(&schema) {
        return None;
    }
    // `Option<Struct>`: the arguments of a tool are never null, so the other branch is the whole schema.
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.get_mut(key) else { continue };
        branches.retain(|branch| branch.get("type") != Some(&Value::from("null")));
        if let [Value::Object(only)] = &mut branches[..] {
            let only = std::mem::take(only);
            schema.shift_remove(key);
            schema.extend(only);
        }
    }
    schema.insert("type".to_owned(), "object".into());
    Some(schema)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Null,
    Other,
}

/// What a schema lets through, null beside objects not counted.
fn kind(schema: &Value, root: &Value) -> Kind {
    let named = |name: &Value| match name.as_str() {
        Some("object") => Kind::Object,
        Some("null") => Kind::Null,
        _ => Kind::Other,
    };
    match schema.get("type") {
        Some(Value::Array(names)) => return all(names.iter().map(named)),
        Some(name) => return named(name),
        None => {}
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get(key) {
            return all(branches.iter().map(|branch| kind(branch, root)));
        }
    }
    if let Some(Value::Array(branches)) = schema.get("allOf") {
        let object = branches.iter().any(|branch| kind(branch, root) == Kind::Object);
        return if object { Kind::Object } else { Kind::Other };
    }
    // A reference of an inferred schema leads to a definition, and a definition is never a mere reference.
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
    match target.and_then(|pointer| root.pointer(pointer)).and_then(|target| target.get("type")) {
        Some(name) => named(name),
        None => Kind::Other,
    }
}

fn all(kinds: impl Iterator<Item = Kind>) -> Kind {
    let both = |one, other| match (one, other) {
        (Kind::Null, kind) | (kind, Kind::Null) => kind,
        (Kind::Object, Kind::Object) => Kind::Object,
        (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
    };
    kinds.reduce(both).unwrap_or(Kind::Other)
}

impl Violation {
    pub(crate) fn new(pointer: String, message: impl fmt::Display) -> Self {
        let message = message.to_string().chars().take(MAX_MESSAGE_CHARS).collect();
        Self { pointer, message }
    }
}

impl Validator {
    /// Makes a schema ready. No reference in it is ever fetched.
    pub(crate) fn new(schema: &Map<String, Value>) -> Result<Self, String> {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&Value::Object(schema.clone()))
            .map(|validator| Self(Box::new(validator)))
            .map_err(|error| Violation::new(String::new(), error).message)
    }

    /// Checks a value, and points at the property that is missing or unknown where that is what is wrong.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Violation> {
        let Err(error) = self.0.validate(value) else { return Ok(()) };
        let mut pointer = error.instance_path().to_string();
        match error.kind() {
            ValidationErrorKind::Required { property: Value::String(property) } => {
                push_key(&mut pointer, property);
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                if let Some(first) = unexpected.first() {
                    push_key(&mut pointer, first);
                }
            }
            _ => {}
        }
        Err(Violation::new(pointer, error))
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

/// Adds a step to a JSON pointer.
pub(crate) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}
