//! What a page of several sources' lists ends with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::SourceId;

/// The most bytes a cursor may have; the longest key is a few times a path of 1,024 characters.
const MAX_CURSOR_BYTES: usize = 16 * 1024;

/// Names a place in a source's list: after `key`, or at its start.
///
/// Opaque to whoever passes it back. A source's name holds no NUL, so the first one parts the two.
pub(super) fn encode(source: &SourceId, key: Option<&str>) -> String {
    let mut plain = source.as_str().to_owned();
    if let Some(key) = key {
        plain.push('\0');
        plain.push_str(key);
    }
    URL_SAFE_NO_PAD.encode(plain)
}

/// Reads what [`encode`] wrote; none where it did not.
pub(super) fn decode(cursor: &str) -> Option<(String, Option<String>)> {
    if cursor.len() > MAX_CURSOR_BYTES {
        return None;
    }
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    Some(match plain.split_once('\0') {
        Some((source, key)) => (source.to_owned(), Some(key.to_owned())),
        None => (plain, None),
    })
}
