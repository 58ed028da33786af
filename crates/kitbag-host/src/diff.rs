//! What changed between two texts, line by line.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 3;

/// How long the shortest answer is looked for; after that a longer one is taken.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines that differ, as a unified diff without file names; empty where none does.
pub fn diff(before: &str, after: &str) -> String {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .missing_newline_hint(false)
        .to_string()
}
