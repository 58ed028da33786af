//! The tools: their schemas, and which function answers which.

mod scripts;

use std::sync::Arc;

use kitbag_tool::{
    CallError, OfferedTool, Refusal, SubjectKind, ToolCall, ToolHints, ToolOutput, ToolSpec, Traits,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{MAX_BATCH_BYTES, MAX_FILE_BYTES, MAX_FILE_PATHS, MAX_SKILL_MD_BYTES, Shelf};
use super::{file, list, load};

pub(super) const SKILL_LIST: &str = "skill_list";
pub(super) const SKILL_LOAD: &str = "skill_load";
pub(super) const SKILL_FILE: &str = "skill_file";

/// The most characters of a query, each word of which is looked for in every skill.
const MAX_QUERY_CHARS: usize = 1_000;

/// Whether scripts are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripted {
    Yes,
    No,
}

/// The tools; they never change. All but one only read what its owner serves, so they need no leave (B-33), and a rule can
/// speak of one skill (B-34). The one that runs scripts asks for itself, since it alone knows what would run.
pub(super) fn offered(scripted: Scripted) -> Vec<Arc<OfferedTool>> {
    let own = |spec| OfferedTool::own(spec, Traits::Trusted);
    let on_skill = |spec| own(spec).on("name", SubjectKind::Text);
    let mut tools = vec![own(list_spec(scripted)), on_skill(load_spec()), on_skill(file_spec())];
    if scripted == Scripted::Yes {
        let run = OfferedTool::own(scripts::run_spec(), Traits::AsksItself);
        tools.push(run.on("name", SubjectKind::Text));
    }
    tools.into_iter().map(Arc::new).collect()
}

/// Answers a call; its arguments fit the schema.
pub(super) fn call(shelf: &Shelf, call: ToolCall) -> Result<ToolOutput, CallError> {
    match call.name.as_str() {
        SKILL_LIST => answer(&list::list(shelf, &arguments(call)?)?),
        SKILL_LOAD => answer(&load::load(shelf, &arguments(call)?)?),
        SKILL_FILE => answer(&file::files(shelf, &arguments(call)?)?),
        _ => Err(CallError::UnknownTool { name: call.name }),
    }
}

pub(super) fn arguments<T: DeserializeOwned>(call: ToolCall) -> Result<T, CallError> {
    let tool = call.name;
    serde_json::from_value(Value::Object(call.arguments)).map_err(|error| {
        CallError::InvalidArguments { tool, path: String::new(), reason: error.to_string() }
    })
}

fn answer(value: &impl Serialize) -> Result<ToolOutput, CallError> {
    ToolOutput::structured(value).map_err(|error| {
        Refusal::new(format!("The answer cannot be written as JSON: {error}.")).into()
    })
}

fn spec(name: &str, title: &str, description: String, input: Value, output: Value) -> ToolSpec {
    let name = name.parse().expect("the name is a tool's");
    ToolSpec {
        title: Some(title.to_owned()),
        description: Some(description),
        output_schema: Some(Arc::new(object(output))),
        annotations: Some(ToolHints::reads_closed_world()),
        ..ToolSpec::new(name, object(input))
    }
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn list_spec(scripted: Scripted) -> ToolSpec {
    let text = json!({ "type": "string" });
    let mut spec = spec(
        SKILL_LIST,
        "List skills",
        "Lists the skills that can be loaded: name, description, when to use it, size. Also lists what is wrong \
         with skills that cannot be served. `query` keeps the skills that the words fit; `cursor` reads on."
            .to_owned(),
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "maxLength": MAX_QUERY_CHARS,
                    "description": "Words that must all occur in the name or the description",
                },
                "cursor": { "type": "string", "description": "`nextCursor` of the answer before" },
            },
        }),
        json!({
            "type": "object",
            "properties": {
                "roots": { "type": "array", "items": text },
                "rootsFrom": text,
                "total": { "type": "integer", "description": "How many skills there are, on all pages" },
                "skills": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": text,
                            "description": text,
                            "whenToUse": text,
                            "note": text,
                            "source": text,
                            "files": { "type": "integer" },
                            "bytes": { "type": "integer" },
                            "unavailableTools": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": { "tool": text, "reason": text },
                                    "required": ["tool", "reason"],
                                },
                            },
                        },
                        "required": ["name", "source", "files", "bytes"],
                    },
                },
                "nextCursor": text,
                "userOnly": {
                    "type": "integer",
                    "description": "How many more skills there are that only a person may start, as prompts",
                },
                "problems": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "path": text, "reason": text, "detail": text, "hint": text },
                        "required": ["path", "reason", "detail"],
                    },
                },
                "problemsLeftOut": { "type": "integer" },
            },
            "required": ["roots", "rootsFrom", "total", "skills", "problems"],
        }),
    );
    if scripted == Scripted::Yes {
        spec.output_schema = spec.output_schema.map(|schema| Arc::new(scripts::listed(&schema)));
    }
    spec
}

