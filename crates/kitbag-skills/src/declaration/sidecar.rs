//! `kitbag.toml`, the declaration beside a `SKILL.md` (decision 22; `docs/reference/kitbag-toml.md`).

mod toml;

use std::path::Path;

use serde_json::{Map, Value};

use super::item::{Complaints, Datum, Item, Table, get};
use super::{
    Declaration, DeclarationSource, Needs, Script, ServerDeclaration, ServerTransport,
    ToolDeclaration, rules,
};
use crate::problem::{Position, Problem};

/// The name of the file, in the skill's folder.
pub const SIDECAR: &str = "kitbag.toml";

/// The most bytes that a `kitbag.toml` may have.
pub const MAX_SIDECAR_BYTES: usize = 256 * 1024;

/// Reads the `text` of the `kitbag.toml` at `path`, which only names the file in problems.
///
/// ```toml
/// version = 1
///
/// [[script]]                                # run by path; `path` and `interpreter` are required
/// path = "scripts/report.py"
/// interpreter = "python3"
/// description = "Writes the report"
/// env = ["REPORT_TOKEN"]                    # names; the user decides on values
/// timeout = 90                              # seconds, 300 at most; 60 where nothing is said
/// network = ["api.example.com"]             # hosts, `*` for any run of characters
/// read = ["workspace"]                      # `workspace`, `data`, or a path from `/` or `~/`
/// write = ["data"]
///
/// [[env]]                                   # what the author proposes to set
/// name = "REPORT_TOKEN"
/// description = "A token that may read reports"
/// secret = true
/// required = true
///
/// [[tool]]                                  # `name`, `description` and `command` are required
/// name = "summarize"
/// description = "Sums up one report"
/// command = ["node", "scripts/summarize.mjs"]
/// input = { type = "object", properties = { id = { type = "string" } }, required = ["id"] }
/// output = { type = "object", properties = { summary = { type = "string" } } }
///                                           # env, timeout, network, read, write as for a script
///
/// [[server]]                                # an MCP server: `name`, and `command` or `url`
/// name = "reports"
/// command = ["node", "server/index.mjs"]
/// env = { TOKEN = "${REPORT_TOKEN}" }
/// ```
///
/// A row that can't be taken is left out, and so is a field; each is a problem with its line. A file that is no TOML,
/// too long, or of another version declares nothing. It wins over a block in `SKILL.md` even then (see
/// [`merge`](super::merge)), so that a slip of the pen never brings back what the file was written to replace.
pub fn read_sidecar(path: &Path, text: &str) -> (Declaration, Vec<Problem>) {
    let mut say = Complaints::about(path);
    let mut declaration = Declaration {
        source: DeclarationSource::Sidecar,
        position: Some(FIRST),
        ..Declaration::default()
    };
    if text.len() > MAX_SIDECAR_BYTES {
        let detail =
            format!("the file is longer than {MAX_SIDECAR_BYTES} bytes, so it declares nothing");
        say.say(FIRST, detail, "shorten the schemas");
    } else {
        match toml::parse(text) {
            Ok(table) => take(&mut declaration, &mut say, &table),
            Err((position, message)) => {
                let detail = format!("not TOML, so the file declares nothing: {message}");
                say.say(position, detail, "mend the line");
            }
        }
    }
    (declaration, say.into_problems())
}

const FIRST: Position = Position { line: 1, column: 1 };

const NEEDS: [&str; 5] = ["env", "timeout", "network", "read", "write"];

fn take(declaration: &mut Declaration, say: &mut Complaints<'_>, table: &Table) {
    if !rules::is_version_1(say, table, "the file", FIRST, "write `version = 1` at the top") {
        return;
    }
    say.unknown_keys("`kitbag.toml`", table, &["version", "script", "env", "tool", "server"]);
    declaration.env = rules::proposals(say, table);
    for row in say.rows(table, "script") {
        let Some(script) = script(say, &row) else { continue };
        if declaration.scripts.iter().any(|known| known.script == script.script) {
            let detail = format!("`{}` is declared twice, and the first row counts", script.script);
            say.say(row.position, detail, "keep one of the rows");
        } else {
            declaration.scripts.push(script);
        }
    }
    for row in say.rows(table, "tool") {
        let taken = |name: &str| declaration.tools.iter().any(|tool| tool.name == name);
        if let Some(tool) = tool(say, &row, taken) {
            declaration.tools.push(tool);
        }
    }
    for row in say.rows(table, "server") {
        let taken = |name: &str| declaration.servers.iter().any(|server| server.name == name);
        if let Some(server) = server(say, &row, taken) {
            declaration.servers.push(server);
        }
    }
    declaration.egress = egress(declaration);
}

fn script(say: &mut Complaints<'_>, row: &Item<&Table>) -> Option<Script> {
    let Item { value: table, position } = *row;
    let place = "a `script`";
    say.unknown_keys(place, table, &[&["path", "interpreter", "description"][..], &NEEDS].concat());
    let script = rules::skill_path(say, table, "path", place, position)?;
    let interpreter = rules::required(say, table, "interpreter", place, position)?.to_owned();
    Some(Script {
        script,
        interpreter,
        description: say.prose(table, "description"),
        env: rules::variables(say, table, "env"),
        timeout: rules::timeout(say, table),
        needs: rules::needs(say, table),
        position,
    })
}

