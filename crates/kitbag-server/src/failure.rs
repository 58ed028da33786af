//! Which failure is which error on the wire.

use kitbag_tool::{CallError, ListError, PromptError, ReadError, Refusal, ToolOutput, redact};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

/// An error whose text and data are free of secrets. Every error that leaves is made here.
pub(crate) fn error(code: ErrorCode, text: &str, data: Option<Value>) -> ErrorData {
    ErrorData::new(code, redact::redact(text).into_owned(), data.map(redacted))
}

fn redacted(data: Value) -> Value {
    match data {
        Value::String(text) => Value::String(redact::redact(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, redacted(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => data,
    }
}

/// A request that asks for something that is not there, or cannot be taken.
pub(crate) fn invalid(text: &str) -> ErrorData {
    error(ErrorCode::INVALID_PARAMS, text, None)
}

/// A resource, skill or directory that is not there.
pub(crate) fn not_found(kind: &str, uri: &str) -> ErrorData {
    error(
        ErrorCode::INVALID_PARAMS,
        &format!("{kind} not found: {uri}"),
        Some(json!({ "uri": uri })),
    )
}

/// A tool that no source offers.
pub(crate) fn unknown_tool(name: &str) -> ErrorData {
    invalid(&format!("Tool {name} not found"))
}

fn internal(text: &str) -> ErrorData {
    error(ErrorCode::INTERNAL_ERROR, text, None)
}

/// A failed call: an error of the protocol where the request cannot be routed, an output that says so otherwise,
/// since a model reads outputs and most clients hide errors from it.
pub(crate) fn call(failure: &CallError) -> Result<ToolOutput, ErrorData> {
    match failure {
        CallError::UnknownTool { name } => Err(unknown_tool(name.as_str())),
        CallError::InvalidArguments { .. }
        | CallError::Denied { .. }
        | CallError::TooDeep { .. }
        | CallError::Refused(_)
        | CallError::Interrupted(_) => Ok(failure.to_output()),
    }
}

pub(crate) fn prompt(failure: &PromptError) -> ErrorData {
    match failure {
        PromptError::Unknown { name } => invalid(&format!("Prompt {name} not found")),
        PromptError::InvalidArgument { prompt, argument, reason } => {
            invalid(&format!("Invalid arguments for prompt {prompt}: {argument}: {reason}"))
        }
        PromptError::Refused(refusal) => refused(refusal),
        PromptError::Interrupted(_) => internal(&failure.to_string()),
    }
}

pub(crate) fn read(failure: &ReadError, uri: &str) -> ErrorData {
    match failure {
        ReadError::NotFound { .. } => not_found("Resource", uri),
        ReadError::Refused(refusal) => refused(refusal),
        ReadError::Interrupted(_) => internal(&failure.to_string()),
    }
}

pub(crate) fn list(failure: &ListError) -> ErrorData {
    match failure {
        ListError::BadCursor => invalid("Invalid cursor"),
        ListError::Refused(refusal) => refused(refusal),
        ListError::Interrupted(_) => internal(&failure.to_string()),
    }
}

fn refused(refusal: &Refusal) -> ErrorData {
    internal(&refusal.to_text())
}
