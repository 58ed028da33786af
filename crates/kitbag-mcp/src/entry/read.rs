//! From the object of one entry to a value or to problems: nothing half understood is carried on (B-59).

use kitbag_settings::{KeyPath, Position, Severity, SourceName};
use serde_json::{Map, Value};

use crate::covered::Covered;
use crate::file::SourceKind;
use crate::pins::PinMode;
use crate::problem::{Fault, Problem};
use crate::shown;

use super::fields::{Fields, kind};
use super::{
    CONNECT_TIMEOUT, Hints, Http, MAX_ENTRY_BYTES, OAuth, Sandbox, ServerEntry, Stdio, TIMEOUT,
    ToolFilter, Transport,
};

/// The keys that belong to a child process.
const STDIO: [&str; 6] = ["command", "args", "env", "cwd", "inheritEnv", "sandbox"];

/// The keys that belong to an HTTP server.
const HTTP: [&str; 3] = ["url", "headers", "oauth"];

/// The keys of both.
const BOTH: [&str; 7] =
    ["type", "disabled", "timeoutMs", "connectTimeoutMs", "hints", "tools", "pins"];

/// The most a limit may be, in milliseconds: a call ends after ten minutes in any case (decision 18).
const MAX_MILLISECONDS: u64 = 600_000;

/// The least; a smaller number was meant as seconds.
const MIN_MILLISECONDS: u64 = 1_000;

/// What an entry that cannot be taken costs (decision 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// The start.
    Strict,
    /// The entry alone: the file was written for other programs.
    Lenient,
}

/// Gathers what is wrong with one entry.
pub(crate) struct Complaints<'a> {
    pub(crate) source: &'a SourceName,
    pub(crate) position: &'a dyn Fn(&KeyPath) -> Option<Position>,
    pub(crate) strictness: Strictness,
    pub(crate) server: &'a str,
    /// How many of them are told.
    pub(crate) room: usize,
    /// How many there are.
    pub(crate) count: usize,
    pub(crate) found: Vec<Problem>,
}

impl Complaints<'_> {
    pub(super) fn say(&mut self, below: &[&str], fault: Fault, mut message: String, hint: &str) {
        self.count += 1;
        if self.found.len() >= self.room {
            return;
        }
        let (severity, consequence) = match self.strictness {
            Strictness::Strict => (Severity::Error, ""),
            Strictness::Lenient => (Severity::Warning, ", so the server is left out"),
        };
        message.push_str(consequence);
        let keys = ["mcpServers", self.server].into_iter().chain(below.iter().copied());
        let keys: Vec<&str> = keys.collect();
        // What is missing has no place of its own; then the nearest thing around it has.
        let place = (1..=keys.len())
            .rev()
            .find_map(|length| (self.position)(&KeyPath::of(keys[..length].iter().copied())));
        self.found.push(Problem {
            fault,
            severity,
            source: self.source.clone(),
            position: place,
            server: Some(self.server.to_owned()),
            message,
            hint: Some(hint.to_owned()),
        });
    }
}

/// Reads an entry; nothing if anything is wrong with it, and then there is at least one complaint.
pub(crate) fn read(
    kind_of_source: SourceKind,
    value: &Value,
    say: &mut Complaints<'_>,
) -> Option<ServerEntry> {
    let Some(object) = value.as_object() else {
        let message = format!("the entry is {}, not an object", kind(value));
        say.say(
            &[],
            Fault::Value,
            message,
            "write `{\"command\": \"...\"}` or `{\"type\": \"http\", \"url\": \"...\"}`",
        );
        return None;
    };
    let size = value.to_string().len();
    if size > MAX_ENTRY_BYTES {
        let message = format!("the entry has {size} bytes");
        say.say(&[], Fault::Value, message, &format!("at most {MAX_ENTRY_BYTES} are taken"));
        return None;
    }
    let mut fields = Fields { object, path: Vec::new(), say };
    let is_http = transport(&mut fields)?;
    let (own, other) = if is_http { (&HTTP[..], &STDIO[..]) } else { (&STDIO[..], &HTTP[..]) };
    known_keys(&mut fields, object, own, other, is_http);
    if kind_of_source.is_project() {
        user_only(&mut fields, object);
    }
    let transport = if is_http { http(&mut fields) } else { stdio(&mut fields) };
    let disabled = fields.flag("disabled").unwrap_or(false);
    let mut limit = |key| fields.milliseconds(key, MIN_MILLISECONDS, MAX_MILLISECONDS);
    let timeout = limit("timeoutMs").unwrap_or(TIMEOUT);
    let connect_timeout = limit("connectTimeoutMs").unwrap_or(CONNECT_TIMEOUT);
    let hints = [("ignore", Hints::Ignore), ("schedule", Hints::Schedule)];
    let hints = fields.one_of("hints", &hints).unwrap_or_default();
    let tools = tools(&mut fields);
    let pins = fields.one_of("pins", &PinMode::WORDS);
    let transport = transport.filter(|_| say.count == 0)?;
    Some(ServerEntry { transport, disabled, connect_timeout, timeout, hints, tools, pins })
}

