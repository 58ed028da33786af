//! Asking somebody whether a call may run.

use std::fmt;

use kitbag_permission::{Rule, ToolIdentity, is_invisible};
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

impl fmt::Display for Question<'_> {
    /// Writes the question as people read it, all arguments included, with every character visible that would hide,
    /// move or turn others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} wants to call {}", Visible(&self.principal.to_string()), self.name)?;
        if let Some(title) = self.title {
            write!(f, " ({})", Visible(title))?;
        }
        match self.tool {
            ToolIdentity::Own(_) => {}
            ToolIdentity::SkillTool { skill, tool } => {
                write!(f, ", the tool {} of the skill {}", Visible(tool), Visible(skill))?;
            }
            ToolIdentity::Server { server, tool } => {
                write!(f, ", the tool {} of the server {}", Visible(tool), Visible(server))?;
            }
        }
        for (name, value) in self.arguments {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            write!(f, "\n  {}: {}", Visible(name), Visible(&value))?;
        }
        write!(f, "\nIt is asked because {}.", Visible(&self.because))
    }
}

/// A text on one line, its invisible characters written as escapes.
struct Visible<'a>(&'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\n' | '\r' | '\t' | '\\' => write!(f, "{}", c.escape_default()),
            // Those that join others, too: rules may hold them, and nobody sees them.
            '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => {
                write!(f, "{}", c.escape_unicode())
            }
            c if is_invisible(c) => write!(f, "{}", c.escape_unicode()),
            c => write!(f, "{c}"),
        })
    }
}

/// Who is asked.
pub trait Approver: Send + Sync {
    /// Whether there is somebody who can be asked at all. Where not, a tool that has another way to be confirmed takes it.
    fn can_ask(&self) -> bool {
        true
    }

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
    fn can_ask(&self) -> bool {
        false
    }

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
