//! What is not as it was when the skill was approved.

use std::collections::BTreeMap;

use kitbag_skills::review::Review;

use super::Record;
use crate::diff::diff;

/// What changed since an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What became of each file that is not the same, in order of the paths.
    pub files: Vec<(String, Change)>,
    /// How many files of the earlier state are not known any more.
    pub unknown_files: usize,
    /// The lines of SKILL.md that differ, as a unified diff; as they are, so with what cannot be seen.
    pub text: String,
    /// Whether the end of the earlier text is not known any more.
    pub text_cut: bool,
    /// The requests that differ, in the same form.
    pub requests: String,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It came.
    Added,
    /// It went.
    Removed,
    /// It holds something else, or is something else.
    Changed,
}

impl Change {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

impl Difference {
    /// What changed between a record and a review.
    pub fn between(record: &Record, review: &Review) -> Self {
        let before: BTreeMap<&str, &str> =
            record.files.iter().map(|(path, print)| (path.as_str(), print.as_str())).collect();
        let now: BTreeMap<&str, &str> =
            review.files.iter().map(|file| (&*file.path, &*file.fingerprint)).collect();
        let mut files = BTreeMap::new();
        for (path, print) in &now {
            let change = match before.get(path) {
                Some(same) if same == print => continue,
                Some(_) => Change::Changed,
                // It may be one of those that are not known any more.
                None if record.files_left_out > 0 => continue,
                None => Change::Added,
            };
            files.insert((*path).to_owned(), change);
        }
        for path in before.keys().filter(|path| !now.contains_key(*path)) {
            files.insert((*path).to_owned(), Change::Removed);
        }
        // Of a text that was kept in part, only as much is compared.
        let now_text = if record.text_cut {
            &review.text[..review.text.floor_char_boundary(record.text.len())]
        } else {
            &review.text
        };
        let lines = |requests: &[String]| requests.iter().flat_map(|line| [line, "\n"]).collect();
        let (before, now): (String, String) = (lines(&record.requests), lines(&review.requests));
        Self {
            files: files.into_iter().collect(),
            unknown_files: record.files_left_out,
            text: diff(&record.text, now_text),
            text_cut: record.text_cut,
            requests: diff(&before, &now),
        }
    }

    /// Whether nothing is known to be different.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.text.is_empty() && self.requests.is_empty()
    }
}
