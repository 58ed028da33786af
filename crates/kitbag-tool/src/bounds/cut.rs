//! Taking the head and the tail of many blocks.

use super::{MARKER_TOKENS, Piece, TokenBound};
use crate::Content;

/// What is kept of the blocks, and how much is not.
#[derive(Default)]
pub(super) struct Cut {
    pub(super) head: Vec<Content>,
    pub(super) tail: Vec<Content>,
    /// Lines of text that are missing, those that are cut included.
    pub(super) lines: usize,
    /// Bytes that are missing.
    pub(super) bytes: usize,
}

/// Cuts the blocks to `bound`: blocks that are no text first, up to half of it, then half of the rest for the head of the
/// texts and half for the tail.
pub(super) fn cut(pieces: Vec<Piece>, bound: TokenBound) -> Cut {
    let mut cut = Cut::default();
    let limit = bound.limit.saturating_sub(MARKER_TOKENS);
    let mut whole = limit / 2;
    let mut pieces: Vec<Piece> = pieces
        .into_iter()
        .filter(|piece| match piece {
            Piece::Text(..) => true,
            Piece::Whole(block, cost) => {
                let fits = *cost <= whole;
                if fits {
                    whole -= cost;
                } else {
                    cut.bytes += block.bytes();
                }
                fits
            }
        })
        .collect();
    let texts = limit - (limit / 2 - whole);
    let cost = |piece: &Piece| match piece {
        Piece::Text(_, text) => (bound.estimate)(text),
        Piece::Whole(..) => 0,
    };
    if pieces.iter().map(cost).fold(0, usize::saturating_add) <= texts {
        cut.head = pieces.into_iter().map(Piece::into_content).collect();
        return cut;
    }

    let mut left = texts / 2;
    let first = pieces.iter().position(|piece| match cost(piece) {
        cost if cost <= left => {
            left -= cost;
            false
        }
        _ => true,
    });
    // The texts cost more than there is for both ends, so that one of them does not fit.
    let first = first.unwrap_or(pieces.len());
    let mut rest = pieces.split_off(first);
    cut.head = pieces.into_iter().map(Piece::into_content).collect();
    if let Some(Piece::Text(_, text)) = rest.first_mut() {
        let end = head(text, left, bound);
        if end > 0 {
            let tail = text.split_off(end);
            cut.head.push(Content::Text(std::mem::replace(text, tail)));
        }
    }
    let mut left = texts / 2;
    let mut tail = Vec::new();
    while let Some(piece) = rest.pop() {
        let cost = cost(&piece);
        match piece {
            Piece::Whole(block, _) => tail.push(block),
            // The first of the rest was cut already, so that its own block is no longer what it says.
            Piece::Text(block, text) if cost <= left => {
                left -= cost;
                tail.push(if rest.is_empty() { Content::Text(text) } else { block });
            }
            Piece::Text(_, text) => {
                let start = text.len() - self::tail(&text, left, bound);
                left = 0;
                cut.bytes += start;
                cut.lines += text[..start].lines().count();
                if start < text.len() {
                    tail.push(Content::Text(text[start..].to_owned()));
                }
            }
        }
    }
    tail.reverse();
    cut.tail = tail;
    cut
}

/// How many bytes of the beginning cost at most `budget`: whole lines, or a part of a line that is long.
fn head(text: &str, budget: usize, bound: TokenBound) -> usize {
    let mut left = budget;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let cost = (bound.estimate)(line);
        if cost > left {
            break;
        }
        left -= cost;
        end += line.len();
    }
    if left <= budget / 2 {
        return end;
    }
    let rest = &text[end..];
    end + most(rest.len(), left, |bytes| {
        let bytes = rest.floor_char_boundary(bytes);
        (bytes, (bound.estimate)(&rest[..bytes]))
    })
}

/// How many bytes of the end cost at most `budget`.
fn tail(text: &str, budget: usize, bound: TokenBound) -> usize {
    let mut left = budget;
    let mut length = 0;
    for line in text.split_inclusive('\n').rev() {
        let cost = (bound.estimate)(line);
        if cost > left {
            break;
        }
        left -= cost;
        length += line.len();
    }
    if left <= budget / 2 {
        return length;
    }
    let rest = &text[..text.len() - length];
    length
        + most(rest.len(), left, |bytes| {
            let start = rest.ceil_char_boundary(rest.len() - bytes);
            (rest.len() - start, (bound.estimate)(&rest[start..]))
        })
}

/// The most bytes, of `all`, that cost no more than `budget`. `measure` gives a number of bytes at a boundary of
/// characters, not above the one it is asked about, and its cost. What is looked at grows with the budget, not with `all`.
fn most(all: usize, budget: usize, measure: impl Fn(usize) -> (usize, usize)) -> usize {
    if budget == 0 {
        return 0;
    }
    let fits = |bytes| measure(bytes).1 <= budget;
    let mut high = budget.min(all);
    while high < all && fits(high) {
        high = high.saturating_mul(2).min(all);
    }
    if fits(high) {
        return high;
    }
    let mut low = 0;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    measure(low).0
}
