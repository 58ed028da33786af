//! Outputs that are longer than their caller takes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag_tool::{
    BoxFuture, CallContext, Mode, OfferedTool, OutputBounds, Spill, SpillFailed, TokenBound,
    ToolOutput, Whole,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Gated, call, gated, spec};

/// Keeps outputs in memory.
#[derive(Default)]
struct Kept(Mutex<Vec<(String, String)>>);

impl Spill for Kept {
    fn keep<'a>(&'a self, whole: Whole<'a>) -> BoxFuture<'a, Result<String, SpillFailed>> {
        self.0.lock().unwrap().push((whole.tool.to_string(), whole.text.to_owned()));
        Box::pin(async { Ok("in `/spill/1.txt`, which `Read` reads on".to_owned()) })
    }
}

struct Fails;

impl Spill for Fails {
    fn keep<'a>(&'a self, _whole: Whole<'a>) -> BoxFuture<'a, Result<String, SpillFailed>> {
        Box::pin(async { Err(SpillFailed { reason: "the disk is full".to_owned() }) })
    }
}

struct Hangs;

impl Spill for Hangs {
    fn keep<'a>(&'a self, _whole: Whole<'a>) -> BoxFuture<'a, Result<String, SpillFailed>> {
        Box::pin(std::future::pending())
    }
}

/// A word is a token, and so is a line's end.
fn words(text: &str) -> usize {
    text.split(' ').filter(|word| !word.trim().is_empty()).count() + text.matches('\n').count()
}

fn giving() -> Gated {
    gated(Mode::FullAuto, &[]).with(OfferedTool::of_server(spec("give"), "files", "give"))
}

fn within(limit: usize, estimate: fn(&str) -> usize, spill: Option<Arc<dyn Spill>>) -> CallContext {
    let bounds = OutputBounds { tokens: Some(TokenBound { limit, estimate }), spill };
    CallContext { bounds, ..CallContext::default() }
}

async fn give(context: &CallContext, output: Value) -> ToolOutput {
    giving().toolbox.call(call("give", json!({ "output": output })), context).await.unwrap()
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn lines(count: usize) -> String {
    (1..=count).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect()
}

#[tokio::test]
async fn head_and_tail_are_kept_between_lines_and_the_whole_can_be_read_on() {
    let kept = Arc::new(Kept::default());
    let whole = lines(1_000);
    let context = within(88, words, Some(kept.clone()));
    let output = give(&context, json!({ "content": [text(&whole)] })).await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&output).unwrap(), @r#"
    {
      "content": [
        {
          "type": "text",
          "text": "line 1\nline 2\nline 3\nline 4\n"
        },
        {
          "type": "text",
          "text": "[992 lines (8828 bytes) are left out here. The whole is in `/spill/1.txt`, which `Read` reads on.]"
        },
        {
          "type": "text",
          "text": "line 997\nline 998\nline 999\nline 1000\n"
        }
      ]
    }
    "#);
    assert_eq!(*kept.0.lock().unwrap(), [("give".to_owned(), whole)]);
}

#[tokio::test]
async fn what_fits_is_left_alone() {
    let kept = Arc::new(Kept::default());
    let context = within(100, words, Some(kept.clone()));
    let output = json!({
        "content": [text("a b"), { "type": "odd", "n": 10_000_000_000_000_000_000_u64 }],
        "structuredContent": { "z": 1, "a": 2 },
        "_meta": { "k": [] },
    });
    let given = give(&context, output.clone()).await;
    assert_eq!(serde_json::to_string(&given).unwrap(), output.to_string());
    assert!(kept.0.lock().unwrap().is_empty());
}

/// One line is cut at a character, in the middle of nothing.
#[tokio::test]
async fn a_single_long_line_is_cut_at_a_character() {
    let context = within(164, str::len, None);
    let output = give(&context, json!({ "content": [text(&"あ".repeat(1_000))] })).await;
    let texts: Vec<String> =
        output.content.iter().map(|block| block.as_text().unwrap().into_owned()).collect();
    let end = "あ".repeat(16);
    assert_eq!(texts, [&*end, "[2904 bytes are left out here. The whole was not kept.]", &*end],);
}

