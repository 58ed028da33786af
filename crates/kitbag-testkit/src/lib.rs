//! Honest fakes for tests: strict where a real peer is strict, and nothing that a real one could not do.
//!
//! [`McpClient`] speaks the Model Context Protocol as plain lines of JSON and panics when the other side breaks its
//! rules. [`FakeSource`] offers tools that answer, fail, hang or panic on demand. [`rules`], [`FakeApprover`]
//! and [`FakeAudit`] are what a gate needs. [`Project`]
//! gives a process under test a home of its own.

mod client;
mod gate;
mod project;
mod source;

pub use client::{Era, McpClient, Reply, RpcError};
pub use gate::{Asked, FakeApprover, FakeAudit, Waited, rules};
pub use project::Project;
pub use source::FakeSource;
