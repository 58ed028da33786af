//! `list`, and what `--help` says.

use serde_json::json;

use super::arguments::Form;
use super::failure::{Exit, Failure, print};
use crate::Registry;

/// The most names that a hint lists.
const NAMES_IN_HINT: usize = 20;

/// Prints the skills, one a line, or as the result of `tools/list` in the Model Context Protocol.
pub(super) fn list(form: Form, registry: &Registry) -> Result<Exit, Failure> {
    let snapshot = registry.snapshot();
    let text = match form {
        Form::Json => json!({ "tools": snapshot.tools().collect::<Vec<_>>() }).to_string(),
        Form::Text => {
            let width = snapshot.definitions().iter().map(|skill| skill.name().len()).max();
            let width = width.unwrap_or_default();
            let line = |spec: &kitbag_tool::ToolSpec| {
                let about = spec.description.as_deref().unwrap_or_default();
                let about = about.lines().next().unwrap_or_default();
                format!("{:width$}  {about}", spec.name.as_str()).trim_end().to_owned()
            };
            snapshot.tools().map(|spec| line(spec)).collect::<Vec<_>>().join("\n")
        }
    };
    if !text.is_empty() {
        print(&text)?;
    }
    Ok(Exit::Ok)
}

/// A sentence that names the skills there are.
pub(super) fn names(registry: &Registry) -> String {
    let snapshot = registry.snapshot();
    let all = snapshot.definitions();
    let names: Vec<_> =
        all.iter().take(NAMES_IN_HINT).map(|skill| format!("`{}`", skill.name())).collect();
    match all.len().checked_sub(names.len()) {
        _ if names.is_empty() => "this program has no skills".to_owned(),
        Some(0) | None => format!("there is {}", names.join(", ")),
        Some(more) => format!("there is {} and {more} more; `list` shows all", names.join(", ")),
    }
}

/// Prints what the program can be asked for.
pub(super) fn help(program: &str, registry: &Registry) -> Result<Exit, Failure> {
    let snapshot = registry.snapshot();
    let first = snapshot.definitions().first().map_or("NAME", |skill| skill.name());
    print(&format!(
        "\
Typed skills, for people, for MCP clients, and for kitbag.

Usage: {program} COMMAND

Commands:
  run NAME [--input JSON|-|@FILE] [--json] [--quiet]
        Calls a skill with a JSON object, {{}} where none is given: inline, from standard input, or from a file.
        Prints its text, or with --json the result object of MCP. --quiet leaves progress out.
  list [--json]
        Lists the skills; with --json as tools/list of MCP does.
  serve [--http ADDR] [--token-file FILE]
        Serves the skills to an MCP client on standard input and output, or over HTTP on a loopback address.
  handle
        Answers one call that kitbag hands over on standard input.
  declare [NAME...] [-- COMMAND [ARGUMENT...]]
        Prints a kitbag.toml that declares these skills, or all, with this command, or with `bin/{program} handle`.
  help, --help
        Shows this.

Examples:
  {program} list
  {program} run {first} --input '{{}}'
  {program} run {first} --input @arguments.json --json
  {program} declare {first} > {first}/kitbag.toml

Exit codes: 0 ok, 1 the skill failed or refused its input, 2 wrong usage, 70 internal, 130 interrupted."
    ))?;
    Ok(Exit::Ok)
}
