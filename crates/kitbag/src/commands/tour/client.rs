//! A client of `kitbag serve`, as small as one can be: lines of JSON to a child and back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};

/// The revision of the protocol that the tour speaks.
const REVISION: &str = "2026-07-28";

/// The server, and the two pipes to it; it ends when they close.
pub(super) struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    /// Starts `kitbag serve` with `home` as its home and working directory, and nothing else of this process.
    pub(super) fn start(home: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("the running program cannot be found")?;
        let mut child = Command::new(&program)
            .arg("serve")
            .env_clear()
            .env("HOME", home)
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` cannot be started", program.display()))?;
        let requests = child.stdin.take().context("the server has no input")?;
        let answers = child.stdout.take().context("the server has no output")?;
        Ok(Self { child, requests: Some(requests), answers: BufReader::new(answers), id: 0 })
    }

    /// Sends a request and waits for its answer.
    pub(super) fn request(&mut self, method: &str, mut params: Value) -> anyhow::Result<Value> {
        self.id += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {
                "name": "kitbag-tour",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        let requests = self.requests.as_mut().context("the connection is closed")?;
        writeln!(requests, "{request}")
            .and_then(|()| requests.flush())
            .context("the server is gone")?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line).context("the server is gone")? == 0 {
                bail!("the server ended before it answered `{method}`");
            }
            let answer: Value = serde_json::from_str(&line).context("the server wrote no JSON")?;
            if answer["id"] != self.id {
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(anyhow!(
                    "`{method}`: {}",
                    error["message"].as_str().unwrap_or("failed")
                ));
            }
            return Ok(answer["result"].clone());
        }
    }

    /// Calls a tool and returns its structured answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        if result["isError"] == true {
            bail!("`{tool}`: {}", result["content"][0]["text"].as_str().unwrap_or("failed"));
        }
        Ok(result["structuredContent"].clone())
    }

    /// Closes the connection and waits for the server to end.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        drop(self.requests.take());
        let status = self.child.wait().context("the server cannot be waited for")?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // After `finish` there is nothing left to kill.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
