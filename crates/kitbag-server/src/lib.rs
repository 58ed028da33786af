//! An MCP server over the view of a toolbox and a catalogue of skills, on stdio and on streamable HTTP.
//!
//! [`serve_stdio`], [`serve_stream`] and [`serve_http`] run until the client is gone or the token given to them is
//! cancelled. All speak both eras of the Model Context Protocol: the revision of 2026-07-28, in which every request
//! stands for itself, and the ones before it, which begin with a handshake.
//!
//! The server adds nothing to what the toolbox says: tools, prompts and resources are the sources', and the Skills
//! extension shows what a [`SkillCatalogue`] has. What this crate owns is the wire: which failure is which error,
//! pages, change notifications (once after a burst), and that no secret leaves in an error's text.

mod catalogue;
mod cursor;
mod elicitation;
mod failure;
mod handler;
mod http;
mod library;
mod params;
mod relay;
mod result;
mod skills;
mod stdio;
mod wire;

use std::sync::Arc;

use kitbag_tool::View;

pub use catalogue::{DirectoryEntry, SkillCatalogue, SkillEntry, SkillFile, SkillFiles};
pub use http::{BearerToken, BearerTokenError, ENDPOINT, serve_http};
pub use library::LibrarySkills;
pub use result::{prompt_result, tool_result};
pub use stdio::{ServeError, serve_stdio, serve_stream};

/// What is served, to every client alike.
pub struct Served {
    /// The tools, prompts and resources, as far as clients may reach them.
    pub view: View,
    /// The skills that the Skills extension shows; the extension is not announced where there are none to show.
    pub skills: Option<Arc<dyn SkillCatalogue>>,
    /// The version that the server says it has.
    pub version: String,
    /// What a model should know about using this server.
    pub instructions: Option<String>,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served")
            .field("view", &self.view)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
