//! Reads YAML into nodes that keep what was written: source text, style and place.
//!
//! The one module that knows the YAML library. What a scalar *means* is the caller's to ask for: [`Node::text`] is what
//! was written, [`Document::to_json`] what the YAML 1.2 core schema makes of it. So `name: 012` can be the name
//! `012` and still go out on the wire as 12.

mod build;
mod schema;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::problem::Position;

/// The most collections that may stand in one another, aliases expanded.
pub const MAX_YAML_DEPTH: u32 = 64;

/// The most that a document may hold with every alias expanded: 16 bytes for each node, and the bytes of its text.
///
/// A document without aliases and within the size cap can't reach it.
pub const MAX_EXPANDED_BYTES: usize = 2 * 1024 * 1024;

/// One YAML document, with the text it was read from.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    /// The text.
    pub text: &'t str,
    /// The outermost node; `None` where the text is blank or holds comments alone.
    pub root: Option<Arc<Node>>,
    /// What occurs that a narrower reader of YAML refuses or that its author may not have meant, in the order it stands.
    pub findings: Vec<(Finding, Position)>,
}

/// Something in a document that a strict reader wants to know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A node bears an anchor, `&name`.
    Anchor,
    /// An alias, `*name`.
    Alias,
    /// A node bears a tag, such as `!!str` or `!mine`.
    Tag(String),
    /// A collection in flow style, `[a]` or `{a: b}`.
    Flow,
    /// A key that stands in its mapping already.
    DuplicateKey(String),
    /// A comment to the right of a value, which may have been meant as part of it.
    TrailingComment,
}

/// One node: a scalar, a list or a mapping.
///
/// A node that aliases refer to is shared; walking it again and again stays within [`MAX_EXPANDED_BYTES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it holds.
    pub content: Content,
    /// How it is written.
    pub style: Style,
    /// The bytes of the document's text that it takes, without its anchor and tag; empty for a value left out.
    pub source: Range<usize>,
    /// Where it begins in the file.
    pub position: Position,
    /// Its tag, resolved, such as `tag:yaml.org,2002:str` or `!mine`.
    pub tag: Option<String>,
    height: u32,
    weight: usize,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A scalar's text: unquoted, unescaped and unfolded, but never typed.
    Scalar(String),
    /// A list's items.
    List(Vec<Arc<Node>>),
    /// A mapping's entries in the order written, doubles included.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key as text: a scalar's text, or the source of a collection that stands as a key.
    pub name: String,
    /// The key.
    pub key: Arc<Node>,
    /// The value.
    pub value: Arc<Node>,
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes, or left out.
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A collection by indentation.
    Block,
    /// A collection in brackets or braces.
    Flow,
}

/// A text that is not one YAML document within the caps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct YamlError {
    /// What is wrong.
    pub kind: YamlErrorKind,
    /// Where, in the file.
    pub position: Position,
}

/// What is wrong with a text that was read as YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlErrorKind {
    /// It is no YAML; the text is the parser's.
    #[error("{0}")]
    Syntax(String),
    /// It is longer than [`super::MAX_FRONTMATTER_BYTES`].
    #[error("the document is longer than 65536 bytes")]
    TooLong,
    /// Collections stand in one another deeper than [`MAX_YAML_DEPTH`].
    #[error("collections are nested more than 64 deep")]
    TooDeep,
    /// Its aliases expand to more than [`MAX_EXPANDED_BYTES`].
    #[error("the aliases of the document expand to more than 2 MiB")]
    TooLarge,
    /// An alias stands inside the node it names.
    #[error("an alias stands inside the node that it names")]
    Recursive,
    /// A second document follows the first.
    #[error("a second document begins here")]
    SecondDocument,
}

/// Reads `text` as one YAML 1.2 document; `first_line` is the line of the file that its first line stands on.
///
/// Aliases are expanded by sharing, unknown tags are kept and have no effect, a double key is a [`Finding`].
///
/// # Errors
/// The first thing in the text that is no YAML or breaks a cap, at its place in the file.
pub fn parse(text: &str, first_line: u32) -> Result<Document<'_>, YamlError> {
    build::document(text, first_line)
}

impl<'t> Document<'t> {
    /// The source text of a node of this document, as it stands in the file.
    pub fn source(&self, node: &Node) -> &'t str {
        self.text.get(node.source.clone()).unwrap_or_default()
    }

    /// The entries of the outermost mapping: none for an empty document, `None` for a list or a scalar.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.root {
            None => Some(&[]),
            Some(root) => root.entries(),
        }
    }

    /// The node as JSON, scalars typed by the YAML 1.2 core schema.
    ///
    /// Of a double key the last counts. What JSON has no number for (`.inf`, `.nan`, an integer past 64 bits) stays the
    /// text that was written.
    pub fn to_json(&self, node: &Node) -> serde_json::Value {
        schema::typed(node)
    }

    /// The node as JSON with every scalar as the text that was written, and `null` for a value left out.
    pub fn to_text_json(&self, node: &Node) -> serde_json::Value {
        schema::textual(node)
    }
}

impl Node {
    /// A scalar's text, which is never typed: `on`, `1.10` and `012` are what was written.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(text) => Some(text),
            Content::List(_) | Content::Map(_) => None,
        }
    }

    /// A list's items.
    pub fn items(&self) -> Option<&[Arc<Node>]> {
        match &self.content {
            Content::List(items) => Some(items),
            Content::Scalar(_) | Content::Map(_) => None,
        }
    }

    /// A mapping's entries in the order written.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            Content::Scalar(_) | Content::List(_) => None,
        }
    }

    /// Whether it is a null of the core schema: left out, `~` or `null`, without quotes.
    pub fn is_null(&self) -> bool {
        schema::is_null(self)
    }

    /// What it is, for a message: `text`, `a number`, `true or false`, `nothing`, `a list` or `a mapping`.
    pub fn kind_name(&self) -> &'static str {
        match schema::typed(self) {
            serde_json::Value::Null => "nothing",
            serde_json::Value::Bool(_) => "true or false",
            serde_json::Value::Number(_) => "a number",
            serde_json::Value::String(_) => "text",
            serde_json::Value::Array(_) => "a list",
            serde_json::Value::Object(_) => "a mapping",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anchor => f.write_str("an anchor"),
            Self::Alias => f.write_str("an alias"),
            Self::Tag(tag) => write!(f, "the tag `{}`", tag.escape_debug()),
            Self::Flow => f.write_str("a collection in flow style"),
            Self::DuplicateKey(key) => write!(f, "`{}` a second time", key.escape_debug()),
            Self::TrailingComment => f.write_str("a comment after a value"),
        }
    }
}
