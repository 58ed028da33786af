//! The host, at its boundary: files in, decisions and messages out.

mod consent;
