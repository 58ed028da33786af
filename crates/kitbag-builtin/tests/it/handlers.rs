//! The contract of handlers (`docs/reference/handler.md`).

use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use insta::assert_snapshot;
use kitbag_builtin::{Running, declared_tools};
use kitbag_tool::{CallContext, Source as _};
use serde_json::{Value, json};

use crate::bag::Bag;
use crate::workshop::{PATIENCE, Workshop};

#[tokio::test]
async fn a_handler_reads_one_json_object() {
    let shop = Workshop::sh_with("exec cat", "timeout = 30");
    let arguments = json!({ "b": [1, 2.5, "x"], "a": { "deep": null } });
    let output = shop.call_with("s__t", arguments, &CallContext::default()).await.unwrap();
    let raw = output.structured.unwrap();
    assert!(output.content.is_empty());
    let mut envelope: Value = serde_json::from_str(raw.get()).unwrap();
    let left = envelope["deadline_ms"].take().as_u64().unwrap();
    assert!((1..=30_000).contains(&left), "{left}");
    let id = envelope["call_id"].take();
    assert!(id.as_str().is_some_and(|id| !id.is_empty()), "{id}");
    assert_eq!(
        envelope.to_string(),
        r#"{"protocol":1,"skill":"s","tool":"t","args":{"b":[1,2.5,"x"],"a":{"deep":null}},"deadline_ms":null,"call_id":null}"#
    );
}

