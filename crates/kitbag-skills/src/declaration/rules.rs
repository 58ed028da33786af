//! The rules that both spellings of a declaration share.

use std::time::Duration;

use super::item::{Complaints, Datum, Item, Table, get, shown};
use super::{DEFAULT_TIMEOUT, EnvProposal, MAX_TIMEOUT, Needs, Place};
use crate::path::{SkillPath, SkillPathError};
use crate::problem::Position;

/// The most arguments that a declared command may have, its program not counted.
pub const MAX_ARGUMENTS: usize = 64;

/// The most bytes of a declared command with all its arguments.
pub const MAX_ARGUMENT_BYTES: usize = 8 * 1024;

/// The most characters of a tool's, server's or variable's name.
const MAX_NAME_CHARS: usize = 64;

/// Variables that steer the server, or make an interpreter load code before the script.
const RESERVED: [&str; 2] = ["SKILLS_DIR", "ENV"];

/// What the names of whole families of such variables begin with.
const RESERVED_PREFIXES: [&str; 13] = [
    "KITBAG_",
    "MCP_BLOB_",
    "MCP_CONFIRM_",
    "MCP_HOST_",
    "MCP_SKILL",
    "LD_",
    "DYLD_",
    "GLIBC_",
    "NODE_",
    "PYTHON",
    "BASH_",
    "PERL5",
    "RUBY",
];

/// Whether a script may never be given the variable `name`, whatever it declares.
///
/// Reserved are the variables that configure the server or hold its secrets (all that begins with `KITBAG_`, `MCP_BLOB_`,
/// `MCP_CONFIRM_`, `MCP_HOST_` or `MCP_SKILL`, and `SKILLS_DIR`), and those that make a loader or an interpreter run other
/// code than the script (all that begins with `LD_`, `DYLD_`, `GLIBC_`, `NODE_`, `PYTHON`, `BASH_`, `PERL5` or `RUBY`, and
/// `ENV`): section 10 of the skill server's promises, weakness 5.
pub fn is_reserved_variable(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The names of variables under `key`: identifiers, none reserved, none twice.
pub(super) fn variables(say: &mut Complaints<'_>, table: &Table, key: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in say.texts(table, key) {
        if variable(say, item.value, item.position) && !names.iter().any(|name| name == item.value)
        {
            names.push(item.value.to_owned());
        }
    }
    names
}

/// Whether `name` may be asked for; a complaint where not.
pub(super) fn variable(say: &mut Complaints<'_>, name: &str, position: Position) -> bool {
    let first_is_letter = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = first_is_letter
        && name.len() <= MAX_NAME_CHARS
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        let detail = format!("`{}` is no name of an environment variable", shown(name));
        say.say(position, detail, "use letters, digits and `_`, at most 64");
    } else if is_reserved_variable(name) {
        let detail = format!("the variable `{name}` is reserved and never given to a script");
        say.say(position, detail, "take it off the list");
    }
    is_name && !is_reserved_variable(name)
}

/// The variables that the author proposes to set, from the rows under `env`.
pub(super) fn proposals(say: &mut Complaints<'_>, table: &Table) -> Vec<EnvProposal> {
    let mut proposals: Vec<EnvProposal> = Vec::new();
    for Item { value: row, position } in say.rows(table, "env") {
        say.unknown_keys("an `env` row", row, &["name", "description", "secret", "required"]);
        let Some(name) = required(say, row, "name", "an `env` row", position) else { continue };
        if !variable(say, name, position) {
            continue;
        }
        if proposals.iter().any(|proposal| proposal.name == name) {
            say.say(position, format!("`{name}` is proposed twice"), "keep one of the rows");
            continue;
        }
        proposals.push(EnvProposal {
            name: name.to_owned(),
            description: say.prose(row, "description"),
            secret: say.flag(row, "secret"),
            required: say.flag(row, "required"),
        });
    }
    proposals
}

/// The text under `key`, which must be there and not blank.
pub(super) fn required<'t>(
    say: &mut Complaints<'_>,
    table: &'t Table,
    key: &str,
    place: &str,
    position: Position,
) -> Option<&'t str> {
    if get(table, key).is_none() {
        say.say(
            position,
            format!("{place} has no `{key}`, so it is left out"),
            format!("add `{key}`"),
        );
        return None;
    }
    let text = say.text(table, key)?.trim();
    if text.is_empty() {
        say.say(
            position,
            format!("`{key}` is blank, so {place} is left out"),
            format!("fill in `{key}`"),
        );
        return None;
    }
    Some(text)
}

/// The path under `key`, which must have the shape of a path in the skill.
pub(super) fn skill_path(
    say: &mut Complaints<'_>,
    table: &Table,
    key: &str,
    place: &str,
    position: Position,
) -> Option<SkillPath> {
    let text = required(say, table, key, place, position)?;
    match text.parse() {
        Ok(path) => Some(path),
        Err(error) => {
            let position = get(table, key).map_or(position, |item| item.position);
            say.say(position, SkillPathError::to_string(&error), SkillPathError::hint());
            None
        }
    }
}

/// The `timeout` in seconds: the default where there is none that can be taken, and never above the ceiling.
pub(super) fn timeout(say: &mut Complaints<'_>, table: &Table) -> Duration {
    let Some(item) = get(table, "timeout") else { return DEFAULT_TIMEOUT };
    let seconds = match &item.value {
        Datum::Number(seconds) => seconds.as_f64().filter(|seconds| *seconds > 0.0),
        _ => None,
    };
    let Some(seconds) = seconds else {
        let detail = "`timeout` must be a number of seconds above 0, so 60 are taken";
        say.say(item.position, detail, "write a number such as `90`");
        return DEFAULT_TIMEOUT;
    };
    if seconds > MAX_TIMEOUT.as_secs_f64() {
        let detail = format!("`timeout` is {seconds} seconds, and 300 are the most");
        say.say(item.position, detail, "ask for at most 300");
        return MAX_TIMEOUT;
    }
    Duration::try_from_secs_f64(seconds).unwrap_or(DEFAULT_TIMEOUT)
}

