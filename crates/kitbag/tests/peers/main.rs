//! `kitbag serve`, used by clients that others wrote: the MCP inspector, the TypeScript and Python SDKs, and the
//! conformance suite.
//!
//! What they do stands in `peers/` at the root of the repository; `peers/install.sh DIR` installs them and
//! `KITBAG_PEERS=DIR` names the folder. A peer that is missing is a failure. `KITBAG_PEER_SKILLS=DIR` serves another
//! collection than `examples/skills`. Each test starts the built binary with a home of its own, so nothing of the
//! machine's skills gets in.

mod handlers;

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The skills in `examples/skills`, which every peer must find.
const EXAMPLES: usize = 5;

/// How long the server may take to say where it listens, on a machine that is busy with other tests.
const START: Duration = Duration::from_mins(1);

#[test]
fn typescript_sdk_v1_over_stdio() {
    typescript("v1", "legacy").over_stdio();
}

#[test]
fn typescript_sdk_v1_over_http() {
    typescript("v1", "legacy").over_http();
}

#[test]
fn typescript_sdk_v2_over_stdio_with_a_handshake() {
    typescript("v2", "legacy").over_stdio();
}

#[test]
fn typescript_sdk_v2_over_stdio_without_a_handshake() {
    typescript("v2", "modern").over_stdio();
}

#[test]
fn typescript_sdk_v2_over_http_with_a_handshake() {
    typescript("v2", "legacy").over_http();
}

#[test]
fn typescript_sdk_v2_over_http_without_a_handshake() {
    typescript("v2", "modern").over_http();
}

#[test]
fn python_sdk_over_stdio_with_a_handshake() {
    python("legacy").over_stdio();
}

#[test]
fn python_sdk_over_stdio_without_a_handshake() {
    python("modern").over_stdio();
}

#[test]
fn python_sdk_over_http_with_a_handshake() {
    python("legacy").over_http();
}

#[test]
fn python_sdk_over_http_without_a_handshake() {
    python("modern").over_http();
}

#[test]
fn inspector_v1_over_stdio() {
    inspector("v1", "legacy", EXAMPLES).over_stdio();
}

#[test]
fn inspector_v2_over_stdio_without_a_handshake() {
    inspector("v2", "modern", 2).over_stdio();
}

#[test]
fn inspector_v2_over_http_with_a_handshake() {
    inspector("v2", "legacy", 2).over_http();
}

#[test]
fn conformance_suite_skills_scenarios_over_http() {
    let server = HttpServer::start();
    let script = script("conformance.sh");
    let mut suite = Command::new("bash");
    suite.arg(script).arg(&server.url).arg(&server.token_file).env("KITBAG_PEERS", peers());
    let scenarios = run(suite);
    assert_eq!(scenarios.len(), 3, "{scenarios:?}");
    for scenario in &scenarios {
        assert!(scenario["passed"].as_u64().is_some_and(|passed| passed > 0), "{scenario}");
    }
}

fn typescript(sdk: &str, era: &str) -> Peer {
    let mut command = node("typescript-client.mjs");
    command.args(["--sdk", sdk, "--era", era]);
    Peer(command)
}

fn python(era: &str) -> Peer {
    let mut command = Command::new(installed("venv/bin/python"));
    // Without it Python leaves a folder of compiled modules beside the script.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(script("python_client.py")).args(["--era", era]);
    Peer(command)
}

/// The inspector, which starts a process for each request, so it loads and reads `limit` skills and only lists the rest.
fn inspector(version: &str, era: &str, limit: usize) -> Peer {
    let mut command = node("inspector.mjs");
    command.args(["--inspector", version, "--era", era, "--limit", &limit.to_string()]);
    Peer(command)
}

/// A client that waits to be told which server to use.
struct Peer(Command);

impl Peer {
    fn over_stdio(self) {
        let home = TempDir::new().expect("a temporary directory can be made");
        let Self(mut command) = self;
        command.args(["--skills", &least(), "--stdio"]).arg(env!("CARGO_BIN_EXE_kitbag"));
        command.args(serve_arguments()).env("HOME", home.path()).env("KITBAG_HOME", home.path());
        passed(command);
    }

