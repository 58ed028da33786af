//! The `mcp-host` block, and which of two declarations counts.

use std::path::Path;
use std::time::Duration;

use insta::assert_snapshot;
use kitbag_skills::declaration::{
    Declaration, DeclarationSource, EnvProposal, MAX_DECLARATION_PROBLEMS, MAX_ROWS, Needs, Script,
    is_reserved_variable, merge, read_sidecar,
};
use kitbag_skills::frontmatter::{SkillMd, read};
use kitbag_skills::{Position, Reason, Severity};

fn skill(block: &str) -> SkillMd {
    let file = format!("---\ndescription: d\nmcp-host:\n{block}\n---\nbody\n");
    read(Path::new("x/SKILL.md"), file.as_bytes())
}

fn problems(block: &str) -> String {
    let problems = skill(block).problems;
    assert!(
        problems.iter().all(|p| (p.reason, p.severity) == (Reason::Declaration, Severity::Warning))
    );
    let tell = |p: &kitbag_skills::Problem| format!("{p} {}", p.hint.as_deref().unwrap_or("-"));
    problems.iter().map(tell).collect::<Vec<_>>().join("\n")
}

#[test]
fn k28_the_block_is_read_whole() {
    let skill = skill(
        "  version: 1
  run:
    - script: scripts/a.mjs
      interpreter: node
      env: [TOKEN, OTHER]
      timeout: 1.5
    - {script: b.py, interpreter: python3}
  env:
    - {name: TOKEN, description: A token, secret: true, required: true}
  egress: [api.example.com, '*.example.org']
  state: {anything: goes}",
    );
    assert_eq!(skill.problems, []);
    let egress = vec!["api.example.com".to_owned(), "*.example.org".to_owned()];
    let needs = Needs { network: egress.clone(), ..Needs::default() };
    let script = |path: &str, interpreter: &str, env: &[&str], seconds, position| Script {
        script: path.parse().unwrap(),
        interpreter: interpreter.to_owned(),
        description: None,
        env: env.iter().map(|&name| name.to_owned()).collect(),
        timeout: Duration::from_millis(seconds),
        needs: needs.clone(),
        position,
    };
    let expected = Declaration {
        source: DeclarationSource::McpHost,
        position: Some(Position { line: 3, column: 1 }),
        scripts: vec![
            script(
                "scripts/a.mjs",
                "node",
                &["TOKEN", "OTHER"],
                1500,
                Position { line: 6, column: 7 },
            ),
            script("b.py", "python3", &[], 60_000, Position { line: 10, column: 7 }),
        ],
        env: vec![EnvProposal {
            name: "TOKEN".to_owned(),
            description: Some("A token".to_owned()),
            secret: true,
            required: true,
        }],
        egress,
        tools: vec![],
        servers: vec![],
    };
    assert_eq!(skill.declaration, expected);
}

#[test]
fn k28_another_version_costs_the_block_and_not_the_skill() {
    for (block, told) in [
        ("  version: 2\n  run: [{script: a, interpreter: node}]", "version 2"),
        ("  run: [{script: a, interpreter: node}]", "no `version`"),
        ("  version: '1'\n  run: [{script: a, interpreter: node}]", "text"),
        ("  - version: 1", "a mapping"),
    ] {
        let skill = skill(block);
        assert_eq!(skill.declaration.scripts, []);
        assert_eq!(skill.problems.len(), 1);
        assert!(skill.problems[0].detail.contains(told), "{}", skill.problems[0]);
        assert!(skill.is_usable());
    }
}

