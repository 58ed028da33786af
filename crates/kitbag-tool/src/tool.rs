//! What a source says about one of its tools.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::fields::object;
use crate::{Fields, ToolName};

/// A JSON Schema (2020-12) whose root is an object. Shared, since every listing and every check uses the same one.
pub type Schema = Arc<Map<String, Value>>;

object! {
    /// What a tool is called, what it takes and what it gives back.
    pub struct ToolSpec {
        required {
            /// The name that callers use.
            name: ToolName => "name",
            /// What its arguments must look like.
            input_schema: Schema => "inputSchema",
        }
        optional {
            /// A name for people.
            title: String => "title",
            /// What the tool does, for a model to read.
            description: String => "description",
            /// What its structured output looks like.
            output_schema: Schema => "outputSchema",
            /// What the source claims about the tool's effects. Nothing here may be believed for a decision.
            annotations: ToolHints => "annotations",
        }
    }
}

object! {
    /// What a source claims about a tool's effects.
    pub struct ToolHints {
        required {}
        optional {
            /// A name for people.
            title: String => "title",
            /// It changes nothing.
            read_only: bool => "readOnlyHint",
            /// What it changes may be lost.
            destructive: bool => "destructiveHint",
            /// Calling it again with the same arguments changes nothing more.
            idempotent: bool => "idempotentHint",
            /// It reaches beyond a closed set of things.
            open_world: bool => "openWorldHint",
        }
    }
}

impl ToolSpec {
    /// A tool with a name and the schema of its arguments, and nothing else said.
    pub fn new(name: ToolName, input_schema: Map<String, Value>) -> Self {
        Self {
            name,
            input_schema: Arc::new(input_schema),
            title: None,
            description: None,
            output_schema: None,
            annotations: None,
            extra: Fields::default(),
        }
    }
}

impl ToolHints {
    /// A tool that only reads, from a closed set of things, and gives the same answer each time.
    pub fn reads_closed_world() -> Self {
        Self {
            title: None,
            read_only: Some(true),
            destructive: Some(false),
            idempotent: Some(true),
            open_world: Some(false),
            extra: Fields::default(),
        }
    }
}
