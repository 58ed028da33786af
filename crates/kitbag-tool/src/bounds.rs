//! How much of an output its caller takes.

use crate::{Content, ToolOutput};

/// The most bytes that the output of one call may have, over all of its blocks and its structured part.
///
/// Text past it is cut, and a last block says how much is missing.
pub const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;

/// How much of an output a caller takes; all of it, unless told.
#[derive(Debug, Clone, Default)]
pub struct OutputBounds {}

/// Cuts an output that is larger than [`MAX_OUTPUT_BYTES`], and says so in it.
///
/// Structured output that alone is too large is dropped whole, since half of it would be no JSON, and the output
/// counts as a failure then: it is not what the tool's schema promises.
pub(crate) fn within_bytes(mut output: ToolOutput) -> ToolOutput {
    let structured = output.structured.as_ref().map_or(0, |raw| raw.get().len());
    let total = output.content.iter().map(Content::bytes).sum::<usize>() + structured;
    if total <= MAX_OUTPUT_BYTES {
        return output;
    }
    let mut left = MAX_OUTPUT_BYTES;
    if structured > left {
        output.structured = None;
        output.is_error = true;
    } else {
        left -= structured;
    }
    let mut kept = Vec::with_capacity(output.content.len() + 1);
    for block in output.content {
        match block {
            block if block.bytes() <= left => {
                left -= block.bytes();
                kept.push(block);
            }
            Content::Text(mut text) if left > 0 => {
                text.truncate(text.floor_char_boundary(left));
                left = 0;
                kept.push(Content::Text(text));
            }
            Content::Text(_) | Content::Raw(_) => left = 0,
        }
    }
    kept.push(Content::Text(format!(
        "[the output was {total} bytes; what is past {MAX_OUTPUT_BYTES} bytes was left out]"
    )));
    output.content = kept;
    output
}
