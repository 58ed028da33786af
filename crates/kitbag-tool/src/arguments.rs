//! Checking a call's arguments against the schema that was published for them.

use jsonschema::Validator;
use serde_json::Value;

use crate::toolbox::Entry;
use crate::{CallError, ToolCall};

/// The most characters of a validator's reason that are passed on; it may quote the argument.
const MAX_REASON_CHARS: usize = 500;

/// A schema made ready for checking, or why it is no usable JSON Schema. Then nothing is called: what the schema was to
/// keep out cannot be told from what it lets in.
pub(crate) struct Check(Result<Box<Validator>, String>);

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Check").field(&self.0.is_ok()).finish()
    }
}

/// Checks that the arguments of `call` fit the published input schema. No reference in a schema is ever fetched.
pub(crate) fn check(entry: &Entry, call: &mut ToolCall) -> Result<(), CallError> {
    let Check(validator) = entry.check.get_or_init(|| compile(entry));
    let validator = validator.as_ref().map_err(|why| CallError::InvalidArguments {
        tool: call.name.clone(),
        path: String::new(),
        reason: format!("the tool's own input schema cannot be used: {why}"),
    })?;
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
        Ok(validator) => Check(Ok(Box::new(validator))),
        Err(error) => {
            tracing::warn!(tool = %entry.tool.spec.name, %error, "the input schema cannot be used");
            Check(Err(error.to_string().chars().take(MAX_REASON_CHARS).collect()))
        }
    }
}
