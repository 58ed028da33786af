//! Questions, their answers, and what an answer is good for.

use std::sync::Arc;
use std::time::Duration;

use kitbag_testkit::{FakeApprover, rules};
use kitbag_tool::{
    Answer, Approver, BoxFuture, CallContext, Gate, Mode, OfferedTool, Principal, Question,
    ToolCall, ToolOutput,
};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{call, echo, gated, said, spec};

fn asking(approver: &Arc<FakeApprover>) -> CallContext {
    CallContext {
        approver: approver.clone(),
        principal: Principal::Model,
        ..CallContext::default()
    }
}

#[tokio::test]
async fn a_yes_lets_one_call_run() {
    let gated = gated(Mode::Ask, &[]);
    let approver = FakeApprover::new([Answer::Allow, Answer::Deny { reason: None }]);
    let context = asking(&approver);
    assert_eq!(gated.says_to(echo("echo"), &context).await, "hi");
    insta::assert_snapshot!(gated.says_to(echo("echo"), &context).await, @"tool `echo` was not called: whoever was asked said no");
    let asked = approver.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1]);
    insta::assert_debug_snapshot!(asked[0], @r#"
    Asked {
        principal: "model",
        tool: "echo",
        arguments: "{\"text\":\"hi\"}",
        because: "no rule hits, and a call asks unless something lets it run",
        grant: Some(
            "mcp__files__echo",
        ),
        text: "model wants to call echo, the tool echo of the server files\n  text: hi\nIt is asked because no rule hits, and a call asks unless something lets it run.",
    }
    "#);
}

/// A session grant is the narrowest rule that the decision, made again, proves sufficient.
#[tokio::test]
async fn a_yes_for_the_session_covers_what_was_offered_and_nothing_else() {
    let gated = gated(Mode::Ask, &[]);
    let approver = FakeApprover::new([Answer::AllowForSession]);
    assert_eq!(gated.says_to(echo("echo"), &asking(&approver)).await, "hi");
    assert_eq!(gated.says(echo("echo")).await, "hi");
    assert!(gated.says(call("steps", json!({}))).await.contains("nobody can be asked"));
    let policy = gated.gate.policy();
    let granted: Vec<String> = policy.rules.entries().iter().map(ToString::to_string).collect();
    assert_eq!(granted, ["allow mcp__files__echo (session, granted in this session)"]);
}

/// Where a rule asks explicitly no grant would do, so none is offered and none is made.
#[tokio::test]
async fn no_grant_is_made_that_was_not_offered() {
    let gated = gated(Mode::Ask, &["ask mcp__files__echo"]);
    let approver = FakeApprover::new([Answer::AllowForSession, Answer::AllowForSession]);
    let context = asking(&approver);
    for _ in 0..2 {
        assert_eq!(gated.says_to(echo("echo"), &context).await, "hi");
    }
    assert_eq!(approver.asked()[1].grant, None);
    assert_eq!(gated.gate.policy().rules.entries().len(), 1);
}

#[tokio::test]
async fn a_reason_and_a_deferred_answer_reach_the_caller() {
    let gated = gated(Mode::Ask, &[]);
    let answers = [
        Answer::Deny { reason: Some("not on a Friday".to_owned()) },
        Answer::Defer(ToolOutput::text("confirm with token 7")),
    ];
    let approver = FakeApprover::new(answers);
    let context = asking(&approver);
    insta::assert_snapshot!(gated.says_to(echo("echo"), &context).await, @"tool `echo` was not called: not on a Friday");
    insta::assert_snapshot!(gated.says_to(call("panic", json!({})), &context).await, @"confirm with token 7");
    insta::assert_debug_snapshot!(gated.audit.lines(), @r#"
    [
        "model: files/echo: Refused, NotRun, 0 bytes, at once: not on a Friday",
        "model: files/panic: Refused, NotRun, 20 bytes, at once: it has to be confirmed first",
    ]
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_call() {
    let gated = gated(Mode::Ask, &[]);
    let approver = FakeApprover::new([]);
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let context = CallContext { deadline, ..asking(&approver) };
    insta::assert_snapshot!(gated.says_to(echo("echo"), &context).await, @"the call ran past its deadline");
    let context = asking(&approver);
    let (answer, ()) = tokio::join!(gated.says_to(echo("echo"), &context), async {
        context.cancel.cancel();
    });
    insta::assert_snapshot!(answer, @"the call was cancelled");
    insta::assert_debug_snapshot!(gated.audit.lines(), @r#"
    [
        "model: files/echo: Refused, TimedOut, 0 bytes: the question was not answered",
        "model: files/echo: Refused, Cancelled, 0 bytes: the question was not answered",
    ]
    "#);
}

/// An approver under which the rules become other ones while it thinks.
struct Overtaken(Gate);

impl Approver for Overtaken {
    fn ask<'a>(
        &'a self,
        _question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        self.0.replace(rules(&["deny mcp__files"]), Mode::FullAuto);
        Box::pin(async { Answer::AllowForSession })
    }
}

#[tokio::test]
async fn a_rule_that_came_while_somebody_was_asked_counts() {
    let gated = gated(Mode::Ask, &[]);
    let approver = Arc::new(Overtaken(gated.gate.clone()));
    let context = CallContext { approver, ..CallContext::default() };
    assert!(gated.says_to(echo("echo"), &context).await.contains("deny mcp__files"));
}

/// An approver that breaks.
struct Broken;

impl Approver for Broken {
    fn ask<'a>(
        &'a self,
        _question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        panic!("an approver that panics was asked")
    }
}

#[tokio::test]
async fn an_approver_that_panics_fails_one_call_and_allows_nothing() {
    let gated = gated(Mode::Ask, &[]);
    let context = CallContext { approver: Arc::new(Broken), ..CallContext::default() };
    insta::assert_snapshot!(gated.says_to(echo("echo"), &context).await, @"`approver` failed inside; the call was given up");
}

/// Decision 17: all arguments are shown, and what hides, moves or turns text is visible.
#[tokio::test]
async fn a_question_hides_nothing() {
    let mut named = OfferedTool::of_server(spec("odd"), "ser\u{202e}ver", "to\u{200b}ol");
    std::sync::Arc::make_mut(&mut named.spec).title = Some("Nice\nand easy".to_owned());
    let gated = gated(Mode::Ask, &[]).with(named);
    let approver = FakeApprover::new([Answer::Allow]);
    let arguments = json!({
        "text": "ok",
        "path\u{200d}": "a\u{202e}txt.exe\r\nIt is asked because of nothing",
        "n": { "deep": ["\u{feff}", 18_446_744_073_709_551_615_u64] },
        "escape": "\u{1b}[2J \\u{1b}",
    });
    let asked = ToolCall { name: "odd".parse().unwrap(), ..call("odd", arguments.clone()) };
    let context = asking(&approver);
    assert_eq!(said(gated.toolbox.call(asked, &context).await), "ok");
    insta::assert_snapshot!(approver.asked()[0].text, @r#"
    model wants to call odd (Nice\nand easy), the tool to\u{200b}ol of the server ser\u{202e}ver
      text: ok
      path\u{200d}: a\u{202e}txt.exe\r\nIt is asked because of nothing
      n: {"deep":["\u{feff}",18446744073709551615]}
      escape: \u{1b}[2J \\u{1b}
    It is asked because no rule hits, and a call asks unless something lets it run.
    "#);
    assert_eq!(approver.asked()[0].arguments, arguments.to_string());
}
