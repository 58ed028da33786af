//! Finds where the frontmatter of a `SKILL.md` begins and ends, in its bytes and without a look at the YAML.

use std::ops::Range;

use super::MAX_FRONTMATTER_BYTES;

/// The most characters of a language tag that are kept for a message.
const MAX_TAG_CHARS: usize = 40;

/// What [`split`] found at the top of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Whether a UTF-8 byte order mark stood first and was passed over.
    pub bom: bool,
    /// The fence, or what stands in its place.
    pub fence: Fence,
    /// How lines end, up to the closing fence or through all bytes where there is none.
    pub line_ends: LineEnds,
}

/// The fence of a `SKILL.md`. All ranges and offsets count the bytes that were given, the mark included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fence {
    /// The first line is no fence, and none seems to be meant further down.
    Absent,
    /// The file begins as UTF-16 does, so nothing in it can be read.
    Utf16,
    /// What looks like frontmatter stands further down, so it is body text (statement B-18).
    Misplaced {
        /// The line of its opening fence, counted from 1.
        line: u32,
        /// What stands before it.
        before: Before,
        /// The lines between its fences.
        yaml: Range<usize>,
    },
    /// A word follows the dashes of the first line, such as `---js`.
    Tagged {
        /// The word, cut to 40 characters.
        tag: String,
    },
    /// No line closes the frontmatter.
    Unclosed,
    /// No line closes the frontmatter within [`MAX_FRONTMATTER_BYTES`].
    TooLong,
    /// Frontmatter, opened on line 1 and closed.
    Closed {
        /// The lines between the fences, which may be none.
        yaml: Range<usize>,
        /// Where the body begins: after the line that closes.
        body: usize,
        /// The line that closes, counted from 1.
        closing_line: u32,
        /// How it closes.
        closing: Closing,
    },
}

/// The line that closes frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// `---`, as the open specification has it.
    Dashes,
    /// `...`, the end of a YAML document.
    Dots,
}

/// What stands before a fence that is not on line 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Blank lines alone.
    Blank,
    /// An HTML comment.
    Comment,
    /// Other text.
    Text,
}

/// The line ends that occur. Several at once is a file with mixed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineEnds {
    /// Some line ends at LF.
    pub lf: bool,
    /// Some line ends at CRLF.
    pub crlf: bool,
    /// Some line ends at a CR alone.
    pub cr: bool,
}

/// Finds the frontmatter in the first bytes of a `SKILL.md`.
///
/// Give it more than [`MAX_FRONTMATTER_BYTES`], or the whole file: what does not close in fewer is
/// [`Fence::Unclosed`]. A fence is a line of exactly `---` on line 1, closed by a line of exactly `---` or `...`;
/// blanks after either are tolerated. Lines end at LF, CRLF or a lone CR, mixed as they come.
pub fn split(bytes: &[u8]) -> Split {
    let bom = bytes.starts_with(b"\xEF\xBB\xBF");
    let start = if bom { 3 } else { 0 };
    let mut line_ends = LineEnds::default();
    let mut lines = Lines { bytes, at: start, number: 0 };
    let fence = if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        Fence::Utf16
    } else {
        match lines.next() {
            Some(first) if is_dashes(first.text) => {
                line_ends.add(first.end);
                closed(&mut lines, &mut line_ends)
            }
            Some(first) => match language_tag(first.text) {
                Some(tag) => Fence::Tagged { tag },
                None => misplaced(bytes, start),
            },
            None => Fence::Absent,
        }
    };
    if !matches!(fence, Fence::Closed { .. }) {
        line_ends = LineEnds::default();
        Lines { bytes, at: start, number: 0 }.for_each(|line| line_ends.add(line.end));
    }
    Split { bom, fence, line_ends }
}

fn closed(lines: &mut Lines<'_>, line_ends: &mut LineEnds) -> Fence {
    let start = lines.at;
    for line in lines.by_ref() {
        if line.start - start > MAX_FRONTMATTER_BYTES {
            return Fence::TooLong;
        }
        line_ends.add(line.end);
        let closing = if is_dashes(line.text) {
            Closing::Dashes
        } else if trim_end(line.text) == b"..." {
            Closing::Dots
        } else {
            continue;
        };
        return Fence::Closed {
            yaml: start..line.start,
            body: line.next,
            closing_line: line.number,
            closing,
        };
    }
    if lines.bytes.len() - start > MAX_FRONTMATTER_BYTES { Fence::TooLong } else { Fence::Unclosed }
}

/// Looks for frontmatter that something stands before: a first `---` line that a `key:` follows and another
/// `---` closes. A rule between paragraphs and an example in a code block are neither.
fn misplaced(bytes: &[u8], start: usize) -> Fence {
    let end = bytes.len().min(start + MAX_FRONTMATTER_BYTES);
    let mut lines = Lines { bytes: &bytes[..end], at: start, number: 0 };
    let Some(fence) = lines.by_ref().find(|line| is_dashes(line.text) || is_code_fence(line.text))
    else {
        return Fence::Absent;
    };
    let Some(first) = lines.by_ref().find(|line| !trim_end(line.text).is_empty()) else {
        return Fence::Absent;
    };
    if is_code_fence(fence.text) || !is_key_line(first.text) {
        return Fence::Absent;
    }
    let Some(close) = lines.find(|line| is_dashes(line.text)) else { return Fence::Absent };
    let before = bytes[start..fence.start].trim_ascii();
    let before = if before.is_empty() {
        Before::Blank
    } else if before.starts_with(b"<!--") && before.ends_with(b"-->") {
        Before::Comment
    } else {
        Before::Text
    };
    Fence::Misplaced { line: fence.number, before, yaml: fence.next..close.start }
}

fn is_dashes(line: &[u8]) -> bool {
    trim_end(line) == b"---"
}

fn is_code_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

fn is_key_line(line: &[u8]) -> bool {
    let key =
        line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
    key > 0 && matches!(line[key..], [b':'] | [b':', b' ' | b'\t', ..])
}

fn language_tag(line: &[u8]) -> Option<String> {
    let word = line.strip_prefix(b"---")?.trim_ascii();
    let is_word = word.first().is_some_and(u8::is_ascii_alphabetic)
        && word.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+'));
    is_word.then(|| word.iter().take(MAX_TAG_CHARS).map(|b| char::from(*b)).collect())
}

fn trim_end(line: &[u8]) -> &[u8] {
    let blanks = line.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
    &line[..line.len() - blanks]
}

impl LineEnds {
    fn add(&mut self, end: LineEnd) {
        match end {
            LineEnd::Lf => self.lf = true,
            LineEnd::CrLf => self.crlf = true,
            LineEnd::Cr => self.cr = true,
            LineEnd::None => {}
        }
    }
}

#[derive(Clone, Copy)]
enum LineEnd {
    Lf,
    CrLf,
    Cr,
    None,
}

struct Line<'b> {
    text: &'b [u8],
    start: usize,
    next: usize,
    number: u32,
    end: LineEnd,
}

struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    number: u32,
}

impl<'b> Iterator for Lines<'b> {
    type Item = Line<'b>;

    fn next(&mut self) -> Option<Line<'b>> {
        let start = self.at;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        let (end, width) = match rest[length..] {
            [b'\r', b'\n', ..] => (LineEnd::CrLf, 2),
            [b'\r', ..] => (LineEnd::Cr, 1),
            [b'\n', ..] => (LineEnd::Lf, 1),
            _ => (LineEnd::None, 0),
        };
        self.at = start + length + width;
        self.number = self.number.saturating_add(1);
        Some(Line { text: &rest[..length], start, next: self.at, number: self.number, end })
    }
}
