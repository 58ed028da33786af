//! One value out of what several layers say.

use serde_json::{Map, Value};

use crate::section::Merge;

use super::contribution::{Contribution, Verdict};

/// Merges what counts, weakest first; nothing where no layer says anything.
pub(super) fn merged(merge: Merge, found: &[Contribution<'_>]) -> Option<Value> {
    let mut values = found
        .iter()
        .filter(|one| one.verdict == Verdict::Counts)
        .filter_map(|one| one.value.clone())
        .peekable();
    values.peek()?;
    match merge {
        Merge::Replace => values.last(),
        Merge::Accumulate => Some(Value::Array(joined(values))),
        Merge::ByEntry => {
            let mut entries = Map::new();
            for value in values {
                let Value::Object(stronger) = value else { continue };
                entries.extend(stronger);
            }
            Some(Value::Object(entries))
        }
    }
}

/// The items of all lists without repetitions; a single value is a list of itself.
fn joined(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    let mut items = Vec::new();
    for value in values {
        let more = match value {
            Value::Array(more) => more,
            single => vec![single],
        };
        items.extend(more.into_iter().filter(|item| seen.insert(item.to_string())));
    }
    items
}
