//! Integration tests of the waist, at its public boundary.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod changes;
mod lossless;
mod names;
mod paging;
mod redact;
mod toolbox;
