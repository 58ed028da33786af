//! Bytes of files in, typed values, problems and texts out.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod consent;
mod edits;
mod entries;
mod expansion;
mod layers;
mod pins;
mod properties;
mod reference;
mod run_file;
mod secrets;

use std::fmt::Write as _;
use std::path::Path;

use kitbag_mcp::{ConfigFile, Configuration, ConfiguredServer, Problem, SourceKind, read_file};

const WORKSPACE: &str = "/work/space";

/// The file of a kind, under the name that it has.
fn file(kind: SourceKind, text: &str) -> (ConfigFile, Vec<Problem>) {
    let name = match kind {
        SourceKind::McpJson => ".mcp.json",
        SourceKind::KitbagMcpJson => ".kitbag/mcp.json",
        SourceKind::ProjectSettings => ".kitbag/settings.json",
        SourceKind::UserSettings => "~/.kitbag/settings.json",
        SourceKind::McpConfig => "bundle.json",
        SourceKind::CommandLine => "command-line.json",
    };
    read_file(kind, Path::new(name), text.as_bytes())
}

fn layered(files: &[(SourceKind, &str)]) -> Configuration {
    Configuration::layer(files.iter().map(|(kind, text)| file(*kind, text).0).collect())
}

/// The one server of a file without problems.
fn one(kind: SourceKind, entry: &str) -> ConfiguredServer {
    let (file, problems) = file(kind, &format!(r#"{{"mcpServers": {{"one": {entry}}}}}"#));
    assert_eq!(problems, Vec::new());
    Configuration::layer(vec![file]).servers.into_values().next().unwrap()
}

fn told(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems {
        writeln!(text, "{:?} {problem}", problem.severity).unwrap();
        if let Some(hint) = &problem.hint {
            writeln!(text, "  hint: {hint}").unwrap();
        }
    }
    text
}

/// What is told of a file.
fn problems(kind: SourceKind, text: &str) -> String {
    told(&file(kind, text).1)
}

/// What is told of one entry of the user's settings.
fn of_entry(entry: &str) -> String {
    problems(SourceKind::UserSettings, &format!(r#"{{"mcpServers": {{"one": {entry}}}}}"#))
}
