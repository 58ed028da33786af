//! Prompts: texts that a person picks, filled with a few arguments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fields::object;
use crate::{Content, Interrupted, Refusal};

object! {
    /// What a prompt is called and what it asks for.
    pub struct PromptSpec {
        required {
            /// The name that callers use.
            name: String => "name",
        }
        optional {
            /// A name for people.
            title: String => "title",
            /// What the prompt is for.
            description: String => "description",
            /// What may be filled in.
            arguments: Vec<PromptArgument> => "arguments",
        }
    }
}

object! {
    /// One argument of a prompt.
    pub struct PromptArgument {
        required {
            /// Its name.
            name: String => "name",
        }
        optional {
            /// A name for people.
            title: String => "title",
            /// What to fill in.
            description: String => "description",
            /// Whether the prompt needs it.
            required: bool => "required",
        }
    }
}

object! {
    /// One message of a filled prompt.
    pub struct PromptMessage {
        required {
            /// Who speaks.
            role: Role => "role",
            /// What is said.
            content: Content => "content",
        }
        optional {}
    }
}

object! {
    /// A filled prompt.
    pub struct PromptOutput {
        required {
            /// What is put into the conversation.
            messages: Vec<PromptMessage> => "messages",
        }
        optional {
            /// What the prompt is for.
            description: String => "description",
        }
    }
}

/// Who speaks a message of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A wish for a filled prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRequest {
    /// The prompt's name.
    pub name: String,
    /// What to fill in.
    pub arguments: BTreeMap<String, String>,
}

/// A prompt that could not be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// No source has a prompt of this name.
    #[error("prompt `{name}` is not known")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// An argument is missing or cannot be taken.
    #[error("argument `{argument}` of prompt `{prompt}`: {reason}")]
    InvalidArgument {
        /// The prompt.
        prompt: String,
        /// The argument.
        argument: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The source has it, and will not or cannot give it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It did not come to an end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