/// An image is not counted and not cut; another block is kept whole or left out whole.
#[tokio::test]
async fn a_block_that_is_no_text_is_never_cut() {
    let kept = Arc::new(Kept::default());
    let context = within(300, str::len, Some(kept.clone()));
    let image = json!({ "type": "image", "data": "A".repeat(5_000), "mimeType": "image/png" });
    let small = json!({ "type": "resource_link", "uri": "fake://a", "name": "a" });
    let large =
        json!({ "type": "resource", "resource": { "uri": "fake://b", "text": "b".repeat(900) } });
    let output =
        json!({ "content": [text("before\n"), image, large, small, text(&"x ".repeat(300))] });
    let output = give(&context, output).await;
    let blocks: Vec<String> =
        output.content.iter().map(|block| serde_json::to_string(block).unwrap()).collect();
    let kinds: Vec<&str> = blocks.iter().map(|block| &block[..block.len().min(24)]).collect();
    insta::assert_debug_snapshot!(kinds, @r#"
    [
        "{\"type\":\"text\",\"text\":\"b",
        "{\"type\":\"image\",\"data\":\"",
        "{\"type\":\"resource_link\",",
        "{\"type\":\"text\",\"text\":\"x",
        "{\"type\":\"text\",\"text\":\"[",
        "{\"type\":\"text\",\"text\":\"x",
    ]
    "#);
    assert!(blocks.contains(&image.to_string()) && blocks.contains(&small.to_string()));
    let whole = &kept.0.lock().unwrap()[0].1;
    assert!(whole.contains(&large.to_string()) && !whole.contains("AAAA"));
}

#[tokio::test]
async fn structured_output_is_whole_or_not_there() {
    let kept = Arc::new(Kept::default());
    let context = within(200, str::len, Some(kept.clone()));
    // It is all there is: its JSON is cut as a text.
    let data = json!({ "z": "y".repeat(1_000), "a": 10_000_000_000_000_000_000_u64 });
    let output = give(&context, json!({ "content": [], "structuredContent": data })).await;
    assert!(output.structured.is_none() && !output.is_error);
    assert!(output.content[0].as_text().unwrap().starts_with(r#"{"z":"yyy"#));
    assert!(output.content[2].as_text().unwrap().ends_with(r#""a":10000000000000000000}"#));
    // The text says it all, and the data is too large.
    let output =
        give(&context, json!({ "content": [text("short")], "structuredContent": data })).await;
    assert!(output.structured.is_none());
    insta::assert_snapshot!(output.content[1].as_text().unwrap(), @"[1033 bytes of structured output are left out here. The whole is in `/spill/1.txt`, which `Read` reads on.]");
    // The data is small, and the text too large.
    let output = json!({ "content": [text(&"w ".repeat(500))], "structuredContent": { "n": 1 } });
    let output = give(&context, output).await;
    assert_eq!(output.structured.unwrap().get(), r#"{"n":1}"#);
    let spilled = kept.0.lock().unwrap();
    assert_eq!(spilled[0].1, data.to_string());
    assert_eq!(spilled[1].1, format!("short\n{data}"));
}

#[tokio::test(start_paused = true)]
async fn a_spill_that_fails_is_told() {
    let output = json!({ "content": [text(&lines(100))] });
    let failing = give(&within(90, words, Some(Arc::new(Fails))), output.clone()).await;
    let said = failing.content[1].as_text().unwrap().into_owned();
    assert!(said.ends_with("The whole could not be kept: the disk is full.]"), "{said}");
    // A spill that hangs ends at the deadline, and what was kept is still given.
    let deadline = Some(Instant::now() + Duration::from_secs(3));
    let hanging = CallContext { deadline, ..within(90, words, Some(Arc::new(Hangs))) };
    let output = give(&hanging, output).await;
    let said = output.content[1].as_text().unwrap().into_owned();
    assert!(said.ends_with("could not be kept: the call ran past its deadline.]"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever comes, what is kept is within the bound, is the beginning and the end of what there was, and the
    /// numbers in the marker add up.
    #[test]
    fn what_is_kept_is_within_the_bound(
        texts in prop::collection::vec("[a-c \n\u{e9}\u{3042}]{0,400}", 1..5),
        limit in 0_usize..600,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let blocks: Vec<Value> = texts.iter().map(|block| text(block)).collect();
        let kept = Arc::new(Kept::default());
        let context = within(limit, str::len, Some(kept.clone()));
        let output = runtime.block_on(give(&context, json!({ "content": blocks })));
        let given: Vec<String> =
            output.content.iter().map(|block| block.as_text().unwrap().into_owned()).collect();
        let whole = texts.concat();
        if whole.len() <= limit {
            prop_assert_eq!(given, texts);
            return Ok(());
        }
        let marker = given.iter().position(|block| block.ends_with("reads on.]")).unwrap();
        let (head, tail) = (given[..marker].concat(), given[marker + 1..].concat());
        prop_assert!(head.len() + tail.len() <= limit);
        prop_assert!(whole.starts_with(&head) && whole.ends_with(&tail));
        let missing = whole.len() - head.len() - tail.len();
        let said = given[marker].contains(&format!("{missing} bytes"));
        prop_assert!(said, "{}: {}", missing, given[marker]);
        prop_assert_eq!(kept.0.lock().unwrap().len(), 1);
    }
}
