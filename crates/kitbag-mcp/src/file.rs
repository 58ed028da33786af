//! The files that name servers, and what each of them says.

use std::path::{Path, PathBuf};

use kitbag_settings::{Document, KeyPath, Position, Severity, SourceName, parse};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::entry::{ServerEntry, Strictness, read};
use crate::name::ServerName;
use crate::problem::{Fault, Problem};
use crate::shown;

/// The most servers that one file may name.
pub const MAX_SERVERS: usize = 256;

/// The most problems that are told of the servers of one file; the last one says how many more there are.
pub const MAX_PROBLEMS: usize = 100;

/// What kind of source names servers, weakest first; the order of the variants is the order of strength (decision 9, G-25,
/// G-26).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// `.mcp.json` of a project, written for several programs.
    McpJson,
    /// `.kitbag/mcp.json` of a project.
    KitbagMcpJson,
    /// `.kitbag/settings.json` and `.kitbag/settings.local.json` of a project.
    ProjectSettings,
    /// The user's own settings.
    UserSettings,
    /// The file of `--mcp-config` (B-65, B-67).
    McpConfig,
    /// The command line.
    CommandLine,
}

impl SourceKind {
    /// Whether a repository may have brought it, so that nothing of it runs before its owner's consent (decision 13).
    pub fn is_project(self) -> bool {
        matches!(self, Self::McpJson | Self::KitbagMcpJson | Self::ProjectSettings)
    }

    fn strictness(self) -> Strictness {
        match self {
            Self::McpJson => Strictness::Lenient,
            Self::KitbagMcpJson
            | Self::ProjectSettings
            | Self::UserSettings
            | Self::McpConfig
            | Self::CommandLine => Strictness::Strict,
        }
    }

    /// Whether `disabledMcpServers` of such a file counts: of `--mcp-config` one key alone is taken (B-66).
    fn can_disable(self) -> bool {
        !matches!(self, Self::McpJson | Self::McpConfig)
    }
}

/// What one file or flag says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub(crate) kind: SourceKind,
    pub(crate) source: SourceName,
    pub(crate) entries: Vec<Named>,
    pub(crate) disabled: Vec<String>,
}

/// One name of a file; without an entry it still stands in the way of weaker files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: ServerName,
    pub(crate) position: Option<Position>,
    pub(crate) entry: Option<ServerEntry>,
}

/// Why `--mcp-config` was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpConfigError {
    /// No such file (B-69).
    #[error("--mcp-config: {} does not exist", .0.display())]
    Missing(PathBuf),
    /// It names no servers (B-70).
    #[error("--mcp-config: {} has no mcpServers", .0.display())]
    NoServers(PathBuf),
}

/// Reads the bytes of a file, with what is wrong with it.
///
/// A problem of [`Severity::Error`] is a failure to start; what can be taken of the file is there all the same.
pub fn read_file(kind: SourceKind, path: &Path, bytes: &[u8]) -> (ConfigFile, Vec<Problem>) {
    let (document, diagnostics) = parse(path, bytes);
    let most = match kind.strictness() {
        Strictness::Strict => Severity::Error,
        Strictness::Lenient => Severity::Warning,
    };
    let mut problems: Vec<Problem> =
        diagnostics.into_iter().map(|diagnostic| Problem::of_file(diagnostic, most)).collect();
    let (file, more) = read_document(kind, &document);
    problems.extend(more);
    (file, problems)
}

/// Reads a file that was parsed; what its parsing told is the caller's to report.
///
/// Of [`SourceKind::KitbagMcpJson`] every key is ours, so that an unknown one is an error. Of all others, keys beside
/// `mcpServers` and `disabledMcpServers` are somebody else's and left alone.
pub fn read_document(kind: SourceKind, document: &Document) -> (ConfigFile, Vec<Problem>) {
    let source = SourceName::File(document.path().to_owned());
    let position = |path: &KeyPath| document.position(path);
    let value = document.to_value();
    let mut reader =
        Reader { kind, source, position: &position, problems: Vec::new(), left_out: 0 };
    let file = reader.file(value.as_object().unwrap_or(&Map::new()));
    let (problems, left_out) = (&mut reader.problems, reader.left_out);
    if let Some(last) = problems.last_mut().filter(|_| left_out > 0) {
        last.message = format!("{}; and {left_out} more faults are not told", last.message);
    }
    (file, reader.problems)
}

