//! Where kitbag is put together: settings, trust, permission rules, store and skills are wired here and nowhere else.
//!
//! [`Host::open`] reads the settings of a [`Where`], decides whether the workspace is trusted, and compiles the rules of
//! all layers; what cannot be taken is an error that names file and line. The store is opened when something needs it, so
//! that a command that lists makes no file. Each concern has a module; the libraries below know nothing of each other.
//!
//! Nothing here reads the environment or the working directory: they are arguments.

mod audit;
pub mod consent;
mod diff;
mod error;
mod host;
mod layers;
pub mod outputs;
mod permissions;
mod place;
mod sections;
mod state;
pub mod trust;

pub use audit::AuditLog;
pub use diff::diff;
pub use error::HostError;
pub use host::Host;
pub use permissions::explain::{CallError, Judged};
pub use permissions::tools::{OWN_TOOLS, OwnTool};
pub use place::{Where, shown_path};
pub use sections::{Order, PermissionSettings, SkillSettings, sections, settings_schema};
