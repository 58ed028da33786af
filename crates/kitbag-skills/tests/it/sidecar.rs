//! `kitbag.toml`.

use std::path::Path;
use std::time::Duration;

use insta::{assert_debug_snapshot, assert_snapshot};
use kitbag_skills::declaration::{
    Declaration, DeclarationSource, MAX_SIDECAR_BYTES, Place, ServerTransport, read_sidecar,
};
use kitbag_skills::{Problem, Reason, Severity};
use serde_json::json;

fn sidecar(text: &str) -> (Declaration, Vec<Problem>) {
    read_sidecar(Path::new("x/kitbag.toml"), text)
}

fn problems(text: &str) -> String {
    let (_, problems) = sidecar(text);
    assert!(
        problems.iter().all(|p| (p.reason, p.severity) == (Reason::Declaration, Severity::Warning))
    );
    let tell = |p: &Problem| format!("{p} {}", p.hint.as_deref().unwrap_or("-"));
    problems.iter().map(tell).collect::<Vec<_>>().join("\n")
}

/// The example of the reference is one that is read whole.
#[test]
fn the_documented_example_says_everything_without_a_problem() {
    let page = include_str!("../../../../docs/reference/kitbag-toml.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let (declaration, problems) = sidecar(example);
    assert_eq!(problems, []);
    assert_debug_snapshot!(declaration, @r#"
    Declaration {
        source: Sidecar,
        position: Some(
            Position {
                line: 1,
                column: 1,
            },
        ),
        scripts: [
            Script {
                script: SkillPath(
                    "scripts/report.py",
                ),
                interpreter: "python3",
                description: Some(
                    "Writes the weekly report",
                ),
                env: [
                    "REPORT_TOKEN",
                ],
                timeout: 90s,
                needs: Needs {
                    network: [
                        "api.example.com",
                    ],
                    read: [
                        Workspace,
                    ],
                    write: [
                        Data,
                    ],
                },
                position: Position {
                    line: 4,
                    column: 1,
                },
            },
        ],
        env: [
            EnvProposal {
                name: "REPORT_TOKEN",
                description: Some(
                    "A token that may read reports",
                ),
                secret: true,
                required: true,
            },
        ],
        egress: [
            "api.example.com",
            "*.example.com",
        ],
        tools: [
            ToolDeclaration {
                name: "summarize",
                description: "Sums up one report",
                input_schema: Some(
                    {
                        "type": String("object"),
                        "required": Array [
                            String("id"),
                        ],
                        "properties": Object {
                            "id": Object {
                                "type": String("string"),
                                "description": String("The report's number"),
                            },
                        },
                    },
                ),
                output_schema: Some(
                    {
                        "type": String("object"),
                        "properties": Object {
                            "summary": Object {
                                "type": String("string"),
                            },
                        },
                    },
                ),
                argv: [
                    "node",
                    "scripts/summarize.mjs",
                ],
                env: [],
                timeout: 30s,
                needs: Needs {
                    network: [],
                    read: [],
                    write: [],
                },
                position: Position {
                    line: 22,
                    column: 1,
                },
            },
        ],
        servers: [
            ServerDeclaration {
                name: "reports",
                description: Some(
                    "Search in all reports",
                ),
                transport: Stdio {
                    argv: [
                        "node",
                        "server/index.mjs",
                    ],
                    env: [
                        (
                            "TOKEN",
                            "${REPORT_TOKEN}",
                        ),
                    ],
                    needs: Needs {
                        network: [
                            "*.example.com",
                        ],
                        read: [],
                        write: [],
                    },
                },
                position: Position {
                    line: 38,
                    column: 1,
                },
            },
            ServerDeclaration {
                name: "archive",
                description: None,
                transport: Http {
                    url: "https://archive.example.com/mcp",
                    headers: [
                        (
                            "Authorization",
                            "Bearer ${REPORT_TOKEN}",
                        ),
                    ],
                },
                position: Position {
                    line: 46,
                    column: 1,
                },
            },
        ],
    }
    "#);
}

#[test]
fn each_fault_is_told_with_its_line_and_the_nearest_key() {
    let text = r#"version = 1
scripts = []

[[script]]
path = "scripts/a.py"
interpeter = "python3"

[[script]]
path = "../a.py"
interpreter = "python3"

[[script]]
path = "b.py"
interpreter = "python3"
timeout = "1m"
env = ["PYTHONPATH", "OK"]
network = ["https://x"]
read = ["etc", "/srv/../etc", "~/data"]

[[tool]]
name = "a b"
description = "d"
command = ["node", "x"]

[[tool]]
name = "line"
description = "d"
command = "node x.mjs"

[[tool]]
name = "text"
description = "d"
command = ["node", "x"]
input = { type = "string" }

[[tool]]
name = "any"
description = "d"
command = ["../bin/x"]

[[server]]
name = "both"
command = ["node", "x"]
url = "https://example.com"

[[server]]
name = "file"
url = "file:///x"

[[server]]
name = "env"
command = ["node", "x"]
env = { LD_PRELOAD = "x", OK = "y", NO = 1 }
headers = {}

[[server]]
name = "none"
"#;
    assert_snapshot!(problems(text), @r#"
    x/kitbag.toml:2:1: `scripts` is no known key of `kitbag.toml` [declaration] did you mean `script`?
    x/kitbag.toml:4:1: a `script` has no `interpreter`, so it is left out [declaration] add `interpreter`
    x/kitbag.toml:6:1: `interpeter` is no known key of a `script` [declaration] did you mean `interpreter`?
    x/kitbag.toml:9:8: `../a.py` is not a path inside a skill: it has a `..` segment [declaration] write the path relative to the skill's directory, such as `references/guide.md`
    x/kitbag.toml:15:11: `timeout` must be a number of seconds above 0, so 60 are taken [declaration] write a number such as `90`
    x/kitbag.toml:16:8: the variable `PYTHONPATH` is reserved and never given to a script [declaration] take it off the list
    x/kitbag.toml:17:12: `https://x` is no host name [declaration] write a name such as `api.example.com`, without scheme or port
    x/kitbag.toml:18:9: `etc` is no place that can be asked for [declaration] write `workspace`, `data`, or a path from `/` or `~/` without `..`
    x/kitbag.toml:18:16: `/srv/../etc` is no place that can be asked for [declaration] write `workspace`, `data`, or a path from `/` or `~/` without `..`
    x/kitbag.toml:20:1: `a b` can't be the name of a `tool`, so it is left out [declaration] use letters, digits, `_`, `-` and `.`, at most 64
    x/kitbag.toml:28:11: `command` must be a list, never one line for a shell, so a `tool` is left out [declaration] write it as `command = ["node", "scripts/tool.mjs"]`
    x/kitbag.toml:34:9: `input` must be the schema of an object, so the tool is left out [declaration] write `type = "object"`, with the value as one of its properties
    x/kitbag.toml:39:11: `../bin/x` is not a path inside a skill: it has a `..` segment [declaration] name an interpreter, or a program in the skill's folder
    x/kitbag.toml:44:7: a `server` has a `command` or a `url`, not both [declaration] remove one
    x/kitbag.toml:46:1: `url` is no address of a server [declaration] write `https://` with a host
    x/kitbag.toml:53:9: the variable `LD_PRELOAD` is reserved and never given to a script [declaration] take it off the list
    x/kitbag.toml:53:42: each entry of `env` must be text in quotes, not a number [declaration] write text in quotes
    x/kitbag.toml:54:1: `headers` is no known key of a `server` with a `command` [declaration] known here: name, description, command, env, network, read, write
    x/kitbag.toml:56:1: a `server` has no `command`, so it is left out [declaration] write it as `command = ["node", "scripts/tool.mjs"]`
    "#);
    let (declaration, _) = sidecar(text);
    let script = &declaration.scripts[0];
    assert_eq!((declaration.scripts.len(), script.env.as_slice()), (1, &["OK".to_owned()][..]));
    assert_eq!(script.needs.read, [Place::Path("~/data".to_owned())]);
    assert_eq!(script.timeout, Duration::from_mins(1));
    assert_eq!(declaration.tools, []);
    let ServerTransport::Stdio { env, .. } = &declaration.servers[0].transport else {
        panic!("a command")
    };
    assert_eq!(
        (declaration.servers.len(), env.as_slice()),
        (1, &[("OK".to_owned(), "y".to_owned())][..])
    );
}

#[test]
fn a_tool_without_a_schema_takes_any_object_and_one_without_a_type_an_objects() {
    let text = "version = 1\n[[tool]]\nname = 'a'\ndescription = 'd'\ncommand = ['bin/a']\n\
                output.properties = { n = { const = 9007199254740993 }, d = { const = 1979-05-27 } }\n";
    let (declaration, problems) = sidecar(text);
    assert_eq!(declaration.tools[0].input_schema, None);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        json!(declaration.tools[0].output_schema),
        json!({"properties": {"n": {"const": 9_007_199_254_740_993_i64}, "d": {"const": "1979-05-27"}}, "type": "object"})
    );
}

#[test]
fn a_file_that_cannot_be_read_declares_nothing_and_is_still_the_declaration() {
    let long = format!("version = 1\n#{}", "x".repeat(MAX_SIDECAR_BYTES));
    let deep = format!("version = 1\nx = {}{}", "[".repeat(2000), "]".repeat(2000));
    let files = [
        "version = 1\nscript = [",
        "version = 2\n",
        "",
        "version = 'x'",
        "version = 1\nversion = 1",
        &long,
        &deep,
    ];
    assert_snapshot!(files.map(problems).join("\n"), @r#"
    x/kitbag.toml:2:11: not TOML, so the file declares nothing: unclosed array, expected `]` [declaration] mend the line
    x/kitbag.toml:1:11: the file is of version 2, so it has no effect [declaration] write `version = 1` at the top
    x/kitbag.toml:1:1: the file has no `version`, so it has no effect [declaration] write `version = 1` at the top
    x/kitbag.toml:1:11: the file has text for its `version`, so it has no effect [declaration] write `version = 1` at the top
    x/kitbag.toml:2:1: not TOML, so the file declares nothing: duplicate key [declaration] mend the line
    x/kitbag.toml:1:1: the file is longer than 262144 bytes, so it declares nothing [declaration] shorten the schemas
    x/kitbag.toml:2:85: not TOML, so the file declares nothing: cannot recurse further; max recursion depth met [declaration] mend the line
    "#);
    for file in files {
        let (declaration, _) = sidecar(file);
        assert_eq!(declaration.source, DeclarationSource::Sidecar);
        assert_eq!(declaration.scripts, []);
    }
}

#[test]
fn places_are_right_in_a_long_line_and_after_wide_characters() {
    let pad = "é".repeat(1000);
    let text =
        format!("version = 1\nenv = [{{ name = 'A', description = '{pad}' }}, {{ name = '9' }}]");
    let (_, problems) = sidecar(&text);
    let place = problems[0].position.unwrap();
    let column = text.lines().nth(1).unwrap().chars().count() - "{ name = '9' }]".len() + 1;
    assert_eq!((place.line, place.column as usize), (2, column));
}
