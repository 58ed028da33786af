//! The host, at its boundary: files in, decisions and messages out.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod audit;
mod consent;
mod layers;
mod outputs;
mod place;
mod sections;
mod trust;
