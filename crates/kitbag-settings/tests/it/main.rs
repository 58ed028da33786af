//! Settings at the crate's boundary: bytes in, values, diagnostics and bytes out.

mod bad_files;
mod digest;
mod edits;
mod files;
mod key_paths;
mod layers;
mod origins;
mod schemas;
mod sections;
mod trust;
mod types;
mod unknown;
