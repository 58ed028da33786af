//! Resources: what can be read by its URI.

use crate::fields::object;
use crate::{Fields, Interrupted, Refusal};

object! {
    /// What a resource is called and what kind of thing it is.
    pub struct ResourceSpec {
        required {
            /// Where it is read from.
            uri: String => "uri",
            /// Its name.
            name: String => "name",
        }
        optional {
            /// A name for people.
            title: String => "title",
            /// What it holds.
            description: String => "description",
            /// Its media type.
            mime_type: String => "mimeType",
            /// Its length in bytes.
            size: u64 => "size",
        }
    }
}

impl ResourceSpec {
    /// A resource with a URI and a name, and nothing else said.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            extra: Fields::default(),
        }
    }
}

/// What was read from a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceContents {
    /// Where it was read from.
    pub uri: String,
    /// Its media type, where one is known.
    pub mime_type: Option<String>,
    /// What it holds.
    pub body: ResourceBody,
    /// Members that are not known here, as they came.
    pub extra: Fields,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes that are no text.
    Blob(Vec<u8>),
}

/// A resource that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No source has a resource at this URI.
    #[error("resource `{uri}` is not known")]
    NotFound {
        /// The URI that was asked for.
        uri: String,
    },
    /// The source has it, and will not or cannot give it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It did not come to an end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
