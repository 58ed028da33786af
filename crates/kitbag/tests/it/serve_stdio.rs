//! `kitbag serve` over stdio, as a client that starts it meets it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use kitbag_testkit::{Era, McpClient, Project};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::kitbag::{command, run};

/// A server that was started, and the one client that it has.
pub(crate) struct Served {
    pub(crate) client: McpClient<ChildStdout, ChildStdin>,
    child: Child,
}

impl Served {
    /// Starts the server and opens the conversation.
    pub(crate) async fn start(era: Era, command: Command) -> Self {
        let mut child = tokio::process::Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let client = McpClient::new(era, child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut served = Self { client, child };
        served.client.open().await;
        served
    }

    /// The result of a tool that does not fail.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.client.request("tools/call", params).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The names that `skill_list` lists.
    pub(crate) async fn names(&mut self) -> Vec<String> {
        let list = self.call("skill_list", json!({})).await;
        let skills = list["skills"].as_array().unwrap();
        skills.iter().map(|skill| skill["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes this side, and gives the exit code and what was written to stderr.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        self.client.close().await;
        ended(&mut self.child).await
    }
}

async fn ended(child: &mut Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    (child.wait().await.unwrap().code(), said)
}

fn serve(project: &Project, arguments: &[&str]) -> Command {
    command(project, &[&["serve"], arguments].concat())
}

fn with_skills(directory: &str, count: usize) -> Project {
    let project = Project::new();
    for number in 0..count {
        project.skill(&format!("{directory}/skill-{number:02}"), "Does one thing.", "Do it.\n");
    }
    project
}

/// All of a paged list.
async fn every(served: &mut Served, method: &str, key: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut params = json!({});
    loop {
        let mut page = served.client.request(method, params).await;
        items.append(page[key].as_array_mut().unwrap());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return items,
        }
    }
}

#[tokio::test]
async fn both_eras_are_served_and_the_end_of_input_is_exit_code_0() {
    for era in [Era::Handshake, Era::Stateless] {
        let project = with_skills("home/.kitbag/skills", 3);
        let mut served = Served::start(era, serve(&project, &[])).await;
        assert_eq!(served.names().await, ["skill-00", "skill-01", "skill-02", "guide"]);
        let loaded = served.call("skill_load", json!({ "name": "skill-01" })).await;
        assert_eq!(loaded["body"], "Do it.\n");
        let prompts = every(&mut served, "prompts/list", "prompts").await;
        assert_eq!(prompts.len(), 4);
        let resources = every(&mut served, "resources/list", "resources").await;
        assert_eq!(resources.len(), 4);
        assert_eq!(served.end().await, (Some(0), String::new()), "{era:?}");
    }
}

#[tokio::test]
async fn an_interrupt_and_a_termination_are_exit_code_0() {
    for signal in [Signal::INT, Signal::TERM] {
        let project = with_skills("home/.kitbag/skills", 1);
        let mut served = Served::start(Era::Handshake, serve(&project, &[])).await;
        let pid = i32::try_from(served.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        assert_eq!(ended(&mut served.child).await, (Some(0), String::new()), "{signal:?}");
    }
}

#[test]
fn a_client_that_leaves_at_once_has_done_nothing_wrong() {
    let project = with_skills("home/.kitbag/skills", 1);
    let mut none = serve(&project, &[]);
    none.stdin(Stdio::null());
    assert_snapshot!(run(&project, none).text(), @"

    --- stderr, exit code 0
    ");
}

/// K-7: the first variable wins, a list keeps its order, and what named the roots is told. `--skills` beats both.
#[tokio::test]
async fn k7_variables_name_the_roots() {
    let project = Project::new();
    for folder in ["a", "b", "c", "d", "home/.kitbag/skills"] {
        let name = folder.rsplit('/').next().unwrap();
        project.skill(&format!("{folder}/from-{name}"), "From there.", "Do it.\n");
    }
    let list = format!("{}:{}", project.path("b").display(), project.path("a").display());
    let dir = project.path("c").display().to_string();
    let both = [("MCP_SKILLS_PATH", list.as_str()), ("SKILLS_DIR", dir.as_str())];
    let given = ["--skills", "../d"];
    for (variables, arguments, from, names) in [
        (&both[..], &[][..], "MCP_SKILLS_PATH", &["from-b", "from-a"][..]),
        (&both[1..], &[], "SKILLS_DIR", &["from-c"]),
        (&[], &[], "default", &["from-skills", "guide"]),
        (&both, &given, "--skills", &["from-d"]),
    ] {
        let mut command = serve(&project, arguments);
        command.envs(variables.iter().copied());
        let mut served = Served::start(Era::Handshake, command).await;
        let listed = served.call("skill_list", json!({})).await;
        assert_eq!(listed["rootsFrom"], from);
        assert_eq!(served.names().await, names, "{from}");
        assert_eq!(served.end().await, (Some(0), String::new()));
    }
}

/// K-8: what a template leaves behind is unset.
#[tokio::test]
async fn k8_blank_values_and_placeholders_name_nothing() {
    let project = with_skills("home/.kitbag/skills", 1);
    for unset in ["", "  ", "${SKILLS_DIR}", "null", "undefined"] {
        let mut command = serve(&project, &[]);
        command.env("MCP_SKILLS_PATH", unset).env("SKILLS_DIR", unset);
        let mut served = Served::start(Era::Stateless, command).await;
        let listed = served.call("skill_list", json!({})).await;
        assert_eq!((&listed["rootsFrom"], &listed["total"]), (&json!("default"), &json!(2)));
        assert_eq!(served.end().await.0, Some(0));
    }
}

/// K-11 and decision 21: 32 skills and 500 resources when a runner started it, and many more when not.
#[tokio::test]
async fn k11_a_runner_gets_the_small_caps() {
    let project = with_skills("many", 40);
    for number in 0..600 {
        project.write(&format!("many/skill-00/data/{number:03}.txt"), "x");
    }
    let many = project.path("many");
    let markers = ["MCP_SKILLS_PATH", "MCP_HOST_METER_FILE", "MCP_DATA_DIR", "MCP_BLOB_BASE_URL"];
    for (marker, skills, resources) in
        markers.iter().map(|marker| (Some(*marker), 32, 500)).chain([(None, 40, 640)])
    {
        let mut command = serve(&project, &[]);
        command.env("SKILLS_DIR", &many);
        if let Some(marker) = marker {
            command.env(marker, &many);
        }
        let mut served = Served::start(Era::Handshake, command).await;
        let listed = served.call("skill_list", json!({})).await;
        let from = if marker == Some("MCP_SKILLS_PATH") { "MCP_SKILLS_PATH" } else { "SKILLS_DIR" };
        assert_eq!(listed["rootsFrom"], from, "{marker:?}");
        assert_eq!(listed["total"], skills, "{marker:?}");
        let limited = listed["problems"].as_array().unwrap().iter().any(|problem| {
            problem["reason"] == "skill-limit" && problem["detail"].to_string().contains("32")
        });
        assert_eq!(limited, marker.is_some(), "{listed}");
        let listed = every(&mut served, "resources/list", "resources").await;
        assert_eq!(listed.len(), resources, "{marker:?}");
        assert_eq!(served.end().await.0, Some(0));
    }
    let mut command = serve(&project, &["--max-skills", "35", "--max-resources", "7"]);
    command.env("MCP_SKILLS_PATH", &many);
    let mut served = Served::start(Era::Handshake, command).await;
    assert_eq!(served.call("skill_list", json!({})).await["total"], 35);
    assert_eq!(every(&mut served, "resources/list", "resources").await.len(), 7);
}

#[tokio::test]
async fn a_folder_of_ten_thousand_entries_is_served() {
    let project = Project::new();
    project.skill("many/large", "Holds much.", "Do it.\n");
    for number in 0..10_000 {
        project.write(&format!("many/large/data/{number:05}.txt"), "");
    }
    let mut served = Served::start(Era::Stateless, serve(&project, &["--skills", "../many"])).await;
    let loaded = served.call("skill_load", json!({ "name": "large" })).await;
    assert_eq!(loaded["body"], "Do it.\n");
    let first = served.client.request("resources/list", json!({})).await;
    assert_eq!(first["resources"][0]["uri"], "skill://large/SKILL.md");
    let paths = json!({ "name": "large", "paths": ["data/09999.txt"] });
    let file = served.call("skill_file", paths).await;
    assert_eq!(file["files"][0]["error"], Value::Null, "{file}");
    assert_eq!(served.end().await, (Some(0), String::new()));
}

/// Answers wait for a reader that is slow; none is lost, and none comes in pieces.
#[tokio::test]
async fn a_slow_reader_gets_every_answer() {
    let project = Project::new();
    project.skill("skills/long", "Long.", &"Some line of it.\n".repeat(3_000));
    let command = serve(&project, &["--skills", "../skills"]);
    let mut served = Served::start(Era::Handshake, command).await;
    let mut asked = Vec::new();
    for _ in 0..100 {
        let params = json!({ "name": "skill_load", "arguments": { "name": "long" } });
        asked.push(served.client.start("tools/call", params).await);
    }
    for id in asked {
        let result = served.client.finish(id).await.unwrap();
        assert_eq!(result["structuredContent"]["body"].as_str().unwrap().len(), 51_000);
    }
    assert_eq!(served.end().await, (Some(0), String::new()));
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

/// What is on stdout after `input` and its end, each line as JSON.
fn answers(project: &Project, input: Vec<u8>) -> Vec<Value> {
    let mut child = serve(project, &[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0");
            answer
        })
        .collect()
}

/// Whatever a client sends, only the protocol is on stdout, and what it asked properly is answered.
#[test]
fn lines_that_are_no_messages_cost_nothing_else() {
    let project = with_skills("home/.kitbag/skills", 1);
    let long =
        [b"{\"jsonrpc\":\"2.0\",\"x\":\"".as_slice(), &vec![b'x'; 10 << 20], b"\"}"].concat();
    let junk = vec![b'y'; 10 << 20];
    let deep = b"[".repeat(100_000);
    for garbage in [
        b"hello".as_slice(),
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}",
        b"{\"jsonrpc\":\"1.0\",\"id\":{},\"method\":5}",
        &deep,
        &long,
        &junk,
    ] {
        let shown = String::from_utf8_lossy(&garbage[..garbage.len().min(40)]).into_owned();
        let mut orders =
            vec![[INITIALIZE.as_bytes(), INITIALIZED.as_bytes(), garbage, PING.as_bytes()]];
        // A message that is one, and no request, is no way to begin.
        if !garbage.ends_with(b"{}}") {
            orders.push([garbage, INITIALIZE.as_bytes(), INITIALIZED.as_bytes(), PING.as_bytes()]);
        }
        for lines in orders {
            let input = [lines.join(b"\n".as_slice()).as_slice(), b"\n"].concat();
            let answers = answers(&project, input);
            let of = |id: u64| answers.iter().filter(|answer| answer["id"] == id).count();
            assert_eq!((of(1), of(7)), (1, 1), "{shown}: {answers:?}");
        }
    }
}

#[test]
fn half_a_line_and_the_end_is_an_end() {
    let project = with_skills("home/.kitbag/skills", 1);
    let input = format!("{INITIALIZE}\n{INITIALIZED}\n{}", &PING[..20]);
    let answers = answers(&project, input.into_bytes());
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0]["result"].is_object());
}

/// What a client sends in place of an opening is not repeated: it may be anything.
#[test]
fn a_client_that_opens_with_something_else_is_told_so() {
    let project = Project::new();
    let output = project
        .command(env!("CARGO_BIN_EXE_kitbag"))
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            child
                .stdin
                .take()
                .unwrap()
                .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"x\":\"hidden\"}}\n")?;
            child.wait_with_output()
        })
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("initialize") && told.contains("hint:"), "{told}");
    assert!(!told.contains("hidden") && !told.contains('{'), "{told}");
    assert_eq!(output.stdout, b"");
}
