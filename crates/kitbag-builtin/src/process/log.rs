//! What a process writes to standard error: told line by line, and its end kept.

use std::collections::VecDeque;

/// The most bytes of a line that are told; the rest of it is dropped.
pub(crate) const MAX_LINE_BYTES: usize = 4 * 1024;

/// The most lines that are told; later ones are kept as far as they are the last.
pub(crate) const MAX_TOLD_LINES: usize = 10_000;

/// The most bytes of the last lines that are kept.
pub(crate) const MAX_TAIL_BYTES: usize = 4 * 1024;

/// Tells each line as it comes, and keeps the last ones.
pub(crate) struct Log<'a> {
    tell: &'a mut (dyn FnMut(String) + Send),
    line: Vec<u8>,
    /// Whether the line is longer than what is kept of it.
    cut: bool,
    lines: usize,
    tail: VecDeque<String>,
    tail_bytes: usize,
}

impl<'a> Log<'a> {
    /// A log whose lines go to `tell`.
    pub(crate) fn to(tell: &'a mut (dyn FnMut(String) + Send)) -> Self {
        let (line, tail) = (Vec::new(), VecDeque::new());
        Self { tell, line, cut: false, lines: 0, tail, tail_bytes: 0 }
    }

    /// Takes what was written.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.append(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.append(bytes);
    }

    /// Takes a last line that has no line break.
    pub(super) fn end(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    /// The last lines; a first line `…` where there were more.
    pub(crate) fn tail(&self) -> String {
        let mut lines: Vec<&str> = self.tail.iter().map(String::as_str).collect();
        if lines.len() < self.lines && !lines.is_empty() {
            lines.insert(0, "…");
        }
        lines.join("\n").trim_end().to_owned()
    }

    fn append(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(MAX_LINE_BYTES - self.line.len());
        self.line.extend_from_slice(&bytes[..kept]);
        self.cut |= kept < bytes.len();
    }

    fn end_line(&mut self) {
        let mut line = String::from_utf8_lossy(&self.line).trim_end_matches('\r').to_owned();
        if self.cut {
            line.push('…');
        }
        self.line.clear();
        self.cut = false;
        self.lines += 1;
        if self.lines <= MAX_TOLD_LINES {
            (self.tell)(line.clone());
        }
        self.tail_bytes += line.len() + 1;
        self.tail.push_back(line);
        while self.tail_bytes > MAX_TAIL_BYTES && self.tail.len() > 1 {
            let dropped = self.tail.pop_front().map_or(0, |line| line.len() + 1);
            self.tail_bytes -= dropped;
        }
    }
}
