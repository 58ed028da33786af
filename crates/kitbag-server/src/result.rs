//! What a request is answered with, as the bytes of the wire.

use kitbag_tool::{CallError, PromptOutput, ToolOutput};
use serde::Serialize;
use serde_json::Value;

use crate::wire;

/// The result of `tools/call` for what came of a call, as the bytes that a client gets who opened with a handshake.
///
/// A call without an output is the result that says so, which a client gets too, but for a tool that nobody offers: a
/// client gets an error of the protocol then.
///
/// # Errors
///
/// The result cannot be written as JSON.
pub fn tool_result(outcome: Result<ToolOutput, CallError>) -> serde_json::Result<String> {
    let output = outcome.unwrap_or_else(|error| error.to_output());
    written(&wire::output(output))
}

/// The result of `prompts/get` for a filled prompt, likewise.
///
/// # Errors
///
/// The result cannot be written as JSON.
pub fn prompt_result(output: PromptOutput) -> serde_json::Result<String> {
    written(&wire::filled(output))
}

fn written(result: &impl Serialize) -> serde_json::Result<String> {
    let mut result = serde_json::to_value(result)?;
    if let Value::Object(members) = &mut result {
        // Clients that open with a handshake do not know it, and do not get it.
        members.shift_remove("resultType");
    }
    serde_json::to_string(&result)
}
