//! The `mcp-host` block of a `SKILL.md`, as the skill server's registrations know it (statement K-28).

use std::path::Path;

use super::item::{Complaints, Datum, Item, Table};
use super::{Declaration, DeclarationSource, Needs, Script, rules};
use crate::frontmatter::yaml::{Content, Document, Entry, Node};
use crate::problem::{Position, Problem};

/// The frontmatter key of the block.
pub(crate) const KEY: &str = "mcp-host";

/// Reads the block that `entry` of the frontmatter holds.
///
/// A row that can't be taken is left out; a block of another version is left out whole.
pub(crate) fn read(
    path: &Path,
    document: &Document<'_>,
    entry: &Entry,
) -> (Declaration, Vec<Problem>) {
    let mut say = Complaints::about(path);
    let mut declaration = Declaration {
        source: DeclarationSource::McpHost,
        position: Some(entry.key.position),
        ..Declaration::default()
    };
    let block = item(document, &entry.value);
    match &block.value {
        Datum::Table(table) => take(&mut declaration, &mut say, table, entry.key.position),
        _ => say.wrong_kind(KEY, &block, "a mapping"),
    }
    (declaration, say.into_problems())
}

fn take(
    declaration: &mut Declaration,
    say: &mut Complaints<'_>,
    table: &Table,
    position: Position,
) {
    if !rules::is_version_1(say, table, "the `mcp-host` block", position, "write `version: 1`") {
        return;
    }
    say.unknown_keys("the `mcp-host` block", table, &["version", "run", "env", "egress", "state"]);
    declaration.egress = rules::hosts(say, table, "egress");
    declaration.env = rules::proposals(say, table);
    for row in say.rows(table, "run") {
        let Some(mut script) = script(say, &row) else { continue };
        if declaration.scripts.iter().any(|known| known.script == script.script) {
            let detail = format!("`{}` is declared twice, and the first row counts", script.script);
            say.say(row.position, detail, "keep one of the rows");
            continue;
        }
        script.needs.network.clone_from(&declaration.egress);
        declaration.scripts.push(script);
    }
}

fn script(say: &mut Complaints<'_>, row: &Item<&Table>) -> Option<Script> {
    let Item { value: table, position } = *row;
    let place = "a `run` row";
    say.unknown_keys(place, table, &["script", "interpreter", "env", "timeout"]);
    let script = rules::skill_path(say, table, "script", place, position)?;
    let interpreter = rules::required(say, table, "interpreter", place, position)?.to_owned();
    Some(Script {
        script,
        interpreter,
        description: None,
        env: rules::variables(say, table, "env"),
        timeout: rules::timeout(say, table),
        needs: Needs::default(),
        position,
    })
}

/// The node as a value of a declaration, scalars typed by the core schema.
fn item(document: &Document<'_>, node: &Node) -> Item<Datum> {
    let value = match &node.content {
        Content::List(items) => {
            Datum::List(items.iter().map(|node| item(document, node)).collect())
        }
        Content::Map(entries) => Datum::Table(
            entries
                .iter()
                .map(|entry| {
                    let key = Item { value: entry.name.clone(), position: entry.key.position };
                    (key, item(document, &entry.value))
                })
                .collect(),
        ),
        Content::Scalar(text) => match document.to_json(node) {
            serde_json::Value::Bool(flag) => Datum::Bool(flag),
            serde_json::Value::Number(number) => Datum::Number(number),
            serde_json::Value::Null => Datum::Other("nothing", text.clone()),
            _ => Datum::Text(text.clone()),
        },
    };
    Item { value, position: node.position }
}
