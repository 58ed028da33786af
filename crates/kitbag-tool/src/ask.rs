//! Asking somebody whether a call may run.

use kitbag_permission::{Rule, ToolIdentity};
use serde_json::{Map, Value};

use crate::{BoxFuture, CallContext, Principal, ToolName, ToolOutput};

/// A call that somebody has to say yes or no to.
#[derive(Debug)]
pub struct Question<'a> {
    /// Who wants to call.
    pub principal: &'a Principal,
    /// Which tool.
    pub tool: &'a ToolIdentity,
    /// The name that the caller used.
    pub name: &'a ToolName,
    /// The tool's name for people, where it has one. Its source chose it.
    pub title: Option<&'a str>,
    /// All arguments, raw: exactly those that the tool gets if the answer is yes.
    pub arguments: &'a Map<String, Value>,
    /// Why it is asked.
    pub because: String,
    /// The narrowest rule that would let this very call run without a question; what
    /// [`Answer::AllowForSession`] grants.
    pub grant: Option<Rule>,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone)]
pub enum Answer {
    /// This call runs.
    Allow,
    /// This call runs, and those that [`Question::grant`] covers for as long as the session lasts. Where no rule was
    /// offered, the same as [`Allow`](Self::Allow).
    AllowForSession,
    /// It does not run.
    Deny {
        /// Why, in a sentence without its final stop.
        reason: Option<String>,
    },
    /// It does not run; the caller gets this instead, such as a token to confirm with.
    Defer(ToolOutput),
}

/// Who is asked.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. Given up when the call is cancelled or its deadline passes.
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Answer>;
}

/// The approver where nobody is there: denies, and names the rule that would allow.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        let reason = match &question.grant {
            Some(rule) => format!(
                "it would have to be asked about, and nobody can be asked here; to allow it, add the rule `{rule}` \
                 to `permissions.allow`"
            ),
            None => format!(
                "it would have to be asked about ({}), and nobody can be asked here",
                question.because
            ),
        };
        Box::pin(async { Answer::Deny { reason: Some(reason) } })
    }
}
