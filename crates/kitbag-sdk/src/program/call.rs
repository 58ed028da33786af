//! One call of a program, the same for every command.

use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kitbag_tool::{
    CallContext, CallError, Content, Gate, Progress, ProgressUpdate, ToolCall, ToolOutput, Toolbox,
};
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::arguments::Remarks;
use super::failure::{Exit, Failure};
use super::input::internal;
use crate::Registry;

/// The most reports of progress that wait to be written; what comes faster is left out.
const PROGRESS_QUEUE: usize = 64;

/// What the skills of a program are called through. The gate is its caller's: everything runs.
pub(super) fn toolbox(registry: Registry) -> Toolbox {
    Toolbox::new(vec![Arc::new(registry)], Gate::open(), None)
}

/// A runtime with threads of its own, so that a handler that blocks holds up no clock.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| internal(&error))
}

/// Calls a skill, until it ends, `within` has passed, or a signal ends it.
pub(super) fn call(
    registry: Registry,
    call: ToolCall,
    within: Option<Duration>,
    remarks: Remarks,
) -> Result<Result<ToolOutput, CallError>, Failure> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let stop = stop_on_signal().map_err(|error| internal(&error))?;
        let (queue, reports) = mpsc::channel(PROGRESS_QUEUE);
        let context = CallContext {
            cancel: stop.clone(),
            progress: match remarks {
                Remarks::Told => Progress::to(queue),
                Remarks::Quiet => Progress::default(),
            },
            deadline: within.and_then(|within| Instant::now().checked_add(within)),
            ..CallContext::default()
        };
        let toolbox = toolbox(registry);
        let result = telling(toolbox.call(call, &context), reports).await;
        if stop.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "interrupted"));
        }
        Ok(result)
    });
    // A handler that keeps its thread must not keep the process from ending.
    runtime.shutdown_background();
    outcome
}

/// The output as `tools/call` of the Model Context Protocol gives it: where there is only data, its JSON is the text.
pub(super) fn as_result(mut output: ToolOutput) -> ToolOutput {
    if let (true, Some(structured)) = (output.content.is_empty(), &output.structured) {
        output.content.push(Content::Text(structured.get().to_owned()));
    }
    output
}

/// A value on one line.
pub(super) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::new(Exit::Internal, format!("the output is no JSON: {error}")))
}

/// A token that the first interrupt or request to terminate cancels. Must be called within a runtime.
pub(super) fn stop_on_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let told = stop.clone();
    let signal = signal()?;
    tokio::spawn(async move {
        signal.await;
        told.cancel();
    });
    Ok(stop)
}

#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// Waits for `work`, and writes what is reported meanwhile to standard error.
async fn telling<T>(
    work: impl Future<Output = T>,
    mut reports: mpsc::Receiver<ProgressUpdate>,
) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            Some(update) = reports.recv() => tell(&update),
            result = &mut work => {
                while let Ok(update) = reports.try_recv() {
                    tell(&update);
                }
                return result;
            }
        }
    }
}

fn tell(ProgressUpdate { done, total, message }: &ProgressUpdate) {
    let total = total.map_or_else(String::new, |total| format!("/{total}"));
    let message = message.as_deref().map_or_else(String::new, |message| format!(" {message}"));
    // Where nobody reads it, nobody misses it.
    writeln!(io::stderr(), "{done}{total}{message}").unwrap_or_default();
}
