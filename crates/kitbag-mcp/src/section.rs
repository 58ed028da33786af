//! The two keys of settings that are ours (B-52), for the schema and for whoever lists settings.

use std::collections::BTreeMap;

use kitbag_settings::{FromProject, Key, Merge, Secrecy, Section};
use schemars::JsonSchema;
use serde::Deserialize;

/// The servers of settings, as a settings file writes them.
///
/// It declares the keys; what counts is read by [`read_document`](crate::read_document), which knows `.mcp.json` besides and
/// whose faults name the server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpSection {
    /// MCP servers, by name.
    #[serde(rename = "mcpServers")]
    pub servers: BTreeMap<String, ServerSettings>,
    /// Names of servers that are never dialled, whichever file defines them.
    #[serde(rename = "disabledMcpServers")]
    pub disabled: Vec<String>,
}

/// One server. Everything but `type` belongs to one of the two transports, or to both.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerSettings {
    /// `stdio` for a child process, which is also the default, or `http` for streamable HTTP.
    #[serde(rename = "type")]
    pub transport: Option<String>,
    /// The program of a child process.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Its variables. The values are never shown.
    pub env: Option<BTreeMap<String, String>>,
    /// Its working directory, from the workspace's root.
    pub cwd: Option<String>,
    /// Whether it gets our whole environment. In your own settings only.
    pub inherit_env: Option<bool>,
    /// What it is confined to.
    pub sandbox: Option<SandboxSettings>,
    /// The address of an HTTP server.
    pub url: Option<String>,
    /// Headers of every request. The values are never shown.
    pub headers: Option<BTreeMap<String, String>>,
    /// What is known ahead for signing in.
    pub oauth: Option<OAuthSettings>,
    /// Whether it is not dialled.
    pub disabled: Option<bool>,
    /// How long a call may go without an answer or progress, in milliseconds.
    #[schemars(range(min = 1000, max = 600_000))]
    pub timeout_ms: Option<u32>,
    /// How long connecting may take at first, in milliseconds.
    #[schemars(range(min = 1000, max = 600_000))]
    pub connect_timeout_ms: Option<u32>,
    /// `schedule` lets read-only tools run side by side; `ignore` is the default. In your own settings only.
    pub hints: Option<String>,
    /// Which of its tools are offered.
    pub tools: Option<ToolSettings>,
    /// `strict`, `changed` or `off`: what happens to tools that say something new. A project may say `strict` alone.
    pub pins: Option<String>,
}

/// What a confined server may reach.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Hosts it connects to; `*` stands for any run of characters.
    pub network: Vec<String>,
    /// `workspace`, `data`, or paths from `/` or `~/` that it reads.
    pub read: Vec<String>,
    /// The same for what it writes.
    pub write: Vec<String>,
}

/// What is known ahead for signing in.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct OAuthSettings {
    /// The id of a client that was registered by hand.
    pub client_id: Option<String>,
    /// Its secret. Never shown.
    pub client_secret: Option<String>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The port that the browser comes back to.
    pub callback_port: Option<u16>,
}

/// Which tools of a server are offered, by their exact names.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Only these.
    pub allow: Option<Vec<String>>,
    /// None of these.
    pub deny: Vec<String>,
}

impl Section for McpSection {
    const AT: &'static str = "";
    const KEYS: &'static [Key] = &[
        Key {
            path: "mcpServers",
            merge: Merge::ByEntry,
            project: FromProject::OnceTrusted,
            secrecy: Secrecy::Below(&["*.env.*", "*.headers.*", "*.url", "*.oauth.clientSecret"]),
        },
        Key {
            path: "disabledMcpServers",
            merge: Merge::Accumulate,
            project: FromProject::Always,
            secrecy: Secrecy::Shown,
        },
    ];
}

impl std::fmt::Debug for ServerSettings {
    /// Values are left out, since some of them are never shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSettings").field("type", &self.transport).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OAuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuthSettings").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
