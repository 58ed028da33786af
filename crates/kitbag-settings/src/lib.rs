//! Layers of JSON-with-comments settings, the origin of every value, and edits that keep what they do not touch.
//!
//! A feature owns a [`Section`]: a serde struct with a JSON Schema, and for each of its keys how layers merge, what an
//! untrusted project may do with it, and whether it may be shown. This crate knows no key of any feature. The binary
//! reads files ([`file::load`]) and hands them over with what the environment and the command line say, as [`Source`]s;
//! [`Settings`] merges them, tells where a value comes from, and says what is wrong with file, line and column.
//!
//! Nothing here reads the environment or the working directory, and no message, `Display` or `Debug` holds the value of
//! a secret key.

mod diagnostic;
pub mod digest;
mod document;
pub mod edit;
pub mod file;
mod key_path;
mod layer;
mod nearest;
mod schema;
mod section;
mod settings;

pub use diagnostic::{Diagnostic, Fault, MAX_DIAGNOSTICS, Position, Severity, SourceName, bounded};
pub use document::{Document, MAX_DEPTH, MAX_FILE_BYTES, parse};
pub use key_path::{KeyPath, KeyPathError};
pub use layer::{Layer, Source, Trust};
pub use schema::schema;
pub use section::{FromProject, Key, Merge, Secrecy, Section, SectionSchema, declaration_faults};
pub use settings::{Listed, Origin, Settings, Standing};