/// Whether the entry is an HTTP server; nothing for a transport that is not spoken.
fn transport(fields: &mut Fields<'_, '_, '_>) -> Option<bool> {
    if !fields.has("type") {
        // B-56: absent means stdio.
        return Some(false);
    }
    match fields.text("type")? {
        "stdio" => Some(false),
        "http" => Some(true),
        "streamable-http" | "streamableHttp" if fields.say.strictness == Strictness::Lenient => {
            Some(true)
        }
        "sse" => {
            let message = "the transport `sse` is not spoken".to_owned();
            let hint = "servers that had it answer to `\"type\": \"http\"`, often at an address that ends in `/mcp` in place of `/sse`";
            fields.complain("type", Fault::Transport, message, hint);
            None
        }
        other => {
            let message = format!("`type` is {}", shown::name(other));
            let hint = "write `stdio` for a child process, or `http` for streamable HTTP";
            fields.complain("type", Fault::Transport, message, hint);
            None
        }
    }
}

fn known_keys(
    fields: &mut Fields<'_, '_, '_>,
    object: &Map<String, Value>,
    own: &[&'static str],
    other: &[&'static str],
    is_http: bool,
) {
    let known: Vec<&str> = own.iter().chain(&BOTH).copied().collect();
    for key in object.keys().map(String::as_str) {
        if known.contains(&key) {
            continue;
        }
        if other.contains(&key) {
            let (belongs, hint) = if is_http {
                (
                    "a stdio server, and this is an http server",
                    "take it out, or take `\"type\": \"http\"` out",
                )
            } else {
                (
                    "an http server, and this is a stdio server",
                    "take it out, or add `\"type\": \"http\"`",
                )
            };
            fields.complain(
                key,
                Fault::OtherTransport,
                format!("`{key}` belongs to {belongs}"),
                hint,
            );
            continue;
        }
        let hint = match (key, nearest(key, &known)) {
            ("timeout", _) => "write `timeoutMs`, in milliseconds".to_owned(),
            (_, Some(near)) => format!("did you mean `{near}`?"),
            (_, None) => {
                let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                format!("known here: {}", known.join(", "))
            }
        };
        fields.complain(
            key,
            Fault::UnknownKey,
            format!("the key {} is unknown", shown::name(key)),
            &hint,
        );
    }
}

/// The known key that differs least, unless it differs too much to have been meant.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    if key.len() > 64 {
        return None;
    }
    let wanted = key.to_lowercase();
    let distances =
        known.iter().map(|one| (strsim::osa_distance(&wanted, &one.to_lowercase()), *one));
    let allowed = (key.chars().count() / 3).max(1);
    distances.filter(|(distance, _)| *distance <= allowed).min().map(|(_, one)| one)
}

/// Complains about what would grant something, and stands in a project's file.
fn user_only(fields: &mut Fields<'_, '_, '_>, object: &Map<String, Value>) {
    let grants = |key: &str| match (key, object.get(key)) {
        ("inheritEnv", Some(value)) => value.as_bool() == Some(true),
        ("hints", Some(value)) => value.as_str() == Some("schedule"),
        ("pins", Some(value)) => value.as_str().is_some_and(|mode| mode != "strict"),
        _ => false,
    };
    for key in ["inheritEnv", "hints", "pins"].into_iter().filter(|key| grants(key)) {
        let message = format!("`{key}` with this value counts in your own settings only");
        let hint = "define the server in `~/.kitbag/settings.json`, or take the key out";
        fields.complain(key, Fault::UserOnly, message, hint);
    }
}

