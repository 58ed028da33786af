//! Skills that tests call.

use std::convert::Infallible;

use kitbag_sdk::{
    Define, Definition, Handler, Json, Registry, RunContext, SkillCall, SkillError, define,
};
use kitbag_tool::ToolOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Text {
    /// What to give back.
    #[serde(default)]
    pub(crate) text: String,
}

pub(crate) async fn echo(_context: RunContext, input: Text) -> Result<Json<Text>, Infallible> {
    Ok(Json(input))
}

/// A skill that gives its input back.
pub(crate) fn echoing(name: &str) -> Definition {
    named(name).typed(echo).unwrap()
}

/// A skill with a handler and no schema to speak of.
pub(crate) fn raw(name: &str, handler: impl Handler) -> Definition {
    named(name).raw(json!({}), handler).unwrap()
}

/// A skill that says which body it sees.
pub(crate) fn reading(name: &str, body: &str) -> Definition {
    let read = |context: RunContext, _: Map<String, Value>| async move {
        Ok::<_, Infallible>(ToolOutput::text(context.skill_body()))
    };
    define(name).body(body).raw(json!({}), read).unwrap()
}

pub(crate) fn named(name: &str) -> Define {
    define(name).description("Does what a test needs.")
}

pub(crate) fn registry(definitions: impl IntoIterator<Item = Definition>) -> Registry {
    let registry = Registry::new();
    for definition in definitions {
        registry.register(definition).unwrap();
    }
    registry
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object was written") };
    map
}

pub(crate) fn asking(skill: &str, arguments: Value) -> SkillCall {
    SkillCall::new(skill, arguments).unwrap()
}

pub(crate) async fn call(
    registry: &Registry,
    skill: &str,
    arguments: Value,
) -> Result<ToolOutput, SkillError> {
    registry.call(asking(skill, arguments)).await
}

/// The output as it travels, or the error as text.
pub(crate) fn shown(result: &Result<ToolOutput, SkillError>) -> String {
    match result {
        Ok(output) => serde_json::to_string(output).unwrap(),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output.content[0].as_text().unwrap().into_owned()
}