fn load_spec() -> ToolSpec {
    let text = json!({ "type": "string" });
    spec(
        SKILL_LOAD,
        "Load a skill",
        format!(
            "Gives a skill's instructions, word for word, and the list of its files. Files that the instructions \
             name are not included: read them with skill_file. Instructions over {MAX_SKILL_MD_BYTES} bytes are \
             cut, and the answer says so."
        ),
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "description": "The skill's name, from skill_list" },
            },
            "required": ["name"],
        }),
        json!({
            "type": "object",
            "properties": {
                "name": text,
                "description": text,
                "whenToUse": text,
                "source": text,
                "body": text,
                "bodyNote": text,
                "truncated": { "type": "boolean" },
                "truncationNote": text,
                "files": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "path": text, "size": { "type": "integer" } },
                        "required": ["path", "size"],
                    },
                },
                "filesNote": text,
                "scripts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "script": text,
                            "interpreter": text,
                            "runnableHere": { "type": "boolean" },
                        },
                        "required": ["script", "interpreter", "runnableHere"],
                    },
                },
                "tools": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "tool": text,
                            "description": text,
                            "runnableHere": { "type": "boolean" },
                            "reason": text,
                        },
                        "required": ["tool", "description", "runnableHere"],
                    },
                },
            },
            "required": ["name", "source", "body", "truncated", "files", "scripts"],
        }),
    )
}

fn file_spec() -> ToolSpec {
    let text = json!({ "type": "string" });
    spec(
        SKILL_FILE,
        "Read skill files",
        format!(
            "Reads up to {MAX_FILE_PATHS} files of a skill, in the order asked for. Text comes as text, anything \
             else as base64. A file is cut at {MAX_FILE_BYTES} bytes: `nextOffset` reads on. A call that would \
             give more than {MAX_BATCH_BYTES} bytes is refused. A path that cannot be read has an `error` of its own."
        ),
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "description": "The skill's name, from skill_list" },
                "paths": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_FILE_PATHS,
                    "items": { "type": "string", "minLength": 1 },
                    "description": "Paths inside the skill, such as `references/guide.md`",
                },
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The byte to begin at, in every file of this call; 0 unless told",
                },
            },
            "required": ["name", "paths"],
        }),
        json!({
            "type": "object",
            "properties": {
                "skill": text,
                "note": text,
                "files": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": text,
                            "size": { "type": "integer" },
                            "mediaType": text,
                            "encoding": { "enum": ["utf-8", "base64"] },
                            "offset": { "type": "integer" },
                            "truncated": { "type": "boolean" },
                            "truncationNote": text,
                            "nextOffset": { "type": "integer" },
                            "content": text,
                            "error": text,
                        },
                        "required": ["path"],
                    },
                },
            },
            "required": ["skill", "files"],
        }),
    )
}
