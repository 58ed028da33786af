//! Where a placeholder stands in code whose author may not have meant one (decision 8).

use std::collections::HashMap;
use std::ops::Range;

use crate::problem::Position;
use crate::shown::visible;

use super::scan::{Names, Place, PlaceholderKind, Scanner};
use super::words::words;
use super::{Asked, Call, Dialect, Shortfall};

/// The most lines that [`code_placeholders`] shows.
pub const MAX_PREVIEWS: usize = 20;

/// The most characters of a line that a [`Preview`] shows.
pub const PREVIEW_CHARS: usize = 120;

/// Characters of a long line that stand before its placeholder in a preview.
const BEFORE_CHARS: usize = 40;

/// What a preview puts in: a word for each index.
const SAMPLE: &str = "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN";

/// The lines of code that the arguments of a call would change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Previews {
    /// The first of them, at most [`MAX_PREVIEWS`].
    pub shown: Vec<Preview>,
    /// How many more there are.
    pub more: usize,
}

/// A line of code as it is written, and as a call with arguments would change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The place of the line's first index placeholder in the body.
    pub position: Position,
    /// The line as written, at most [`PREVIEW_CHARS`] of it, from the placeholder's neighbourhood.
    pub line: String,
    /// The same with the words `ONE`, `TWO`, … put in.
    pub becomes: String,
}

/// Finds the lines with an index such as `$1` in a fenced block or inline code, of a skill that declares no arguments.
///
/// Such a line is more often a shell's or `awk`'s own `$1` than a placeholder; the skill's author should know what a
/// call with arguments makes of it. Where `names` declares arguments, there is nothing to say. Lines count within
/// the body.
pub fn code_placeholders(body: &str, dialect: Dialect, names: &[String]) -> Previews {
    let mut previews = Previews::default();
    if !names.is_empty() {
        return previews;
    }
    let names = Names::new(names);
    let code = code_ranges(body);
    let mut code = code.iter().peekable();
    let mut place = Place::start(body);
    let mut line_end = 0;
    for found in Scanner::new(body, dialect, &names) {
        let start = found.span.start;
        // Nothing but a skill's author writes `$ARGUMENTS[0]`.
        let is_bare = body.as_bytes()[start + 1].is_ascii_digit();
        if !matches!(found.kind, PlaceholderKind::Word(_)) || !is_bare || start < line_end {
            continue;
        }
        while code.next_if(|range| range.end <= start).is_some() {}
        if !code.peek().is_some_and(|range| range.contains(&start)) {
            continue;
        }
        line_end = start + body[start..].find(['\n', '\r']).unwrap_or(body.len() - start);
        if previews.shown.len() == MAX_PREVIEWS {
            previews.more += 1;
            continue;
        }
        let line_start = body[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line = snippet(&body[line_start..line_end], start - line_start);
        previews.shown.push(Preview {
            position: place.advance(start),
            line: visible(line),
            becomes: visible(&sample(line, dialect, &names)),
        });
    }
    previews
}

/// The part of `line` around byte `at` that a preview shows.
fn snippet(line: &str, at: usize) -> &str {
    let start =
        line[..at].char_indices().rev().take(BEFORE_CHARS).last().map_or(at, |(start, _)| start);
    let rest = &line[start..];
    let end = rest.char_indices().nth(PREVIEW_CHARS).map_or(rest.len(), |(end, _)| end);
    rest[..end].trim()
}

fn sample(line: &str, dialect: Dialect, names: &Names<'_>) -> String {
    let mut call = Call {
        text: SAMPLE,
        words: words(SAMPLE, dialect),
        skill_dir: None,
        asked: Asked::default(),
        shortfall: Shortfall::default(),
    };
    call.expand(line, dialect, names)
}

/// The bytes of `body` that are fenced blocks or inline code, in order.
fn code_ranges(body: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut ticks: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
        if let Some(open) = &fence {
            if open.is_closed_by(content) {
                ranges.push(open.start..at);
                fence = None;
            }
        } else if let Some((mark, length)) = fence_mark(content) {
            inline_ranges(&mut ticks, &mut ranges);
            fence = Some(Fence { start, mark, length });
        } else if content.is_empty() {
            inline_ranges(&mut ticks, &mut ranges);
        } else {
            tick_runs(line, start, &mut ticks);
        }
    }
    inline_ranges(&mut ticks, &mut ranges);
    if let Some(open) = fence {
        ranges.push(open.start..body.len());
    }
    ranges
}

struct Fence {
    start: usize,
    mark: char,
    length: usize,
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        line.chars().all(|c| c == self.mark) && line.len() >= self.length
    }
}

/// The mark and length of the fence that `line` opens.
fn fence_mark(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Adds the runs of backticks in `line`, which begins at byte `start` of the body.
fn tick_runs(line: &str, start: usize, ticks: &mut Vec<Range<usize>>) {
    for (at, _) in line.match_indices('`') {
        match ticks.last_mut() {
            Some(run) if run.end == start + at => run.end += 1,
            _ => ticks.push(start + at..start + at + 1),
        }
    }
}

/// Pairs the backtick runs of one paragraph: a run is closed by the next of its length.
fn inline_ranges(ticks: &mut Vec<Range<usize>>, ranges: &mut Vec<Range<usize>>) {
    let mut next_of_length = HashMap::new();
    let mut closers: Vec<Option<usize>> = vec![None; ticks.len()];
    for (at, run) in ticks.iter().enumerate().rev() {
        closers[at] = next_of_length.insert(run.len(), at);
    }
    let mut at = 0;
    while at < ticks.len() {
        match closers[at] {
            Some(closer) => {
                ranges.push(ticks[at].end..ticks[closer].start);
                at = closer + 1;
            }
            None => at += 1,
        }
    }
    ticks.clear();
}
