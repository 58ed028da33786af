//! `run NAME`.

use kitbag_tool::{CallError, Content, ToolCall, ToolOutput};

use super::arguments::{Asked, Form};
use super::call::{as_result, call, json};
use super::failure::{Exit, Failure, print};
use super::input;
use super::list::names;
use crate::Registry;

/// Calls a skill and prints what it gave: its text, or with `--json` the result object as `serve` would send it.
///
/// A failure is told on standard error unless it is JSON, so that no pipe takes it for an answer.
pub(super) fn run(asked: &Asked, registry: &Registry) -> Result<Exit, Failure> {
    let arguments = input::arguments(asked.input.as_deref())?;
    let unknown = |registry: &Registry| {
        let message = format!("there is no skill `{}`", asked.skill.escape_debug());
        Failure::usage(message).hint(names(registry))
    };
    let name = match (asked.skill.parse(), registry.get(&asked.skill)) {
        (Ok(name), Some(_)) => name,
        _absent => return Err(unknown(registry)),
    };
    let asked_call = ToolCall { name, arguments };
    let (output, exit) = match call(registry.clone(), asked_call, None, asked.remarks)? {
        Ok(output) if output.is_error => (output, Exit::Negative),
        Ok(output) => (output, Exit::Ok),
        Err(CallError::UnknownTool { .. }) => return Err(unknown(registry)),
        Err(error) => (error.to_output(), Exit::Negative),
    };
    let output = as_result(output);
    match (asked.form, exit) {
        (Form::Json, _) => print(&json(&output)?)?,
        (Form::Text, Exit::Ok) => print(&text(&output))?,
        (Form::Text, _) => return Err(Failure::new(exit, text(&output))),
    }
    Ok(exit)
}

/// The blocks one after the other, those that are no text as their JSON.
fn text(output: &ToolOutput) -> String {
    let blocks = output.content.iter().map(|block| match (block.as_text(), block) {
        (Some(text), _) => text.into_owned(),
        (None, Content::Text(text)) => text.clone(),
        (None, Content::Raw(raw)) => raw.get().to_owned(),
    });
    blocks.collect::<Vec<_>>().join("\n")
}
