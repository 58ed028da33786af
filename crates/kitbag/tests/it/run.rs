//! `kitbag run`: the tools that skills declare, and the text of skills.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use kitbag_testkit::Project;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::kitbag::{Outcome, command, kitbag, run};

const SH: &str = "command = [\"sh\", \"t.sh\"]";

fn tool(name: &str, rest: &str) -> String {
    format!("[[tool]]\nname = \"{name}\"\ndescription = \"Does {name}\"\n{rest}\n")
}

/// The user's skill `NAME`, with these tools, each of which is the script.
fn skill(project: &Project, name: &str, tools: &[&str], script: &str) {
    let directory = format!("home/.kitbag/skills/{name}");
    project.skill(&directory, "Does things.", "Do $ARGUMENTS.\n");
    let tools: String = tools.iter().map(|name| tool(name, SH)).collect();
    project.write(&format!("{directory}/kitbag.toml"), format!("version = 1\n{tools}"));
    project.write(&format!("{directory}/t.sh"), script);
}

/// The tool `s__t`, which answers with its input.
fn echo() -> Project {
    let project = Project::new();
    skill(&project, "s", &["t"], "exec cat");
    project
}

/// Runs a command that may run a tool without a terminal.
fn yes(project: &Project, arguments: &[&str]) -> Outcome {
    kitbag(project, &[&["run", "--yes"], arguments].concat())
}

fn args(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.json()["args"].clone()
}

