//! One call, from the arguments to the output.

use std::any::Any;

use kitbag_tool::{MAX_DEPTH, ToolOutput};
use serde_json::Value;
use tokio::task::JoinError;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use crate::call::earlier;
use crate::context::Inner;
use crate::handler::Failure;
use crate::schema::Violation;
use crate::{Bodies, Definition, Registry, RunContext, SkillCall, SkillError};

/// Calls the skill of a definition. What the clock or the caller ends is dropped, however the handler behaves.
pub(crate) async fn dispatch(
    definition: &Definition,
    registry: &Registry,
    call: SkillCall,
) -> Result<ToolOutput, SkillError> {
    let begun = Instant::now();
    let skill = || String::from(definition.name());
    if call.depth > MAX_DEPTH {
        return Err(SkillError::Depth { skill: skill(), limit: MAX_DEPTH });
    }
    let arguments = Value::Object(call.arguments);
    if let Err(Violation { pointer, message }) = definition.input.check(&arguments) {
        return Err(SkillError::Input { skill: skill(), pointer, message });
    }
    let Value::Object(arguments) = arguments else { unreachable!("it was made an object above") };

    let timeout = definition.timeout.and_then(|timeout| begun.checked_add(timeout));
    let deadline = timeout.map_or(call.deadline, |timeout| Some(earlier(call.deadline, timeout)));
    let cancelled = || SkillError::Cancelled { skill: skill() };
    let late = || SkillError::Deadline { skill: skill(), elapsed: begun.elapsed() };
    let passed = || deadline.is_some_and(|deadline| deadline <= Instant::now());
    if call.cancel.is_cancelled() {
        return Err(cancelled());
    }
    if passed() {
        return Err(late());
    }

    let cancel = call.cancel.child_token();
    let _over = cancel.clone().drop_guard();
    let bodies = call.extensions.get::<Bodies>();
    let body = bodies.and_then(|bodies| bodies.get(definition.name()));
    let body = body.unwrap_or(&definition.body).clone();
    let context = RunContext::new(Inner {
        name: definition.name.clone(),
        body,
        cancel: cancel.clone(),
        deadline,
        progress: call.progress,
        extensions: call.extensions,
        depth: call.depth,
        way_back: call.way.into_back(),
        registry: registry.clone(),
        model: registry.model().cloned(),
    });
    let mut task = AbortOnDropHandle::new(definition.run.start(context, arguments));
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(cancelled()),
        () = until(deadline) => return Err(late()),
        ended = &mut task => ended,
    };
    // A handler that blocks the only thread comes back before the timer could be looked at.
    if passed() {
        return Err(late());
    }
    let output = match ended {
        Ok(Ok(output)) => output,
        Ok(Err(Failure::Handler(source))) => {
            return Err(SkillError::Handler { skill: skill(), source });
        }
        Ok(Err(Failure::Input(Violation { pointer, message }))) => {
            return Err(SkillError::Input { skill: skill(), pointer, message });
        }
        Ok(Err(Failure::Output(violation))) => return Err(bad_output(definition, violation)),
        Err(error) => return Err(unfinished(definition, error)),
    };
    check_output(definition, &output).map_err(|violation| bad_output(definition, violation))?;
    Ok(output)
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Holds an output to the schema that was written for it. An output that says it failed owes nothing.
fn check_output(definition: &Definition, output: &ToolOutput) -> Result<(), Violation> {
    let Some(validator) = &definition.output else { return Ok(()) };
    if output.is_error {
        return Ok(());
    }
    let Some(raw) = &output.structured else {
        return Err(Violation::new(
            String::new(),
            "the output schema asks for structured content, and there is none",
        ));
    };
    let value: Value =
        serde_json::from_str(raw.get()).map_err(|error| Violation::new(String::new(), error))?;
    validator.check(&value)
}

fn bad_output(definition: &Definition, Violation { pointer, message }: Violation) -> SkillError {
    SkillError::Output { skill: definition.name().into(), pointer, message }
}

fn unfinished(definition: &Definition, error: JoinError) -> SkillError {
    let skill = definition.name().into();
    match error.try_into_panic() {
        Ok(panic) => {
            let message = Violation::new(String::new(), said(&*panic)).message;
            SkillError::Panicked { skill, message }
        }
        Err(_shutting_down) => SkillError::Cancelled { skill },
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason")
}
