//! The line that every call leaves.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag_permission::ToolIdentity;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::{BoxFuture, CallError, Interrupted, OfferedTool, Principal, SourceId, ToolOutput};

/// Where the lines go.
///
/// A call that a rule or the mode allowed leaves one line when it ends. A call that is denied or refused leaves one
/// before its answer. A call that somebody consented to leaves two: the consent, on the disk before the tool runs
/// ([`Outcome::Begun`]), and what came of it.
pub trait Audit: Send + Sync {
    /// Queues a line and never waits; where there is no room, the loss is counted.
    fn record(&self, entry: AuditEntry);

    /// Records a denial or a consent; ready when it is where it cannot be lost.
    ///
    /// The line counts as taken once the future was polled, also if it is dropped then.
    fn record_at_once(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), AuditFailed>>;
}

/// One line: who, what, why, and what came of it. Of the arguments it has a hash, of the output a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When the call began.
    pub at: SystemTime,
    /// Who called.
    pub principal: Principal,
    /// Whose tool it is: the server's name, the skill's, or the source's. Empty where no source has the tool.
    pub source: String,
    /// The tool's name there.
    pub tool: String,
    /// The SHA-256 of the arguments as one line of JSON, in the order in which they came.
    pub arguments: [u8; 32],
    /// What was decided.
    pub decision: Decision,
    /// The rule, mode or person that decided, or why there was nothing to decide, as text.
    pub because: String,
    /// How long it took, the question included.
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
    /// Somebody was asked and said yes.
    Approved,
    /// Somebody was asked and did not say yes, or there was nobody to ask.
    Refused,
    /// There was nothing to decide: no such tool, arguments that do not fit, or given up before.
    Unjudged,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was not made.
    NotRun,
    /// It was consented to and is about to run; the line of its end follows.
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

/// A line that is not known to be recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the audit log could not be written: {reason}")]
pub struct AuditFailed {
    /// Why, in a sentence without its final stop.
    pub reason: String,
}

/// The line of a call that is under way. Dropped before its end, it is recorded as cancelled.
pub(crate) struct Line<'a> {
    audit: Option<&'a Arc<dyn Audit>>,
    begun: Instant,
    entry: Option<AuditEntry>,
}

impl<'a> Line<'a> {
    /// Begins the line of a call. Without a log nothing is hashed.
    pub(crate) fn begin(
        audit: Option<&'a Arc<dyn Audit>>,
        principal: &Principal,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Self {
        let entry = audit.map(|_| AuditEntry {
            at: SystemTime::now(),
            principal: principal.clone(),
            source: String::new(),
            tool: name.to_owned(),
            arguments: hash(arguments),
            decision: Decision::Unjudged,
            because: String::new(),
            duration: Duration::ZERO,
            size: 0,
            outcome: Outcome::Cancelled,
        });
        Self { audit, begun: Instant::now(), entry }
    }

    /// Says which tool it is.
    pub(crate) fn of(&mut self, source: &SourceId, tool: &OfferedTool) {
        if let Some(entry) = &mut self.entry {
            let (whose, name) = match &tool.identity {
                ToolIdentity::Own(name) => (source.as_str(), name),
                ToolIdentity::SkillTool { skill, tool } => (skill.as_str(), tool),
                ToolIdentity::Server { server, tool } => (server.as_str(), tool),
            };
            whose.clone_into(&mut entry.source);
            entry.tool.clone_from(name);
        }
    }

    /// Says what was decided, and why.
    pub(crate) fn decided(&mut self, decision: Decision, because: impl std::fmt::Display) {
        if let Some(entry) = &mut self.entry {
            entry.decision = decision;
            entry.because = because.to_string();
        }
    }

    /// Records the consent that the call is about to run on.
    pub(crate) async fn consented(&self) -> Result<(), AuditFailed> {
        let (Some(audit), Some(entry)) = (self.audit, &self.entry) else { return Ok(()) };
        let duration = self.begun.elapsed();
        let consent = AuditEntry { duration, outcome: Outcome::Begun, ..entry.clone() };
        audit.record_at_once(consent).await
    }

    /// Leaves no line of the end: another one has it.
    pub(crate) fn forget(&mut self) {
        self.entry = None;
    }

    /// Ends the line of a call that did not run, and waits until it is recorded.
    pub(crate) async fn not_run(&mut self) {
        let Some(audit) = self.audit else { return };
        let Some(mut entry) = self.entry.take() else { return };
        entry.duration = self.begun.elapsed();
        entry.outcome = Outcome::NotRun;
        if let Err(error) = audit.record_at_once(entry).await {
            tracing::error!(%error, "a denial is not in the audit log");
        }
    }

    /// The bytes that came out, before anything was cut.
    pub(crate) fn size(&mut self, output: &ToolOutput) {
        if let Some(entry) = &mut self.entry {
            entry.size = output.bytes() as u64;
        }
    }

    /// Ends the line with what came out.
    pub(crate) fn end(&mut self, result: &Result<ToolOutput, CallError>) {
        let Some(entry) = &mut self.entry else { return };
        entry.outcome = match result {
            Ok(output) if output.is_error => Outcome::ToolError,
            Ok(_) => Outcome::Ok,
            // A tool that is not available here was not reached.
            Err(CallError::Refused(_)) if entry.decision == Decision::Unjudged => Outcome::NotRun,
            Err(CallError::Refused(_)) => Outcome::ToolError,
            Err(CallError::Interrupted(Interrupted::Cancelled)) => Outcome::Cancelled,
            Err(CallError::Interrupted(Interrupted::TimedOut)) => Outcome::TimedOut,
            Err(CallError::Interrupted(Interrupted::Panicked { .. })) => Outcome::Failed,
            Err(
                CallError::UnknownTool { .. }
                | CallError::InvalidArguments { .. }
                | CallError::Denied { .. }
                | CallError::TooDeep { .. },
            ) => Outcome::NotRun,
        };
        if let Err(error) = result
            && entry.because.is_empty()
        {
            entry.because = error.to_string();
        }
        self.queue();
    }

    fn queue(&mut self) {
        if let (Some(audit), Some(mut entry)) = (self.audit, self.entry.take()) {
            entry.duration = self.begun.elapsed();
            audit.record(entry);
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        // Only a call whose caller went away is still without its end here.
        self.queue();
    }
}

/// The SHA-256 of the arguments as compact JSON.
fn hash(arguments: &Map<String, Value>) -> [u8; 32] {
    let mut text = Vec::with_capacity(128);
    // A map of JSON values is always writable as JSON, and a vector takes whatever is written.
    drop(serde_json::to_writer(&mut text, arguments));
    Sha256::digest(&text).into()
}

impl std::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("entry", &self.entry).finish_non_exhaustive()
    }
}
