//! Integration tests of the waist, at its public boundary.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod approver;
mod audit;
mod changes;
mod gate;
mod lossless;
mod names;
mod nested;
mod paging;
mod redact;
mod spill;
mod support;
mod toolbox;
mod view;
mod wire_names;
