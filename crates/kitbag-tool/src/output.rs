//! What comes out of a call.

use std::borrow::Cow;

use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::Fields;
use crate::redact::redact;

/// The answer of a tool.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// What a model or a person reads. Empty where [`structured`](Self::structured) says it all: whoever shows
    /// the output then takes that JSON as the text.
    pub content: Vec<Content>,
    /// The same as data, in the shape of the tool's output schema.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The members that are not known here, as they came.
    pub extra: Fields,
}

/// One block of an output or of a prompt's message.
#[derive(Debug, Clone)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A block as it came, of whatever kind: its JSON object, unread.
    Raw(Box<RawValue>),
}

impl ToolOutput {
    /// One block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// Data alone; its one-line JSON is the text that goes with it.
    ///
    /// # Errors
    ///
    /// `value` cannot be written as JSON, such as a map whose keys are no strings.
    pub fn structured(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self { structured: Some(to_raw_value(value)?), ..Self::default() })
    }

    /// How many bytes the output holds, before it is written as JSON.
    pub(crate) fn bytes(&self) -> usize {
        let structured = self.structured.as_ref().map_or(0, |raw| raw.get().len());
        self.content.iter().map(Content::bytes).sum::<usize>() + structured
    }

    /// A failure, as text for whoever called. Secrets in the text are redacted.
    pub fn error(text: &str) -> Self {
        Self { is_error: true, ..Self::text(redact(text)) }
    }
}

impl Content {
    /// The text of a text block, as it came or as it was made here.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct Block<'a> {
            #[serde(borrow, rename = "type")]
            kind: Cow<'a, str>,
            #[serde(borrow)]
            text: Option<Cow<'a, str>>,
        }

        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Raw(raw) => serde_json::from_str::<Block<'_>>(raw.get())
                .ok()
                .filter(|block| block.kind == "text")
                .and_then(|block| block.text),
        }
    }

    /// The text, or the JSON as it came.
    pub(crate) fn raw(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Raw(raw) => raw.get(),
        }
    }

    /// How many bytes the block holds, before it is written as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.raw().len()
    }
}

impl PartialEq for Content {
    /// Two blocks are equal when they were made or written alike.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(text), Self::Text(other)) => text == other,
            (Self::Raw(raw), Self::Raw(other)) => raw.get() == other.get(),
            (Self::Text(_), Self::Raw(_)) | (Self::Raw(_), Self::Text(_)) => false,
        }
    }
}

impl PartialEq for ToolOutput {
    /// Two outputs are equal when they were made or written alike.
    fn eq(&self, other: &Self) -> bool {
        let written = |output: &Self| output.structured.as_ref().map(|raw| raw.get().to_owned());
        self.content == other.content
            && self.is_error == other.is_error
            && self.extra == other.extra
            && written(self) == written(other)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                map.end()
            }
            Self::Raw(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::Raw)
    }
}

impl Serialize for ToolOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(structured) = &self.structured {
            map.serialize_entry("structuredContent", structured)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        self.extra.serialize_into(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            content: fields.take_optional("content").map_err(D::Error::custom)?.unwrap_or_default(),
            structured: fields.take_optional("structuredContent").map_err(D::Error::custom)?,
            is_error: fields.take_optional("isError").map_err(D::Error::custom)?.unwrap_or(false),
            extra: fields,
        })
    }
}
