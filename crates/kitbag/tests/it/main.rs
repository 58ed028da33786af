//! The binary as a person or a client meets it, and the rules that the whole tree keeps.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod approve;
mod audit;
mod help;
mod kitbag;
mod list;
mod new;
mod permissions;
mod run;
mod serve_http;
mod serve_live;
mod serve_stdio;
mod settings;
mod settings_files;
mod show;
mod skills_client;
mod terminal;
mod tidy;
mod to_prompt;
mod trust;
mod validate;
