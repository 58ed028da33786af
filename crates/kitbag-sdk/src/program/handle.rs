//! `handle`: one call that kitbag hands over (`docs/reference/handler.md`).

use std::io::{self, Write as _};
use std::time::Duration;

use kitbag_tool::{CallError, ToolCall, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::Remarks;
use super::call::{as_result, call, json};
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
    #[serde(rename = "toolResult")]
    result: &'a ToolOutput,
}

/// Answers the call on standard input. Whatever came of it goes out whole, failures included, so that the caller's
/// result has the same bytes as a call of this program by other ways.
///
/// Arguments that only the skill's own type refuses end with 2 and the reason on standard error. A call that this
/// program cannot take ends with 70, since no other arguments would help.
pub(super) fn handle(registry: Registry) -> Result<Exit, Failure> {
    let request = read()?;
    let unknown = || {
        let message = format!("there is no skill `{}`", request.tool.escape_debug());
        Failure::new(Exit::Internal, message).hint("let `declare` print the kitbag.toml again")
    };
    let name = request.tool.parse().map_err(|_| unknown())?;
    let asked = ToolCall { name, arguments: request.args };
    let within = request.deadline_ms.map(Duration::from_millis);
    let output = match call(registry, asked, within, Remarks::Told)? {
        Ok(output) => as_result(output),
        Err(CallError::UnknownTool { .. }) => return Err(unknown()),
        Err(CallError::InvalidArguments { path, reason, .. }) => {
            let place = if path.is_empty() { path } else { format!("{path}: ") };
            // What stands there is what the caller is told, so nothing goes around it.
            writeln!(io::stderr(), "{place}{reason}").unwrap_or_default();
            return Ok(Exit::Usage);
        }
        Err(error) => error.to_output(),
    };
    print(&json(&Whole { result: &output })?)?;
    Ok(Exit::Ok)
}

fn read() -> Result<Request, Failure> {
    let request: Request = serde_json::from_str(&standard_input()?).map_err(|error| {
        Failure::new(Exit::Internal, format!("standard input is no call: {error}"))
            .hint("`handle` is for kitbag, which writes one JSON object; `run` is for people")
    })?;
    if request.protocol != PROTOCOL {
        let message = format!(
            "protocol {} is not known here; this program speaks {PROTOCOL}",
            request.protocol
        );
        return Err(Failure::new(Exit::Internal, message).hint("build it with a newer kitbag-sdk"));
    }
    Ok(request)
}
