//! Short ways to tools, toolboxes and calls.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

use std::sync::Arc;

use kitbag_testkit::{FakeAudit, FakeSource, rules};
use kitbag_tool::{
    CallContext, CallError, Gate, Mode, OfferedTool, ToolCall, ToolOutput, ToolSpec, Toolbox,
    Traits,
};
use serde_json::{Map, Value, json};

pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall { name: name.parse().unwrap(), arguments }
}

pub(crate) fn echo(tool: &str) -> ToolCall {
    call(tool, json!({ "text": "hi" }))
}

pub(crate) fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name.parse().unwrap(), Map::new())
}

pub(crate) fn own(name: &str, claims: Traits) -> OfferedTool {
    OfferedTool::own(spec(name), claims)
}

/// A toolbox with the server `files`, whose log is `audit`.
pub(crate) struct Gated {
    pub(crate) source: Arc<FakeSource>,
    pub(crate) gate: Gate,
    pub(crate) audit: Arc<FakeAudit>,
    pub(crate) toolbox: Toolbox,
}

pub(crate) fn gated(mode: Mode, written: &[&str]) -> Gated {
    gated_with(mode, written, FakeAudit::new())
}

pub(crate) fn gated_with(mode: Mode, written: &[&str], audit: Arc<FakeAudit>) -> Gated {
    let source = FakeSource::new("files");
    let gate = Gate::new(rules(written), mode);
    let toolbox = Toolbox::new(vec![source.clone()], gate.clone(), Some(audit.clone()));
    Gated { source, gate, audit, toolbox }
}

impl Gated {
    /// The same with one more tool.
    pub(crate) fn with(self, tool: OfferedTool) -> Self {
        self.source.add_offered(tool);
        self
    }

    /// What came of a call: the text, or the failure as its caller reads it.
    pub(crate) async fn says(&self, call: ToolCall) -> String {
        self.says_to(call, &CallContext::default()).await
    }

    pub(crate) async fn says_to(&self, call: ToolCall, context: &CallContext) -> String {
        said(self.toolbox.call(call, context).await)
    }
}

pub(crate) fn said(result: Result<ToolOutput, CallError>) -> String {
    let output = result.unwrap_or_else(|error| error.to_output());
    let texts: Vec<String> =
        output.content.iter().map(|block| block.as_text().unwrap().into_owned()).collect();
    texts.join("|")
}
