//! What a skill declares that it can run: scripts, tools and servers, and what they need (decision 22).
//!
//! A declaration is a wish. Nothing here runs anything or finds out whether it may: an interpreter's name is kept as
//! written, a path is checked as a string, a variable is a name. Two spellings say the same: the `mcp-host` block
//! in `SKILL.md`, and a `kitbag.toml` beside it, which can say more. A fault in either costs what it touches of the
//! declaration, never the skill's instructions: its problems are warnings, all with [`Reason::Declaration`].

mod item;
pub(crate) mod mcp_host;
mod rules;
mod sidecar;

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

pub use self::rules::{MAX_ARGUMENT_BYTES, MAX_ARGUMENTS, is_reserved_variable};
pub use self::sidecar::{MAX_SIDECAR_BYTES, SIDECAR, read_sidecar};
use crate::path::SkillPath;
use crate::problem::{Position, Problem, Reason};

/// How long a script or tool may run where its declaration doesn't say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// The longest that a declaration may ask for.
pub const MAX_TIMEOUT: Duration = Duration::from_mins(5);

/// The most rows that are taken of one kind: scripts, tools, servers, variables or hosts.
pub const MAX_ROWS: usize = 64;

/// The most problems that one declaration raises; the last one says how many more there are.
pub const MAX_DECLARATION_PROBLEMS: usize = 100;

/// What a skill declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// Where it is written.
    pub source: DeclarationSource,
    /// Where it begins in that file.
    pub position: Option<Position>,
    /// The scripts that may be run by path.
    pub scripts: Vec<Script>,
    /// The environment variables that the author proposes to set.
    pub env: Vec<EnvProposal>,
    /// Every host that anything declared here wants to reach.
    pub egress: Vec<String>,
    /// The tools with names and schemas.
    pub tools: Vec<ToolDeclaration>,
    /// The MCP servers that the skill brings along.
    pub servers: Vec<ServerDeclaration>,
}

/// Where a declaration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeclarationSource {
    /// Nowhere.
    #[default]
    None,
    /// In the `mcp-host` block of `SKILL.md`.
    McpHost,
    /// In `kitbag.toml`.
    Sidecar,
}

/// A script that may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its path in the skill.
    pub script: SkillPath,
    /// The interpreter's name as written; which names exist is known only where it runs.
    pub interpreter: String,
    /// What it does, for a person.
    pub description: Option<String>,
    /// The names of the environment variables that it asks for, none of them reserved.
    pub env: Vec<String>,
    /// How long it may run: at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// What it needs beyond the skill's folder.
    pub needs: Needs,
    /// Where its row begins.
    pub position: Position,
}

/// What a script, tool or server needs beyond the skill's own folder, which it can always read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// The hosts it connects to; `*` stands for any run of characters.
    pub network: Vec<String>,
    /// What it reads.
    pub read: Vec<Place>,
    /// What it writes, which it may read too.
    pub write: Vec<Place>,
}

/// A place in the file system that a declaration may ask for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The workspace that the caller works in.
    Workspace,
    /// The folder that is kept for the skill between runs.
    Data,
    /// A path from the root or, with `~/`, from the home directory, without `..`.
    Path(String),
}

/// An environment variable that the author proposes to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvProposal {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// Whether nothing works without it.
    pub required: bool,
}

/// A tool with a name and schemas, run as a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDeclaration {
    /// Its name within the skill.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// The JSON Schema of its input, an object's; `None` takes any object.
    pub input_schema: Option<Map<String, Value>>,
    /// The JSON Schema of its structured output, an object's.
    pub output_schema: Option<Map<String, Value>>,
    /// The program and its arguments: an interpreter's name, or a path in the skill.
    pub argv: Vec<String>,
    /// The names of the environment variables that it asks for, none of them reserved.
    pub env: Vec<String>,
    /// How long a call may take: at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// What it needs beyond the skill's folder.
    pub needs: Needs,
    /// Where its row begins.
    pub position: Position,
}

/// An MCP server that a skill brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDeclaration {
    /// Its name within the skill.
    pub name: String,
    /// What it offers, for a person.
    pub description: Option<String>,
    /// How it is reached. Nothing in it is expanded.
    pub transport: ServerTransport,
    /// Where its row begins.
    pub position: Position,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// By a process, over its standard streams.
    Stdio {
        /// The program and its arguments, with the skill's folder as working directory.
        argv: Vec<String>,
        /// Environment variables with their values, which may refer to others as `${NAME}`. Never shown.
        env: Vec<(String, String)>,
        /// What it needs beyond the skill's folder.
        needs: Needs,
    },
    /// By streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers with their values, which may refer to variables as `${NAME}`. Never shown.
        headers: Vec<(String, String)>,
    },
}

/// Joins the two spellings of a skill's declaration: a sidecar wins whole, also one that says nothing (decision 22).
///
/// `skill_md` is named in the problem that a block beside a sidecar is.
pub fn merge(
    skill_md: &Path,
    block: Declaration,
    sidecar: Option<Declaration>,
) -> (Declaration, Option<Problem>) {
    let Some(sidecar) = sidecar else { return (block, None) };
    if block.source == DeclarationSource::None {
        return (sidecar, None);
    }
    let detail = format!("the `mcp-host` block has no effect, since the skill has a `{SIDECAR}`");
    let mut problem = Problem::warning(Reason::Declaration, skill_md, detail)
        .hint(format!("move what it says to `{SIDECAR}`, or remove that file"));
    problem.position = block.position;
    (sidecar, Some(problem))
}