#[test]
fn a_tool_has_three_names_and_a_name_that_is_none_gets_the_nearest() {
    let project = echo();
    skill(&project, "two", &["a", "b"], "echo 1");
    for name in ["s__t", "s/t", "s"] {
        assert_eq!(args(&yes(&project, &[name])), json!({}), "{name}");
    }
    let mut told = String::new();
    for name in ["two", "s/u", "guide/u", "two__c", "zzzzzz/t"] {
        write!(told, "{name}\n{}\n", yes(&project, &[name]).text()).unwrap();
    }
    assert_snapshot!(told, @"
    two

    --- stderr, exit code 2
    error: `two` declares 2 tools; name one
    hint: it has two/a, two/b

    s/u

    --- stderr, exit code 2
    error: `s` declares no tool `u`
    hint: it has s/t

    guide/u

    --- stderr, exit code 2
    error: `guide` declares no tool `u`
    hint: `kitbag run guide` prints its text

    two__c

    --- stderr, exit code 2
    error: no tool and no skill is called `two__c`
    hint: the nearest names are two, two__a, two__b, s__t, guide

    zzzzzz/t

    --- stderr, exit code 2
    error: no tool and no skill is called `zzzzzz/t`
    hint: the nearest names are s__t, guide, s, two, two__a
    ");
}

#[test]
fn t75_the_input_is_inline_or_a_file_or_standard_input_and_always_an_object() {
    let project = echo();
    let input = r#"{"b": 1, "a": "ü"}"#;
    assert_eq!(args(&yes(&project, &["s"])), json!({}));
    assert_eq!(args(&yes(&project, &["s", "--input", input])), json!({ "b": 1, "a": "ü" }));
    project.write("work/in.json", format!("{input}\n"));
    assert_eq!(args(&yes(&project, &["s", "--input", "@in.json"])), json!({ "b": 1, "a": "ü" }));
    let piped = command(&project, &["run", "--yes", "s", "--input", "-"])
        .stdin(File::open(project.path("work/in.json")).unwrap())
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(answer["args"], json!({ "b": 1, "a": "ü" }));
    let mut told = String::new();
    for input in [
        "[1]",
        "\"text\"",
        "null",
        "7",
        "",
        "{",
        "{\"a\":1,\"a\":2}",
        "{} x",
        "{\"a\":NaN}",
        "@none.json",
    ] {
        write!(told, "{input:?}{}", yes(&project, &["s", "--input", input]).text()).unwrap();
    }
    assert_snapshot!(told, @r#"
    "[1]"
    --- stderr, exit code 2
    error: the input is a list, not an object
    hint: the input is a JSON object, such as `{"key":"value"}`
    "\"text\""
    --- stderr, exit code 2
    error: the input is a text, not an object
    hint: the input is a JSON object, such as `{"key":"value"}`
    "null"
    --- stderr, exit code 2
    error: the input is null, not an object
    hint: the input is a JSON object, such as `{"key":"value"}`
    "7"
    --- stderr, exit code 2
    error: the input is a number, not an object
    hint: the input is a JSON object, such as `{"key":"value"}`
    ""
    --- stderr, exit code 2
    error: the input is not JSON: EOF while parsing a value at line 1 column 0
    hint: the input is a JSON object, such as `{"key":"value"}`
    "{"
    --- stderr, exit code 2
    error: the input is not JSON: EOF while parsing an object at line 1 column 1
    hint: the input is a JSON object, such as `{"key":"value"}`
    "{\"a\":1,\"a\":2}"
    --- stderr, exit code 2
    error: the input is not JSON: the key `a` stands twice at line 1 column 10
    hint: the input is a JSON object, such as `{"key":"value"}`
    "{} x"
    --- stderr, exit code 2
    error: the input is not JSON: trailing characters at line 1 column 4
    hint: the input is a JSON object, such as `{"key":"value"}`
    "{\"a\":NaN}"
    --- stderr, exit code 2
    error: the input is not JSON: JSON has no `NaN`: expected value at line 1 column 6
    hint: the input is a JSON object, such as `{"key":"value"}`
    "@none.json"
    --- stderr, exit code 2
    error: `none.json` cannot be read: No such file or directory (os error 2)
    hint: the input is a JSON object, such as `{"key":"value"}`
    "#);
}

#[test]
fn t76_the_answer_is_on_stdout_and_progress_on_stderr() {
    let project = Project::new();
    let script = "echo starting >&2\necho '{ \"n\": 1 }'\nprintf 'red \\033[31m' >&2";
    skill(&project, "s", &["t"], script);
    assert_snapshot!(yes(&project, &["s"]).text(), @r#"
    {"n":1}
    --- stderr, exit code 0
    starting
    red \u{1b}[31m
    "#);
    assert_snapshot!(yes(&project, &["s", "--json"]).text(), @r#"
    {"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}

    --- stderr, exit code 0
    starting
    red \u{1b}[31m
    "#);
}

/// The beginning and the end are there, the marker says how much is missing, and the whole is where it says.
#[test]
fn an_output_over_the_bound_is_cut_in_the_middle_and_whole_in_a_file() {
    let project = Project::new();
    let script = "i=0; while [ $i -lt 2000 ]; do echo \"line $i of the log\"; i=$((i+1)); done | sed 's/.*/\"&\",/' | (echo '['; cat; echo 'null]')";
    skill(&project, "s", &["t"], script);
    let all = yes(&project, &["s"]);
    let cut = yes(&project, &["s", "--max-tokens", "300"]);
    assert_eq!((all.code, cut.code), (0, 0), "{cut:?}");
    assert!(all.stdout.len() > 30_000 && cut.stdout.len() < 2_000, "{}", cut.stdout.len());
    assert!(cut.stdout.contains("line 0 of") && cut.stdout.contains("line 1999 of"), "{cut:?}");
    assert!(!cut.stdout.contains("line 1000 of"));
    let (_, rest) = cut.stdout.split_once("The whole is in the file `").unwrap();
    let (path, _) = rest.split_once('`').unwrap();
    let whole = fs::read_to_string(project.path(path.strip_prefix("[ROOT]/").unwrap())).unwrap();
    assert_eq!(whole.trim_end(), all.stdout.trim_end());
    let few = yes(&project, &["s", "--max-tokens", "1000000"]);
    assert_eq!(few.stdout, all.stdout);
}

#[test]
fn exit_codes_tell_how_it_went() {
    let project = Project::new();
    let mut told = String::new();
    for script in [
        "echo '\"done\"'",
        "echo 'it is closed' >&2; exit 1",
        "echo 'the door is missing' >&2; exit 2",
        "exit 3",
        "echo nonsense",
    ] {
        skill(&project, "s", &["t"], script);
        write!(told, "{script}\n{}", yes(&project, &["s"]).text()).unwrap();
        told += &yes(&project, &["s", "--json"]).text();
    }
    assert_snapshot!(told, @r#"
    echo '"done"'
    done
    --- stderr, exit code 0
    {"content":[{"type":"text","text":"done"}]}

    --- stderr, exit code 0
    echo 'it is closed' >&2; exit 1

    --- stderr, exit code 1
    it is closed
    error: it is closed
    {"content":[{"type":"text","text":"it is closed"}],"isError":true}

    --- stderr, exit code 1
    it is closed
    echo 'the door is missing' >&2; exit 2

    --- stderr, exit code 1
    the door is missing
    error: Input validation error: Invalid arguments for tool s__t: the door is missing
    {"content":[{"type":"text","text":"Input validation error: Invalid arguments for tool s__t: the door is missing"}],"isError":true}

    --- stderr, exit code 1
    the door is missing
    exit 3

    --- stderr, exit code 1
    error: Tool s__t broke with exit code 3. It wrote nothing to standard error.
    {"content":[{"type":"text","text":"Tool s__t broke with exit code 3. It wrote nothing to standard error."}],"isError":true}

    --- stderr, exit code 1
    echo nonsense

    --- stderr, exit code 1
    error: Tool s__t gave no usable answer: it must write one JSON value to standard output: expected ident at line 1 column 2. It wrote 9 bytes, which begin: `nonsense\n`
    {"content":[{"type":"text","text":"Tool s__t gave no usable answer: it must write one JSON value to standard output: expected ident at line 1 column 2. It wrote 9 bytes, which begin: `nonsense\\n`"}],"isError":true}

    --- stderr, exit code 1
    "#);
    skill(&project, "s", &["t"], "while :; do sleep 1; done");
    assert_snapshot!(yes(&project, &["s", "--timeout", "0.2"]).text(), @"
    --- stderr, exit code 1
    error: the call ran past its deadline
    ");
    for arguments in [&["s", "more"][..], &["s", "--timeout", "0"], &["s", "--timeout", "soon"]] {
        assert_eq!(yes(&project, arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn without_a_terminal_and_without_a_yes_nothing_runs() {
    let project = echo();
    assert_snapshot!(kitbag(&project, &["run", "s"]).text(), @"
    --- stderr, exit code 4
    error: `s__t` runs without a sandbox, so only at a terminal
    hint: `--yes` runs it here all the same, with all that you may do yourself
    ");
}

#[test]
fn only_the_persons_own_skills_run() {
    let project = Project::new();
    let sidecar = format!("version = 1\n{}", tool("t", SH));
    for directory in ["work/.kitbag/skills/project", "given/given"] {
        project.skill(directory, "Does things.", "Do.\n");
        project.write(&format!("{directory}/kitbag.toml"), &sidecar);
        project.write(&format!("{directory}/t.sh"), "echo 1");
    }
    let given = project.path("given");
    let given = given.to_str().unwrap();
    assert_eq!(yes(&project, &["given", "--skills", given]).stdout, "1");
    assert_snapshot!(yes(&project, &["project"]).text(), @"
    --- stderr, exit code 1
    warning: [ROOT]/work/.kitbag/skills/project/kitbag.toml:2:1: the tool `t` has no `input` schema, so it takes any object [declaration]
      hint: add `input`, with the JSON Schema of its arguments
    error: `project` is withheld: it comes with the project and has not been approved
    hint: `kitbag skills list` shows every skill, and why it is not used
    ");
    let mut by_variable = command(&project, &["run", "--yes", "given"]);
    by_variable.env("SKILLS_DIR", given);
    assert_snapshot!(run(&project, by_variable).text(), @"
    --- stderr, exit code 1
    error: Tool t of skill given: only tools of your own skills run while nothing confines them.
    ");
    let mut hosted = command(&project, &["run", "--yes", "given", "--skills", given]);
    hosted.env("MCP_DATA_DIR", "/data");
    assert_snapshot!(run(&project, hosted).text(), @"
    --- stderr, exit code 1
    error: Tool t of skill given: nothing confines it, and here it would run for somebody else.
    ");
}

#[test]
fn rules_that_deny_and_rules_that_ask_hold_and_the_command_answers_the_rest() {
    let project = echo();
    let mut told = String::new();
    for settings in [
        r#"{"permissions": {"deny": ["s__t"]}}"#,
        r#"{"permissions": {"ask": ["s__t"]}}"#,
        r#"{"permissions": {"mode": "plan"}}"#,
        r#"{"permissions": {"deny": ["s__t("]}}"#,
    ] {
        project.write("home/.kitbag/settings.json", settings);
        write!(told, "{settings}\n{}", yes(&project, &["s"]).text()).unwrap();
    }
    assert_snapshot!(told, @r#"
    {"permissions": {"deny": ["s__t"]}}

    --- stderr, exit code 4
    error: tool `s__t` was not called: denied by the rule deny s__t (user, ~/.kitbag/settings.json:1)
    hint: nothing goes before a rule that denies; this one stands in ~/.kitbag/settings.json:1
    {"permissions": {"ask": ["s__t"]}}

    --- stderr, exit code 4
    error: tool `s__t` was not called: it would have to be asked about (the rule ask s__t (user, ~/.kitbag/settings.json:1)), and nobody can be asked here
    {"permissions": {"mode": "plan"}}

    --- stderr, exit code 4
    error: tool `s__t` was not called: denied by the mode plan
    hint: choose another mode
    {"permissions": {"deny": ["s__t("]}}

    --- stderr, exit code 3
    error: [ROOT]/home/.kitbag/settings.json:1:27: `s__t(` is no permission rule: the parentheses do not end at character 6
    hint: a rule with `(` ends in `)`
    "#);
    for settings in
        ["{}", r#"{"permissions": {"mode": "dont-ask"}}"#, r#"{"permissions": {"deny": ["s__u"]}}"#]
    {
        project.write("home/.kitbag/settings.json", settings);
        assert_eq!(args(&yes(&project, &["s"])), json!({}), "{settings}");
    }
}

#[test]
fn a_skill_of_prose_is_printed_with_its_arguments() {
    let project = Project::new();
    project.skill("home/.kitbag/skills/plain", "Plain.", "Do $1, then $ARGUMENTS.\n");
    let named =
        "---\nname: named\ndescription: Named.\narguments: from to\n---\nFrom $from to $to.\n";
    project.write("home/.kitbag/skills/named/SKILL.md", named);
    let mut told = String::new();
    for arguments in [
        &["plain"][..],
        &["plain", "a b", "c", "--", "--dry-run"],
        &["named", "v1", "v 2"],
        &["named", "v1", "v2", "v3"],
        &["named", "v1", "--json"],
        &["named", "--input", "{}"],
    ] {
        write!(told, "{arguments:?}\n{}", kitbag(&project, &[&["run"], arguments].concat()).text())
            .unwrap();
    }
    assert_snapshot!(told, @r#"
    ["plain"]
    Do $1, then .

    --- stderr, exit code 0
    ["plain", "a b", "c", "--", "--dry-run"]
    Do a, then a b c --dry-run.

    --- stderr, exit code 0
    ["named", "v1", "v 2"]
    From v1 to v 2.

    --- stderr, exit code 0
    ["named", "v1", "v2", "v3"]

    --- stderr, exit code 2
    error: `named` takes 2 arguments: from, to
    hint: put several words into quotes
    ["named", "v1", "--json"]
    {"description":"Named.","messages":[{"role":"user","content":{"type":"text","text":"From v1 to .\n"}}]}

    --- stderr, exit code 0
    ["named", "--input", "{}"]

    --- stderr, exit code 2
    error: `named` is a skill of prose and takes no `--input`
    hint: write what you would type after its name behind it
    "#);
}

/// The raw `result` of each request, in order, from a client that opens with a handshake.
fn served(project: &Project, arguments: &[&str], requests: &[(&str, Value)]) -> Vec<String> {
    let mut server = command(project, &[&["serve"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |id: usize, method: &str, params: &Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        loop {
            let line = lines.next().expect("the server answers").unwrap();
            // Notices of changes come in between.
            if let Some((_, result)) = line.split_once(&format!("\"id\":{id},\"result\":")) {
                return result.strip_suffix('}').unwrap().to_owned();
            }
            assert!(line.contains("\"method\":"), "{line}");
        }
    };
    let opening = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" },
    });
    ask(0, "initialize", &opening);
    let results = requests
        .iter()
        .enumerate()
        .map(|(at, (method, params))| ask(at + 1, method, params))
        .collect();
    drop(input);
    server.wait().unwrap();
    results
}

/// Decision 24: the same call by two ways, failures too.
#[test]
fn decision_24_a_call_has_the_bytes_that_a_client_gets() {
    let project = echo();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/skills");
    let calls = [
        ("skill_list", json!({})),
        ("skill_list", json!({ "cursor": "nowhere" })),
        ("skill_list", json!({ "query": 7 })),
        ("skill_load", json!({ "name": "release-notes" })),
        ("skill_load", json!({ "name": "postgres-migrations" })),
        ("skill_load", json!({ "name": "nothing" })),
        ("skill_load", json!({})),
        (
            "skill_file",
            json!({ "name": "cron-schedule", "paths": ["kitbag.toml", "none", "scripts/cron.py"] }),
        ),
    ];
    let requests: Vec<(&str, Value)> = calls
        .iter()
        .map(|(tool, input)| ("tools/call", json!({ "name": tool, "arguments": input })))
        .chain([(
            "prompts/get",
            json!({ "name": "release-notes", "arguments": { "from": "v1", "to": "v2" } }),
        )])
        .collect();
    let served = served(&project, &["--skills", examples], &requests);
    let mut ran: Vec<String> = Vec::new();
    for (tool, input) in &calls {
        let input = input.to_string();
        ran.push(
            kitbag(&project, &["run", tool, "--input", &input, "--json", "--skills", examples])
                .stdout,
        );
    }
    ran.push(
        kitbag(&project, &["run", "release-notes", "v1", "v2", "--json", "--skills", examples])
            .stdout,
    );
    assert_eq!(ran.len(), served.len());
    for ((ran, served), request) in ran.iter().zip(&served).zip(&requests) {
        assert_eq!(ran, &project.filtered(&format!("{served}\n")), "{request:?}");
    }
}

#[test]
fn a_server_refuses_what_a_skill_declares_and_says_why() {
    let project = echo();
    let call =
        |name: &str, input: Value| ("tools/call", json!({ "name": name, "arguments": input }));
    let requests = [
        call("skill_load", json!({ "name": "s" })),
        call("s__t", json!({})),
        ("tools/list", json!({})),
    ];
    let results = served(&project, &[], &requests);
    assert_snapshot!(results[1], @r#"
    {"content":[{"type":"text","text":"Tool t of skill s: it runs only by `kitbag run` at a terminal, since nothing confines it."}],"isError":true}
    "#);
    assert!(!results[2].contains("s__t"), "{}", results[2]);
}

/// The first end of a pipe by name, whose other end a handler holds while it lives.
fn alive(project: &Project) -> File {
    let path = project.path("alive");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let pipe = OpenOptions::new().read(true).custom_flags(flags).open(path).unwrap();
    fcntl_setfl(&pipe, fcntl_getfl(&pipe).unwrap() & !OFlags::NONBLOCK).unwrap();
    pipe
}

#[test]
fn an_interrupt_ends_the_handler_and_its_children_stubborn_ones_too() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let project = Project::new();
        let script = "trap '' TERM INT HUP\nexec 9>\"$SKILL_DIR/../../../../alive\"\n\
            (while :; do sleep 1; done) &\necho up >&2\nwait\nwhile :; do sleep 1; done";
        skill(&project, "s", &["t"], script);
        let mut alive = alive(&project);
        let mut child = command(&project, &["run", "--yes", "s"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, "up\n");
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        // The end of the pipe is the end of all who held it.
        assert_eq!(alive.read_to_end(&mut Vec::new()).unwrap(), 0);
        line.clear();
        stderr.read_to_string(&mut line).unwrap();
        assert_eq!(line, "error: the call was cancelled\n");
    }
}

/// One tool in several languages: each gives the same bytes.
#[test]
fn the_example_in_every_language_that_is_here() {
    let project = Project::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/handlers/durations");
    let here = project.path("home/.kitbag/skills/durations");
    copy(example.as_ref(), &here);
    let mut languages = vec!["sh"];
    let has = |program: &str| {
        let mut command = project.command(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if has("python3") {
        languages.push("python");
    }
    fs::create_dir_all(here.join("bin")).unwrap();
    let built = Command::new("rustc")
        .arg("-o")
        .arg(here.join("bin/durations"))
        .arg(here.join("rust/durations.rs"))
        .status();
    if built.is_ok_and(|status| status.success()) {
        languages.push("rust");
    }
    let inputs = [
        r#"{"text": "1h 30m"}"#,
        r#"{"text": "30m1h"}"#,
        r#"{"text": "007d 0h 5s"}"#,
        r#"{"text": "999999s"}"#,
        r#"{"text": "1h 2h"}"#,
        r#"{"text": "1 hour"}"#,
        r"{}",
    ];
    let results = |language: &str| {
        let name = format!("durations/{language}");
        let mut results = String::new();
        for input in inputs {
            let outcome = yes(&project, &[&name, "--json", "--input", input]);
            let stdout = outcome.stdout.replace(&format!("durations__{language}"), "TOOL");
            write!(results, "{} {stdout}", outcome.code).unwrap();
        }
        results
    };
    let sh = results("sh");
    assert_snapshot!(sh, @r#"
    0 {"content":[{"type":"text","text":"{\"seconds\":5400,\"parts\":[\"1h\",\"30m\"]}"}],"structuredContent":{"seconds":5400,"parts":["1h","30m"]}}
    0 {"content":[{"type":"text","text":"{\"seconds\":5400,\"parts\":[\"1h\",\"30m\"]}"}],"structuredContent":{"seconds":5400,"parts":["1h","30m"]}}
    0 {"content":[{"type":"text","text":"{\"seconds\":604805,\"parts\":[\"7d\",\"0h\",\"5s\"]}"}],"structuredContent":{"seconds":604805,"parts":["7d","0h","5s"]}}
    0 {"content":[{"type":"text","text":"{\"seconds\":999999,\"parts\":[\"999999s\"]}"}],"structuredContent":{"seconds":999999,"parts":["999999s"]}}
    1 {"content":[{"type":"text","text":"Input validation error: Invalid arguments for tool TOOL: the unit `h` is given twice in `1h 2h`"}],"isError":true}
    1 {"content":[{"type":"text","text":"Input validation error: Invalid arguments for tool TOOL: text: \"1 hour\" does not match \"^[0-9]{1,6}[dhms]( ?[0-9]{1,6}[dhms])*$\""}],"isError":true}
    1 {"content":[{"type":"text","text":"Input validation error: Invalid arguments for tool TOOL: \"text\" is a required property"}],"isError":true}
    "#);
    for language in &languages[1..] {
        assert_eq!(results(language), sh, "{language}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
