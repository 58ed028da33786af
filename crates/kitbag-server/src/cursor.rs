//! What a page of a list that the server itself cuts ends with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;

use crate::failure;

/// The most bytes of a cursor that are looked at; the longest key is a path of 1,024 characters.
pub(crate) const MAX_CURSOR_BYTES: usize = 16 * 1024;

/// Names the place after `key` in a list. Opaque to whoever passes it back.
///
/// A list's name holds no NUL, so the first one parts the two.
pub(crate) fn encode(list: &str, key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}\0{key}"))
}

/// The key that [`encode`] wrote for the same list.
pub(crate) fn decode(list: &str, cursor: Option<&str>) -> Result<Option<String>, ErrorData> {
    cursor.map(|cursor| key(list, cursor).ok_or_else(invalid)).transpose()
}

/// A cursor that was not made for the list.
pub(crate) fn invalid() -> ErrorData {
    failure::invalid("Invalid cursor")
}

fn key(list: &str, cursor: &str) -> Option<String> {
    if cursor.len() > MAX_CURSOR_BYTES {
        return None;
    }
    let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (made_for, key) = plain.split_once('\0')?;
    (made_for == list).then(|| key.to_owned())
}
