//! Handlers that mean no good: each call ends, says what was wrong, and leaves nothing behind.

use std::sync::Arc;

use kitbag_tool::{CallContext, CallError, Interrupted};
use serde_json::json;

use crate::workshop::{Alive, PATIENCE, Workshop};

#[tokio::test]
async fn one_that_answers_without_end() {
    let shop = Workshop::sh("exec yes 0123456789012345678901234567890123456789");
    assert_eq!(
        shop.failure().await,
        "Tool s__t was ended, since it wrote more than 8388608 bytes to standard output. It wrote nothing to \
         standard error."
    );
    assert!(shop.is_tidy());
}

#[tokio::test]
async fn one_that_never_ends_and_its_children() {
    let script = format!("{}(while :; do sleep 1; done) &\necho busy >&2\nwait", Alive::OPEN);
    let shop = Workshop::sh_with(&script, "timeout = 0.5");
    let alive = Alive::watch(&shop.bag);
    let text = shop.failure().await;
    let (start, end) = text.split_once("seconds").unwrap();
    assert!(start.starts_with("Tool s__t was ended after "), "{text}");
    assert_eq!(end, ", the time it has. Its last lines on standard error:\nbusy");
    alive.gone().await;
}

#[tokio::test]
async fn one_that_does_not_listen_when_it_is_told_to_end() {
    let script = format!("trap '' TERM\n{}while :; do sleep 1; done", Alive::OPEN);
    let shop = Workshop::sh_with(&script, "timeout = 0.5");
    let alive = Alive::watch(&shop.bag);
    assert!(shop.failure().await.starts_with("Tool s__t was ended after "));
    alive.gone().await;
}

