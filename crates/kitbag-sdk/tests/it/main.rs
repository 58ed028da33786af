//! The contract of typed skills, statement by statement, at the public boundary of the crate.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod calling;
mod context;
mod deadlines;
mod defining;
mod nested;
mod one_path;
mod registry;
mod support;
mod typed;