    fn over_http(self) {
        let server = HttpServer::start();
        let Self(mut command) = self;
        command.args(["--skills", &least(), "--url", &server.url, "--token-file"]);
        command.arg(&server.token_file);
        passed(command);
    }
}

/// Runs a client and checks that its summary says what must have happened.
fn passed(command: Command) {
    let summaries = run(command);
    let [summary] = summaries.as_slice() else { panic!("not one summary: {summaries:?}") };
    let count = |key: &str| summary[key].as_u64().unwrap_or_default();
    let counts = [count("tools"), count("skills"), count("prompts"), count("resources")];
    assert!(counts.iter().all(|count| *count > 0), "{summary}");
    if variable("KITBAG_PEER_SKILLS").is_none() {
        assert_eq!([count("skills"), count("prompts")], [EXAMPLES as u64; 2], "{summary}");
    }
}

/// Runs a peer to its end and gives the lines of JSON that it printed; panics with all it said if it failed.
fn run(mut command: Command) -> Vec<Value> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{}\n{stdout}\n{stderr}", output.status);
    let parse = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}\n{stderr}"))
    };
    stdout.lines().map(parse).collect()
}

/// `kitbag serve` on a free port of the loopback interface; killed when dropped.
struct HttpServer {
    process: Child,
    url: String,
    token_file: PathBuf,
    _home: TempDir,
}

impl HttpServer {
    fn start() -> Self {
        let home = TempDir::new().expect("a temporary directory can be made");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kitbag"));
        command.args(serve_arguments()).args(["--http", "127.0.0.1:0"]);
        command.env("HOME", home.path()).env("KITBAG_HOME", home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stderr = process.stderr.take().expect("standard error is piped");
        let (said, heard) = mpsc::channel();
        // Reads to the end, so that the server never waits for someone to take what it says.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                drop(said.send(line));
            }
        });
        let (mut url, mut token_file, mut lines) = (None, None, Vec::new());
        while url.is_none() || token_file.is_none() {
            let Ok(line) = heard.recv_timeout(START) else {
                drop(process.kill());
                panic!(
                    "{command:?} did not say where it listens and where its token is: {lines:?}"
                );
            };
            url = url.or_else(|| word(&line, |word| word.starts_with("http://")));
            token_file = token_file
                .or_else(|| word(&line, |word| Path::new(word).is_file()).map(PathBuf::from));
            lines.push(line);
        }
        Self {
            process,
            url: url.expect("the loop ends with it"),
            token_file: token_file.expect("the loop ends with it"),
            _home: home,
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The first word of `line`, without quotes and final punctuation, that `is` accepts.
fn word(line: &str, is: impl Fn(&str) -> bool) -> Option<String> {
    let words = line.split_whitespace();
    let bare = words.map(|word| word.trim_matches(|c: char| "`'\"()<>,;.".contains(c)));
    bare.into_iter().find(|word| is(word)).map(str::to_owned)
}

fn serve_arguments() -> [PathBuf; 3] {
    ["serve".into(), "--skills".into(), skills()]
}

fn skills() -> PathBuf {
    match variable("KITBAG_PEER_SKILLS") {
        Some(dir) => dir,
        None => root().join("examples/skills"),
    }
}

/// How many skills there must be at least.
fn least() -> String {
    if variable("KITBAG_PEER_SKILLS").is_some() { "1".to_owned() } else { EXAMPLES.to_string() }
}

fn node(name: &str) -> Command {
    let mut command = Command::new(installed("bin/node"));
    command.arg(script(name)).env("KITBAG_PEERS", peers());
    command
}

fn script(name: &str) -> PathBuf {
    root().join("peers").join(name)
}

/// A file in the folder of installed peers.
fn installed(path: &str) -> PathBuf {
    let file = peers().join(path);
    assert!(
        file.exists(),
        "{} is missing: run `peers/install.sh {}`",
        file.display(),
        peers().display()
    );
    file
}

fn peers() -> PathBuf {
    let Some(dir) = variable("KITBAG_PEERS") else {
        panic!("no peers: run `peers/install.sh DIR` and set KITBAG_PEERS=DIR")
    };
    assert!(
        dir.join("installed").is_file(),
        "the peers in {} are not all there: run `peers/install.sh {0}`",
        dir.display()
    );
    std::path::absolute(dir).expect("the path is not empty")
}

fn variable(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
