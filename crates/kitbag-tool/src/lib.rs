//! The waist: what a tool is called, what it takes, what comes out, who offers it, and the one place that calls it.
//!
//! Callers stand above ([`Toolbox::call`], and [`View`] for those from elsewhere), sources below ([`Source`]). Every call walks
//! one pipeline, also that of a tool which calls another ([`CallContext::call`]): its name is resolved, its arguments are
//! checked against the published schema, the [`Gate`] decides and an [`Approver`] may be asked, the source is called under
//! the caller's cancellation and deadline, what it answers is bounded ([`OutputBounds`]), and a line is left in the log
//! ([`Audit`]). A source that panics fails that one call.
//!
//! Rules speak of what a tool is, its [`ToolIdentity`]; callers use its name, which [`model_name`] and [`gateway_name`] make.
//!
//! The types are this crate's own. What came along and is not understood here is kept as it was written
//! ([`Fields`], [`Content::Raw`]): unknown members, unknown kinds of content, the order of keys, big numbers.
//!
//! Tools are few and travel whole, in the [`Offer`] that a source publishes. Prompts and resources may be many
//! thousands: a source is asked for them by the page, and its offer says only when they changed.

mod action;
mod arguments;
mod ask;
mod audit;
mod bounds;
mod call;
mod context;
mod extensions;
mod fields;
mod gate;
mod guard;
mod name;
mod names;
mod offered;
mod output;
mod page;
mod principal;
mod prompt;
pub mod redact;
mod resource;
mod source;
mod tool;
mod toolbox;

pub use ask::{Answer, Approver, NobodyToAsk, Question};
pub use audit::{Audit, AuditEntry, AuditFailed, Decision, Outcome};
pub use bounds::{MAX_OUTPUT_BYTES, OutputBounds, Spill, SpillFailed, TokenBound, Whole};
pub use call::{CallError, Refusal, ToolCall};
pub use context::{CallContext, MAX_DEPTH, Progress, ProgressUpdate, WayBack};
pub use extensions::Extensions;
pub use fields::Fields;
pub use gate::{Gate, Policy};
pub use guard::{Interrupted, guard};
/// The terms of the rules, for those who offer tools and those who build gates.
pub use kitbag_permission::{Mode, Rule, RuleSet, SubjectKind, ToolIdentity, Traits};
pub use name::{NameError, SourceId, ToolName};
pub use names::{MAX_WIRE_NAME_BYTES, gateway_name, model_name};
pub use offered::{OfferedTool, SubjectArgument};
pub use output::{Content, ToolOutput};
pub use page::{ListError, Page, PageRequest};
pub use principal::Principal;
pub use prompt::{
    PromptArgument, PromptError, PromptMessage, PromptOutput, PromptRequest, PromptSpec, Role,
};
pub use resource::{ReadError, ResourceBody, ResourceContents, ResourceSpec};
pub use source::{BoxFuture, Offer, Revision, Source};
pub use tool::{Schema, ToolHints, ToolSpec};
pub use toolbox::{Changed, Changes, Listing, Snapshot, Toolbox, View};
