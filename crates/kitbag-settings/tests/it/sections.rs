//! Sections as features declare them, and what the other tests read them from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use kitbag_settings::{
    Diagnostic, FromProject, Key, Layer, Merge, Secrecy, Section, SectionSchema, Settings, Source,
    Trust, parse,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may be called without asking.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Permissions {
    /// Calls that run.
    pub(crate) allow: Vec<String>,
    /// Calls that never run.
    pub(crate) deny: Vec<String>,
    /// What happens to all others.
    pub(crate) mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    #[default]
    Ask,
    Plan,
    FullAuto,
}

impl Section for Permissions {
    const AT: &'static str = "permissions";
    const KEYS: &'static [Key] = &[
        key("allow", Merge::Accumulate, FromProject::OnceTrusted),
        key("deny", Merge::Accumulate, FromProject::Always),
        key("mode", Merge::Replace, FromProject::OnceTrusted),
    ];
}

/// The servers that are dialled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Servers {
    /// The servers by name.
    pub(crate) mcp_servers: BTreeMap<String, Server>,
    /// Servers that are never dialled.
    pub(crate) disabled_mcp_servers: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

impl Section for Servers {
    const AT: &'static str = "";
    const KEYS: &'static [Key] = &[
        Key {
            path: "mcpServers",
            merge: Merge::ByEntry,
            project: FromProject::OnceTrusted,
            secrecy: Secrecy::Below(&["*.env.*"]),
        },
        key("disabledMcpServers", Merge::Accumulate, FromProject::Always),
    ];
}

/// The rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Agent {
    /// The model.
    pub(crate) model: Option<String>,
    /// The key of its provider.
    pub(crate) token: Option<String>,
    pub(crate) skills: Skills,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Skills {
    /// Where else to look.
    pub(crate) paths: Vec<String>,
    /// How many are offered.
    pub(crate) limit: u32,
}

impl Default for Agent {
    fn default() -> Self {
        Self { model: None, token: None, skills: Skills { paths: Vec::new(), limit: 12 } }
    }
}

impl Section for Agent {
    const AT: &'static str = "";
    const KEYS: &'static [Key] = &[
        key("model", Merge::Replace, FromProject::Always),
        Key {
            path: "token",
            merge: Merge::Replace,
            project: FromProject::Never,
            secrecy: Secrecy::Whole,
        },
        key("skills.paths", Merge::Accumulate, FromProject::Never),
        key("skills.limit", Merge::Replace, FromProject::Always),
    ];
}

const fn key(path: &'static str, merge: Merge, project: FromProject) -> Key {
    Key { path, merge, project, secrecy: Secrecy::Shown }
}

pub(crate) fn all() -> [SectionSchema; 3] {
    [
        SectionSchema::of::<Agent>(),
        SectionSchema::of::<Permissions>(),
        SectionSchema::of::<Servers>(),
    ]
}

/// A file of a layer that has no fault.
pub(crate) fn source(layer: Layer, text: &str) -> Source {
    let path = format!("/{}.json", layer.as_str());
    let (document, diagnostics) = parse(Path::new(&path), text.as_bytes());
    assert_eq!(diagnostics, []);
    Source::file(layer, document)
}

pub(crate) fn settings(files: &[(Layer, &str)], trust: Trust) -> Settings {
    Settings::new(files.iter().map(|(layer, text)| source(*layer, text)).collect(), trust)
}

/// The diagnostics as a person sees them.
pub(crate) fn told(diagnostics: &[Diagnostic]) -> String {
    let mut told = String::new();
    for one in diagnostics {
        writeln!(told, "{one} [{}]", one.fault.as_str()).unwrap();
        if let Some(hint) = &one.hint {
            writeln!(told, "  hint: {hint}").unwrap();
        }
    }
    told
}
