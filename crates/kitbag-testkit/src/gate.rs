//! Rules, an approver and an audit log for tests of the gate.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kitbag_permission::{
    Effect, Entry, KnownTool, Layer, Origin, RuleSet, SubjectKind, WorkspaceTrust,
};
use kitbag_tool::{
    Answer, Approver, Audit, AuditEntry, AuditFailed, BoxFuture, CallContext, Question,
};

/// The tools of ours that rules of tests may speak of.
const KNOWN: [KnownTool<'static>; 4] = [
    KnownTool { name: "Skill", subject: Some(SubjectKind::Text) },
    KnownTool { name: "Bash", subject: Some(SubjectKind::Command) },
    KnownTool { name: "Read", subject: Some(SubjectKind::Path) },
    KnownTool { name: "Fetch", subject: Some(SubjectKind::Domain) },
];

/// Rules of the user, each as its effect and its text: `deny mcp__files`. They stand on lines from 1 of `settings.json`.
pub fn rules(written: &[&str]) -> RuleSet {
    let entries = (1..).zip(written).map(|(line, written)| {
        let (effect, rule) = written.split_once(' ').expect("an effect and a rule were written");
        let effect = match effect {
            "deny" => Effect::Deny,
            "ask" => Effect::Ask,
            "allow" => Effect::Allow,
            other => panic!("`{other}` is no effect"),
        };
        let origin = Origin::File { path: "settings.json".to_owned(), line };
        let rule = rule.parse().expect("a rule that can be read was written");
        Entry { layer: Layer::User, origin, effect, rule }
    });
    RuleSet::build(entries, &KNOWN, WorkspaceTrust::Trusted).0
}

/// An approver that gives the answers it was told, in order, and keeps what it was asked.
#[derive(Debug, Default)]
pub struct FakeApprover {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Asked>>,
}

/// A question that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Who wanted to call.
    pub principal: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// Why it was asked.
    pub because: String,
    /// The rule that was offered.
    pub grant: Option<String>,
    /// The question as people read it.
    pub text: String,
}

impl FakeApprover {
    /// Gives these answers; a question past the last is never answered.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Self { answers, asked: Mutex::default() })
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        locked(&self.asked).clone()
    }
}

impl Approver for FakeApprover {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        locked(&self.asked).push(Asked {
            principal: question.principal.to_string(),
            tool: question.name.to_string(),
            arguments: serde_json::to_string(question.arguments).expect("a map is JSON"),
            because: question.because.clone(),
            grant: question.grant.as_ref().map(ToString::to_string),
            text: question.to_string(),
        });
        let answer = locked(&self.answers).pop_front();
        Box::pin(async {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

/// An audit log in memory.
#[derive(Debug, Default)]
pub struct FakeAudit {
    entries: Mutex<Vec<(Waited, AuditEntry)>>,
    broken: bool,
}

/// Whether the call waited for its line to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// It was queued.
    No,
    /// It was recorded at once.
    Yes,
}

impl FakeAudit {
    /// An empty log.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// A log that takes queued lines, and cannot record one at once.
    pub fn broken() -> Arc<Self> {
        Arc::new(Self { broken: true, ..Self::default() })
    }

    /// The lines, oldest first.
    pub fn entries(&self) -> Vec<(Waited, AuditEntry)> {
        locked(&self.entries).clone()
    }

    /// The lines as texts, without what differs from run to run.
    pub fn lines(&self) -> Vec<String> {
        let line = |(waited, entry): &(Waited, AuditEntry)| {
            let AuditEntry { principal, source, tool, decision, because, outcome, size, .. } =
                entry;
            let waited = if *waited == Waited::Yes { ", at once" } else { "" };
            format!(
                "{principal}: {source}/{tool}: {decision:?}, {outcome:?}, {size} bytes{waited}: {because}"
            )
        };
        locked(&self.entries).iter().map(line).collect()
    }
}

impl Audit for FakeAudit {
    fn record(&self, entry: AuditEntry) {
        locked(&self.entries).push((Waited::No, entry));
    }

    fn record_at_once(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), AuditFailed>> {
        Box::pin(async move {
            if self.broken {
                return Err(AuditFailed { reason: "the disk is full".to_owned() });
            }
            locked(&self.entries).push((Waited::Yes, entry));
            Ok(())
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
