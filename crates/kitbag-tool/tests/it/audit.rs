//! The line that every call leaves.

use std::time::{Duration, SystemTime};

use kitbag_testkit::{FakeApprover, FakeAudit, FakeSource, Waited};
use kitbag_tool::{Answer, CallContext, Decision, Gate, Mode, Outcome, Principal, Toolbox};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::support::{call, echo, gated, gated_with};

#[tokio::test(start_paused = true)]
async fn every_outcome_leaves_one_line() {
    let gated = gated(Mode::FullAuto, &["deny mcp__files__data", "ask mcp__files__steps"]);
    let cancelled = CallContext::default();
    cancelled.cancel.cancel();
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let late = CallContext { deadline, principal: Principal::Model, ..CallContext::default() };
    let client = Principal::Client { name: "editor".into() };
    let no = FakeApprover::new([Answer::Deny { reason: None }]);
    let refusing = CallContext { approver: no, principal: client, ..CallContext::default() };
    let yes = FakeApprover::new([Answer::Allow]);
    let approving = CallContext { approver: yes, ..CallContext::default() };
    let default = CallContext::default();
    for (call, context) in [
        (echo("echo"), &default),
        (echo("nope"), &default),
        (call("echo", json!({ "text": 1 })), &default),
        (call("data", json!({})), &default),
        (call("steps", json!({})), &refusing),
        (call("steps", json!({})), &approving),
        (call("refuse", json!({})), &default),
        (call("panic", json!({})), &default),
        (call("hang", json!({})), &late),
        (echo("echo"), &cancelled),
    ] {
        drop(gated.toolbox.call(call, context).await);
    }
    insta::assert_snapshot!(gated.audit.lines().join("\n"), @"
    person: files/echo: Allowed, Ok, 2 bytes: the mode full-auto
    person: /nope: Unjudged, NotRun, 0 bytes: tool `nope` is not known
    person: files/echo: Unjudged, NotRun, 0 bytes: arguments of tool `echo`: `text`: 1 is not of type \"string\"
    person: files/data: Denied, NotRun, 0 bytes, at once: denied by the rule deny mcp__files__data (user, settings.json:1)
    client editor: files/steps: Refused, NotRun, 0 bytes, at once: whoever was asked said no
    person: files/steps: Approved, Begun, 0 bytes, at once: allowed once, asked because the rule ask mcp__files__steps (user, settings.json:2)
    person: files/steps: Approved, Ok, 4 bytes: allowed once, asked because the rule ask mcp__files__steps (user, settings.json:2)
    person: files/refuse: Allowed, ToolError, 0 bytes: the mode full-auto
    person: files/panic: Allowed, Failed, 0 bytes: the mode full-auto
    model: files/hang: Allowed, TimedOut, 0 bytes: the mode full-auto
    person: files/echo: Unjudged, Cancelled, 0 bytes: the call was cancelled
    ");
    let times: Vec<u64> =
        gated.audit.entries().iter().map(|(_, entry)| entry.duration.as_secs()).collect();
    assert_eq!(times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0]);
}

/// A caller that goes away takes nothing out of the log.
#[tokio::test]
async fn a_call_that_is_dropped_is_recorded_as_cancelled() {
    let gated = gated(Mode::FullAuto, &["ask mcp__files__echo"]);
    let silent = CallContext { approver: FakeApprover::new([]), ..CallContext::default() };
    let calls = [(call("hang", json!({})), CallContext::default()), (echo("echo"), silent)];
    for (call, context) in calls {
        let call = gated.toolbox.call(call, &context);
        let mut call = Box::pin(call);
        assert!(futures_poll(call.as_mut()).await.is_none());
        drop(call);
    }
    insta::assert_snapshot!(gated.audit.lines().join("\n"), @"
    person: files/hang: Allowed, Cancelled, 0 bytes: the mode full-auto
    person: files/echo: Refused, Cancelled, 0 bytes: the question was not answered
    ");
    assert_eq!(gated.source.hanging(), 0);
}

/// Polls once.
async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(cx) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn a_consent_that_cannot_be_recorded_does_not_run() {
    let gated = gated_with(Mode::Ask, &["deny mcp__files__data"], FakeAudit::broken());
    let approver = FakeApprover::new([Answer::Allow]);
    let context = CallContext { approver, ..CallContext::default() };
    let hang = call("hang", json!({}));
    insta::assert_snapshot!(gated.says_to(hang, &context).await, @"tool `hang` was not called: a consent must be recorded before a call runs, and the audit log could not be written: the disk is full");
    // A denial stays one.
    let denied = gated.says_to(call("data", json!({})), &context).await;
    assert!(denied.contains("deny mcp__files__data"), "{denied}");
    insta::assert_snapshot!(gated.audit.lines().join("\n"), @"person: files/hang: Refused, NotRun, 0 bytes: a consent must be recorded before a call runs, and the audit log could not be written: the disk is full");
}

/// The hash is of the arguments as they came: their order and every digit.
#[tokio::test]
async fn the_arguments_are_known_by_their_hash_alone() {
    let gated = gated(Mode::FullAuto, &[]);
    let texts = [
        r#"{"text":"hi","z":1,"a":18446744073709551615}"#,
        r#"{"text":"hi","a":18446744073709551615,"z":1}"#,
        r#"{"text":"secret-value"}"#,
    ];
    for text in texts {
        let arguments: Value = serde_json::from_str(text).unwrap();
        gated.says(call("echo", arguments)).await;
    }
    let hashes: Vec<[u8; 32]> =
        gated.audit.entries().iter().map(|(_, entry)| entry.arguments).collect();
    assert_eq!(hashes, texts.map(|text| <[u8; 32]>::from(Sha256::digest(text))));
    assert!(!format!("{:?}", gated.audit.entries()).contains("secret-value"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_calls_at_once_leave_sixty_four_lines() {
    let audit = FakeAudit::new();
    let gate = Gate::new(kitbag_testkit::rules(&["allow mcp__files"]), Mode::Ask);
    let source = FakeSource::new("files");
    let toolbox = Toolbox::new(vec![source], gate, Some(audit.clone()));
    let before = SystemTime::now();
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let toolbox = toolbox.clone();
            tokio::spawn(async move {
                let asked = call("echo", json!({ "text": number.to_string() }));
                toolbox.call(asked, &CallContext::default()).await.unwrap()
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let entries = audit.entries();
    let mut hashes: Vec<_> = entries.iter().map(|(_, entry)| entry.arguments).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!((entries.len(), hashes.len()), (64, 64));
    for (waited, entry) in &entries {
        assert_eq!(*waited, Waited::No);
        assert_eq!((entry.decision, entry.outcome), (Decision::Allowed, Outcome::Ok));
        assert_eq!(entry.because, "the rule allow mcp__files (user, settings.json:1)");
        assert!(entry.at >= before);
    }
}

/// The size is that of the output before anything was cut.
#[tokio::test]
async fn the_size_is_that_of_the_whole_output() {
    let gated = gated(Mode::FullAuto, &[]);
    let bound = kitbag_tool::TokenBound { limit: 100, estimate: str::len };
    let bounds = kitbag_tool::OutputBounds { tokens: Some(bound), spill: None };
    let context = CallContext { bounds, ..CallContext::default() };
    let text = "x".repeat(5_000);
    let answer = gated.says_to(call("echo", json!({ "text": text })), &context).await;
    assert!(answer.len() < 300);
    assert_eq!(gated.audit.entries()[0].1.size, 5_000);
}
