//! T-29, T-55 and T-65: deadlines and cancellation, whatever a handler does.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::time::Duration;

use kitbag_sdk::{Registry, RunContext, SkillError};
use kitbag_tool::{CallContext, CallError, Gate, Interrupted, ToolCall, ToolOutput, Toolbox};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::support::{Text, asking, call, named, raw, registry, text};

type Arguments = Map<String, Value>;

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A skill that takes 300 ms.
fn slow() -> kitbag_sdk::Definition {
    raw("slow", |_: RunContext, _: Arguments| async {
        sleep(millis(300)).await;
        Ok::<_, Infallible>(ToolOutput::text("done"))
    })
}

#[tokio::test(start_paused = true)]
async fn t65_the_answer_comes_at_the_deadline() {
    let registry = registry([slow()]);
    let begun = Instant::now();
    let error = registry
        .call(asking("slow", json!({})).no_later_than(begun + millis(20)))
        .await
        .unwrap_err();
    assert!(matches!(&error, SkillError::Deadline { skill, .. } if skill == "slow"), "{error}");
    assert_eq!(begun.elapsed().as_millis(), 20);
    assert!(call(&registry, "slow", json!({})).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn t65_a_result_that_comes_with_the_deadline_comes_too_late() {
    let registry = registry([slow()]);
    let asked = asking("slow", json!({})).no_later_than(Instant::now() + millis(300));
    assert!(matches!(registry.call(asked).await, Err(SkillError::Deadline { .. })));
    let asked = asking("slow", json!({})).no_later_than(Instant::now() + millis(302));
    assert_eq!(text(&registry.call(asked).await.unwrap()), "done");
}

#[tokio::test(start_paused = true)]
async fn t65_a_timeout_of_the_definition_is_a_deadline_too() {
    let wait =
        |_: RunContext, _: Arguments| std::future::pending::<Result<ToolOutput, Infallible>>();
    let registry = registry([named("x").timeout(millis(50)).raw(json!({}), wait).unwrap()]);
    let begun = Instant::now();
    let error = call(&registry, "x", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "skill `x` ran past its deadline, after 50ms");
    let later = asking("x", json!({})).no_later_than(begun + millis(10_000));
    assert!(registry.call(later).await.is_err());
    assert_eq!(begun.elapsed().as_millis(), 100);
}

#[tokio::test(start_paused = true)]
async fn t29_t55_a_nested_call_has_the_deadline_of_its_caller_or_an_earlier_one() {
    let when = raw("when", |context: RunContext, _: Arguments| async move {
        let left = context.deadline().map(|deadline| deadline - Instant::now());
        Ok::<_, Infallible>(ToolOutput::text(format!("{left:?}")))
    });
    let outer = raw("outer", |context: RunContext, _: Arguments| async move {
        let now = Instant::now();
        let earlier = context.nested("when", Map::new()).no_later_than(now + millis(5));
        let later = context.nested("when", Map::new()).no_later_than(now + millis(5_000));
        let mut said = Vec::new();
        for asked in [earlier, later, context.nested("when", Map::new())] {
            said.push(text(&context.registry().call(asked).await?));
        }
        Ok::<_, SkillError>(ToolOutput::text(said.join(" ")))
    });
    let registry = registry([when, outer]);
    let asked = asking("outer", json!({})).no_later_than(Instant::now() + millis(20));
    let said = text(&registry.call(asked).await.unwrap());
    assert_eq!(said, "Some(5ms) Some(20ms) Some(20ms)");
    assert_eq!(text(&call(&registry, "when", json!({})).await.unwrap()), "None");
}

/// Says when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            // Nobody may be waiting any more.
            sender.send(()).unwrap_or_default();
        }
    }
}

/// A skill that never ends, and how to hear that its future is gone.
fn hanging() -> (Registry, oneshot::Receiver<()>) {
    let (sender, receiver) = oneshot::channel();
    let dropped = Arc::new(std::sync::Mutex::new(Some(Dropped(Some(sender)))));
    let hang = move |_: RunContext, _: Arguments| {
        let dropped = dropped.lock().unwrap().take();
        async move {
            let _dropped = dropped;
            std::future::pending::<Result<ToolOutput, Infallible>>().await
        }
    };
    (registry([raw("hang", hang)]), receiver)
}

