//! Rules, calls and what comes out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod decisions;
mod fixture;
mod globs;
mod grammar;
mod grants;
mod problems;
mod properties;
mod reference;
