//! The tree of a settings file, each value with its place in the text.

use std::collections::HashMap;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use serde_json::{Map, Number, Value};

use crate::diagnostic::{Diagnostic, Fault, MAX_DIAGNOSTICS, Position, Severity, SourceName};

/// How many characters of a key a message shows.
const SHOWN_CHARS: usize = 80;

/// How many characters of a type error a message shows.
const SHOWN_TEXT_CHARS: usize = 300;

/// A value and the bytes of the text that hold it.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) tree: Tree,
}

/// What a value is.
#[derive(Clone)]
pub(crate) enum Tree {
    Scalar(Value),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A key of an object with its value.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The first byte of the key.
    pub(crate) start: usize,
    pub(crate) value: Node,
}

impl Default for Node {
    fn default() -> Self {
        Self { start: 0, end: 0, tree: Tree::Object(Vec::new()) }
    }
}

impl Node {
    /// The tree of `value` below `keys`, for what does not come from a file.
    pub(crate) fn nested(keys: &[String], value: &Value) -> Self {
        let inner = Self { start: 0, end: 0, tree: Tree::of(value) };
        keys.iter().rev().fold(inner, |value, key| Self {
            start: 0,
            end: 0,
            tree: Tree::Object(vec![Member { name: key.clone(), start: 0, value }]),
        })
    }

    /// The members of an object; nothing for other values.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.tree {
            Tree::Object(members) => members,
            Tree::Scalar(_) | Tree::Array(_) => &[],
        }
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.name == name)
    }

    /// The value that `keys` lead to, through objects alone.
    pub(crate) fn at<K: AsRef<str>>(&self, keys: &[K]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| Some(&node.member(key.as_ref())?.value))
    }

    /// What the value is, in words and without the value.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.tree {
            Tree::Object(_) => "an object",
            Tree::Array(_) => "a list",
            Tree::Scalar(Value::String(_)) => "a string",
            Tree::Scalar(Value::Number(_)) => "a number",
            Tree::Scalar(Value::Bool(_)) => "`true` or `false`",
            Tree::Scalar(_) => "`null`",
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.tree {
            Tree::Scalar(value) => value.clone(),
            Tree::Array(items) => items.iter().map(Self::to_value).collect(),
            Tree::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|one| (one.name.clone(), one.value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl Tree {
    fn of(value: &Value) -> Self {
        let node = |value| Node { start: 0, end: 0, tree: Self::of(value) };
        match value {
            Value::Array(items) => Self::Array(items.iter().map(node).collect()),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| Member {
                        name: name.clone(),
                        start: 0,
                        value: node(value),
                    })
                    .collect(),
            ),
            scalar => Self::Scalar(scalar.clone()),
        }
    }
}

/// A name as a message shows it: cut, and without characters that could disturb a terminal.
pub(crate) fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Takes over the parser's tree; the depth is bounded by the scan that came before.
pub(super) fn convert(
    source: &SourceName,
    text: &str,
    value: &ast::Value<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Node {
    let range = value.range();
    let tree = match value {
        ast::Value::StringLit(string) => Tree::Scalar(Value::from(string.value.as_ref())),
        ast::Value::BooleanLit(boolean) => Tree::Scalar(Value::Bool(boolean.value)),
        ast::Value::NullKeyword(_) => Tree::Scalar(Value::Null),
        ast::Value::NumberLit(number) => Tree::Scalar(held(number.value).map_or_else(
            || {
                diagnostics.push(
                    Diagnostic::new(
                        Severity::Error,
                        Fault::Number,
                        source,
                        "the number is too large to be held exactly",
                    )
                    .at(Some(Position::at(text, range.start)))
                    .hint("write a smaller number, or a string if the key takes one"),
                );
                Value::Null
            },
            Value::Number,
        )),
        ast::Value::Array(array) => Tree::Array(
            array.elements.iter().map(|item| convert(source, text, item, diagnostics)).collect(),
        ),
        ast::Value::Object(object) => Tree::Object(members(source, text, object, diagnostics)),
    };
    Node { start: range.start, end: range.end, tree }
}

fn members(
    source: &SourceName,
    text: &str,
    object: &ast::Object<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::with_capacity(object.properties.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for property in &object.properties {
        let member = Member {
            name: property.name.as_str().to_owned(),
            start: property.range.start,
            value: convert(source, text, &property.value, diagnostics),
        };
        let Some(first) = places.get(&member.name) else {
            places.insert(member.name.clone(), members.len());
            members.push(member);
            continue;
        };
        if diagnostics.len() <= MAX_DIAGNOSTICS {
            diagnostics.push(duplicate(source, text, &members[*first], &member));
        }
        members[*first] = member;
    }
    members
}

fn duplicate(source: &SourceName, text: &str, first: &Member, again: &Member) -> Diagnostic {
    let line = Position::at(text, first.start).line;
    Diagnostic::new(
        Severity::Error,
        Fault::DuplicateKey,
        source,
        format!("the key `{}` stands here again, after line {line}", shown(&again.name)),
    )
    .at(Some(Position::at(text, again.start)))
    .hint("keep one of the two")
}

/// The number, unless it is an integer that would lose digits, or is out of range.
fn held(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    let integer = !text.contains(['.', 'e', 'E']);
    let zero = text == "-0";
    (!integer || zero || number.is_i64() || number.is_u64()).then_some(number)
}

/// A sentence as a message shows it: without characters that could disturb a terminal, and cut at [`SHOWN_TEXT_CHARS`].
pub(crate) fn shown_text(text: &str) -> String {
    let clean =
        |one: char| if one.is_control() { one.escape_debug().to_string() } else { one.into() };
    let mut shown: String = text.chars().take(SHOWN_TEXT_CHARS).map(clean).collect();
    if text.chars().nth(SHOWN_TEXT_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
