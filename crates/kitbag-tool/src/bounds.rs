//! How much of an output its caller takes, and where the rest goes.

mod cut;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::guard::guard;
use crate::{BoxFuture, CallContext, Content, SourceId, ToolName, ToolOutput};
use cut::Cut;

/// The most bytes that the output of one call may have, over all of its blocks and its structured part.
///
/// Text past it is cut, and a last block says how much is missing.
pub const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;

/// Tokens that are kept back for the text that says what is missing.
const MARKER_TOKENS: usize = 64;

/// How much of an output a caller takes; all of it, unless told.
#[derive(Clone, Default)]
pub struct OutputBounds {
    /// How much a model is to read.
    pub tokens: Option<TokenBound>,
    /// Where the whole of an output goes that is cut.
    pub spill: Option<Arc<dyn Spill>>,
}

/// The most tokens of an output that a model is to read, and how they are counted.
#[derive(Debug, Clone, Copy)]
pub struct TokenBound {
    /// The most tokens.
    pub limit: usize,
    /// Counts the tokens of a text, or estimates them. Nearly the sum of its lines' for a text of several.
    pub estimate: fn(&str) -> usize,
}

/// Keeps the whole of outputs that are cut, where they can be read on.
pub trait Spill: Send + Sync {
    /// Keeps an output and says where it is and how to read it, in words that go on after `The whole is `: a path, and the
    /// tool that reads it.
    fn keep<'a>(&'a self, whole: Whole<'a>) -> BoxFuture<'a, Result<String, SpillFailed>>;
}

/// The whole of an output.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'a> {
    /// The tool that gave it.
    pub tool: &'a ToolName,
    /// Its blocks, one after the other: texts as they are, others as their JSON, except for images and sounds, which are
    /// never left out of an output for their tokens.
    pub text: &'a str,
}

/// An output that could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SpillFailed {
    /// Why, in a sentence without its final stop.
    pub reason: String,
}

/// One block, as far as its bound is concerned.
enum Piece {
    /// A text, which may be cut.
    Text(Content, String),
    /// A block that is kept or left out whole, and its cost.
    Whole(Content, usize),
}

/// Cuts an output to what its caller takes, and says so in it.
pub(crate) async fn apply(
    output: ToolOutput,
    tool: &ToolName,
    context: &CallContext,
) -> ToolOutput {
    let output = match context.bounds.tokens {
        Some(bound) => within_tokens(output, bound, tool, context).await,
        None => output,
    };
    within_bytes(output, tool, context).await
}

/// Keeps the head and the tail of an output that costs more than `bound`, cut between lines where they are short enough.
///
/// A block that is no text is kept whole or left out whole; an image or a sound is always kept. Structured output is kept
/// where it alone is within the bound, since a part of it would be no JSON; where it is all there is, its JSON is cut as
/// a text.
async fn within_tokens(
    mut output: ToolOutput,
    bound: TokenBound,
    tool: &ToolName,
    context: &CallContext,
) -> ToolOutput {
    let fits = |text: &str| (bound.estimate)(text) <= bound.limit;
    let structured = output.structured.take_if(|raw| !fits(raw.get()));
    let mut content = std::mem::take(&mut output.content);
    let mut left_out = None;
    match structured {
        Some(raw) if content.is_empty() => content.push(Content::Text(raw.get().to_owned())),
        structured => left_out = structured,
    }
    let pieces: Vec<Piece> = content.into_iter().map(|block| piece(block, bound)).collect();
    let cost = pieces.iter().map(|piece| piece.cost(bound)).fold(0, usize::saturating_add);
    if cost <= bound.limit && left_out.is_none() {
        output.content = pieces.into_iter().map(Piece::into_content).collect();
        return output;
    }
    let mut whole = String::new();
    let texts = pieces.iter().filter_map(Piece::text);
    for text in texts.chain(left_out.as_ref().map(|raw| raw.get())) {
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(text);
    }
    let kept = keep(&whole, tool, context).await;
    let Cut { head, tail, lines, bytes } = cut::cut(pieces, bound);
    let mut missing = Vec::new();
    match (lines, bytes) {
        (_, 0) => {}
        (0 | 1, bytes) => missing.push(format!("{bytes} bytes")),
        (lines, bytes) => missing.push(format!("{lines} lines ({bytes} bytes)")),
    }
    missing.extend(left_out.map(|raw| format!("{} bytes of structured output", raw.get().len())));
    output.content = head;
    let marker = format!("[{} are left out here. {kept}]", missing.join(" and "));
    output.content.push(Content::Text(marker));
    output.content.extend(tail);
    output
}