fn tool(
    say: &mut Complaints<'_>,
    row: &Item<&Table>,
    taken: impl Fn(&str) -> bool,
) -> Option<ToolDeclaration> {
    let Item { value: table, position } = *row;
    let place = "a `tool`";
    let own = ["name", "description", "command", "input", "output"];
    say.unknown_keys(place, table, &[&own[..], &NEEDS].concat());
    let name = rules::name(say, table, place, position, taken)?;
    let description = rules::required(say, table, "description", place, position)?.to_owned();
    let argv = rules::argv(say, table, "command", place, position)?;
    let input_schema = object_schema(say, table, "input").ok()?;
    if input_schema.is_none() {
        let detail = format!("the tool `{name}` has no `input` schema, so it takes any object");
        say.say(position, detail, "add `input`, with the JSON Schema of its arguments");
    }
    let output_schema = object_schema(say, table, "output").ok()?;
    Some(ToolDeclaration {
        name,
        description,
        input_schema,
        output_schema,
        argv,
        env: rules::variables(say, table, "env"),
        timeout: rules::timeout(say, table),
        needs: rules::needs(say, table),
        position,
    })
}

/// A row with a fault that it can't be taken with.
struct LeftOut;

/// The JSON Schema under `key`, which must be an object's.
fn object_schema(
    say: &mut Complaints<'_>,
    table: &Table,
    key: &str,
) -> Result<Option<Map<String, Value>>, LeftOut> {
    let Some(item) = get(table, key) else { return Ok(None) };
    let Value::Object(mut schema) = item.value.to_json() else {
        say.wrong_kind(key, item, "the table of a JSON Schema");
        return Err(LeftOut);
    };
    let kind = schema.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        let detail = format!("`{key}` must be the schema of an object, so the tool is left out");
        say.say(
            item.position,
            detail,
            "write `type = \"object\"`, with the value as one of its properties",
        );
        return Err(LeftOut);
    }
    Ok(Some(schema))
}

fn server(
    say: &mut Complaints<'_>,
    row: &Item<&Table>,
    taken: impl Fn(&str) -> bool,
) -> Option<ServerDeclaration> {
    let Item { value: table, position } = *row;
    let place = "a `server`";
    let name = rules::name(say, table, place, position, taken)?;
    let description = say.prose(table, "description");
    let transport = match (get(table, "command"), get(table, "url")) {
        (Some(_), Some(both)) => {
            say.say(both.position, "a `server` has a `command` or a `url`, not both", "remove one");
            return None;
        }
        (_, None) => {
            let known = ["name", "description", "command", "env", "network", "read", "write"];
            say.unknown_keys("a `server` with a `command`", table, &known);
            ServerTransport::Stdio {
                argv: rules::argv(say, table, "command", place, position)?,
                env: pairs(say, table, "env")
                    .into_iter()
                    .filter(|(name, _, position)| rules::variable(say, name, *position))
                    .map(|(name, value, _)| (name, value))
                    .collect(),
                needs: rules::needs(say, table),
            }
        }
        (None, Some(_)) => {
            let known = ["name", "description", "url", "headers"];
            say.unknown_keys("a `server` with a `url`", table, &known);
            let headers = pairs(say, table, "headers");
            ServerTransport::Http {
                url: url(say, table, place, position)?,
                headers: headers.into_iter().map(|(name, value, _)| (name, value)).collect(),
            }
        }
    };
    Some(ServerDeclaration { name, description, transport, position })
}

fn url(say: &mut Complaints<'_>, table: &Table, place: &str, position: Position) -> Option<String> {
    let url = rules::required(say, table, "url", place, position)?;
    let is_http = ["https://", "http://"].iter().any(|scheme| {
        url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    });
    if !is_http || url.len() > 2048 || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        say.say(position, "`url` is no address of a server", "write `https://` with a host");
        return None;
    }
    Some(url.to_owned())
}

/// The table of texts under `key`, in order.
fn pairs(say: &mut Complaints<'_>, table: &Table, key: &str) -> Vec<(String, String, Position)> {
    let Some(item) = get(table, key) else { return Vec::new() };
    let Datum::Table(entries) = &item.value else {
        say.wrong_kind(key, item, "a table of texts");
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for (name, value) in entries.iter().take(super::MAX_ROWS) {
        match &value.value {
            Datum::Text(text) => pairs.push((name.value.clone(), text.clone(), name.position)),
            _ => say.wrong_entry(key, value, "text in quotes"),
        }
    }
    if let Some((name, _)) = entries.get(super::MAX_ROWS) {
        let detail =
            format!("`{key}` has more than {} entries, and those are taken", super::MAX_ROWS);
        say.say(name.position, detail, "shorten the table");
    }
    pairs
}

/// Every host that anything here wants to reach, in the order first named.
fn egress(declaration: &Declaration) -> Vec<String> {
    let scripts = declaration.scripts.iter().map(|script| &script.needs);
    let tools = declaration.tools.iter().map(|tool| &tool.needs);
    let servers = declaration.servers.iter().filter_map(|server| match &server.transport {
        ServerTransport::Stdio { needs, .. } => Some(needs),
        ServerTransport::Http { .. } => None,
    });
    let mut egress: Vec<String> = Vec::new();
    for Needs { network, .. } in scripts.chain(tools).chain(servers) {
        for host in network {
            if !egress.contains(host) {
                egress.push(host.clone());
            }
        }
    }
    egress
}
