//! `declare`: a `kitbag.toml` that names this program.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::arguments::Declared;
use super::failure::{Exit, Failure, print};
use super::list::names;
use crate::{Definition, Registry};

/// The longest time a declared tool may take, in seconds; what is longer is refused there.
const MAX_TIMEOUT_SECONDS: u64 = 300;

/// Prints a table for each skill. The command is how kitbag starts this program from the folder of the skill.
pub(super) fn declare(
    program: &str,
    Declared { skills, command }: &Declared,
    registry: &Registry,
) -> Result<Exit, Failure> {
    let snapshot = registry.snapshot();
    if let Some(unknown) = skills.iter().find(|name| snapshot.get(name).is_none()) {
        let message = format!("there is no skill `{}`", unknown.escape_debug());
        return Err(Failure::usage(message).hint(names(registry)));
    }
    let usual = [format!("bin/{program}"), "handle".to_owned()];
    let command = if command.is_empty() { &usual[..] } else { command };
    let mut text = "version = 1".to_owned();
    for skill in snapshot.definitions() {
        if skills.is_empty() || skills.iter().any(|name| name == skill.name()) {
            row(&mut text, skill, command);
        }
    }
    print(&text)?;
    Ok(Exit::Ok)
}

fn row(text: &mut String, skill: &Definition, command: &[String]) {
    let spec = skill.spec();
    let about = spec.description.as_deref().unwrap_or(skill.name());
    let command: Vec<String> = command.iter().map(|word| string(word)).collect();
    let mut line = |line: String| {
        text.push('\n');
        text.push_str(&line);
    };
    line("\n[[tool]]".to_owned());
    line(format!("name = {}", string(skill.name())));
    line(format!("description = {}", string(about)));
    line(format!("command = [{}]", command.join(", ")));
    if let Some(timeout) = skill.timeout() {
        let seconds = timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0);
        line(format!("timeout = {}", seconds.clamp(1, MAX_TIMEOUT_SECONDS)));
    }
    let schemas = [("input", Some(&*spec.input_schema)), ("output", spec.output_schema.as_deref())];
    for (key, schema) in schemas {
        match schema.map(table) {
            Some(Some(schema)) => line(format!("{key} = {schema}")),
            Some(None) => line(format!("# TOML has no null, which the {key} schema asks for.")),
            None => {}
        }
    }
}

/// An inline table; nothing where TOML cannot write it.
fn table(map: &Map<String, Value>) -> Option<String> {
    let mut text = String::from("{");
    let mut members = map.iter().filter(|(key, value)| !(*key == "default" && value.is_null()));
    let mut first = true;
    members.try_for_each(|(key, value)| {
        let comma = if std::mem::take(&mut first) { "" } else { "," };
        write!(text, "{comma} {} = {}", self::key(key), inline(value)?).ok()
    })?;
    text.push_str(" }");
    Some(text)
}

fn inline(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => value.to_string(),
        // Whole numbers end with 64 bits and a sign there.
        Value::Number(number) if number.is_i64() => number.to_string(),
        Value::Number(number) => format!("{:?}", number.as_f64()?),
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(inline).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(map) => table(map)?,
    })
}

fn key(key: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(bare) { key.to_owned() } else { string(key) }
}

/// A basic string. JSON's escapes are among those of TOML, which wants one more.
fn string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
