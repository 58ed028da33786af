//! Whether a value fits a section's type, and where it does not.

use serde_json::Value;
use serde_path_to_error::Segment;

use super::Section;

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the value of a key.
    Key(String),
    /// To an item of a list.
    Item(usize),
}

/// Why a value does not fit. The message may quote the value.
pub(crate) struct Misfit {
    /// The way from the section's object to what does not fit.
    pub(crate) steps: Vec<Step>,
    pub(crate) message: String,
}

/// Reads a section from its object.
pub(crate) fn fit<S: Section>(value: &Value) -> Result<S, Misfit> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let steps = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Map { key } => Some(Step::Key(key.clone())),
                Segment::Seq { index } => Some(Step::Item(*index)),
                Segment::Enum { .. } | Segment::Unknown => None,
            })
            .collect();
        Misfit { steps, message: error.into_inner().to_string() }
    })
}
