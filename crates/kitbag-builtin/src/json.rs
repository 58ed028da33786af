//! JSON that others wrote, read to the letter.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A text that is not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonFault {
    message: String,
}

/// Reads the one JSON value that `text` is. White space around it is allowed; a key that stands twice in an object is
/// not, since nobody can say which one was meant.
///
/// # Errors
///
/// What is wrong and where, with the line and the column.
pub fn parse_json(text: &str) -> Result<Value, JsonFault> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut reader);
    value.and_then(|value| reader.end().map(|()| value)).map_err(|error| fault(text, &error))
}

fn fault(text: &str, error: &serde_json::Error) -> JsonFault {
    let mut message = error.to_string();
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let bytes = line.as_bytes();
    let is_at = |word: &&&str| {
        // The error stands at the word or just behind its sign.
        (1..=2).any(|back| {
            let at = error.column().checked_sub(back).and_then(|start| bytes.get(start..));
            at.is_some_and(|rest| rest.starts_with(word.as_bytes()))
        })
    };
    if let Some(word) = ["NaN", "Infinity", "-Infinity", "undefined", "None"].iter().find(is_at) {
        message = format!("JSON has no `{word}`: {message}");
    }
    JsonFault { message }
}

/// The same JSON without the white space between its parts. `text` must be JSON; nothing else of it is changed.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in text.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            quoted = character == '"';
        }
        out.push(character);
    }
    out
}

/// Reads any value and refuses keys that stand twice.
#[derive(Clone, Copy)]
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                let shown: String = key.chars().take(80).flat_map(char::escape_debug).collect();
                return Err(A::Error::custom(format_args!("the key `{shown}` stands twice")));
            }
            map.insert(key, members.next_value_seed(self)?);
        }
        Ok(map.into())
    }
}
