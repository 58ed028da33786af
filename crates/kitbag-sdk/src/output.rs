//! What a handler may give back.

mod finite;

use std::fmt;

use kitbag_tool::{Content, ToolOutput};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use crate::schema::{self, Violation};

/// What a typed handler may give back.
pub trait IntoOutput: Send + 'static {
    /// The schema of the structured part, with an object at its root; none where there is no such part, or none that
    /// a schema can describe so.
    fn output_schema() -> Option<Map<String, Value>> {
        None
    }

    /// Makes the output of the call.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON.
    fn into_output(self) -> Result<ToolOutput, OutputError>;
}

/// A value as JSON: one block of compact text, and the same as structured content under the schema of its type.
///
/// Peers of protocol versions before 2026-07-28 take only objects as structured content, so anything else is text
/// alone. A type that does not always write an object has no output schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json<T>(
    /// The value.
    pub T,
);

/// A value that cannot be an output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at `{pointer}`: {message}")]
pub struct OutputError {
    pointer: String,
    message: String,
}

impl OutputError {
    /// Says what is wrong at a place, a JSON pointer (RFC 6901). Of the message 500 characters are kept.
    pub fn new(pointer: impl Into<String>, message: impl fmt::Display) -> Self {
        Violation::new(pointer.into(), message).into()
    }
}

impl From<Violation> for OutputError {
    fn from(Violation { pointer, message }: Violation) -> Self {
        Self { pointer, message }
    }
}

impl From<OutputError> for Violation {
    fn from(OutputError { pointer, message }: OutputError) -> Self {
        Self { pointer, message }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> IntoOutput for Json<T> {
    fn output_schema() -> Option<Map<String, Value>> {
        schema::output_of::<T>()
    }

    fn into_output(self) -> Result<ToolOutput, OutputError> {
        // JSON has no word for these, and `serde_json` writes `null` in their place without a sound.
        finite::check(&self.0)?;
        let raw = to_raw_value(&self.0).map_err(|error| OutputError::new("", error))?;
        let text = raw.get().to_owned();
        let structured = text.starts_with('{').then_some(raw);
        Ok(ToolOutput { content: vec![Content::Text(text)], structured, ..ToolOutput::default() })
    }
}

impl IntoOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, OutputError> {
        Ok(self)
    }
}

impl IntoOutput for Vec<Content> {
    fn into_output(self) -> Result<ToolOutput, OutputError> {
        Ok(ToolOutput { content: self, ..ToolOutput::default() })
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<ToolOutput, OutputError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoOutput for &'static str {
    fn into_output(self) -> Result<ToolOutput, OutputError> {
        Ok(ToolOutput::text(self))
    }
}
