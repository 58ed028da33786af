//! The arguments of a call, from wherever they come.

use std::fs::File;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::failure::{Exit, Failure};

/// The most bytes that the arguments of a call may have.
pub(super) const MAX_INPUT_BYTES: usize = 16 * 1024 * 1024;

/// Reads the arguments of a call: JSON inline, `-` for standard input, `@` and a file, or none, which is `{}`
/// (statement T-75).
pub(super) fn arguments(given: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let (text, origin) = match given {
        None => return Ok(Map::new()),
        Some("-") => (standard_input()?, "standard input".to_owned()),
        Some(given) => match given.strip_prefix('@') {
            Some(path) => (file(path)?, format!("`{path}`")),
            None => (given.to_owned(), "the input".to_owned()),
        },
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let value = serde_json::from_str(text).map_err(|error| {
        let hint = "write a JSON object such as '{\"count\": 4}', `-` for standard input, or `@` and a file";
        Failure::usage(format!("{origin} is no JSON: {error}")).hint(hint)
    })?;
    let found = match value {
        Value::Object(arguments) => return Ok(arguments),
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
    };
    Err(Failure::usage(format!("{origin} must be a JSON object, not {found}")))
}

/// Reads standard input to its end.
pub(super) fn standard_input() -> Result<String, Failure> {
    bounded(io::stdin().lock()).map_err(|error| told("standard input", &error))
}

fn file(path: &str) -> Result<String, Failure> {
    File::open(path).and_then(bounded).map_err(|error| told(&format!("`{path}`"), &error))
}

fn told(origin: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("{origin} cannot be read: {error}"))
}

fn bounded(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(MAX_INPUT_BYTES as u64 + 1).read_to_string(&mut text)?;
    if text.len() > MAX_INPUT_BYTES {
        return Err(io::Error::other(format!("it is longer than {MAX_INPUT_BYTES} bytes")));
    }
    Ok(text)
}

/// The failure of a machine that cannot do what every machine can.
pub(super) fn internal(error: &io::Error) -> Failure {
    Failure::new(Exit::Internal, error)
}
