//! The pipeline that every call goes through.

use std::sync::Arc;

use kitbag_permission::{Action, Because, Mode, SubjectKind, Verdict, decide, narrowest_grant};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::{Entry, Toolbox};
use crate::audit::{Decision, Line};
use crate::gate::Session;
use crate::guard::{catch, guard};
use crate::{
    Answer, AuditFailed, CallContext, CallError, Gate, Interrupted, MAX_DEPTH, OfferedTool, Policy,
    Question, Rule, SourceId, ToolCall, ToolName, ToolOutput, action, arguments, bounds,
};

/// A way into a toolbox, with the gates that stand there.
#[derive(Clone)]
pub(crate) struct Door {
    toolbox: Toolbox,
    /// The gates of a view; none where the toolbox is called directly, by whoever holds its gate.
    gates: Option<Arc<[Session]>>,
}

/// What the gate says of a call before it runs.
enum Admitted {
    Runs,
    /// It does not, and this is the answer.
    Answered(ToolOutput),
}

impl Door {
    /// The door for whoever holds the toolbox's gate.
    pub(super) fn of(toolbox: Toolbox) -> Self {
        Self { toolbox, gates: None }
    }

    /// A door behind which a call has to pass all of these gates.
    pub(super) fn through(toolbox: Toolbox, gates: impl IntoIterator<Item = Gate>) -> Self {
        Self { toolbox, gates: Some(gates.into_iter().map(Session::new).collect()) }
    }

    pub(super) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    pub(super) fn gates(&self) -> Vec<&Gate> {
        match &self.gates {
            None => vec![self.toolbox.gate()],
            Some(gates) => gates.iter().map(Session::gate).collect(),
        }
    }

    /// What every gate says at this moment.
    pub(super) fn policies(&self) -> Vec<Arc<Policy>> {
        match &self.gates {
            None => vec![self.toolbox.gate().policy()],
            Some(gates) => gates.iter().map(Session::policy).collect(),
        }
    }

    /// Lets calls run that the rule names, at every gate.
    fn grant(&self, rule: &Rule) {
        match &self.gates {
            None => self.toolbox.gate().grant(rule.clone()),
            Some(gates) => gates.iter().for_each(|gate| gate.grant(rule.clone())),
        }
    }

    /// Calls a tool. `depth` counts the tools between the first caller and this call.
    pub(crate) async fn call(
        &self,
        call: ToolCall,
        context: &CallContext,
        depth: usize,
    ) -> Result<ToolOutput, CallError> {
        let audit = self.toolbox.0.audit.as_ref();
        let (name, arguments) = (call.name.as_str(), &call.arguments);
        let mut line = Line::begin(audit, &context.principal, name, arguments);
        let result = self.walk(call, context, depth, &mut line).await;
        line.end(&result);
        result
    }

    /// Records a consent that a tool got by asking itself.
    pub(crate) async fn consented(
        &self,
        tool: &OfferedTool,
        context: &CallContext,
        shown: &Map<String, Value>,
        because: &str,
    ) -> Result<(), AuditFailed> {
        let audit = self.toolbox.0.audit.as_ref();
        let name = tool.spec.name.as_str();
        let snapshot = self.toolbox.snapshot();
        let mut line = Line::begin(audit, &context.principal, name, shown);
        if let Some(entry) = snapshot.entry(&tool.spec.name) {
            line.of(self.toolbox.0.sources[entry.source].id(), tool);
        }
        line.decided(Decision::Approved, because);
        let recorded = line.consented().await;
        line.forget();
        recorded
    }

    async fn walk(
        &self,
        mut call: ToolCall,
        context: &CallContext,
        depth: usize,
        line: &mut Line<'_>,
    ) -> Result<ToolOutput, CallError> {
        let snapshot = self.toolbox.snapshot();
        let Some(entry) = snapshot.entry(&call.name) else {
            return Err(CallError::UnknownTool { name: call.name });
        };
        let source = &self.toolbox.0.sources[entry.source];
        line.of(source.id(), &entry.tool);
        if depth > MAX_DEPTH {
            return Err(CallError::TooDeep { tool: call.name, limit: MAX_DEPTH });
        }
        if context.cancel.is_cancelled() {
            return Err(Interrupted::Cancelled.into());
        }
        if let Some(why) = &entry.tool.unavailable {
            return Err(why.clone().into());
        }
        catch(source.id(), || arguments::check(entry, &mut call))??;
        let action = self.action(source.id(), entry, &call, context).await?;
        match self.admit(entry, &call, &action, context, line).await? {
            Admitted::Runs => {}
            Admitted::Answered(output) => return Ok(output),
        }
        let name = call.name.clone();
        let inner = context.for_source(self, &entry.tool, depth);
        let work = async { source.call(call, &inner).await };
        let output = guard(source.id(), context, work).await??;
        line.size(&output);
        Ok(bounds::apply(output, &name, context).await)
    }