fn stdio(fields: &mut Fields<'_, '_, '_>) -> Option<Transport> {
    if !fields.has("command") {
        let (message, hint) =
            ("`command` is missing".to_owned(), "name the program, as in `\"command\": \"npx\"`");
        fields.complain("command", Fault::Missing, message, hint);
    }
    let command = fields.template("command");
    let args = fields.templates("args");
    let env_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let env = fields.covered_map("env", env_name, str::to_owned);
    let cwd = fields.template("cwd");
    let inherit_env = fields.flag("inheritEnv").unwrap_or(false);
    let sandbox = fields.object("sandbox").map(|object| {
        let mut below = Fields { object, path: vec!["sandbox"], say: &mut *fields.say };
        only(&mut below, &["network", "read", "write"]);
        Sandbox {
            network: below.hosts("network"),
            read: below.places("read"),
            write: below.places("write"),
        }
    });
    Some(Transport::Stdio(Stdio { command: command?, args, env, cwd, inherit_env, sandbox }))
}

fn http(fields: &mut Fields<'_, '_, '_>) -> Option<Transport> {
    if !fields.has("url") {
        let (message, hint) = (
            "`url` is missing".to_owned(),
            "write the address, as in `\"url\": \"https://example.com/mcp\"`",
        );
        fields.complain("url", Fault::Missing, message, hint);
    }
    let url = fields.template("url");
    let known = url.as_ref().filter(|url| url.variables().next().is_none());
    if known
        .and_then(crate::template::Unexpanded::without_variables)
        .is_some_and(|url| !is_address(&url))
    {
        let message = "`url` is no address of a server".to_owned();
        fields.complain(
            "url",
            Fault::Value,
            message,
            "write `https://` or `http://` and a host; a user and a password belong in a header",
        );
    }
    let header = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
    };
    let headers = fields.covered_map("headers", header, str::to_ascii_lowercase);
    let oauth = fields.object("oauth").map(|object| {
        let mut below = Fields { object, path: vec!["oauth"], say: &mut *fields.say };
        only(&mut below, &["clientId", "clientSecret", "scopes", "callbackPort"]);
        OAuth {
            client_id: below.template("clientId"),
            client_secret: below.covered("clientSecret"),
            scopes: below
                .texts("scopes")
                .unwrap_or_default()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            callback_port: port(&mut below),
        }
    });
    Some(Transport::Http(Http { url: Covered::new(url?), headers, oauth }))
}

/// Whether a text without variables is the address of an HTTP server, without a user part.
pub(crate) fn is_address(url: &str) -> bool {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let Some(scheme) = ["https://", "http://"].into_iter().find(|one| lower.starts_with(one))
    else {
        return false;
    };
    let authority = url[scheme.len()..].split(['/', '?', '#']).next().unwrap_or_default();
    let sound = |c: char| !c.is_whitespace() && !c.is_control() && c != '\\';
    !authority.is_empty()
        && !authority.starts_with(':')
        && !authority.contains('@')
        && url.chars().all(sound)
}

fn port(fields: &mut Fields<'_, '_, '_>) -> Option<u16> {
    let value = fields.object.get("callbackPort")?;
    let port = value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|&port| port > 0);
    if port.is_none() {
        let message = "`oauth.callbackPort` is no port".to_owned();
        fields.complain("callbackPort", Fault::Value, message, "write a number from 1 to 65535");
    }
    port
}

fn tools(fields: &mut Fields<'_, '_, '_>) -> ToolFilter {
    let Some(object) = fields.object("tools") else { return ToolFilter::default() };
    let mut below = Fields { object, path: vec!["tools"], say: &mut *fields.say };
    only(&mut below, &["allow", "deny"]);
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
    let filter = ToolFilter {
        allow: below.texts("allow").map(owned),
        deny: below.texts("deny").map(owned).unwrap_or_default(),
    };
    for key in ["allow", "deny"] {
        let list = if key == "allow" { filter.allow.as_deref() } else { Some(&*filter.deny) };
        if list.unwrap_or_default().iter().any(|name| name.contains('*')) {
            let message = format!("`tools.{key}` holds a `*`, and tools are named exactly");
            let hint = "name each tool as the server does, or leave the list out for all of them";
            below.complain(key, Fault::Value, message, hint);
        }
    }
    filter
}

/// Complains about every key but these.
fn only(fields: &mut Fields<'_, '_, '_>, known: &[&str]) {
    let keys: Vec<&str> = fields.object.keys().map(String::as_str).collect();
    for key in keys.into_iter().filter(|key| !known.contains(key)) {
        let path = fields.path.join(".");
        let names: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("the key {} is unknown in `{path}`", shown::name(key));
        fields.complain(
            key,
            Fault::UnknownKey,
            message,
            &format!("known here: {}", names.join(", ")),
        );
    }
}
