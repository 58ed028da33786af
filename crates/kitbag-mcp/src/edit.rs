//! Changes of a file for a command: every byte beside the change stays, comments too.

use std::path::Path;

use kitbag_settings::edit::{self, EditError};
use kitbag_settings::{KeyPath, Severity, parse};
use serde_json::{Value, json};

use crate::file::{SourceKind, read_file};
use crate::name::ServerName;
use crate::problem::Problem;

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ServerEditError {
    /// The file names the server already.
    #[error("server `{0}` is there already")]
    Exists(ServerName),
    /// The file does not name the server.
    #[error("server `{0}` is not named in this file")]
    NotThere(ServerName),
    /// The entry cannot be taken.
    #[error("the entry of server `{0}` cannot be taken")]
    Unusable(ServerName, Vec<Problem>),
    /// The text cannot be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// The text of a file with one more server, which the file must not name yet.
///
/// The entry is checked as in a file of that kind, so that nothing is written that a start would refuse.
pub fn add(
    text: &str,
    kind: SourceKind,
    name: &ServerName,
    entry: &Value,
) -> Result<String, ServerEditError> {
    if value(text, &server(name)).is_some() {
        return Err(ServerEditError::Exists(name.clone()));
    }
    let alone = json!({ "mcpServers": { name.as_str(): entry } }).to_string();
    let (_, problems) = read_file(kind, Path::new("the new entry"), alone.as_bytes());
    let unusable = |problem: &Problem| problem.severity >= Severity::Warning;
    if problems.iter().any(unusable) {
        return Err(ServerEditError::Unusable(name.clone(), problems));
    }
    Ok(edit::set(text, &server(name), entry)?)
}

/// The text of a file without a server, and without its name in `disabledMcpServers`.
pub fn remove(text: &str, name: &ServerName) -> Result<String, ServerEditError> {
    if value(text, &server(name)).is_none() {
        return Err(ServerEditError::NotThere(name.clone()));
    }
    let text = edit::remove(text, &server(name))?;
    Ok(undisabled(&text, name)?)
}

/// The text of a settings file that disables a server, whichever file names it.
pub fn disable(text: &str, name: &ServerName) -> Result<String, ServerEditError> {
    Ok(edit::add_item(text, &disabled(), &Value::from(name.as_str()))?)
}

/// The text of a settings file that does not disable a server, neither by its list nor by the server's entry.
///
/// Another file may still: see [`Disabled::List`](crate::Disabled::List).
pub fn enable(text: &str, name: &ServerName) -> Result<String, ServerEditError> {
    let text = undisabled(text, name)?;
    let flag = KeyPath::of(["mcpServers", name.as_str(), "disabled"]);
    Ok(match value(&text, &flag) {
        Some(Value::Bool(true)) => edit::remove(&text, &flag)?,
        _ => text,
    })
}

fn undisabled(text: &str, name: &ServerName) -> Result<String, EditError> {
    edit::remove_item(text, &disabled(), &Value::from(name.as_str()))
}

fn server(name: &ServerName) -> KeyPath {
    KeyPath::of(["mcpServers", name.as_str()])
}

fn disabled() -> KeyPath {
    KeyPath::of(["disabledMcpServers"])
}

/// What stands in a text at a path.
fn value(text: &str, path: &KeyPath) -> Option<Value> {
    let (document, _) = parse(Path::new("settings"), text.as_bytes());
    let whole = document.to_value();
    path.keys().iter().try_fold(&whole, |value, key| value.get(key)).cloned()
}