/// Cuts an output that is larger than [`MAX_OUTPUT_BYTES`], and says so in it.
///
/// Structured output that alone is too large is dropped whole, since half of it would be no JSON, and the output
/// counts as a failure then: it is not what the tool's schema promises.
async fn within_bytes(
    mut output: ToolOutput,
    tool: &ToolName,
    context: &CallContext,
) -> ToolOutput {
    let structured = output.structured.as_ref().map_or(0, |raw| raw.get().len());
    let total = output.bytes();
    if total <= MAX_OUTPUT_BYTES {
        return output;
    }
    let mut whole = String::new();
    for block in &output.content {
        whole.push_str(&block.as_text().unwrap_or_else(|| Cow::Borrowed(block.raw())));
        whole.push('\n');
    }
    whole.push_str(output.structured.as_ref().map_or("", |raw| raw.get()));
    let kept = keep(&whole, tool, context).await;
    let mut left = MAX_OUTPUT_BYTES;
    if structured > left {
        output.structured = None;
        output.is_error = true;
    } else {
        left -= structured;
    }
    let mut blocks = Vec::with_capacity(output.content.len() + 1);
    for block in output.content {
        match block {
            block if block.bytes() <= left => {
                left -= block.bytes();
                blocks.push(block);
            }
            Content::Text(mut text) if left > 0 => {
                text.truncate(text.floor_char_boundary(left));
                left = 0;
                blocks.push(Content::Text(text));
            }
            Content::Text(_) | Content::Raw(_) => left = 0,
        }
    }
    blocks.push(Content::Text(format!(
        "[the output was {total} bytes; what is past {MAX_OUTPUT_BYTES} bytes is left out. {kept}]"
    )));
    output.content = blocks;
    output
}

/// Keeps the whole, and says in a sentence where it is.
async fn keep(whole: &str, tool: &ToolName, context: &CallContext) -> String {
    let Some(spill) = &context.bounds.spill else { return "The whole was not kept.".to_owned() };
    let origin: SourceId = "spill".parse().expect("the name is one of a source");
    let keep = async { spill.keep(Whole { tool, text: whole }).await };
    match guard(&origin, context, keep).await {
        Ok(Ok(place)) => format!("The whole is {place}."),
        Ok(Err(error)) => format!("The whole could not be kept: {error}."),
        Err(error) => format!("The whole could not be kept: {error}."),
    }
}

fn piece(block: Content, bound: TokenBound) -> Piece {
    if let Some(text) = block.as_text() {
        let text = text.into_owned();
        return Piece::Text(block, text);
    }
    let cost = if is_media(&block) { 0 } else { (bound.estimate)(block.raw()) };
    Piece::Whole(block, cost)
}

/// Whether the block is an image or a sound, whose JSON says nothing of what it costs a model.
fn is_media(block: &Content) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    serde_json::from_str::<Kind<'_>>(block.raw())
        .is_ok_and(|Kind { kind }| matches!(&*kind, "image" | "audio"))
}

impl Piece {
    fn cost(&self, bound: TokenBound) -> usize {
        match self {
            Self::Text(_, text) => (bound.estimate)(text),
            Self::Whole(_, cost) => *cost,
        }
    }

    /// What of it belongs into the whole.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(_, text) => Some(text),
            Self::Whole(_, 0) => None,
            Self::Whole(block, _) => Some(block.raw()),
        }
    }

    fn into_content(self) -> Content {
        match self {
            Self::Text(block, _) | Self::Whole(block, _) => block,
        }
    }
}

impl fmt::Debug for OutputBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputBounds")
            .field("tokens", &self.tokens)
            .field("spill", &self.spill.is_some())
            .finish()
    }
}
