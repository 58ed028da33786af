//! What is kept of a review, so that the next one can say what changed.

use kitbag_skills::review::{Review, ReviewedFile};
use kitbag_store::MAX_SHOWN_BYTES;
use serde::{Deserialize, Serialize};

/// The most bytes that are kept of one review.
pub const MAX_RECORD_BYTES: usize = MAX_SHOWN_BYTES;

/// The layout of a record.
const VERSION: u32 = 1;

/// What a person was shown when they said yes, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    version: u32,
    /// The text of SKILL.md.
    pub text: String,
    /// Whether more of the text was covered than is kept.
    pub text_cut: bool,
    /// What it asked for.
    pub requests: Vec<String>,
    /// Path and fingerprint of what was covered.
    pub files: Vec<(String, String)>,
    /// How many more files were covered than are kept.
    pub files_left_out: usize,
}

impl Record {
    /// What is kept of a review, within [`MAX_RECORD_BYTES`].
    pub fn of(review: &Review) -> Self {
        let kept = |file: &ReviewedFile| (file.path.clone(), file.fingerprint.clone());
        let mut record = Self {
            version: VERSION,
            text: review.text.clone(),
            text_cut: review.is_cut(),
            requests: review.requests.clone(),
            files: review.files.iter().map(kept).collect(),
            files_left_out: 0,
        };
        // What JSON makes of a text is up to six times as long, so it is measured, not reckoned.
        while record.to_json().len() > MAX_RECORD_BYTES {
            let files: usize =
                record.files.iter().map(|(path, print)| path.len() + print.len()).sum();
            if files > record.text.len() {
                let keep = record.files.len() / 2;
                record.files_left_out += record.files.len() - keep;
                record.files.truncate(keep);
            } else if record.text.len() > record.requests.len() {
                record.text.truncate(record.text.floor_char_boundary(record.text.len() / 2));
                record.text_cut = true;
            } else {
                record.requests.truncate(record.requests.len() / 2);
            }
        }
        record
    }

    /// The record as text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a record; none where another program, or a later one, wrote it.
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|record: &Self| record.version == VERSION)
    }
}