#[test]
fn k28_each_complaint_is_its_own_problem() {
    let block = "  version: 1
  rum: 1
  run:
    - script: scripts/a.mjs
      interpreter: node
      env: [A, LD_PRELOAD, NODE_OPTIONS, 9x, A]
      timeout: 9999
      retries: 3
    - script: 12
      interpreter: node
    - script: ../../etc/passwd
      interpreter: node
    - script: scripts/a.mjs
      interpreter: node
    - script: c.py
    - script: d.py
      interpreter: python3
      timeout: soon
    - e.py
  egress: [a.example, 'http://b.example']
  env:
    - name: KITBAG_HOME
    - secret: yes";
    assert_snapshot!(problems(block), @r#"
    x/SKILL.md:5:3: `rum` is no known key of the `mcp-host` block [declaration] did you mean `run`?
    x/SKILL.md:9:16: the variable `LD_PRELOAD` is reserved and never given to a script [declaration] take it off the list
    x/SKILL.md:9:28: the variable `NODE_OPTIONS` is reserved and never given to a script [declaration] take it off the list
    x/SKILL.md:9:42: `9x` is no name of an environment variable [declaration] use letters, digits and `_`, at most 64
    x/SKILL.md:10:16: `timeout` is 9999 seconds, and 300 are the most [declaration] ask for at most 300
    x/SKILL.md:11:7: `retries` is no known key of a `run` row [declaration] known here: script, interpreter, env, timeout
    x/SKILL.md:12:15: `script` must be text in quotes, not a number [declaration] write text in quotes
    x/SKILL.md:14:15: `../../etc/passwd` is not a path inside a skill: it has a `..` segment [declaration] write the path relative to the skill's directory, such as `references/guide.md`
    x/SKILL.md:16:7: `scripts/a.mjs` is declared twice, and the first row counts [declaration] keep one of the rows
    x/SKILL.md:18:7: a `run` row has no `interpreter`, so it is left out [declaration] add `interpreter`
    x/SKILL.md:21:16: `timeout` must be a number of seconds above 0, so 60 are taken [declaration] write a number such as `90`
    x/SKILL.md:22:7: each entry of `run` must be a table, not text [declaration] write a table
    x/SKILL.md:23:23: `http://b.example` is no host name [declaration] write a name such as `api.example.com`, without scheme or port
    x/SKILL.md:25:7: the variable `KITBAG_HOME` is reserved and never given to a script [declaration] take it off the list
    x/SKILL.md:26:7: an `env` row has no `name`, so it is left out [declaration] add `name`
    "#);
    let scripts = skill(block).declaration.scripts;
    let kept: Vec<_> =
        scripts.iter().map(|s| (s.script.as_str(), s.timeout.as_millis(), s.env.len())).collect();
    assert_eq!(kept, [("scripts/a.mjs", 300_000, 1), ("d.py", 60_000, 0)]);
}

#[test]
fn reserved_variables_are_names_and_families() {
    for name in [
        "MCP_CONFIRM_SECRET",
        "MCP_HOST_CONFIRM_SECRET",
        "BASH_ENV",
        "RUBYLIB",
        "MCP_SKILL_RUN",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "NODE_PATH",
        "PYTHONPATH",
        "KITBAG_HOME",
    ] {
        assert!(is_reserved_variable(name), "{name}");
    }
    for name in ["TOKEN", "MY_NODE_OPTIONS", "ENVIRONMENT", "MCP_DATA"] {
        assert!(!is_reserved_variable(name), "{name}");
    }
}

#[test]
fn rows_and_problems_are_bounded_and_a_cut_is_told() {
    let rows = |count: usize, row: &dyn Fn(usize) -> String| {
        format!("  version: 1\n  run:\n{}", (0..count).map(row).collect::<String>())
    };
    let many =
        skill(&rows(MAX_ROWS + 1, &|n| format!("    - {{script: s{n}, interpreter: node}}\n")));
    assert_eq!((many.declaration.scripts.len(), many.problems.len()), (MAX_ROWS, 1));
    let wrong =
        skill(&rows(60, &|n| format!("    - {{script: s{n}, interpreter: node, a: 1, b: 2}}\n")));
    assert_eq!(wrong.problems.len(), MAX_DECLARATION_PROBLEMS);
    assert_eq!(wrong.problems.last().unwrap().detail, "21 more faults in this declaration");
}

#[test]
fn with_both_the_sidecar_wins_whole_and_the_block_is_one_problem() {
    let path = Path::new("x/SKILL.md");
    let block = || skill("  version: 1\n  run: [{script: a, interpreter: node}]").declaration;
    let (sidecar, _) = read_sidecar(Path::new("x/kitbag.toml"), "version = 1\n");
    let (merged, problem) = merge(path, block(), Some(sidecar.clone()));
    assert_eq!(merged, sidecar);
    assert_snapshot!(problem.unwrap(), @"x/SKILL.md:3:1: the `mcp-host` block has no effect, since the skill has a `kitbag.toml` [declaration]");
    assert_eq!(merge(path, block(), None), (block(), None));
    assert_eq!(merge(path, Declaration::default(), Some(sidecar.clone())), (sidecar, None));
}
