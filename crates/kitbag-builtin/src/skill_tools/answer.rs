//! What a handler wrote to its standard output, as the output of its tool.

use jsonschema::Validator;
use kitbag_tool::ToolOutput;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{compact, parse_json};

/// The one member of an object that is a whole tool result in place of a value.
pub(super) const WHOLE_RESULT: &str = "toolResult";

/// How many characters of an answer that cannot be read are shown.
const SHOWN_CHARS: usize = 200;

/// The most characters of a validator's reason that are passed on; it may quote the value.
const MAX_REASON_CHARS: usize = 500;

/// The check of a structured result against the schema that was published for it.
#[derive(Debug)]
pub(super) enum OutputCheck {
    /// None was declared.
    Anything,
    /// It must fit.
    Fits(Box<Validator>),
    /// The schema itself cannot be used.
    Broken(String),
}

impl OutputCheck {
    /// No reference in a schema is ever fetched.
    pub(super) fn compile(schema: Option<&Map<String, Value>>) -> Self {
        let Some(schema) = schema else { return Self::Anything };
        let schema = Value::Object(schema.clone());
        match jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema) {
            Ok(validator) => Self::Fits(Box::new(validator)),
            Err(error) => Self::Broken(reason(&error)),
        }
    }

    fn check(&self, structured: Option<&Value>) -> Result<(), String> {
        let validator = match self {
            Self::Anything => return Ok(()),
            Self::Fits(validator) => validator,
            Self::Broken(reason) => {
                return Err(format!("its output schema is no JSON Schema: {reason}"));
            }
        };
        let Some(value) = structured else {
            return Err("it declares an output schema and answered with no object".to_owned());
        };
        validator.validate(value).map_err(|error| {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { String::new() } else { format!("at `{path}`: ") };
            format!("its answer does not fit its output schema: {place}{}", reason(&error))
        })
    }
}

fn reason(error: &jsonschema::ValidationError<'_>) -> String {
    error.to_string().chars().take(MAX_REASON_CHARS).collect()
}

/// Reads an answer; an error says what is wrong with it, and begins in the middle of a sentence about the tool.
///
/// A value is the text of its compact JSON, and structured content too where it is an object; a string is the text
/// itself. An object whose only member is `toolResult` holds a whole tool result.
pub(super) fn read(stdout: &[u8], check: &OutputCheck) -> Result<ToolOutput, String> {
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return Err(
            "it wrote nothing to standard output, where one JSON value must stand".to_owned()
        );
    }
    let unreadable = |why: String| {
        format!(
            "it must write one JSON value to standard output: {why}. It wrote {} bytes, which begin: {}",
            stdout.len(),
            shown(stdout)
        )
    };
    let text = str::from_utf8(stdout)
        .map_err(|error| unreadable(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    // A mark that some runtimes put before UTF-8 says nothing.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = parse_json(text).map_err(|fault| unreadable(fault.to_string()))?;
    if let Value::Object(members) = &value
        && members.len() == 1
        && let Some(result) = members.get(WHOLE_RESULT)
    {
        return whole(text, result, check);
    }
    match value {
        Value::Object(_) => {
            check.check(Some(&value))?;
            let raw = RawValue::from_string(compact(text)).map_err(|error| error.to_string())?;
            Ok(ToolOutput { structured: Some(raw), ..ToolOutput::default() })
        }
        Value::String(text) => {
            check.check(None)?;
            Ok(ToolOutput::text(text))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            check.check(None)?;
            Ok(ToolOutput::text(compact(text)))
        }
    }
}

/// A whole result: its members are carried as they were written.
fn whole(text: &str, result: &Value, check: &OutputCheck) -> Result<ToolOutput, String> {
    #[derive(serde::Deserialize)]
    struct Tagged {
        #[serde(rename = "toolResult")]
        result: ToolOutput,
    }
    let faulty = |why: &str| format!("its `{WHOLE_RESULT}` is no tool result: {why}");
    let structured = result.get("structuredContent");
    let content = match result.get("content") {
        None if structured.is_none() => {
            return Err(faulty("it has neither `content` nor `structuredContent`"));
        }
        None => &[],
        Some(Value::Array(blocks)) => blocks.as_slice(),
        Some(_) => return Err(faulty("`content` is not a list")),
    };
    if structured.is_some_and(|structured| !structured.is_object()) {
        return Err(faulty("`structuredContent` is not an object"));
    }
    for (at, block) in content.iter().enumerate() {
        block_fault(block).map_or(Ok(()), |why| Err(faulty(&format!("`content[{at}]` {why}"))))?;
    }
    let Tagged { result } =
        serde_json::from_str(&compact(text)).map_err(|error| faulty(&error.to_string()))?;
    if !result.is_error {
        check.check(structured)?;
    }
    Ok(result)
}

/// What keeps a block from being one, where it is of a kind that the protocol has.
fn block_fault(block: &Value) -> Option<String> {
    let kind = block.get("type").and_then(Value::as_str);
    let needs: &[&str] = match kind {
        None => return Some("has no `type`".to_owned()),
        Some("text") => &["text"],
        Some("image" | "audio") => &["data", "mimeType"],
        Some("resource_link") => &["uri", "name"],
        Some(_) => &[],
    };
    let missing = needs.iter().find(|key| !block.get(**key).is_some_and(Value::is_string))?;
    Some(format!("has no `{missing}` that is a text"))
}

/// The first characters of what somebody wrote, none of which can be mistaken for ours.
fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(4 * SHOWN_CHARS)];
    let text = String::from_utf8_lossy(start);
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if shown.len() < bytes.len() && text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
