//! TOML as values with places.

use std::ops::Range;

use serde_json::Number;
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use crate::declaration::item::{Datum, Item, Table};
use crate::problem::Position;

/// Reads TOML; the error has its place and a message of one line.
pub(super) fn parse(text: &str) -> Result<Table, (Position, String)> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(lines.table(table.get_ref())),
        Err(error) => {
            let position = lines.position(error.span().map_or(0, |span| span.start));
            Err((position, error.message().replace('\n', "; ")))
        }
    }
}

/// How many bytes lie between the places whose count of characters is kept.
const STRIDE: usize = 256;

/// Where the lines of a text begin, and how many characters stand before every 256th byte, so that a place costs a
/// search and a short count wherever it is, also in a file of one line.
struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
    counts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let counts = text.as_bytes().chunks(STRIDE).scan(0, |before, chunk| {
            let count = *before;
            *before += characters(chunk);
            Some(count)
        });
        let starts = std::iter::once(0).chain(breaks).collect();
        Self { text: text.as_bytes(), starts, counts: counts.collect() }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start =
            line.checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or(0);
        let column = self.before(offset).saturating_sub(self.before(start));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(column).saturating_add(1) }
    }

    /// How many characters begin before the byte `offset`.
    fn before(&self, offset: usize) -> usize {
        let chunk = (offset / STRIDE).min(self.counts.len().saturating_sub(1));
        let counted = self.counts.get(chunk).copied().unwrap_or(0);
        let rest = self.text.get(chunk * STRIDE..offset.min(self.text.len())).unwrap_or_default();
        counted + characters(rest)
    }

    fn at(&self, span: &Range<usize>) -> Position {
        self.position(span.start)
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let entries = table.iter().map(|(key, value)| {
            let name = Item { value: key.get_ref().to_string(), position: self.at(&key.span()) };
            (name, self.item(value))
        });
        entries.collect()
    }

    fn item(&self, spanned: &Spanned<DeValue<'_>>) -> Item<Datum> {
        let value = match spanned.get_ref() {
            DeValue::String(text) => Datum::Text(text.to_string()),
            DeValue::Boolean(flag) => Datum::Bool(*flag),
            DeValue::Array(items) => {
                Datum::List(items.iter().map(|item| self.item(item)).collect())
            }
            DeValue::Table(table) => Datum::Table(self.table(table)),
            DeValue::Integer(number) => integer(number),
            DeValue::Float(number) => float(number),
            DeValue::Datetime(date) => Datum::Other("a date", date.to_string()),
        };
        Item { value, position: self.at(&spanned.span()) }
    }
}

/// How many characters begin in `bytes` of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

fn integer(number: &DeInteger<'_>) -> Datum {
    match i64::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) => Datum::Number(number.into()),
        Err(_) => Datum::Other("a number out of range", number.to_string()),
    }
}

fn float(number: &DeFloat<'_>) -> Datum {
    let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
    parsed.map_or_else(|| Datum::Other("a number out of range", number.to_string()), Datum::Number)
}
