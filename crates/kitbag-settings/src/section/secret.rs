//! Keeps the values of secret keys out of what is shown.

use serde_json::Value;

use super::Secrecy;

/// What stands in the place of a secret.
const WITHHELD: &str = "(secret)";

/// `value`, which lies at `below` under its key, with [`WITHHELD`] in the place of every secret.
pub(crate) fn redacted(value: Value, secrecy: Secrecy, below: &[String]) -> Value {
    cover(value, &patterns(secrecy), below, &|_| Value::from(WITHHELD))
}

/// The whole value of a key with every secret replaced by another value of the same type.
///
/// What is made from the result cannot hold a secret, whoever words it.
pub(crate) fn masked(value: Value, secrecy: Secrecy, below: &[String]) -> Value {
    cover(value, &patterns(secrecy), below, &blank)
}

fn patterns(secrecy: Secrecy) -> Vec<Vec<&'static str>> {
    match secrecy {
        Secrecy::Shown => Vec::new(),
        Secrecy::Whole => vec![Vec::new()],
        Secrecy::Below(paths) => paths.iter().map(|path| path.split('.').collect()).collect(),
    }
}

/// Covers what lies at or below a pattern, and a scalar or list that lies where the way to a secret should go on.
fn cover(
    value: Value,
    patterns: &[Vec<&str>],
    at: &[String],
    hide: &dyn Fn(Value) -> Value,
) -> Value {
    let reach = |pattern: &Vec<&str>| {
        at.iter().zip(pattern).all(|(key, wanted)| *wanted == "*" || key == wanted)
    };
    let hit = patterns.iter().any(|pattern| pattern.len() <= at.len() && reach(pattern));
    let near = patterns.iter().any(reach);
    match value {
        value if hit => hide(value),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| {
                    let mut deeper = at.to_vec();
                    deeper.push(name.clone());
                    (name, cover(value, patterns, &deeper, hide))
                })
                .collect(),
        ),
        value if near => hide(value),
        value => value,
    }
}

fn blank(value: Value) -> Value {
    match value {
        Value::String(_) => Value::from(WITHHELD),
        Value::Number(_) => Value::from(0),
        Value::Bool(_) => Value::Bool(false),
        Value::Null => Value::Null,
        Value::Array(items) => items.into_iter().map(blank).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, blank(value))).collect())
        }
    }
}