/// Whether the table is of the one version that there is; a complaint that `subject` has no effect where not.
pub(super) fn is_version_1(
    say: &mut Complaints<'_>,
    table: &Table,
    subject: &str,
    position: Position,
    hint: &str,
) -> bool {
    let (position, fault) = match get(table, "version") {
        None => (position, "has no `version`".to_owned()),
        Some(Item { value: Datum::Number(version), .. }) if version.as_u64() == Some(1) => {
            return true;
        }
        Some(Item { value: Datum::Number(version), position }) => {
            (*position, format!("is of version {version}"))
        }
        Some(item) => (item.position, format!("has {} for its `version`", item.value.kind())),
    };
    say.say(position, format!("{subject} {fault}, so it has no effect"), hint);
    false
}

/// The hosts under `key`: letters, digits, `.`, `-` and `*`.
pub(super) fn hosts(say: &mut Complaints<'_>, table: &Table, key: &str) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for Item { value: host, position } in say.texts(table, key) {
        let is_host = (1..=253).contains(&host.len())
            && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '*' | '-'));
        if !is_host {
            let detail = format!("`{}` is no host name", shown(host));
            say.say(
                position,
                detail,
                "write a name such as `api.example.com`, without scheme or port",
            );
        } else if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

/// What a row of `kitbag.toml` needs: its `network`, `read` and `write`.
pub(super) fn needs(say: &mut Complaints<'_>, table: &Table) -> Needs {
    Needs {
        network: hosts(say, table, "network"),
        read: places(say, table, "read"),
        write: places(say, table, "write"),
    }
}

fn places(say: &mut Complaints<'_>, table: &Table, key: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for Item { value: text, position } in say.texts(table, key) {
        match place(text) {
            Some(place) if places.contains(&place) => {}
            Some(place) => places.push(place),
            None => {
                let detail = format!("`{}` is no place that can be asked for", shown(text));
                say.say(
                    position,
                    detail,
                    "write `workspace`, `data`, or a path from `/` or `~/` without `..`",
                );
            }
        }
    }
    places
}

fn place(text: &str) -> Option<Place> {
    match text {
        "workspace" => Some(Place::Workspace),
        "data" => Some(Place::Data),
        _ => {
            let rooted = text.strip_prefix('/').or_else(|| text.strip_prefix("~/"))?;
            let sound = rooted.split('/').all(|segment| !matches!(segment, "." | ".."));
            (sound && text.len() <= 4096 && !text.contains('\0'))
                .then(|| Place::Path(text.to_owned()))
        }
    }
}

/// The command under `key`: a program by name or by path in the skill, and its arguments.
pub(super) fn argv(
    say: &mut Complaints<'_>,
    table: &Table,
    key: &str,
    place: &str,
    position: Position,
) -> Option<Vec<String>> {
    let Some(item) = get(table, key) else {
        say.say(position, format!("{place} has no `{key}`, so it is left out"), example(key));
        return None;
    };
    let Datum::List(items) = &item.value else {
        let detail =
            format!("`{key}` must be a list, never one line for a shell, so {place} is left out");
        say.say(item.position, detail, example(key));
        return None;
    };
    let mut argv = Vec::with_capacity(items.len().min(MAX_ARGUMENTS + 1));
    let mut bytes = 0_usize;
    for argument in items {
        let Datum::Text(text) = &argument.value else {
            say.wrong_entry(key, argument, "text in quotes");
            return None;
        };
        bytes = bytes.saturating_add(text.len());
        if argv.len() > MAX_ARGUMENTS || bytes > MAX_ARGUMENT_BYTES || text.contains('\0') {
            let detail = format!(
                "`{key}` holds more than {MAX_ARGUMENTS} arguments, more than {MAX_ARGUMENT_BYTES} bytes, or a NUL"
            );
            say.say(argument.position, detail, "put what is long into a script");
            return None;
        }
        argv.push(text.clone());
    }
    let Some(program) = argv.first().filter(|program| !program.trim().is_empty()) else {
        say.say(item.position, format!("`{key}` names no program"), example(key));
        return None;
    };
    if program.contains(['/', '\\'])
        && let Err(error) = program.parse::<SkillPath>()
    {
        say.say(
            item.position,
            error.to_string(),
            "name an interpreter, or a program in the skill's folder",
        );
        return None;
    }
    Some(argv)
}

fn example(key: &str) -> String {
    format!("write it as `{key} = [\"node\", \"scripts/tool.mjs\"]`")
}

/// The `name` of a tool or server: letters, digits, `_`, `-` and `.`, at most 64, and not `taken`.
pub(super) fn name(
    say: &mut Complaints<'_>,
    row: &Table,
    place: &str,
    position: Position,
    taken: impl Fn(&str) -> bool,
) -> Option<String> {
    let name = required(say, row, "name", place, position)?;
    let is_name = name.len() <= MAX_NAME_CHARS
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_name {
        let detail = format!("`{}` can't be the name of {place}, so it is left out", shown(name));
        say.say(position, detail, "use letters, digits, `_`, `-` and `.`, at most 64");
        return None;
    }
    if taken(name) {
        say.say(
            position,
            format!("{place} of the name `{name}` stands above, so this one is left out"),
            "rename one",
        );
        return None;
    }
    Some(name.to_owned())
}
