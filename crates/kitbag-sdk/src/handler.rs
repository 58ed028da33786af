//! What stands behind a definition: functions with types, functions without, and what wraps another language.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use kitbag_tool::{BoxFuture, ToolOutput};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use tokio::task::JoinHandle;
use tracing::{Instrument, Span};

use crate::schema::{Violation, push_key};
use crate::{BoxError, IntoOutput, RunContext};

/// A handler that takes its arguments and gives its output as they travel: for handlers in other languages, and for
/// whoever needs a schema of their own.
///
/// Functions `Fn(RunContext, Map<String, Value>) -> impl Future<Output = Result<ToolOutput, E>>` are handlers.
pub trait Handler: Send + Sync + 'static {
    /// Handles one call. The arguments fit the input schema of the definition.
    ///
    /// The future is a task of its own, and is dropped when the call is cancelled or its deadline passes.
    fn call(
        &self,
        context: RunContext,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'static, Result<ToolOutput, BoxError>>;
}

impl<F, Fut, E> Handler for F
where
    F: Fn(RunContext, Map<String, Value>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolOutput, E>> + Send + 'static,
    E: Into<BoxError>,
{
    fn call(
        &self,
        context: RunContext,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'static, Result<ToolOutput, BoxError>> {
        let work = self(context, arguments);
        Box::pin(async { work.await.map_err(Into::into) })
    }
}

/// How a handler ended without an output.
#[derive(Debug)]
pub(crate) enum Failure {
    Input(Violation),
    Handler(BoxError),
    Output(Violation),
}

/// Starts a handler as a task of its own. Whatever others wrote runs in there: decoding, the handler, encoding.
pub(crate) trait Run: Send + Sync {
    fn start(&self, context: RunContext, arguments: Map<String, Value>) -> Task;
}

pub(crate) type Task = JoinHandle<Result<ToolOutput, Failure>>;

pub(crate) struct Raw(pub(crate) Arc<dyn Handler>);

impl Run for Raw {
    fn start(&self, context: RunContext, arguments: Map<String, Value>) -> Task {
        let handler = self.0.clone();
        let work = async move { handler.call(context, arguments).await.map_err(Failure::Handler) };
        tokio::spawn(work.instrument(Span::current()))
    }
}

/// A function with types, that is awaited.
pub(crate) struct Typed<F, I> {
    function: Arc<F>,
    input: PhantomData<fn(I)>,
}

/// A function with types, that keeps its thread.
pub(crate) struct Blocking<F, I> {
    function: Arc<F>,
    input: PhantomData<fn(I)>,
}

impl<F, I> Typed<F, I> {
    pub(crate) fn new(function: F) -> Self {
        Self { function: Arc::new(function), input: PhantomData }
    }
}

impl<F, I> Blocking<F, I> {
    pub(crate) fn new(function: F) -> Self {
        Self { function: Arc::new(function), input: PhantomData }
    }
}

impl<F, I, Fut, R, E> Run for Typed<F, I>
where
    F: Fn(RunContext, I) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    Fut: Future<Output = Result<R, E>> + Send + 'static,
    R: IntoOutput,
    E: Into<BoxError>,
{
    fn start(&self, context: RunContext, arguments: Map<String, Value>) -> Task {
        let function = self.function.clone();
        let work = async move {
            let input = decode(arguments)?;
            let result = function(context, input).await;
            encode(result)
        };
        tokio::spawn(work.instrument(Span::current()))
    }
}

impl<F, I, R, E> Run for Blocking<F, I>
where
    F: Fn(RunContext, I) -> Result<R, E> + Send + Sync + 'static,
    I: DeserializeOwned + 'static,
    R: IntoOutput,
    E: Into<BoxError>,
{
    fn start(&self, context: RunContext, arguments: Map<String, Value>) -> Task {
        let function = self.function.clone();
        let span = Span::current();
        tokio::task::spawn_blocking(move || {
            let _entered = span.entered();
            encode(function(context, decode(arguments)?))
        })
    }
}

fn decode<I: DeserializeOwned>(arguments: Map<String, Value>) -> Result<I, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let mut pointer = String::new();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => push_key(&mut pointer, &index.to_string()),
                Segment::Map { key } => push_key(&mut pointer, key),
                Segment::Enum { variant } => push_key(&mut pointer, variant),
                Segment::Unknown => {}
            }
        }
        Failure::Input(Violation::new(pointer, error.inner()))
    })
}

fn encode<R: IntoOutput, E: Into<BoxError>>(result: Result<R, E>) -> Result<ToolOutput, Failure> {
    let output = result.map_err(|error| Failure::Handler(error.into()))?;
    output.into_output().map_err(|error| Failure::Output(error.into()))
}
