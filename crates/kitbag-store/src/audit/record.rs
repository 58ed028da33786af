//! What the log says about a call.

use std::borrow::Cow;
use std::time::Duration;

use crate::digest::Digest;
use crate::timestamp::Timestamp;
use crate::wire::words;

/// The most bytes of each text in a record.
pub const MAX_AUDIT_TEXT_BYTES: usize = 1024;

/// One call, or one decision: who, what, why, and what came of it.
///
/// Of the arguments it has the hash and of the output the size, so no value of either can be in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// When the call began.
    pub at: Timestamp,
    /// Who called.
    pub principal: String,
    /// Whose tool it is: the server's name, or the source's.
    pub source: String,
    /// The tool's name there.
    pub tool: String,
    /// The hash of the arguments.
    pub arguments: Digest,
    /// What was decided.
    pub decision: Decision,
    /// The rule, mode or person that decided, as text; where a file has the rule, with the file and line.
    pub rule: String,
    /// How long the call took; kept to the microsecond.
    pub duration: Duration,
    /// The bytes of the output, before it was cut.
    pub size: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// A rule or the mode allowed it.
    Allowed,
    /// A rule or the mode denied it.
    Denied,
    /// A person was asked, and said yes.
    Approved,
    /// A person was asked and said no, or there was nobody to ask.
    Refused,
    /// There was nothing to decide: no such tool, arguments that do not fit, or given up before.
    Unjudged,
}

words!(Decision {
    Allowed = "allowed",
    Denied = "denied",
    Approved = "approved",
    Refused = "refused",
    Unjudged = "unjudged",
});

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was not made.
    NotRun,
    /// It was consented to and is about to run; the record of its end follows.
    Begun,
    /// It was answered.
    Ok,
    /// The tool answered with an error.
    ToolError,
    /// The tool could not be reached, or broke off.
    Failed,
    /// It took longer than it may.
    TimedOut,
    /// The caller stopped it.
    Cancelled,
}

words!(Outcome {
    NotRun = "not-run",
    Begun = "begun",
    Ok = "ok",
    ToolError = "tool-error",
    Failed = "failed",
    TimedOut = "timed-out",
    Cancelled = "cancelled",
});

impl Decision {
    /// Whether the record must be on the disk before anything else happens: all that a rule that denies, or a person,
    /// decided.
    pub fn is_written_at_once(self) -> bool {
        match self {
            Self::Denied | Self::Approved | Self::Refused => true,
            Self::Allowed | Self::Unjudged => false,
        }
    }
}

impl AuditRecord {
    /// Principal, source, tool and rule, each within its bound.
    pub(crate) fn bounded_texts(&self) -> [Cow<'_, str>; 4] {
        [&self.principal, &self.source, &self.tool, &self.rule].map(|text| cut(text))
    }
}

/// The text, or its beginning and how many bytes are missing.
fn cut(text: &str) -> Cow<'_, str> {
    /// Room for the note.
    const NOTE_BYTES: usize = 40;
    if text.len() <= MAX_AUDIT_TEXT_BYTES {
        return text.into();
    }
    let end = text.floor_char_boundary(MAX_AUDIT_TEXT_BYTES - NOTE_BYTES);
    format!("{}… ({} more bytes)", &text[..end], text.len() - end).into()
}