    async fn action(
        &self,
        origin: &SourceId,
        entry: &Entry,
        call: &ToolCall,
        context: &CallContext,
    ) -> Result<Action, Interrupted> {
        let gate = self.toolbox.gate();
        let subject = entry.tool.subject.as_ref();
        if subject.is_none_or(|subject| subject.kind != SubjectKind::Path) {
            return Ok(action::of(&entry.tool, &call.arguments, gate.bases()));
        }
        let (tool, gate, arguments) = (entry.tool.clone(), gate.clone(), call.arguments.clone());
        let work = spawn_blocking(move || action::of(&tool, &arguments, gate.bases()));
        let action = guard(origin, context, work).await?;
        // The runtime is shutting down, where it did not panic.
        action.map_err(|_error| Interrupted::Cancelled)
    }

    /// Decides, and asks where somebody has to be asked.
    async fn admit(
        &self,
        entry: &Entry,
        call: &ToolCall,
        action: &Action,
        context: &CallContext,
        line: &mut Line<'_>,
    ) -> Result<Admitted, CallError> {
        let policies = self.policies();
        let (verdict, because) = strictest(&policies, action);
        match verdict {
            Verdict::Allow => {
                line.decided(Decision::Allowed, because);
                return Ok(Admitted::Runs);
            }
            Verdict::Deny => return Err(denied(&call.name, &policies, action, line).await),
            Verdict::Ask => {}
        }
        let question = Question {
            principal: &context.principal,
            tool: &entry.tool.identity,
            name: &call.name,
            title: entry.tool.spec.title.as_deref(),
            arguments: &call.arguments,
            because: because.to_string(),
            grant: grant(&policies, action),
        };
        line.decided(Decision::Refused, "the question was not answered");
        let ask = async { context.approver.ask(&question, context).await };
        let answer = guard(&approver(), context, ask).await?;
        let because = match answer {
            Answer::Allow => format!("allowed once, asked because {}", question.because),
            Answer::AllowForSession => match &question.grant {
                Some(rule) => {
                    self.grant(rule);
                    format!(
                        "allowed for the session by `{rule}`, asked because {}",
                        question.because
                    )
                }
                None => format!("allowed once, asked because {}", question.because),
            },
            Answer::Deny { reason } => {
                let because = reason.unwrap_or_else(|| "whoever was asked said no".to_owned());
                line.decided(Decision::Refused, &because);
                line.not_run().await;
                return Err(CallError::Denied { tool: call.name.clone(), because, hint: None });
            }
            Answer::Defer(output) => {
                line.decided(Decision::Refused, "it has to be confirmed first");
                line.size(&output);
                line.not_run().await;
                return Ok(Admitted::Answered(output));
            }
        };
        // The rules may be other ones than when the question was asked.
        let policies = self.policies();
        if strictest(&policies, action).0 == Verdict::Deny {
            return Err(denied(&call.name, &policies, action, line).await);
        }
        line.decided(Decision::Approved, because);
        if let Err(error) = line.consented().await {
            let because = format!("a consent must be recorded before a call runs, and {error}");
            line.decided(Decision::Refused, &because);
            return Err(CallError::Denied { tool: call.name.clone(), because, hint: None });
        }
        Ok(Admitted::Runs)
    }
}

/// Who stands for the approver where it panics.
fn approver() -> SourceId {
    "approver".parse().expect("the name is one of a source")
}

/// The strictest of what the gates say, of the first gate that says it.
fn strictest<'a>(policies: &'a [Arc<Policy>], action: &Action) -> (Verdict, Because<'a>) {
    let rank = |verdict| match verdict {
        Verdict::Deny => 0,
        Verdict::Ask => 1,
        Verdict::Allow => 2,
    };
    let decisions = policies.iter().map(|policy| decide(&policy.rules, policy.mode, action));
    let decision = decisions
        .min_by_key(|decision| rank(decision.verdict))
        .expect("a door has the toolbox's gate at least");
    (decision.verdict, decision.because)
}

/// The narrowest rule that lets the call run at every gate that asks.
fn grant(policies: &[Arc<Policy>], action: &Action) -> Option<Rule> {
    let mut rules = policies
        .iter()
        .filter(|policy| decide(&policy.rules, policy.mode, action).verdict == Verdict::Ask)
        .map(|policy| narrowest_grant(&policy.rules, policy.mode, action));
    let first = rules.next()??;
    rules.all(|rule| rule.as_ref() == Some(&first)).then_some(first)
}

/// Records the denial and says what would let the call run.
async fn denied(
    name: &ToolName,
    policies: &[Arc<Policy>],
    action: &Action,
    line: &mut Line<'_>,
) -> CallError {
    let (_, because) = strictest(policies, action);
    let hint = match because {
        Because::Rule(entry) => Some(format!(
            "nothing goes before a rule that denies; this one stands in {}",
            entry.origin
        )),
        Because::RuleUnanswered(_) => Some("choose a mode in which somebody is asked".to_owned()),
        Because::Mode(Mode::Plan) => Some("choose another mode".to_owned()),
        Because::Mode(_) | Because::TrustedTool | Because::AsksItself | Because::Default => {
            policies
                .iter()
                .find_map(|policy| narrowest_grant(&policy.rules, Mode::Ask, action))
                .map(|rule| format!("add the rule `{rule}` to `permissions.allow`"))
        }
    };
    let because = format!("denied by {because}");
    line.decided(Decision::Denied, &because);
    line.not_run().await;
    CallError::Denied { tool: name.clone(), because, hint }
}
