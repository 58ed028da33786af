//! Which of the lines that come in are too long.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::RequestId;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// The most bytes that a line from the client may have, its end included.
///
/// What a parsed JSON text takes in memory can be two hundred times its length.
pub(super) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// How much of the beginning of a line is searched for the id of the request, once the line is too long.
const HEAD_BYTES: usize = 64 * 1024;

/// Passes everything on as it comes, and reports the ids of requests whose lines are too long.
pub(super) struct Lines<R> {
    inner: R,
    /// The beginning of the line that is being read.
    head: Vec<u8>,
    /// How many bytes of it have come.
    length: usize,
    overlong: mpsc::Sender<RequestId>,
}

impl<R> Lines<R> {
    pub(super) fn new(inner: R, overlong: mpsc::Sender<RequestId>) -> Self {
        Self { inner, head: Vec::new(), length: 0, overlong }
    }

    /// Looks at what stands in one line.
    fn see(&mut self, part: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        let fitted = self.length <= MAX_LINE_BYTES;
        self.length = self.length.saturating_add(part.len());
        if fitted && self.length > MAX_LINE_BYTES {
            tracing::warn!(
                "a line of the client is dropped: it is longer than {MAX_LINE_BYTES} bytes"
            );
            if let Some(id) = request_id(&self.head)
                && self.overlong.try_send(id).is_err()
            {
                tracing::debug!("a request that is too long goes without an answer");
            }
        }
        if part.ends_with(b"\n") {
            self.head.clear();
            self.length = 0;
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        for part in buffer.filled()[before..].split_inclusive(|byte| *byte == b'\n') {
            self.see(part);
        }
        Poll::Ready(Ok(()))
    }
}

/// The `id` of the object that `head` begins with; none where it does not stand there whole.
fn request_id(head: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = head.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = string_end(head, at)?;
                let after = head[end..].trim_ascii_start();
                if depth == 1
                    && &head[at..end] == br#""id""#
                    && let Some(value) = after.strip_prefix(b":")
                {
                    let value = value.trim_ascii_start();
                    let end = match value.first()? {
                        b'"' => string_end(value, 0)?,
                        _ => value.iter().position(|byte| !matches!(byte, b'-' | b'0'..=b'9'))?,
                    };
                    return serde_json::from_slice(&value[..end]).ok();
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string that begins at `start` has ended.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