#[tokio::test]
async fn one_whose_child_holds_the_pipes_is_answered_for_and_the_child_is_ended() {
    let script = format!("{}(trap '' TERM; while :; do sleep 1; done) &\necho 7", Alive::OPEN);
    let shop = Workshop::sh(&script);
    let alive = Alive::watch(&shop.bag);
    assert_eq!(shop.json().await, r#"{"content":[{"type":"text","text":"7"}]}"#);
    alive.gone().await;
}

/// Nothing but a sandbox holds one that leaves its group; it holds up nobody all the same.
#[tokio::test]
async fn one_whose_child_leaves_the_group_holds_up_nobody() {
    let shop = Workshop::sh("command -v setsid >/dev/null && setsid sleep 5 &\necho 7");
    assert_eq!(shop.json().await, r#"{"content":[{"type":"text","text":"7"}]}"#);
}

#[tokio::test]
async fn one_that_ends_at_once_and_one_that_closes_its_input() {
    let large = json!({ "text": "x".repeat(1024 * 1024) });
    for script in ["echo 7", "exec <&-\necho 7", "head -c 1 >/dev/null\necho 7"] {
        let shop = Workshop::sh(script);
        let output = shop.call_with("s__t", large.clone(), &CallContext::default()).await.unwrap();
        assert_eq!(
            serde_json::to_value(&output).unwrap(),
            json!({ "content": [{ "type": "text", "text": "7" }] })
        );
    }
}

#[tokio::test]
async fn one_that_reads_a_large_input_while_it_writes_a_large_answer() {
    let shop = Workshop::sh("exec cat");
    let text = "x".repeat(2 * 1024 * 1024);
    let output =
        shop.call_with("s__t", json!({ "text": text }), &CallContext::default()).await.unwrap();
    let echoed: serde_json::Value = serde_json::from_str(output.structured.unwrap().get()).unwrap();
    assert!(echoed["args"]["text"] == text.as_str());
}

#[tokio::test]
async fn one_that_writes_garbage() {
    let shop = Workshop::sh("printf '\\001\\377\\000\\033[2J'; head -c 2000 /dev/zero");
    assert_eq!(
        shop.failure().await,
        "Tool s__t gave no usable answer: it must write one JSON value to standard output: byte 1 is not UTF-8. It \
         wrote 2007 bytes, which begin: `\\u{1}\u{fffd}\\0\\u{1b}[2J"
            .to_owned()
            + &"\\0".repeat(193)
            + "…`"
    );
}

#[tokio::test]
async fn one_that_floods_standard_error() {
    let shop = Workshop::sh(
        "i=0\nyes flood | head -n 200000 >&2\nhead -c 100000 /dev/zero >&2\necho >&2\necho 7",
    );
    let (output, lines) = shop.reported().await;
    assert_eq!(serde_json::to_value(&output).unwrap()["content"][0]["text"], "7");
    assert_eq!((lines.len(), lines[0].as_str()), (10_000, "flood"));
    let shop = Workshop::sh(
        "yes flood | head -n 200000 >&2\nhead -c 100000 /dev/zero | tr '\\0' x >&2\nexit 1",
    );
    let text = shop.failure().await;
    assert!(text.len() < 5_000 && text.starts_with("…\nxxx") && text.ends_with("xxx…"), "{text}");
}

#[tokio::test]
async fn one_that_kills_itself() {
    let shop = Workshop::sh("echo oh >&2\nkill -9 $$");
    assert_eq!(
        shop.failure().await,
        "Tool s__t was ended by signal 9. Its last lines on standard error:\noh"
    );
}

#[tokio::test]
async fn one_that_removes_its_own_folder_and_fills_what_it_was_given() {
    let shop = Workshop::sh(
        "head -c 1000000 /dev/zero >\"$CALL_DIR/zeros\"\nrm -rf \"$SKILL_DIR\"\necho 7",
    );
    assert_eq!(shop.json().await, r#"{"content":[{"type":"text","text":"7"}]}"#);
    assert!(shop.is_tidy());
    assert_eq!(shop.failure().await, "tool `s__t` is not known");
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_its_processes() {
    let script = format!("{}(while :; do sleep 1; done) &\nwait", Alive::OPEN);
    let shop = Arc::new(Workshop::sh(&script));
    let alive = Alive::watch(&shop.bag);
    let context = CallContext::default();
    let cancel = context.cancel.clone();
    let caller = tokio::spawn({
        let shop = Arc::clone(&shop);
        async move { shop.call_with("s__t", json!({}), &context).await }
    });
    alive.up().await;
    cancel.cancel();
    let outcome = caller.await.unwrap();
    assert_eq!(outcome, Err(CallError::Interrupted(Interrupted::Cancelled)));
    tokio::time::timeout(PATIENCE, shop.tools.idle()).await.expect("it comes to rest");
    assert!(shop.is_tidy());
    alive.gone().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends_its_processes() {
    let script = format!("trap '' TERM\n{}while :; do sleep 1; done", Alive::OPEN);
    let shop = Arc::new(Workshop::sh(&script));
    let alive = Alive::watch(&shop.bag);
    let caller = tokio::spawn({
        let shop = Arc::clone(&shop);
        async move { shop.answer().await }
    });
    alive.up().await;
    caller.abort();
    alive.gone().await;
    tokio::time::timeout(PATIENCE, shop.tools.idle()).await.expect("it comes to rest");
    assert!(shop.is_tidy());
}

#[test]
fn the_end_of_the_runtime_ends_every_process() {
    let script = format!("trap '' TERM\n{}while :; do sleep 1; done", Alive::OPEN);
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let first = runtime().unwrap();
    let (shop, alive) = first.block_on(async {
        let shop = Arc::new(Workshop::sh(&script));
        let alive = Alive::watch(&shop.bag);
        let caller = Arc::clone(&shop);
        drop(tokio::spawn(async move { caller.answer().await }));
        alive.up().await;
        (shop, alive)
    });
    first.shutdown_background();
    runtime().unwrap().block_on(alive.gone());
    drop(shop);
}
