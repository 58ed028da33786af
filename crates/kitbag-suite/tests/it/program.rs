//! T-75, T-76: the commands of a program, as a person meets them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kitbag_skills::declaration::read_sidecar;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::subjects::{PROGRAM, started};

fn told(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| str::from_utf8(bytes).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn t75_input_comes_inline_from_a_file_or_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b.json");
    std::fs::write(&file, "\u{feff}{\"text\": \"x\"}").unwrap();
    let at_file = format!("@{}", file.display());
    let inline = "--input={\"text\": \"x\"}";
    for (arguments, stdin) in [
        (vec!["run", "echo", "--input", r#"{"text": "x"}"#], ""),
        (vec!["run", inline, "echo"], ""),
        (vec!["run", "echo", "--input", &at_file], ""),
        (vec!["run", "echo", "--input", "-"], r#"{"text": "x"}"#),
        (vec!["run", "--input", "-", "--", "echo"], r#"{"text": "x"}"#),
    ] {
        let output = started(&arguments, stdin);
        assert_eq!(told(&output), (Some(0), "{\"text\":\"x\"}\n", ""), "{arguments:?}");
    }
    let output = started(&["run", "echo"], "not read");
    assert_eq!(told(&output), (Some(0), "{\"text\":\"\"}\n", ""));
}

#[test]
fn t75_what_cannot_be_a_call_is_a_usage_error_that_says_why() {
    for (arguments, stdin, why) in [
        (&["run", "echo", "--input", "[]"][..], "", "must be a JSON object, not an array"),
        (&["run", "echo", "--input", "null"], "", "must be a JSON object, not null"),
        (&["run", "echo", "--input", "1"], "", "must be a JSON object, not a number"),
        (&["run", "echo", "--input", "{"], "", "line 1 column 1"),
        (&["run", "echo", "--input", "-"], "", "standard input is no JSON"),
        (&["run", "echo", "--input", "@no/such/file"], "", "`no/such/file` cannot be read"),
        (&["run", "echo", "--input"], "", "`--input` needs a value"),
        (&["run", "echo", "--jsn"], "", "`run … --jsn` was not expected"),
        (&["run", "echo", "more"], "", "`run … more` was not expected"),
        (&["run"], "", "`run` needs the name of a skill"),
        (&["run", "ecko"], "", "there is no skill `ecko`\nhint: there is `blocking`"),
        (&["run", "a b"], "", "there is no skill `a b`"),
        (&["walk"], "", "there is no command `walk`"),
        (&["serve", "--http", "0.0.0.0:0"], "", "`0.0.0.0:0` is no loopback address"),
        (&["serve", "--token-file", "x"], "", "`--token-file` goes with `--http`"),
        (&[], "", "a command is missing"),
    ] {
        let output = started(arguments, stdin);
        let (code, stdout, stderr) = told(&output);
        assert_eq!((code, stdout), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(why), "{arguments:?}: {stderr}");
    }
}

#[test]
fn t76_a_failure_is_on_standard_error_and_in_the_exit_code() {
    let failing = started(&["run", "failing"], "");
    assert_eq!(told(&failing), (Some(1), "", "error: it did not work\n"));
    let broken = started(&["run", "broken"], "");
    assert_eq!(told(&broken), (Some(1), "", "error: skill `broken` failed: broken 7\n"));
    let wrong = started(&["run", "order", "--input", r#"{"count": "one"}"#], "");
    let (code, _, stderr) = told(&wrong);
    assert!(code == Some(1) && stderr.contains("count: \"one\" is not"), "{stderr}");
    let json = started(&["run", "failing", "--json"], "");
    assert_eq!((json.status.code(), json.stderr.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn t76_progress_is_told_on_standard_error_unless_quiet() {
    let output = started(&["run", "steps"], "");
    assert_eq!(told(&output), (Some(0), "done\n", "1/3\n2/3\n3/3 three\n"));
    let output = started(&["run", "steps", "--quiet", "--json"], "");
    let whole = "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}\n";
    assert_eq!(told(&output), (Some(0), whole, ""));
}

/// The skill never ends by itself, so that only the signal can end the program.
#[test]
fn t65_t76_an_interrupt_ends_a_run() {
    let mut child = Command::new(PROGRAM)
        .args(["run", "steps", "--input", r#"{"wait": true}"#])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "1/3\n");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    stderr.read_to_string(&mut line).unwrap();
    assert!(line.ends_with("error: interrupted\n"), "{line}");
}

#[test]
fn t76_help_and_list_say_what_there_is() {
    for arguments in [&["--help"][..], &["-h"], &["help"], &["run", "--help"]] {
        let output = started(arguments, "");
        let (code, stdout, stderr) = told(&output);
        assert_eq!((code, stderr), (Some(0), ""));
        assert!(stdout.contains("Examples:\n  kitbag-suite-cast list\n"), "{stdout}");
    }
    let output = started(&["list"], "");
    assert!(told(&output).1.starts_with("blocking   Does what the statements need.\n"));
}

/// The failures of the contract itself, which no other arguments would mend.
#[test]
fn a_call_that_is_none_breaks_with_a_reason() {
    for (stdin, why) in [
        ("", "standard input is no call"),
        ("[]", "standard input is no call"),
        (r#"{"protocol":1}"#, "missing field `tool`"),
        (r#"{"protocol":2,"tool":"echo"}"#, "protocol 2 is not known here"),
        (r#"{"protocol":1,"tool":"nope"}"#, "there is no skill `nope`"),
    ] {
        let output = started(&["handle"], stdin);
        let (code, stdout, stderr) = told(&output);
        assert_eq!((code, stdout), (Some(70), ""), "{stdin}");
        assert!(stderr.contains(why), "{stderr}");
    }
    let late =
        json!({ "protocol": 1, "tool": "steps", "args": { "wait": true }, "deadline_ms": 50 });
    let output = started(&["handle"], &late.to_string());
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["toolResult"]["isError"], true, "{whole}");
}

#[test]
fn declare_prints_the_skills_that_are_named() {
    let named = started(&["declare", "echo", "--", "run it", "handle"], "");
    let (code, stdout, _) = told(&named);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("name = \"echo\"\n"), "{stdout}");
    assert!(stdout.contains("command = [\"run it\", \"handle\"]\n"), "{stdout}");
    assert_eq!(stdout.matches("[[tool]]").count(), 1);
    let all = started(&["declare"], "");
    let (declaration, problems) = read_sidecar(Path::new("kitbag.toml"), told(&all).1);
    assert_eq!(problems, []);
    let listed: Value = serde_json::from_slice(&started(&["list", "--json"], "").stdout).unwrap();
    let listed = listed["tools"].as_array().unwrap();
    assert_eq!(declaration.tools.len(), listed.len());
    for (declared, tool) in declaration.tools.iter().zip(listed) {
        assert_eq!(declared.name, tool["name"]);
        let schema = |key: &str| tool.get(key).map(|schema| without_null_defaults(schema.clone()));
        assert_eq!(declared.input_schema.clone().map(Value::Object), schema("inputSchema"));
        assert_eq!(declared.output_schema.clone().map(Value::Object), schema("outputSchema"));
    }
    let unknown = started(&["declare", "ecko"], "");
    assert!(told(&unknown).0 == Some(2) && told(&unknown).2.contains("there is no skill `ecko`"));
}

/// TOML has no null, and a default of null says nothing.
fn without_null_defaults(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            members.retain(|key, value| !(key == "default" && value.is_null()));
            for value in members.values_mut() {
                *value = without_null_defaults(value.take());
            }
        }
        Value::Array(items) => {
            for value in items {
                *value = without_null_defaults(value.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    schema
}

/// The address and the token are told on standard error, and no other token opens the door.
#[test]
fn serve_over_http_tells_its_address_and_token() {
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--http", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let url = told.next().unwrap();
    let address = url.strip_prefix("serving http://").unwrap().strip_suffix("/mcp").unwrap();
    let token = told.next().unwrap();
    let token = token.split('`').nth(1).unwrap().strip_prefix("Authorization: ").unwrap();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    } } })
    .to_string();
    let ask = |token: &str| {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: {}\r\n\r\n{list}",
            list.len()
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask(token);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("echo.loud"), "{answer}");
    assert!(ask("Bearer 0123456789012345678901234567890123456789").starts_with("HTTP/1.1 401"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
}
