//! The log as a table: one line a call, or two on a narrow terminal.

use std::time::Duration;

use anstyle::Style;
use kitbag_skills::shown;
use kitbag_store::{AuditEntry, AuditRecord, Decision, Outcome};
use unicode_width::UnicodeWidthStr;

use crate::style::{BAD, DIM, GOOD, NAME, WARN, cut, padded, paint};

/// The most columns that a caller or a tool takes from all rows.
const MAX_ALIGNED_COLUMNS: usize = 32;

/// The fewest columns in which a call is one line; with fewer it is two.
const LEAST_COLUMNS: usize = 110;

/// The columns of a time.
const TIME_COLUMNS: usize = 19;

/// The columns of a decision, an outcome, and how long a call took.
const WORD_COLUMNS: [usize; 3] = [8, 10, 8];

/// A table that grows at its end.
pub(super) struct Table {
    /// The terminal's, where there is one.
    columns: Option<usize>,
    has_head: bool,
    principals: usize,
    tools: usize,
}

impl Table {
    pub(super) fn new(columns: Option<usize>) -> Self {
        Self { columns, has_head: false, principals: "WHO".len(), tools: "TOOL".len() }
    }

    /// Adds rows. A column grows with what is added, and never shrinks.
    pub(super) fn add(&mut self, entries: &[AuditEntry], text: &mut String) {
        let rows: Vec<(String, String)> = entries
            .iter()
            .map(|entry| (shown::visible(&entry.record.principal), tool(&entry.record)))
            .collect();
        let widest = |least, cells: &mut dyn Iterator<Item = &str>| {
            cells.map(UnicodeWidthStr::width).chain([least]).max().unwrap_or(least)
        };
        self.principals = widest(self.principals, &mut rows.iter().map(|row| row.0.as_str()))
            .min(MAX_ALIGNED_COLUMNS);
        self.tools =
            widest(self.tools, &mut rows.iter().map(|row| row.1.as_str())).min(MAX_ALIGNED_COLUMNS);
        let narrow = self.columns.filter(|columns| *columns < LEAST_COLUMNS);
        if !self.has_head && narrow.is_none() {
            self.has_head = true;
            self.line(
                text,
                [
                    (DIM, "TIME (UTC)"),
                    (DIM, "DECISION"),
                    (DIM, "OUTCOME"),
                    (DIM, "TOOK"),
                    (DIM, "TOOL"),
                    (DIM, "WHO"),
                    (DIM, "BECAUSE"),
                ],
            );
        }
        for (entry, (principal, tool)) in entries.iter().zip(&rows) {
            let record = &entry.record;
            if entry.lost > 0 {
                let said = format!(
                    "… {} before this one found no room in the log",
                    super::calls(entry.lost)
                );
                text.push_str(&paint(WARN, said));
                text.push('\n');
            }
            let at = record.at.to_string();
            let at = at.get(..TIME_COLUMNS).unwrap_or(&at).replace('T', " ");
            if let Some(columns) = narrow {
                two_lines(text, columns, &at, record, tool, principal);
                continue;
            }
            self.line(
                text,
                [
                    (Style::new(), &at),
                    (decided(record.decision), record.decision.as_str()),
                    (came(record.outcome), record.outcome.as_str()),
                    (Style::new(), &took(record.duration)),
                    (NAME, tool),
                    (Style::new(), principal),
                    (DIM, &shown::visible(&record.rule)),
                ],
            );
        }
    }

    /// Writes a row, cut to the terminal.
    fn line(&self, text: &mut String, cells: [(Style, &str); 7]) {
        let [decision, outcome, took] = WORD_COLUMNS;
        let widths =
            [TIME_COLUMNS, decision, outcome, took, self.tools, self.principals, usize::MAX];
        let mut left = self.columns.unwrap_or(usize::MAX);
        for (index, ((style, cell), width)) in cells.into_iter().zip(widths).enumerate() {
            let gap = if index == 0 { 0 } else { 2 };
            if left <= gap {
                break;
            }
            left -= gap;
            text.push_str(&"  "[..gap]);
            let cell = cut(cell, width.min(left));
            if width == usize::MAX {
                text.push_str(&paint(style, cell));
                break;
            }
            text.push_str(&padded(style, &cell, width.min(left)));
            left -= width.min(left);
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
}

fn two_lines(
    text: &mut String,
    columns: usize,
    at: &str,
    record: &AuditRecord,
    tool: &str,
    principal: &str,
) {
    let decision = record.decision.as_str();
    let left = columns.saturating_sub(TIME_COLUMNS + 2 + decision.len() + 2);
    let head = [at, &paint(decided(record.decision), decision), &paint(NAME, cut(tool, left))];
    text.push_str(&head.join("  "));
    let (outcome, took) = (record.outcome.as_str(), took(record.duration));
    let rest = format!("{principal}, {outcome}, {took}: {}", shown::visible(&record.rule));
    text.push_str("\n  ");
    text.push_str(&paint(DIM, cut(&rest, columns.saturating_sub(2))));
    text.push('\n');
}

/// The tool, with whose it is in front.
fn tool(record: &AuditRecord) -> String {
    match record.source.as_str() {
        "" => shown::visible(&record.tool),
        source => shown::visible(&format!("{source}/{}", record.tool)),
    }
}

fn decided(decision: Decision) -> Style {
    match decision {
        Decision::Allowed | Decision::Approved => GOOD,
        Decision::Denied | Decision::Refused => BAD,
        Decision::Unjudged => WARN,
    }
}

fn came(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Ok | Outcome::Begun => GOOD,
        Outcome::NotRun => DIM,
        Outcome::ToolError | Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled => WARN,
    }
}

/// A duration in the unit that fits it.
fn took(duration: Duration) -> String {
    let micros = duration.as_micros();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        _ => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}