#[tokio::test]
async fn a_handler_has_a_folder_of_its_own_and_little_else() {
    let script = r#"
names=$(env | sed 's/=.*//' | grep -vx -e PWD -e OLDPWD -e SHLVL -e _ | sort | tr '\n' ' ')
body=$(cat "$SKILL_BODY_FILE")
echo kept >"$CALL_DIR/file" && [ "$HOME" = "$CALL_DIR" ] && [ "$TMPDIR" = "$CALL_DIR" ] || exit 3
[ "$(pwd -P)" = "$SKILL_DIR" ] || exit 4
printf '{"names":"%s","body":"%s","lang":"%s","token":"%s"}' "$names" "$body" "$LANG" "$TOKEN"
"#;
    let sidecar = "[[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = [\"sh\", \"t.sh\"]\nenv = [\"TOKEN\", \"UNSET\", \"PATH\"]";
    let variables = [("LANG", "C.UTF-8"), ("TOKEN", "t0k"), ("OTHER", "no"), ("HOME", "/no")];
    let shop = Workshop::with(sidecar, Running::ForPerson, &variables, |bag| {
        bag.write("r/s/t.sh", script);
    });
    assert_snapshot!(shop.json().await, @r#"{"content":[],"structuredContent":{"names":"CALL_DIR HOME LANG PATH PYTHONDONTWRITEBYTECODE SKILL_BODY_FILE SKILL_DIR TMPDIR TOKEN ","body":"Do s.","lang":"C.UTF-8","token":"t0k"}}"#);
    assert!(shop.is_tidy());
}

#[tokio::test]
async fn a_variable_that_must_be_set_is_asked_for() {
    let sidecar = "[[env]]\nname = \"TOKEN\"\ndescription = \"A token\"\nrequired = true\n\
        [[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = [\"sh\", \"t.sh\"]\nenv = [\"TOKEN\"]";
    let shop = Workshop::new(sidecar, |bag| {
        bag.write("r/s/t.sh", "echo 1");
    });
    assert_snapshot!(shop.failure().await, @"
    Tool t of skill s: it needs the environment variable `TOKEN` (A token).

    Hint: Set `TOKEN` and call it again.
    ");
}

/// What a handler writes, as a shell's word, and the result that a client gets.
#[tokio::test]
async fn t74_a_value_is_one_block_of_text_and_an_object_is_data_too() {
    let cases = [
        (
            r#"{ "a": [1, 2],  "b": "x  y" }"#,
            r#"{"content":[],"structuredContent":{"a":[1,2],"b":"x  y"}}"#,
        ),
        (r"{}", r#"{"content":[],"structuredContent":{}}"#),
        (r#""plain \"text\"""#, r#"{"content":[{"type":"text","text":"plain \"text\""}]}"#),
        ("null", r#"{"content":[{"type":"text","text":"null"}]}"#),
        ("[1,  2 ]", r#"{"content":[{"type":"text","text":"[1,2]"}]}"#),
        ("36893488147419103232", r#"{"content":[{"type":"text","text":"36893488147419103232"}]}"#),
        (
            r#"{"n": 0.12345678901234567890, "z": 1, "a": 36893488147419103232}"#,
            r#"{"content":[],"structuredContent":{"n":0.12345678901234567890,"z":1,"a":36893488147419103232}}"#,
        ),
        (
            r#"{"toolResult": {"content": [{"type": "text", "text": "hi", "annotations": {"priority": 1}}]}}"#,
            r#"{"content":[{"type":"text","text":"hi","annotations":{"priority":1}}]}"#,
        ),
        (
            r#"{"toolResult": {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}], "structuredContent": {"a": 1}, "_meta": {"k": 1}}}"#,
            r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"structuredContent":{"a":1},"_meta":{"k":1}}"#,
        ),
        (
            r#"{"toolResult": {"content": [{"type": "text", "text": "no"}], "isError": true}}"#,
            r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        ),
        // With anything beside it, it is a value like any other.
        (
            r#"{"toolResult": {}, "more": 1}"#,
            r#"{"content":[],"structuredContent":{"toolResult":{},"more":1}}"#,
        ),
    ];
    let shop = Workshop::sh("exec cat \"$SKILL_DIR/answer\"");
    for (written, expected) in cases {
        shop.bag.write("r/s/answer", format!("\n{written}\n\n"));
        assert_eq!(shop.json().await, expected, "{written}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_says_what_is_wrong_and_how_it_begins() {
    let cases = [
        "",
        " \n",
        "hello there",
        "{\"a\": 1} trailing",
        "{\"a\": 1}\n{\"a\": 2}",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": [{\"b\": 1, \"b\": 1}]}",
        "{\"a\": NaN}",
        "[-Infinity]",
        "undefined",
        "{\"a\": 1e999}",
        "{'a': 1}",
        "{\"a\": 1",
        "{\"toolResult\": 1}",
        "{\"toolResult\": {}}",
        "{\"toolResult\": {\"content\": \"x\"}}",
        "{\"toolResult\": {\"content\": [{\"text\": \"x\"}]}}",
        "{\"toolResult\": {\"content\": [{\"type\": \"text\"}]}}",
        "{\"toolResult\": {\"structuredContent\": 1}}",
        "{\"toolResult\": {\"content\": [], \"isError\": 1, \"structuredContent\": {}}}",
    ];
    let shop = Workshop::sh("exec cat \"$SKILL_DIR/answer\"");
    let mut told = String::new();
    for written in cases {
        shop.bag.write("r/s/answer", written);
        let failure = shop.failure().await;
        let failure = failure.strip_prefix("Tool s__t gave no usable answer: ").unwrap_or(&failure);
        writeln!(told, "{written:?}\n  {failure}").unwrap();
    }
    assert_snapshot!(told, @r#"
    ""
      it wrote nothing to standard output, where one JSON value must stand
    " \n"
      it wrote nothing to standard output, where one JSON value must stand
    "hello there"
      it must write one JSON value to standard output: expected value at line 1 column 1. It wrote 11 bytes, which begin: `hello there`
    "{\"a\": 1} trailing"
      it must write one JSON value to standard output: trailing characters at line 1 column 10. It wrote 17 bytes, which begin: `{\"a\": 1} trailing`
    "{\"a\": 1}\n{\"a\": 2}"
      it must write one JSON value to standard output: trailing characters at line 2 column 1. It wrote 17 bytes, which begin: `{\"a\": 1}\n{\"a\": 2}`
    "{\"a\": 1, \"a\": 2}"
      it must write one JSON value to standard output: the key `a` stands twice at line 1 column 12. It wrote 16 bytes, which begin: `{\"a\": 1, \"a\": 2}`
    "{\"a\": [{\"b\": 1, \"b\": 1}]}"
      it must write one JSON value to standard output: the key `b` stands twice at line 1 column 19. It wrote 25 bytes, which begin: `{\"a\": [{\"b\": 1, \"b\": 1}]}`
    "{\"a\": NaN}"
      it must write one JSON value to standard output: JSON has no `NaN`: expected value at line 1 column 7. It wrote 10 bytes, which begin: `{\"a\": NaN}`
    "[-Infinity]"
      it must write one JSON value to standard output: JSON has no `Infinity`: invalid number at line 1 column 3. It wrote 11 bytes, which begin: `[-Infinity]`
    "undefined"
      it must write one JSON value to standard output: JSON has no `undefined`: expected value at line 1 column 1. It wrote 9 bytes, which begin: `undefined`
    "{\"a\": 1e999}"
      it must write one JSON value to standard output: number out of range at line 1 column 11. It wrote 12 bytes, which begin: `{\"a\": 1e999}`
    "{'a': 1}"
      it must write one JSON value to standard output: key must be a string at line 1 column 2. It wrote 8 bytes, which begin: `{\'a\': 1}`
    "{\"a\": 1"
      it must write one JSON value to standard output: EOF while parsing an object at line 1 column 7. It wrote 7 bytes, which begin: `{\"a\": 1`
    "{\"toolResult\": 1}"
      its `toolResult` is no tool result: it has neither `content` nor `structuredContent`
    "{\"toolResult\": {}}"
      its `toolResult` is no tool result: it has neither `content` nor `structuredContent`
    "{\"toolResult\": {\"content\": \"x\"}}"
      its `toolResult` is no tool result: `content` is not a list
    "{\"toolResult\": {\"content\": [{\"text\": \"x\"}]}}"
      its `toolResult` is no tool result: `content[0]` has no `type`
    "{\"toolResult\": {\"content\": [{\"type\": \"text\"}]}}"
      its `toolResult` is no tool result: `content[0]` has no `text` that is a text
    "{\"toolResult\": {\"structuredContent\": 1}}"
      its `toolResult` is no tool result: `structuredContent` is not an object
    "{\"toolResult\": {\"content\": [], \"isError\": 1, \"structuredContent\": {}}}"
      its `toolResult` is no tool result: invalid type: integer `1`, expected a boolean at line 1 column 1
    "#);
}

#[tokio::test]
async fn the_output_schema_is_enforced() {
    let schema = "[tool.output]\ntype = \"object\"\nrequired = [\"n\"]\nproperties.n = { type = \"integer\" }";
    let shop = Workshop::sh_with("exec cat \"$SKILL_DIR/answer\"", schema);
    let spec = shop.toolbox.snapshot().tool("s__t").unwrap().clone();
    assert_eq!(
        Value::Object((**spec.output_schema.as_ref().unwrap()).clone()),
        json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } })
    );
    let mut told = String::new();
    for written in [
        r#"{"n": 1}"#,
        r#"{"n": "1"}"#,
        "{}",
        "7",
        "\"text\"",
        r#"{"toolResult": {"structuredContent": {"n": 2}}}"#,
        r#"{"toolResult": {"structuredContent": {"n": 2.5}}}"#,
        r#"{"toolResult": {"content": [{"type": "text", "text": "x"}]}}"#,
        r#"{"toolResult": {"content": [{"type": "text", "text": "sorry"}], "isError": true}}"#,
    ] {
        shop.bag.write("r/s/answer", written);
        writeln!(told, "{written}\n  {}", shop.json().await).unwrap();
    }
    assert_snapshot!(told, @r#"
    {"n": 1}
      {"content":[],"structuredContent":{"n":1}}
    {"n": "1"}
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: its answer does not fit its output schema: at `/n`: \"1\" is not of type \"integer\""}],"isError":true}
    {}
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: its answer does not fit its output schema: \"n\" is a required property"}],"isError":true}
    7
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: it declares an output schema and answered with no object"}],"isError":true}
    "text"
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: it declares an output schema and answered with no object"}],"isError":true}
    {"toolResult": {"structuredContent": {"n": 2}}}
      {"content":[],"structuredContent":{"n":2}}
    {"toolResult": {"structuredContent": {"n": 2.5}}}
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: its answer does not fit its output schema: at `/n`: 2.5 is not of type \"integer\""}],"isError":true}
    {"toolResult": {"content": [{"type": "text", "text": "x"}]}}
      {"content":[{"type":"text","text":"Tool s__t gave no usable answer: it declares an output schema and answered with no object"}],"isError":true}
    {"toolResult": {"content": [{"type": "text", "text": "sorry"}], "isError": true}}
      {"content":[{"type":"text","text":"sorry"}],"isError":true}
    "#);
    let broken = Workshop::sh_with("echo '{}'", "[tool.output]\ntype = \"object\"\nproperties = 7");
    assert_snapshot!(broken.failure().await, @r#"Tool s__t gave no usable answer: its output schema is no JSON Schema: 7 is not of type "object""#);
}

