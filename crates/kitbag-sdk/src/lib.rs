//! Typed skills: a Rust function becomes a tool that a model, a person, another skill or an MCP client can call.
//!
//! ```
//! use kitbag_sdk::{Json, Registry, RunContext, SkillCall, define};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Order {
//!     /// How many are wanted.
//!     count: u32,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Price {
//!     cents: u32,
//! }
//!
//! async fn price(_context: RunContext, order: Order) -> Result<Json<Price>, &'static str> {
//!     let cents = order.count.checked_mul(250).ok_or("nobody orders that many")?;
//!     Ok(Json(Price { cents }))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new();
//! registry.register(define("price").description("Prices an order.").typed(price)?)?;
//!
//! let call = SkillCall::new("price", serde_json::json!({ "count": 4 }))?;
//! let output = registry.call(call).await?;
//! assert_eq!(output.content[0].as_text().as_deref(), Some(r#"{"cents":1000}"#));
//!
//! let wrong = SkillCall::new("price", serde_json::json!({ "count": "four" }))?;
//! let error = registry.call(wrong).await.unwrap_err();
//! assert_eq!(error.to_string(), "input of skill `price` at `/count`: \"four\" is not of type \"integer\"");
//! # Ok(())
//! # }
//! ```
//!
//! [`define`] makes a [`Definition`] from a function, whose types give the schemas, or from a [`Handler`] with schemas
//! of its own. A [`Registry`] holds definitions and calls them. It is a [`Source`](kitbag_tool::Source), so that a
//! [`Toolbox`](kitbag_tool::Toolbox) offers its skills beside all other tools, and a
//! [`tower_service::Service`], so that limits, time-outs and tracing can be put around it.
//!
//! A handler runs as a task of its own. The caller has its answer when the clock or the cancellation says so, however
//! the handler behaves, and a handler that panics fails its one call. What cannot be had is the thread: a handler
//! that blocks keeps its thread until it comes back, so such work belongs into [`Define::blocking`].

mod bodies;
mod call;
mod context;
mod definition;
mod dispatch;
mod error;
mod generate;
mod handler;
mod nested;
mod output;
mod program;
mod registry;
mod schema;

pub use bodies::Bodies;
pub use call::{ArgumentsError, SkillCall};
pub use context::RunContext;
pub use definition::{Define, DefineError, Definition, MAX_NAME_BYTES, define};
pub use error::{BoxError, SkillError};
pub use generate::{Generate, GenerateError, GenerateRequest, Generated};
pub use handler::Handler;
pub use kitbag_tool::{Extensions, MAX_DEPTH};
pub use output::{IntoOutput, Json, OutputError};
pub use program::main;
pub use registry::{Change, Duplicate, Registry, Rejected, Snapshot};