#[tokio::test(start_paused = true)]
async fn t29_t55_a_cancelled_call_ends_and_its_handler_is_dropped() {
    let (registry, dropped) = hanging();
    let asked = asking("hang", json!({}));
    let token = asked.cancel_token().clone();
    let (result, ()) = tokio::join!(registry.call(asked), async {
        sleep(millis(1)).await;
        token.cancel();
    });
    assert!(matches!(result, Err(SkillError::Cancelled { skill }) if skill == "hang"));
    dropped.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn t65_a_handler_is_dropped_with_the_deadline_and_with_the_callers_future() {
    let (registry, dropped) = hanging();
    let asked = asking("hang", json!({})).no_later_than(Instant::now() + millis(5));
    assert!(registry.call(asked).await.is_err());
    dropped.await.unwrap();

    let (registry, dropped) = hanging();
    assert!(tokio::time::timeout(millis(5), call(&registry, "hang", json!({}))).await.is_err());
    dropped.await.unwrap();
}

#[tokio::test]
async fn t65_a_call_that_is_over_before_it_begins_reaches_no_handler() {
    let registry = registry([raw("x", |_: RunContext, _: Arguments| async {
        Err::<ToolOutput, _>("the handler was called")
    })]);
    let cancelled = asking("x", json!({}));
    cancelled.cancel_token().cancel();
    assert!(matches!(registry.call(cancelled).await, Err(SkillError::Cancelled { .. })));
    let late = asking("x", json!({})).no_later_than(Instant::now());
    assert!(matches!(registry.call(late).await, Err(SkillError::Deadline { .. })));
}

#[tokio::test(start_paused = true)]
async fn t65_through_the_toolbox_a_deadline_and_a_cancellation_are_told_apart() {
    let toolbox = Toolbox::new(vec![Arc::new(registry([slow()]))], Gate::open(), None);
    let asked = ToolCall { name: "slow".parse().unwrap(), arguments: Map::new() };
    let context =
        CallContext { deadline: Some(Instant::now() + millis(20)), ..CallContext::default() };
    let late = toolbox.call(asked.clone(), &context).await.unwrap_err();
    assert_eq!(late, CallError::Interrupted(Interrupted::TimedOut));
    let context = CallContext::default();
    context.cancel.cancel();
    let cancelled = toolbox.call(asked, &context).await.unwrap_err();
    assert_eq!(cancelled, CallError::Interrupted(Interrupted::Cancelled));
}

/// The handler keeps its thread until the test has the answer, so there is no other way to get one.
#[tokio::test]
async fn t65_a_blocking_function_cannot_outrun_a_deadline() {
    let (release, held) = blocking::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let (seen, saw) = oneshot::channel();
    let seen = std::sync::Mutex::new(Some(seen));
    let block = move |context: RunContext, _: Text| {
        held.lock().unwrap().recv().unwrap_err();
        let seen = seen.lock().unwrap().take().unwrap();
        seen.send(context.is_cancelled()).unwrap();
        Ok::<_, Infallible>("too late")
    };
    let registry = registry([named("block").blocking(block).unwrap()]);
    let asked = asking("block", json!({})).no_later_than(Instant::now() + millis(20));
    let error = registry.call(asked).await.unwrap_err();
    assert!(matches!(error, SkillError::Deadline { .. }), "{error}");
    drop(release);
    assert!(saw.await.unwrap(), "the function is told that its call is over");
}

/// The same for an async handler that blocks the thread it is polled on, where there is another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t65_an_async_function_that_blocks_cannot_outrun_a_deadline() {
    let (release, held) = blocking::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let registry = registry([raw("block", move |_: RunContext, _: Arguments| {
        let held = held.clone();
        async move {
            held.lock().unwrap().recv().unwrap_err();
            Ok::<_, Infallible>(ToolOutput::text("too late"))
        }
    })]);
    let asked = asking("block", json!({})).no_later_than(Instant::now() + millis(20));
    let error = registry.call(asked).await.unwrap_err();
    assert!(matches!(error, SkillError::Deadline { .. }), "{error}");
    drop(release);
}

/// On a single thread nobody can answer meanwhile, but a late result is late all the same.
#[tokio::test]
async fn t65_on_one_thread_a_late_result_is_not_given() {
    let registry = registry([raw("spin", |context: RunContext, _: Arguments| async move {
        let deadline = context.deadline().unwrap();
        while Instant::now() < deadline {
            std::hint::spin_loop();
        }
        Ok::<_, Infallible>(ToolOutput::text("too late"))
    })]);
    let asked = asking("spin", json!({})).no_later_than(Instant::now() + millis(5));
    assert!(matches!(registry.call(asked).await, Err(SkillError::Deadline { .. })));
}

#[tokio::test]
async fn t55_a_handler_hears_that_its_call_was_cancelled() {
    let (seen, saw) = oneshot::channel();
    let seen = Arc::new(std::sync::Mutex::new(Some(seen)));
    let registry = registry([raw("watch", move |context: RunContext, _: Arguments| {
        let seen = seen.lock().unwrap().take().unwrap();
        async move {
            let watched = context.clone();
            // A task that the handler left behind, which nobody but the token reaches.
            drop(tokio::spawn(async move {
                watched.cancelled().await;
                seen.send(watched.is_cancelled()).unwrap();
            }));
            Ok::<_, Infallible>(ToolOutput::text("done"))
        }
    })]);
    call(&registry, "watch", json!({})).await.unwrap();
    assert!(saw.await.unwrap());
}
