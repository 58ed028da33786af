//! `handle`: one call that kitbag hands over (`docs/reference/handler.md`).

use std::time::Duration;

use kitbag_tool::{CallError, ToolCall, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::Remarks;
use super::call::{as_result, call};
use super::failure::{Exit, Failure, print};
use super::input::standard_input;
use crate::Registry;

/// The version of the contract.
const PROTOCOL: u64 = 1;

/// What stands on standard input. Members that are not known are passed over.
#[derive(Deserialize)]
struct Request {
    protocol: u64,
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
    /// How long the caller waits.
    deadline_ms: Option<u64>,
}

/// The whole result, told apart from a plain value by its one member.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(rename = "kitbag:result")]
    result: &'a ToolOutput,
}

/// Answers the call on standard input. Whatever the skill gave goes out whole, errors that it flagged included, so
/// that the caller's result has the same bytes as a call of this program by other ways.
pub(super) fn handle(registry: Registry) -> Result<Exit, Failure> {
    let request = read()?;
    let unknown = || Failure::usage(format!("there is no skill `{}`", request.tool.escape_debug()));
    let name = request.tool.parse().map_err(|_| unknown())?;
    let asked = ToolCall { name, arguments: request.args };
    let within = request.deadline_ms.map(Duration::from_millis);
    let output = match call(registry, asked, within, Remarks::Quiet)? {
        Ok(output) => as_result(output),
        Err(CallError::UnknownTool { .. }) => return Err(unknown()),
        Err(error @ CallError::InvalidArguments { .. }) => return Err(Failure::usage(error)),
        Err(error) => return Err(Failure::new(Exit::Negative, error)),
    };
    let whole = serde_json::to_string(&Whole { result: &output })
        .map_err(|error| Failure::new(Exit::Internal, format!("the output is no JSON: {error}")))?;
    print(&whole)?;
    Ok(Exit::Ok)
}

fn read() -> Result<Request, Failure> {
    let hint = "`handle` is for kitbag, which writes one JSON object; `run` is for people";
    let request: Request = serde_json::from_str(&standard_input()?).map_err(|error| {
        Failure::usage(format!("standard input is no call: {error}")).hint(hint)
    })?;
    if request.protocol != PROTOCOL {
        let message = format!(
            "protocol {} is not known here; this program speaks {PROTOCOL}",
            request.protocol
        );
        return Err(Failure::usage(message).hint("build it with a newer kitbag-sdk"));
    }
    Ok(request)
}
