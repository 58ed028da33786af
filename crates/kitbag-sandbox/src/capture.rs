//! What is kept of a stream of output: its beginning, and how long it was.

/// The most bytes of a line that is passed on while a program runs; the rest of it is left out there.
pub const MAX_LINE_BYTES: usize = 8 * 1024;

/// Which output a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What came out of one stream, as bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The first bytes, up to the limit of the policy.
    pub bytes: Vec<u8>,
    /// How many bytes came in all.
    pub total: u64,
}

impl Captured {
    /// Says whether some of it was dropped.
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    pub(crate) fn push(&mut self, chunk: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len()).min(chunk.len());
        self.bytes.extend_from_slice(&chunk[..room]);
        self.total += chunk.len() as u64;
    }
}

/// Cuts a stream into lines of text.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Hands on every line that a chunk ends, without its line break.
    pub(crate) fn push(&mut self, chunk: &[u8], mut on_line: impl FnMut(&str)) {
        let mut pieces = chunk.split(|byte| *byte == b'\n');
        // Splitting gives at least one piece, and the last one has no end yet.
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.extend(piece);
            self.finish_line(&mut on_line);
        }
        self.extend(last);
    }

    /// Hands on what is left when the stream ends.
    pub(crate) fn finish(&mut self, mut on_line: impl FnMut(&str)) {
        if !self.begun.is_empty() {
            self.finish_line(&mut on_line);
        }
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.begun.len()).min(piece.len());
        self.begun.extend_from_slice(&piece[..room]);
    }

    fn finish_line(&mut self, on_line: &mut impl FnMut(&str)) {
        let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
        on_line(&String::from_utf8_lossy(line));
        self.begun.clear();
    }
}