#[tokio::test]
async fn the_input_schema_is_enforced_before_anything_starts() {
    let schema = "[tool.input]\ntype = \"object\"\nrequired = [\"n\"]";
    let shop = Workshop::sh_with("echo ran >\"$SKILL_DIR/../../ran\"\necho 1", schema);
    assert_snapshot!(shop.failure().await, @r#"Input validation error: Invalid arguments for tool s__t: "n" is a required property"#);
    assert!(!shop.bag.path("ran").exists());
}

#[tokio::test]
async fn exit_codes_say_what_happened() {
    let mut told = String::new();
    for script in [
        "exit 0",
        "exit 1",
        "echo one >&2\necho two >&2\nexit 1",
        "exit 2",
        "echo 'n is odd' >&2\nexit 2",
        "exit 3",
        "echo trace >&2\nexit 70",
        "echo '{}'\nexit 1",
        "exit 127",
        "echo 'the key is ghp_0123456789abcdefghijklmnopqrstuvwxyz' >&2\nexit 1",
    ] {
        writeln!(told, "{script:?}\n  {}", Workshop::sh(script).failure().await).unwrap();
    }
    assert_snapshot!(told, @r#"
    "exit 0"
      Tool s__t gave no usable answer: it wrote nothing to standard output, where one JSON value must stand
    "exit 1"
      Tool s__t failed and wrote nothing to standard error.
    "echo one >&2\necho two >&2\nexit 1"
      one
    two
    "exit 2"
      Input validation error: Invalid arguments for tool s__t: the tool refused them
    "echo 'n is odd' >&2\nexit 2"
      Input validation error: Invalid arguments for tool s__t: n is odd
    "exit 3"
      Tool s__t broke with exit code 3. It wrote nothing to standard error.
    "echo trace >&2\nexit 70"
      Tool s__t broke with exit code 70. Its last lines on standard error:
    trace
    "echo '{}'\nexit 1"
      Tool s__t failed and wrote nothing to standard error.
    "exit 127"
      Tool s__t broke with exit code 127. It wrote nothing to standard error.
    "echo 'the key is ghp_0123456789abcdefghijklmnopqrstuvwxyz' >&2\nexit 1"
      the key is [redacted]
    "#);
}

#[tokio::test]
async fn t76_standard_error_is_told_line_by_line() {
    let shop =
        Workshop::sh("echo one >&2\nprintf 'two\\r\\n' >&2\nprintf '\\377 three' >&2\necho 1");
    let (_, lines) = shop.reported().await;
    assert_eq!(lines, ["one", "two", "\u{fffd} three"]);
}

#[tokio::test]
async fn decision_22_what_runs_is_decided_by_the_table_alone() {
    let commands = [
        r#"["zsh", "t.sh"]"#,
        r#"["deno", "run", "t.ts"]"#,
        r#"["sh", "-c", "echo 1"]"#,
        r#"["bash"]"#,
        r#"["sh", "missing.sh"]"#,
        r#"["sh", "../outside.sh"]"#,
        r#"["sh", "out.sh"]"#,
        r#"["bin/missing"]"#,
        r#"["bin/out"]"#,
        r#"["bin/shebang"]"#,
        r#"["bin/plain"]"#,
        r#"["bin/asleep"]"#,
        r#"["typescript", "t.ts"]"#,
    ];
    let mut told = String::new();
    for command in commands {
        let sidecar =
            format!("[[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = {command}");
        let programs = Bag::new();
        programs.write("bin/.keep", "");
        let path = programs.path("bin");
        symlink("/bin/sh", path.join("sh")).unwrap();
        symlink("/bin/bash", path.join("bash")).unwrap();
        let variables = [("PATH", path.to_str().unwrap())];
        let shop = Workshop::with(&sidecar, Running::ForPerson, &variables, |bag| {
            bag.write("outside.sh", "echo 1").write("r/s/t.sh", "echo 1").write("r/s/t.ts", "");
            bag.link("r/s/out.sh", "../../outside.sh").link("r/s/bin/out", "/bin/sh");
            bag.write("r/s/bin/shebang", "#!/bin/sh\necho 1").write("r/s/bin/plain", "echo 1");
            bag.write("r/s/bin/asleep", "\x7fELF");
            for name in ["shebang", "plain"] {
                let path = bag.path(&format!("r/s/bin/{name}"));
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        });
        let failure = match shop.toolbox.snapshot().tool("s__t") {
            Some(_) => shop.failure().await,
            None => "not offered".to_owned(),
        };
        writeln!(told, "{command}\n  {}", failure.replace("\n\n", "\n  ")).unwrap();
    }
    assert_snapshot!(told, @r#"
    ["zsh", "t.sh"]
      Tool t of skill s: it cannot run here: `zsh` is no interpreter that a skill may use.
      Hint: Begin the command with one of node, python3, bash, sh, deno, bun, ruby, perl, uv, typescript; a program of the skill's own is written as a path, such as `bin/zsh`.
    ["deno", "run", "t.ts"]
      Tool t of skill s: it cannot run here: `deno` is not installed.
      Hint: Install Deno from https://deno.com.
    ["sh", "-c", "echo 1"]
      Tool t of skill s: it cannot run: `sh` takes a file of the skill first.
      Hint: Put the lines into a script; a command is never a line for a shell.
    ["bash"]
      Tool t of skill s: it cannot run: `bash` takes a file of the skill first.
      Hint: Put the lines into a script; a command is never a line for a shell.
    ["sh", "missing.sh"]
      Tool t of skill s: it cannot run: `missing.sh` is not a file in this skill.
    ["sh", "../outside.sh"]
      Tool t of skill s: it cannot run: `../outside.sh` is no path in the skill.
    ["sh", "out.sh"]
      Tool t of skill s: it cannot run: `out.sh` leads out of this skill.
    ["bin/missing"]
      Tool t of skill s: it cannot run: `bin/missing` is not a file in this skill.
      Hint: The skill's own text should say how it is built.
    ["bin/out"]
      Tool t of skill s: it cannot run: `bin/out` leads out of this skill.
      Hint: The program must be a file of the skill.
    ["bin/shebang"]
      Tool t of skill s: it cannot run: `bin/shebang` is no compiled program.
      Hint: Name its interpreter first, as in `command = ["python3", "bin/shebang"]`.
    ["bin/plain"]
      Tool t of skill s: it cannot run: `bin/plain` is no compiled program.
      Hint: Name its interpreter first, as in `command = ["python3", "bin/plain"]`.
    ["bin/asleep"]
      Tool t of skill s: it cannot run: `bin/asleep` is not marked as executable.
      Hint: `chmod +x bin/asleep` in the skill's folder marks it.
    ["typescript", "t.ts"]
      Tool t of skill s: it cannot run here: neither `deno` nor `bun` is installed, and `node` is not either.
      Hint: Install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org).
    "#);
}

/// A program of the name of an interpreter that tells a version, and otherwise what it was called with.
fn pretender(bag: &Bag, name: &str, version: &str) {
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\nprintf '\"%s\"' \"${{0##*/}} $*\"\n"
    );
    bag.write(&format!("bin/{name}"), text);
    let path = bag.path(&format!("bin/{name}"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn decision_22_typescript_is_run_by_whatever_can() {
    let mut told = String::new();
    for programs in [
        &[][..],
        &[("node", "v20.20.2")],
        &[("node", "v22.5.9")],
        &[("node", "nonsense")],
        &[("node", "v22.6.0")],
        &[("node", "v23.5.0")],
        &[("node", "v23.6.0")],
        &[("node", "v24.1.0")],
        &[("node", "v24.1.0"), ("bun", "1.3.0")],
        &[("node", "v24.1.0"), ("bun", "1.3.0"), ("deno", "2.5.0")],
    ] {
        let machine = Bag::new();
        machine.write("bin/.keep", "");
        for (name, version) in programs {
            pretender(&machine, name, version);
        }
        let path = machine.path("bin");
        let sidecar = "[[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = [\"typescript\", \"t.ts\", \"x\"]";
        let variables = [("PATH", path.to_str().unwrap())];
        let shop = Workshop::with(sidecar, Running::ForPerson, &variables, |bag| {
            bag.write("r/s/t.ts", "");
        });
        let output = shop.answer().await.unwrap_or_else(|error| error.to_output());
        let text = output.content[0].as_text().unwrap().into_owned();
        writeln!(told, "{programs:?}\n  {}", text.replace("\n\n", "\n  ")).unwrap();
    }
    assert_snapshot!(told, @r#"
    []
      Tool t of skill s: it cannot run here: neither `deno` nor `bun` is installed, and `node` is not either.
      Hint: Install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org).
    [("node", "v20.20.2")]
      Tool t of skill s: it cannot run here: neither `deno` nor `bun` is installed, and `node` is 20.20, which cannot strip types.
      Hint: Install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org).
    [("node", "v22.5.9")]
      Tool t of skill s: it cannot run here: neither `deno` nor `bun` is installed, and `node` is 22.5, which cannot strip types.
      Hint: Install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org).
    [("node", "nonsense")]
      Tool t of skill s: it cannot run here: neither `deno` nor `bun` is installed, and `node` does not tell its version.
      Hint: Install Deno (https://deno.com), Bun (https://bun.sh), or Node 22.6 or newer (https://nodejs.org).
    [("node", "v22.6.0")]
      node --experimental-strip-types --disable-warning=ExperimentalWarning t.ts x
    [("node", "v23.5.0")]
      node --experimental-strip-types --disable-warning=ExperimentalWarning t.ts x
    [("node", "v23.6.0")]
      node t.ts x
    [("node", "v24.1.0")]
      node t.ts x
    [("node", "v24.1.0"), ("bun", "1.3.0")]
      bun --no-install run t.ts x
    [("node", "v24.1.0"), ("bun", "1.3.0"), ("deno", "2.5.0")]
      deno run --allow-all --no-prompt t.ts x
    "#);
}

#[tokio::test]
async fn the_offer_follows_the_disk() {
    let shop = Workshop::sh("echo 1");
    let names = || {
        let listing = shop.toolbox.view().listing();
        listing.tools().map(|spec| spec.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["s__t"]);
    let tool = |name: &str, command: &str| {
        format!(
            "[[tool]]\nname = \"{name}\"\ndescription = \"Does {name}\"\ncommand = [\"sh\", \"{command}\"]\n"
        )
    };
    let sidecar = format!("version = 1\n{}{}", tool("t", "t.sh"), tool("u", "t.sh"));
    shop.bag.write("r/s/kitbag.toml", sidecar);
    let mut offer = shop.tools.offer();
    shop.bag.library.look();
    let told = offer.wait_for(|offer| offer.tools.len() == 2);
    tokio::time::timeout(PATIENCE, told).await.expect("it is told").unwrap();
    assert_eq!(names(), ["s__t", "s__u"]);
    // A call sees what lies there now, told or not.
    shop.bag.write("r/s/t.sh", "echo 2");
    assert_eq!(shop.json().await, r#"{"content":[{"type":"text","text":"2"}]}"#);
}

#[tokio::test]
async fn decision_16_names_are_the_pairs() {
    let shop = Workshop::new("", |bag| {
        let sidecar = "version = 1\n[[tool]]\nname = \"t\"\ndescription = \"d\"\ncommand = [\"sh\", \"t.sh\"]\n\
            [[tool]]\nname = \"u_v\"\ndescription = \"d\"\ncommand = [\"sh\", \"t.sh\"]\n";
        bag.skill("r/plain").write("r/plain/kitbag.toml", sidecar);
        bag.skill("r/日本").write("r/日本/kitbag.toml", sidecar);
    });
    let tools = declared_tools(&shop.bag.library.latest());
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let exact = |name: &&&str| name.starts_with("plain__");
    assert_eq!(names.iter().filter(exact).collect::<Vec<_>>(), [&"plain__t", &"plain__u_v"]);
    // What the wire does not take becomes a hash of the exact pair.
    assert_eq!(names.len(), 4);
}

#[tokio::test]
async fn a_server_says_that_handlers_do_not_run_and_why() {
    let shop = Workshop::with(
        "[[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = [\"sh\", \"t.sh\"]",
        Running::without_sandbox(),
        &[],
        |_| {},
    );
    assert_eq!(shop.toolbox.view().listing().tools().count(), 0);
    assert_snapshot!(shop.failure().await, @"Tool t of skill s: it runs only by `kitbag run` at a terminal, since nothing confines it.");
    let loaded = shop.bag.call("skill_load", json!({ "name": "s" })).await;
    assert_snapshot!(loaded["tools"].to_string(), @r#"[{"tool":"s__t","description":"Does it","runnableHere":false,"reason":"it runs only by `kitbag run` at a terminal, since nothing confines it"}]"#);
    let listed = shop.bag.call("skill_list", json!({})).await;
    assert_snapshot!(listed["skills"][0]["unavailableTools"].to_string(), @r#"[{"tool":"s__t","reason":"it runs only by `kitbag run` at a terminal, since nothing confines it"}]"#);
}

/// Several at once do not get into each other's way, and more than may run wait for their turn.
#[tokio::test]
async fn calls_run_side_by_side_within_a_bound() {
    let shop = Arc::new(Workshop::sh("exec cat"));
    let calls = (0..3 * kitbag_builtin::MAX_RUNNING_HANDLERS).map(|number| {
        let shop = Arc::clone(&shop);
        tokio::spawn(async move {
            let arguments = json!({ "number": number });
            let output = shop.call_with("s__t", arguments, &CallContext::default()).await.unwrap();
            let echoed: Value = serde_json::from_str(output.structured.unwrap().get()).unwrap();
            assert_eq!(echoed["args"]["number"], number);
            echoed["call_id"].to_string()
        })
    });
    let mut ids = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        ids.push(call.await.unwrap());
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(shop.is_tidy());
}
