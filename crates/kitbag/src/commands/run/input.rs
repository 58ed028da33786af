//! What a tool or a prompt gets.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read;

use kitbag_builtin::parse_json;
use kitbag_skills::Skill;
use kitbag_tool::PromptRequest;
use serde_json::{Map, Value};

use crate::failure::{Failure, Kind};

/// The most bytes of an input.
const MAX_INPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The argument of a prompt whose skill names none: all that would be typed after its name.
const ALL: &str = "arguments";

/// The input of a tool: inline, from a file or from standard input; without one, an empty object (T-75).
pub(super) fn of_tool(given: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(given) = given else { return Ok(Map::new()) };
    let usage = |text: String| {
        Failure::say(Kind::Usage, text)
            .hint("the input is a JSON object, such as `{\"key\":\"value\"}`")
    };
    let text = match given.strip_prefix('@') {
        Some(file) => {
            let read = File::open(file).and_then(read);
            read.map_err(|error| usage(format!("`{file}` cannot be read: {error}")))?
        }
        None if given == "-" => read(std::io::stdin().lock())
            .map_err(|error| usage(format!("standard input cannot be read: {error}")))?,
        None => given.to_owned(),
    };
    match parse_json(&text) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(other) => Err(usage(format!("the input is {}, not an object", kind(&other)))),
        Err(fault) => Err(usage(format!("the input is not JSON: {fault}"))),
    }
}

fn read(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(MAX_INPUT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_INPUT_BYTES {
        let why = format!("it is longer than {MAX_INPUT_BYTES} bytes");
        return Err(std::io::Error::other(why));
    }
    Ok(text)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The prompt of a skill of prose, whose declared arguments are given in their order.
pub(super) fn of_prompt(skill: &Skill, given: &[String]) -> Result<PromptRequest, Failure> {
    let name = skill.name().to_string();
    let declared = &skill.document.header.arguments;
    let mut arguments = BTreeMap::new();
    if declared.is_empty() {
        if !given.is_empty() {
            arguments.insert(ALL.to_owned(), given.join(" "));
        }
        return Ok(PromptRequest { name, arguments });
    }
    let mut seen = HashSet::new();
    let names: Vec<&String> = declared.iter().filter(|name| seen.insert(name.as_str())).collect();
    if given.len() > names.len() {
        let known: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let text = format!("`{name}` takes {} arguments: {}", names.len(), known.join(", "));
        return Err(Failure::say(Kind::Usage, text).hint("put several words into quotes"));
    }
    arguments.extend(names.into_iter().cloned().zip(given.iter().cloned()));
    Ok(PromptRequest { name, arguments })
}
