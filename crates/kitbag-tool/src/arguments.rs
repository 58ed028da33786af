//! Checking a call's arguments against the schema that was published for them.

use jsonschema::Validator;
use serde_json::Value;

use crate::toolbox::Entry;
use crate::{CallError, ToolCall};

/// The most characters of a validator's reason that are passed on; it may quote the argument.
const MAX_REASON_CHARS: usize = 500;

/// A schema made ready for checking; none where it is no usable JSON Schema, which is the source's fault and must
/// not keep anybody from calling.
pub(crate) struct Check(Option<Box<Validator>>);

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Check").field(&self.0.is_some()).finish()
    }
}

/// Checks that the arguments of `call` fit the published input schema. No reference in a schema is ever fetched.
pub(crate) fn check(entry: &Entry, call: &mut ToolCall) -> Result<(), CallError> {
    let Check(Some(validator)) = entry.check.get_or_init(|| compile(entry)) else { return Ok(()) };
    // The validator takes a `Value`, so the map is lent to one and taken back.
    let arguments = Value::Object(std::mem::take(&mut call.arguments));
    let problem = validator.validate(&arguments).err().map(|error| CallError::InvalidArguments {
        tool: call.name.clone(),
        path: error.instance_path().to_string().trim_start_matches('/').replace('/', "."),
        reason: error.to_string().chars().take(MAX_REASON_CHARS).collect(),
    });
    if let Value::Object(arguments) = arguments {
        call.arguments = arguments;
    }
    problem.map_or(Ok(()), Err)
}

fn compile(entry: &Entry) -> Check {
    let schema = Value::Object((*entry.tool.spec.input_schema).clone());
    match jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema) {
        Ok(validator) => Check(Some(Box::new(validator))),
        Err(error) => {
            tracing::warn!(tool = %entry.tool.spec.name, %error, "the input schema cannot be used");
            Check(None)
        }
    }
}
