//! One value out of what several layers say.

use serde_json::{Map, Value};

use crate::section::Merge;

use super::contribution::{Contribution, Verdict};

/// Merges what counts, weakest first; nothing where no layer says anything.
///
/// A value that does not fit still stands in the way of weaker ones: a fault in the user's file must not let a project's value through.
pub(super) fn merged(merge: Merge, found: &[Contribution<'_>]) -> Option<Value> {
    let counting = || found.iter().filter(|one| one.verdict == Verdict::Counts);
    match merge {
        Merge::Replace => counting().next_back()?.value.clone(),
        Merge::Accumulate => {
            let mut values = counting().filter_map(|one| one.value.clone()).peekable();
            values.peek()?;
            Some(Value::Array(joined(values)))
        }
        Merge::ByEntry => {
            let mut entries = Map::new();
            counting().next()?;
            for one in counting() {
                match &one.value {
                    Some(Value::Object(stronger)) => entries.extend(stronger.clone()),
                    _ => entries.clear(),
                }
                entries.retain(|name, _| !one.refused.contains(name));
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
