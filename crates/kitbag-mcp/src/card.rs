//! What a person is shown before saying yes to a server that a repository names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::configuration::ConfiguredServer;
use crate::consent::{FileDigest, Fingerprint, uncovered};
use crate::entry::{CONNECT_TIMEOUT, Http, Place, Sandbox, ServerEntry, Stdio, TIMEOUT, Transport};
use crate::shown::{diff, exact, word};

/// The approval card of a server: everything that its fingerprint covers. Of the values that are never shown there is one
/// digest, so that a diff tells that one of them changed.
///
/// The command line and the address are exact, and what cannot be seen is written as an escape, so that a server that looks
/// like another one does not read like it. One line for each thing said, each ended by a line end.
pub fn card(server: &ConfiguredServer, workspace: &Path, digest: &FileDigest<'_>) -> String {
    let mut card = String::new();
    let mut line = |label: &str, text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(card, "{label:<10} {text}");
    };
    line("server", &exact(server.name.as_str()));
    line("from", &exact(&server.source.to_string()));
    match &server.entry.transport {
        Transport::Stdio(stdio) => process(stdio, &mut line),
        Transport::Http(http) => address(http, &mut line),
    }
    if let Some(digest) = values(&server.entry) {
        line("values", &format!("sha256:{digest} (not shown)"));
    }
    for (name, said) in variables(&server.entry) {
        line("expands", &format!("${{{name}}}{said}"));
    }
    limits(&server.entry, &mut line);
    if matches!(server.entry.transport, Transport::Stdio(_)) {
        for (name, digest) in server.covered_files(workspace, digest) {
            line("file", &format!("{} sha256:{digest}", word(&name)));
        }
        let more = "what these files, the command and the environment load besides";
        for text in uncovered(&server.entry).into_iter().chain([more.to_owned()]) {
            line("not covered", &text);
        }
    }
    card
}

/// What changed from the card that was approved to the card as it is now, as lines that begin with `-`, `+` or a blank.
/// Nothing where they are the same.
pub fn card_diff(approved: &str, now: &str) -> Vec<String> {
    let lines = |card: &str| card.lines().map(str::to_owned).collect::<Vec<_>>();
    diff(&lines(approved), &lines(now))
}

/// The digest of all values that are not shown, if there are any.
fn values(entry: &ServerEntry) -> Option<Fingerprint> {
    let covered = entry.texts().into_iter().filter(|(field, _)| field.is_covered());
    let values: Vec<Value> =
        covered.map(|(field, text)| json!([field.shown(), text.written()])).collect();
    if values.is_empty() {
        return None;
    }
    let digest: [u8; 32] = Sha256::digest(Value::from(values).to_string()).into();
    Some(Fingerprint::from(digest))
}

fn process(stdio: &Stdio, line: &mut impl FnMut(&str, &str)) {
    let words = [&stdio.command].into_iter().chain(&stdio.args);
    let words: Vec<String> = words.map(|text| word(text.written())).collect();
    line("runs", &words.join(" "));
    match &stdio.cwd {
        None => line("in", "the workspace"),
        Some(cwd) => line("in", &word(cwd.written())),
    }
    if !stdio.env.is_empty() {
        line("env", &names(&stdio.env));
    }
    if stdio.inherit_env {
        line("inherits", "the whole environment");
    }
    match &stdio.sandbox {
        None => line("sandbox", "none"),
        Some(sandbox) => line("sandbox", &confined(sandbox)),
    }
}

fn address(http: &Http, line: &mut impl FnMut(&str, &str)) {
    line("connects", &word(http.url.expose().written()));
    if !http.headers.is_empty() {
        line("headers", &names(&http.headers));
    }
    let Some(oauth) = &http.oauth else { return };
    if let Some(id) = &oauth.client_id {
        line("client", &word(id.written()));
    }
    if oauth.client_secret.is_some() {
        line("client", "with a secret");
    }
    if !oauth.scopes.is_empty() {
        line("scopes", &list(&oauth.scopes));
    }
    if let Some(port) = oauth.callback_port {
        line("callback", &format!("port {port}"));
    }
}

fn names<T>(pairs: &[(String, T)]) -> String {
    pairs.iter().map(|(name, _)| word(name)).collect::<Vec<_>>().join(", ")
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|text| word(text)).collect::<Vec<_>>().join(", ")
}

fn confined(sandbox: &Sandbox) -> String {
    let places = |places: &[Place]| {
        let place = |place: &Place| match place {
            Place::Workspace => "the workspace".to_owned(),
            Place::Data => "its data".to_owned(),
            Place::Path(path) => word(path),
        };
        places.iter().map(place).collect::<Vec<_>>().join(", ")
    };
    let said = [
        ("connects to", list(&sandbox.network)),
        ("reads", places(&sandbox.read)),
        ("writes", places(&sandbox.write)),
    ];
    let said = said
        .iter()
        .map(|(verb, what)| format!("{verb} {}", if what.is_empty() { "nothing" } else { what }));
    said.collect::<Vec<_>>().join("; ")
}

/// Every variable of an entry, once, with what is said of its default.
fn variables(entry: &ServerEntry) -> BTreeMap<&str, String> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (field, text) in entry.texts() {
        for variable in text.variables() {
            let said = match &variable.default {
                None => "must be set".to_owned(),
                Some(_) if field.is_covered() => "has a default".to_owned(),
                Some(default) => format!("else {}", word(default)),
            };
            let said_so_far = found.entry(variable.name.as_str()).or_default();
            if !said_so_far.contains(&said) {
                said_so_far.push(said);
            }
        }
    }
    found.into_iter().map(|(name, said)| (name, format!(" ({})", said.join("; ")))).collect()
}

fn limits(entry: &ServerEntry, line: &mut impl FnMut(&str, &str)) {
    if entry.connect_timeout != CONNECT_TIMEOUT {
        line("connects", &format!("within {} ms", entry.connect_timeout.as_millis()));
    }
    if entry.timeout != TIMEOUT {
        line("answers", &format!("within {} ms", entry.timeout.as_millis()));
    }
    if let Some(allow) = &entry.tools.allow {
        line(
            "offers",
            &format!("only {}", if allow.is_empty() { "nothing".to_owned() } else { list(allow) }),
        );
    }
    if !entry.tools.deny.is_empty() {
        line("offers", &format!("never {}", list(&entry.tools.deny)));
    }
    if let Some(pins) = entry.pins {
        line("pins", pins.as_str());
    }
}
