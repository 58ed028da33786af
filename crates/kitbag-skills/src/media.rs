//! What kind of thing a file is, and its bytes as text or Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::file::Chunk;

/// A part of a file, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// What it holds.
    pub content: Content,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// Where the next part begins, if the file goes on.
    pub next: Option<u64>,
    /// The length of the whole file in bytes.
    pub size: u64,
}

/// Bytes as they travel in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Valid UTF-8 without a NUL.
    Text(String),
    /// Anything else, in the standard alphabet with padding.
    Base64(String),
}

/// The media type of a file by the extension of its name.
///
/// The extensions are the skill server's 23 (section 1 of its promises), in any letter case; everything else, a name
/// that only begins with a dot included, is `application/octet-stream`.
pub fn media_type(path: &str) -> &'static str {
    const OTHER: &str = "application/octet-stream";
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return OTHER };
    if stem.is_empty() {
        return OTHER;
    }
    match extension.to_ascii_lowercase().as_str() {
        "md" => "text/markdown",
        "txt" => "text/plain",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "csv" => "text/csv",
        "js" | "mjs" => "text/javascript",
        "ts" => "text/x-typescript",
        "py" => "text/x-python",
        "sh" => "application/x-sh",
        "html" => "text/html",
        "css" => "text/css",
        "xml" | "xsd" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        _ => OTHER,
    }
}

/// Tells text from other bytes by the bytes alone: text is valid UTF-8 without a NUL.
///
/// A cut inside a character does not make a text anything else: the text ends before that character, and the next
/// part begins with it; a part that was asked for from inside a character begins after it. Only where nothing of
/// the text would be left, because the part is shorter than its one character, is it sent as Base64.
pub fn classify(chunk: Chunk) -> Passage {
    let Chunk { offset, bytes, size, truncated } = chunk;
    let end = offset + bytes.len() as u64;
    if let Some((skipped, text)) = text_of(&bytes, offset, truncated) {
        let offset = offset + skipped as u64;
        let next = truncated.then_some(offset + text.len() as u64);
        return Passage { content: Content::Text(text.to_owned()), offset, next, size };
    }
    Passage {
        content: Content::Base64(STANDARD.encode(&bytes)),
        offset,
        next: truncated.then_some(end),
        size,
    }
}

/// The text in `bytes` and how many bytes before it belong to the character that a part before this one ends with.
fn text_of(bytes: &[u8], offset: u64, truncated: bool) -> Option<(usize, &str)> {
    if bytes.contains(&0) {
        return None;
    }
    let skipped = match offset {
        0 => 0,
        _ => bytes.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count(),
    };
    let bytes = &bytes[skipped..];
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if truncated && error.error_len().is_none() => {
            str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.is_empty() || (skipped == 0 && !truncated)).then_some((skipped, text))
}