/// Reads the file of `--mcp-config`; no bytes stand for a file that is not there.
pub fn read_mcp_config(
    path: &Path,
    bytes: Option<&[u8]>,
) -> Result<(ConfigFile, Vec<Problem>), McpConfigError> {
    let bytes = bytes.ok_or_else(|| McpConfigError::Missing(path.to_owned()))?;
    let (document, diagnostics) = parse(path, bytes);
    let broken = diagnostics.iter().any(|told| told.severity == Severity::Error);
    if !broken && document.position(&KeyPath::of(["mcpServers"])).is_none() {
        return Err(McpConfigError::NoServers(path.to_owned()));
    }
    Ok(read_file(SourceKind::McpConfig, path, bytes))
}

struct Reader<'a> {
    kind: SourceKind,
    source: SourceName,
    position: &'a dyn Fn(&KeyPath) -> Option<Position>,
    problems: Vec<Problem>,
    /// How many problems are not told.
    left_out: usize,
}

impl Reader<'_> {
    fn file(&mut self, root: &Map<String, Value>) -> ConfigFile {
        if self.kind == SourceKind::KitbagMcpJson {
            let known = ["mcpServers", "disabledMcpServers", "$schema"];
            for key in root.keys().filter(|key| !known.contains(&key.as_str())) {
                let message = format!("the key {} is unknown", shown::name(key));
                let hint = "this file holds `mcpServers` and `disabledMcpServers`; other settings belong to `.kitbag/settings.json`";
                self.say(&[key], Fault::UnknownKey, message, hint);
            }
        }
        let entries = match root.get("mcpServers") {
            None => Vec::new(),
            Some(Value::Object(servers)) => self.servers(servers),
            Some(_) => {
                let message = "`mcpServers` is not an object".to_owned();
                self.say(&["mcpServers"], Fault::Value, message, "write `{\"NAME\": {...}}`");
                Vec::new()
            }
        };
        let disabled = self.disabled(root.get("disabledMcpServers"));
        ConfigFile { kind: self.kind, source: self.source.clone(), entries, disabled }
    }

    fn servers(&mut self, servers: &Map<String, Value>) -> Vec<Named> {
        let mut entries = Vec::new();
        if servers.len() > MAX_SERVERS {
            let message =
                format!("{} servers are named, and {MAX_SERVERS} are taken", servers.len());
            self.say(&["mcpServers"], Fault::TooMany, message, "take some out");
        }
        for (text, value) in servers.iter().take(MAX_SERVERS) {
            let path = ["mcpServers", text];
            let name = match text.parse::<ServerName>() {
                Ok(name) => name,
                Err(error) => {
                    self.say(&path, Fault::Name, error.to_string(), "give it another name");
                    continue;
                }
            };
            let mut complaints = crate::entry::Complaints {
                source: &self.source,
                position: self.position,
                strictness: self.kind.strictness(),
                server: text,
                room: MAX_PROBLEMS.saturating_sub(self.problems.len()),
                count: 0,
                found: Vec::new(),
            };
            let entry = read(self.kind, value, &mut complaints);
            self.left_out += complaints.count - complaints.found.len();
            self.problems.append(&mut complaints.found);
            entries.push(Named { name, position: (self.position)(&KeyPath::of(path)), entry });
        }
        entries
    }

    fn disabled(&mut self, value: Option<&Value>) -> Vec<String> {
        let Some(value) = value.filter(|_| self.kind.can_disable()) else { return Vec::new() };
        let names: Option<Vec<String>> = value
            .as_array()
            .and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        names.unwrap_or_else(|| {
            let message = "`disabledMcpServers` is not a list of strings".to_owned();
            self.say(&["disabledMcpServers"], Fault::Value, message, "write `[\"NAME\"]`");
            Vec::new()
        })
    }

    fn say(&mut self, path: &[&str], fault: Fault, message: String, hint: &str) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.left_out += 1;
            return;
        }
        self.problems.push(Problem {
            fault,
            severity: match self.kind.strictness() {
                Strictness::Strict => Severity::Error,
                Strictness::Lenient => Severity::Warning,
            },
            source: self.source.clone(),
            position: (self.position)(&KeyPath::of(path.iter().copied())),
            server: None,
            message,
            hint: Some(hint.to_owned()),
        });
    }
}

impl ConfigFile {
    /// Where it stands among the sources.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// The file or flag.
    pub fn source(&self) -> &SourceName {
        &self.source
    }
}
