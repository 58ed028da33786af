//! The example as its readers use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kitbag_skills::declaration::read_sidecar;
use kitbag_testkit::{Era, McpClient};
use serde_json::{Value, json};

/// The most lines that a whole skill server may take.
const MAX_LINES: usize = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("unit-price")
}

fn run(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skill-server"))
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

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_whole_skill_server_is_short() {
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs"));
    assert!(source.unwrap().lines().count() < MAX_LINES);
}

/// Decision 24: the sidecar names the program, and says of its skill what the program does.
#[test]
fn the_kitbag_toml_is_what_the_program_declares() {
    let path = folder().join("kitbag.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(stdout(&run(&["declare", "unit-price"], "")), text, "print it again with `declare`");
    let (declaration, problems) = read_sidecar(&path, &text);
    assert_eq!(problems, []);
    assert_eq!(declaration.tools.len(), 1);
}

/// The ways of a program give one result: a person's, kitbag's, and an MCP client's.
#[tokio::test]
async fn t66_run_handle_and_serve_give_the_same_bytes() {
    let program = env!("CARGO_BIN_EXE_skill-server");
    let mut server = tokio::process::Command::new(program)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (reader, writer) = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
    let mut client = McpClient::new(Era::Handshake, reader, writer);
    client.open().await;
    for arguments in [json!({ "cents": 349, "amount": 750 }), json!({ "cents": 1, "amount": 0 })] {
        let asked = json!({ "name": "unit-price", "arguments": arguments });
        let served = client.request("tools/call", asked).await.to_string();
        let input = arguments.to_string();
        let ran = run(&["run", "unit-price", "--json", "--input", "-"], &input);
        assert_eq!(stdout(&ran).trim_end(), served);
        let asked = json!({ "protocol": 1, "skill": "unit-price", "tool": "unit-price", "args": arguments });
        let handled = run(&["handle"], &asked.to_string());
        let handled: Value = serde_json::from_slice(&handled.stdout).unwrap();
        assert_eq!(handled["toolResult"].to_string(), served);
    }
    client.close().await;
    assert!(server.wait().await.unwrap().success());
}
