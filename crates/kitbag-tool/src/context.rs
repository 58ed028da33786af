//! The conditions of one call, and the way from a tool to other tools.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::toolbox::Door;
use crate::{
    Approver, CallError, Extensions, NobodyToAsk, OfferedTool, OutputBounds, Principal, Refusal,
    ToolCall, ToolOutput,
};

/// How deep tools may call tools. A call that would be deeper is refused.
pub const MAX_DEPTH: usize = 16;

/// The conditions of one call. Cheap to make and to clone.
#[derive(Clone)]
pub struct CallContext {
    /// Ends the call when cancelled: the source's future is dropped.
    pub cancel: CancellationToken,
    /// Where the source may say how far it is.
    pub progress: Progress,
    /// When the call is given up, where there is such a time.
    pub deadline: Option<Instant>,
    /// Who calls.
    pub principal: Principal,
    /// Who is asked where a call has to be asked about.
    pub approver: Arc<dyn Approver>,
    /// How much of the output the caller takes.
    pub bounds: OutputBounds,
    /// Values of the caller for the source.
    pub extensions: Extensions,
    /// The way back into the toolbox, which it puts here for the source that it calls.
    pub way_back: WayBack,
}

/// The way from a tool that was called to the toolbox that called it.
#[derive(Clone, Default)]
pub struct WayBack(Option<Arc<Within>>);

/// The call that a tool answers. A source gets its own copy of these in its context, and a change there changes
/// nothing here: a nested call goes by what the toolbox knows.
struct Within {
    door: Door,
    tool: Arc<OfferedTool>,
    context: CallContext,
    depth: usize,
}

/// Where a source reports how far a call is.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<mpsc::Sender<ProgressUpdate>>);

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressUpdate {
    /// How much is done; grows from report to report.
    pub done: f64,
    /// How much there is to do, where it is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

impl CallContext {
    /// Calls another tool, from within a tool: through the same toolbox, the same gates and the same approver.
    ///
    /// The call ends with the one it is part of, at this context's deadline if that is nearer. Its principal is the
    /// calling tool on behalf of the caller, its output is whole, and its progress goes nowhere.
    ///
    /// # Errors
    ///
    /// As a call of [`Toolbox::call`](crate::Toolbox::call); [`CallError::TooDeep`] past [`MAX_DEPTH`]; a refusal where
    /// this context did not come from a toolbox.
    pub async fn call(&self, call: ToolCall) -> Result<ToolOutput, CallError> {
        let Some(within) = &self.way_back.0 else {
            let text = format!(
                "`{}` cannot be called from here: this call did not come through a toolbox",
                call.name
            );
            return Err(Refusal::new(text).into());
        };
        let outer = &within.context;
        let deadline = match (outer.deadline, self.deadline) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let context = Self {
            cancel: outer.cancel.child_token(),
            progress: Progress::default(),
            deadline,
            principal: outer.principal.through(&within.tool.identity),
            approver: outer.approver.clone(),
            bounds: OutputBounds::default(),
            extensions: self.extensions.clone(),
            way_back: WayBack::default(),
        };
        within.door.call(call, &context, within.depth + 1).await
    }

    /// How many tools stand between the first caller and the tool that got this context.
    pub fn depth(&self) -> usize {
        self.way_back.0.as_ref().map_or(0, |within| within.depth)
    }

    /// Records that somebody said yes to this call, for a tool that asks by itself; to be awaited before it does anything.
    ///
    /// `shown` is what they said yes to. Ready when the line cannot be lost.
    ///
    /// # Errors
    ///
    /// It cannot be recorded, and then nothing may be done.
    pub async fn consented(
        &self,
        shown: &Map<String, Value>,
        because: &str,
    ) -> Result<(), CallError> {
        let Some(within) = &self.way_back.0 else { return Ok(()) };
        let recorded = within.door.consented(&within.tool, &within.context, shown, because).await;
        recorded.map_err(|error| CallError::Denied {
            tool: within.tool.spec.name.clone(),
            because: format!("a consent must be recorded before a call runs, and {error}"),
            hint: None,
        })
    }

    /// Whether [`call`](Self::call) can reach other tools.
    pub fn can_call(&self) -> bool {
        self.way_back.0.is_some()
    }

    /// The context that a source gets, with the way back in it.
    pub(crate) fn for_source(&self, door: &Door, tool: &Arc<OfferedTool>, depth: usize) -> Self {
        let within = Within {
            door: door.clone(),
            tool: tool.clone(),
            context: Self { way_back: WayBack::default(), ..self.clone() },
            depth,
        };
        Self { way_back: WayBack(Some(Arc::new(within))), ..self.clone() }
    }
}

impl Default for CallContext {
    /// A person's call with nobody to ask, no deadline, and the whole output.
    fn default() -> Self {
        static NOBODY: LazyLock<Arc<dyn Approver>> = LazyLock::new(|| Arc::new(NobodyToAsk));
        Self {
            cancel: CancellationToken::new(),
            progress: Progress::default(),
            deadline: None,
            principal: Principal::default(),
            approver: NOBODY.clone(),
            bounds: OutputBounds::default(),
            extensions: Extensions::default(),
            way_back: WayBack::default(),
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("deadline", &self.deadline)
            .field("principal", &self.principal)
            .field("bounds", &self.bounds)
            .field("extensions", &self.extensions)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WayBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WayBack").field("depth", &self.0.as_ref().map(|way| way.depth)).finish()
    }
}

impl Progress {
    /// Reports into a bounded queue, whose reader decides what becomes of them.
    pub fn to(queue: mpsc::Sender<ProgressUpdate>) -> Self {
        Self(Some(queue))
    }

    /// Reports, where somebody listens; a report that finds the queue full is dropped.
    pub fn report(&self, update: ProgressUpdate) {
        if let Some(queue) = &self.0 {
            // A slow reader must not hold up the work it reads about.
            drop(queue.try_send(update));
        }
    }
}
