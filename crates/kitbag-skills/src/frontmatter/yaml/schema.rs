//! What the YAML 1.2 core schema (section 10.3 of the specification) makes of a node, as JSON.

use serde_json::{Map, Number, Value};

use super::{Content, Node, Style};

const STANDARD: &str = "tag:yaml.org,2002:";

pub(super) fn typed(node: &Node) -> Value {
    match &node.content {
        Content::Scalar(text) => scalar(node, text),
        Content::List(items) => items.iter().map(|item| typed(item)).collect(),
        Content::Map(entries) => entries
            .iter()
            .map(|entry| (entry.name.clone(), typed(&entry.value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

pub(super) fn textual(node: &Node) -> Value {
    match &node.content {
        Content::Scalar(_) if is_null(node) => Value::Null,
        Content::Scalar(text) => Value::String(text.clone()),
        Content::List(items) => items.iter().map(|item| textual(item)).collect(),
        Content::Map(entries) => entries
            .iter()
            .map(|entry| (entry.name.clone(), textual(&entry.value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

pub(super) fn is_null(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(text) => scalar(node, text).is_null(),
        Content::List(_) | Content::Map(_) => false,
    }
}

fn scalar(node: &Node, text: &str) -> Value {
    let tag = node.tag.as_deref().unwrap_or_default();
    let value = match tag.strip_prefix(STANDARD) {
        Some("null") => null(text),
        Some("bool") => boolean(text),
        Some("int") => integer(text),
        Some("float") => float(text),
        Some("str") => None,
        _ if tag == "!" || node.style != Style::Plain => None,
        _ => null(text).or_else(|| boolean(text)).or_else(|| integer(text)).or_else(|| float(text)),
    };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn null(text: &str) -> Option<Value> {
    matches!(text, "" | "~" | "null" | "Null" | "NULL").then_some(Value::Null)
}

fn boolean(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn integer(text: &str) -> Option<Value> {
    let (digits, radix) = match text.split_at_checked(2) {
        Some(("0o", digits)) => (digits, 8),
        Some(("0x", digits)) => (digits, 16),
        _ => (text.strip_prefix(['+', '-']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let number = if text.starts_with('-') {
        text.parse::<i64>().ok().map(Number::from)
    } else {
        u64::from_str_radix(digits, radix).ok().map(Number::from)
    };
    Some(number.map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent {
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if power.is_empty() || !digits(power) {
            return None;
        }
    }
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    Some(number.map_or_else(|| Value::String(text.to_owned()), Value::Number))
}
