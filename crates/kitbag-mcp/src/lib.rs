//! MCP servers that somebody configured: what the files say, what needs consent, and what a server may change.
//!
//! [`read_file`] and [`read_document`] make a [`ConfigFile`] of each file, and [`Configuration::layer`] puts them together. A
//! [`ConfiguredServer`] is as it was written: its variables are not replaced, and a server that a repository names cannot be
//! expanded before [`ConfiguredServer::release`] has seen the owner's consent to its [`Fingerprint`]. [`card`] is the text
//! that such consent is given to, [`pins`] tells what a server says otherwise than it did, and [`edit`] changes a file for a
//! command.
//!
//! Everything here is a pure function of its arguments: nothing runs, connects, reads a file or looks at the environment.
//! Nobody's error, `Display` or `Debug` holds a value under `env` or `headers`, nor what took the place of a variable.

mod card;
mod configuration;
mod consent;
mod covered;
pub mod edit;
mod entry;
mod file;
mod name;
pub mod pins;
mod problem;
mod section;
mod shown;
mod template;

pub use card::{card, card_diff};
pub use configuration::{Configuration, ConfiguredServer, Disabled};
pub use consent::{ExpandError, FileDigest, Fingerprint, FingerprintError, NotApproved, Released};
pub use covered::Covered;
pub use entry::{
    Hints, Http, MAX_ENTRY_BYTES, MAX_ITEMS, OAuth, Place, Sandbox, ServerEntry, Stdio, ToolFilter,
    Transport,
};
pub use file::{ConfigFile, MAX_PROBLEMS, MAX_SERVERS, McpConfigError, SourceKind};
pub use file::{read_document, read_file, read_mcp_config};
pub use name::{MAX_NAME_CHARS, ServerName, ServerNameError};
pub use problem::{Fault, Problem};
pub use section::{McpSection, OAuthSettings, SandboxSettings, ServerSettings, ToolSettings};
pub use template::{Expanded, MAX_EXPANDED_BYTES, TemplateError, Unexpanded, Variable};
