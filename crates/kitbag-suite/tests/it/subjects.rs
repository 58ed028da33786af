//! The ways to the cast.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use kitbag_sdk::{Registry, SkillCall};
use kitbag_suite::{Answer, Subject, cast};
use kitbag_testkit::{Era, McpClient};
use kitbag_tool::{CallContext, CallError, Content, Gate, ToolCall, ToolOutput, Toolbox};
use serde_json::{Value, json};
use tokio::process::{Child, ChildStdin, ChildStdout};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_kitbag-suite-cast");

/// An output as it travels: where there is only data, its JSON is the text.
fn written(mut output: ToolOutput) -> Answer {
    if let (true, Some(structured)) = (output.content.is_empty(), &output.structured) {
        output.content.push(Content::Text(structured.get().to_owned()));
    }
    Answer::Result(serde_json::to_string(&output).unwrap())
}

fn listed(registry: &Registry) -> Vec<Value> {
    registry.snapshot().tools().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

/// [`Registry::call`] in this process.
pub(crate) struct InRegistry(Registry);

impl InRegistry {
    pub(crate) fn new() -> Self {
        Self(cast())
    }
}

impl Subject for InRegistry {
    async fn call(&mut self, skill: &str, arguments: Option<Value>) -> Answer {
        let asked = SkillCall::new(skill, arguments.unwrap_or_default()).unwrap();
        match self.0.call(asked).await {
            Ok(output) => written(output),
            Err(error) if error.is_unknown(skill) => Answer::Unknown(error.to_string()),
            Err(error) => written(ToolOutput::error(&error.to_string())),
        }
    }

    async fn tools(&mut self) -> Vec<Value> {
        listed(&self.0)
    }
}

/// [`Toolbox::call`] in this process.
pub(crate) struct InToolbox(Registry, Toolbox);

impl InToolbox {
    pub(crate) fn new() -> Self {
        let registry = cast();
        Self(registry.clone(), Toolbox::new(vec![Arc::new(registry)], Gate::open(), None))
    }
}

impl Subject for InToolbox {
    async fn call(&mut self, skill: &str, arguments: Option<Value>) -> Answer {
        let Value::Object(arguments) = arguments.unwrap_or_else(|| json!({})) else { panic!() };
        let asked = ToolCall { name: skill.parse().unwrap(), arguments };
        match self.1.call(asked, &CallContext::default()).await {
            Ok(output) => written(output),
            Err(error @ CallError::UnknownTool { .. }) => Answer::Unknown(error.to_string()),
            Err(error) => written(error.to_output()),
        }
    }

    async fn tools(&mut self) -> Vec<Value> {
        listed(&self.0)
    }
}

/// `serve` of the program, on its pipes.
pub(crate) struct Served {
    client: McpClient<ChildStdout, ChildStdin>,
    _program: Child,
}

impl Served {
    pub(crate) async fn start(era: Era) -> Self {
        let mut program = tokio::process::Command::new(PROGRAM)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (reader, writer) = (program.stdout.take().unwrap(), program.stdin.take().unwrap());
        let mut client = McpClient::new(era, reader, writer);
        client.open().await;
        Self { client, _program: program }
    }
}

impl Subject for Served {
    async fn call(&mut self, skill: &str, arguments: Option<Value>) -> Answer {
        let mut params = json!({ "name": skill });
        if let Some(arguments) = arguments {
            params["arguments"] = arguments;
        }
        match self.client.try_request("tools/call", params).await {
            Ok(mut result) => {
                // The stateless era says of every result what it is.
                result.as_object_mut().unwrap().shift_remove("resultType");
                Answer::Result(result.to_string())
            }
            Err(error) => Answer::Unknown(error.message),
        }
    }

    async fn tools(&mut self) -> Vec<Value> {
        let result = self.client.request("tools/list", json!({})).await;
        result["tools"].as_array().unwrap().clone()
    }
}

/// `run --json` of the program, which is started for each call.
pub(crate) struct Run;

impl Subject for Run {
    async fn call(&mut self, skill: &str, arguments: Option<Value>) -> Answer {
        let output = match &arguments {
            None => started(&["run", skill, "--json"], ""),
            Some(arguments) => {
                started(&["run", skill, "--json", "--input", "-"], &arguments.to_string())
            }
        };
        if output.stdout.is_empty() {
            return Answer::Unknown(String::from_utf8(output.stderr).unwrap());
        }
        let answer = Answer::Result(line(output.stdout));
        assert_eq!(output.status.code() == Some(0), !answer.is_error());
        answer
    }

    async fn tools(&mut self) -> Vec<Value> {
        let listed: Value =
            serde_json::from_slice(&started(&["list", "--json"], "").stdout).unwrap();
        listed["tools"].as_array().unwrap().clone()
    }
}

/// `handle` of the program, which is started for each call.
pub(crate) struct Handled;

impl Subject for Handled {
    async fn call(&mut self, skill: &str, arguments: Option<Value>) -> Answer {
        let mut asked = json!({ "protocol": 1, "skill": "cast", "tool": skill, "call_id": "1" });
        if let Some(arguments) = arguments {
            asked["args"] = arguments;
        }
        let output = started(&["handle"], &asked.to_string());
        match output.status.code() {
            Some(0) => {
                let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
                Answer::Result(whole["toolResult"].to_string())
            }
            // The caller writes what bad input is to whoever asked.
            Some(2) => {
                let text = format!("{skill}: {}", line(output.stderr));
                written(ToolOutput::error(&text))
            }
            _ => Answer::Unknown(String::from_utf8(output.stderr).unwrap()),
        }
    }

    async fn tools(&mut self) -> Vec<Value> {
        Run.tools().await
    }
}

fn line(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).unwrap();
    text.strip_suffix('\n').unwrap().to_owned()
}

pub(crate) fn started(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that has no use for its input may be gone before it is written.
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap_or_default();
    child.wait_with_output().unwrap()
}
