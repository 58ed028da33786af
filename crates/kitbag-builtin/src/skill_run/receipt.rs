//! What came of a run, as `skill_run` answers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kitbag_tool::{Refusal, ToolOutput};
use serde::Serialize;

use super::plan::{Plan, millis};
use super::port::{Captured, Ended, Finished, MAX_STREAM_BYTES};

/// The variables that lead programs to a proxy.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The signals that end programs, by their numbers on this system.
const SIGNALS: [(i32, &str); 14] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
];

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Receipt<'a> {
    skill: &'a str,
    script: &'a str,
    interpreter: &'a str,
    exit_code: Option<i32>,
    signal: Option<String>,
    stdout: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_encoding: Option<&'static str>,
    stderr: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_encoding: Option<&'static str>,
    truncated: Truncated,
    timed_out: bool,
    timeout_ms: u64,
    duration_ms: u64,
    prepared_ms: u64,
    env: Vec<String>,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    network_note: Option<String>,
}

#[derive(Debug, Serialize)]
struct Truncated {
    stdout: bool,
    stderr: bool,
}

/// The answer: one line of JSON, also where the script failed. `prepared` is what digesting and copying took.
pub(crate) fn receipt(
    plan: &Plan,
    finished: Finished,
    prepared: Duration,
    server: &BTreeMap<String, OsString>,
) -> Result<ToolOutput, Refusal> {
    let (exit_code, signal) = match finished.ended {
        Ended::Code(code) => (Some(code), None),
        Ended::Signal(number) => (None, Some(signal(number))),
        Ended::TimedOut => (None, None),
    };
    let timed_out = finished.ended == Ended::TimedOut;
    let (stdout, stdout_encoding, stdout_cut) = text(finished.stdout);
    let (stderr, stderr_encoding, stderr_cut) = text(finished.stderr);
    let network_note = (exit_code != Some(0)).then(|| network_note(plan, server)).flatten();
    let receipt = Receipt {
        skill: plan.document.name.as_str(),
        script: plan.script.as_str(),
        interpreter: &plan.interpreter,
        exit_code,
        signal,
        stdout,
        stdout_encoding,
        stderr,
        stderr_encoding,
        truncated: Truncated { stdout: stdout_cut, stderr: stderr_cut },
        timed_out,
        timeout_ms: millis(plan.timeout),
        duration_ms: millis(finished.duration),
        prepared_ms: millis(prepared),
        env: plan.environment.names(),
        digest: format!("sha256:{}", plan.digest),
        network_note,
    };
    ToolOutput::structured(&receipt)
        .map_err(|error| Refusal::new(format!("The result cannot be written as JSON: {error}.")))
}

fn signal(number: i32) -> String {
    let known = SIGNALS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}

/// A stream as text, or as base64 where it is none; and whether some of it is missing.
fn text(Captured { mut bytes, mut truncated }: Captured) -> (String, Option<&'static str>, bool) {
    if bytes.len() > MAX_STREAM_BYTES {
        bytes.truncate(MAX_STREAM_BYTES);
        truncated = true;
    }
    if truncated
        && let Err(error) = str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        // The cut went through a character.
        let whole = error.valid_up_to();
        bytes.truncate(whole);
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (text, None, truncated),
        Ok(text) => (BASE64_STANDARD.encode(text), Some("base64"), truncated),
        Err(error) => (BASE64_STANDARD.encode(error.as_bytes()), Some("base64"), truncated),
    }
}

/// Why a script may have failed that this server would not have: it has no way to the proxy but by its egress.
fn network_note(plan: &Plan, server: &BTreeMap<String, OsString>) -> Option<String> {
    if !PROXIES.iter().any(|name| server.contains_key(*name)) {
        return None;
    }
    let hosts = plan.hosts();
    let reach = if hosts.is_empty() {
        "this one declares no egress, so it had no network".to_owned()
    } else {
        format!("this one declares {}", hosts.join(", "))
    };
    Some(format!(
        "This server reaches the network through a proxy, and a script only through the hosts of its declared egress; \
         {reach}. If that is why it failed, the skill's declaration must name the host."
    ))
}
