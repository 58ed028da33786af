//! Settings at the crate's boundary: bytes in, values, diagnostics and bytes out.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

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
