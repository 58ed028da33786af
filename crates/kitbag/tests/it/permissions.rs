//! `kitbag permissions explain`.

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::{Outcome, kitbag};

fn project() -> Project {
    let project = Project::new();
    project.write(
        "home/.kitbag/settings.json",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"mcp__files\",\n      \"Read(src/**)\"\n    ],\n    \"ask\": [\"Bash(git push:*)\"],\n    \"deny\": [\"mcp__files__delete\", \"Skill(deploy)\"]\n  }\n}\n",
    );
    project
}

fn explain(project: &Project, arguments: &[&str]) -> Outcome {
    kitbag(project, &[&["permissions", "explain"], arguments].concat())
}

#[test]
fn an_allowed_call_names_the_rule_and_its_line() {
    assert_snapshot!(explain(&project(), &["mcp__files__read_file", "--args", "{\"path\": \"x\"}"]).text(), @"
    allow  mcp__files__read_file
      because the rule allow mcp__files (user, ~/.kitbag/settings.json:4)
      mode ask (default)

    Rules that speak of it:
      decides      allow mcp__files (user, ~/.kitbag/settings.json:4)

    --- stderr, exit code 0
    ");
}

#[test]
fn a_denied_call_says_what_outweighs_what() {
    assert_snapshot!(explain(&project(), &["mcp(files, delete)"]).text(), @"
    deny  mcp(files, delete)
      because the rule deny mcp__files__delete (user, ~/.kitbag/settings.json:8)
      mode ask (default)

    Rules that speak of it:
      decides      deny mcp__files__delete (user, ~/.kitbag/settings.json:8)
      overruled    allow mcp__files (user, ~/.kitbag/settings.json:4)

    To let it run, take the rule out at ~/.kitbag/settings.json:8: nothing else outweighs a rule that denies.

    --- stderr, exit code 4
    ");
    assert_snapshot!(explain(&project(), &["Skill", "--args", "{\"name\": \"deploy\"}"]).text(), @"
    deny  Skill
      because the rule deny Skill(deploy) (user, ~/.kitbag/settings.json:8)
      mode ask (default)

    Rules that speak of it:
      decides      deny Skill(deploy) (user, ~/.kitbag/settings.json:8)

    To let it run, take the rule out at ~/.kitbag/settings.json:8: nothing else outweighs a rule that denies.

    --- stderr, exit code 4
    ");
}

#[test]
fn a_call_that_asks_says_which_rule_to_add() {
    assert_snapshot!(explain(&project(), &["Bash", "--args", "{\"command\": \"ls -l\"}"]).text(), @r#"
    ask  Bash
      because no rule hits, and a call asks unless something lets it run
      mode ask (default)

    No rule speaks of it.

    To let it run unasked, add to `permissions.allow` in ~/.kitbag/settings.json: "Bash(ls -l)"

    --- stderr, exit code 1
    "#);
    assert_snapshot!(explain(&project(), &["Bash", "--args", "{\"command\": \"git push\"}"]).text(), @"
    ask  Bash
      because the rule ask Bash(git push:*) (user, ~/.kitbag/settings.json:7)
      mode ask (default)

    Rules that speak of it:
      decides      ask Bash(git push:*) (user, ~/.kitbag/settings.json:7)

    To let it run unasked, take the rule out at ~/.kitbag/settings.json:7: it goes before every rule that allows.

    --- stderr, exit code 1
    ");
    assert_snapshot!(explain(&project(), &["Read"]).text(), @"
    ask  Read
      because no rule hits, and a call asks unless something lets it run
      mode ask (default)

    Rules that speak of it:
      not counted  allow Read(src/**) (user, ~/.kitbag/settings.json:5): rule and call cannot be compared

    Say with `--args` what the call works on, to learn which rule would let it run.

    --- stderr, exit code 1
    note: what the call works on is not given (`path` in `--args`), so rules with a subject deny and ask, and allow nothing
    ");
    assert_snapshot!(explain(&project(), &["price"]).text(), @r#"
    ask  price
      because no rule hits, and a call asks unless something lets it run
      mode ask (default)

    No rule speaks of it.

    To let it run unasked, add to `permissions.allow` in ~/.kitbag/settings.json: "price__price"

    --- stderr, exit code 1
    note: kitbag has no tool of its own that is called `price`; it is judged as the typed skill of that name
    "#);
}

#[test]
fn a_mode_can_be_tried() {
    let project = project();
    let codes = ["ask", "accept-edits", "plan", "full-auto", "dont-ask"].map(|mode| {
        let code = |tool: &[&str]| explain(&project, &[tool, &["--mode", mode][..]].concat()).code;
        let edit = ["Edit", "--args", "{\"path\": \"a\"}"];
        let outside = ["Edit", "--args", "{\"path\": \"/etc/x\"}"];
        (mode, code(&["skill_list"]), code(&edit), code(&outside), code(&["mcp__other__x"]))
    });
    assert_eq!(
        codes,
        [
            ("ask", 0, 1, 1, 1),
            ("accept-edits", 0, 0, 1, 1),
            ("plan", 0, 4, 4, 4),
            ("full-auto", 0, 0, 0, 0),
            ("dont-ask", 0, 4, 4, 4),
        ]
    );
    let outcome = explain(&project, &["mcp__other__x", "--mode", "dont-ask"]);
    assert_snapshot!(outcome.stdout, @r#"
    deny  mcp__other__x
      because the mode dont-ask
      mode dont-ask (flags, --mode)

    No rule speaks of it.

    To let it run unasked, add to `permissions.allow` in ~/.kitbag/settings.json: "mcp__other__x"
    "#);
}

#[test]
fn json_says_the_same() {
    let outcome = explain(&project(), &["mcp__files__delete", "--json"]);
    assert_eq!(outcome.code, 4);
    insta::assert_json_snapshot!(outcome.json(), @r#"
    {
      "tool": "mcp__files__delete",
      "verdict": "deny",
      "because": "the rule deny mcp__files__delete (user, ~/.kitbag/settings.json:8)",
      "mode": {
        "name": "ask",
        "from": "default"
      },
      "rules": [
        {
          "effect": "deny",
          "rule": "mcp__files__delete",
          "layer": "user",
          "origin": "~/.kitbag/settings.json:8",
          "says": "decides",
          "whyNot": null
        },
        {
          "effect": "allow",
          "rule": "mcp__files",
          "layer": "user",
          "origin": "~/.kitbag/settings.json:4",
          "says": "overruled",
          "whyNot": null
        }
      ],
      "grant": null,
      "needed": [
        "To let it run, take the rule out at ~/.kitbag/settings.json:8: nothing else outweighs a rule that denies."
      ],
      "notes": [],
      "trust": "nothing-to-trust"
    }
    "#);
}

#[test]
fn paths_are_judged_by_where_they_lead() {
    let project = project();
    project.write("work/src/a.rs", "");
    std::os::unix::fs::symlink("/etc/passwd", project.path("work/src/link")).unwrap();
    let code = |path: &str| {
        explain(&project, &["Read", "--args", &format!("{{\"path\": {path:?}}}")]).code
    };
    assert_eq!(code("src/a.rs"), 0);
    assert_eq!(code("src/not/yet.rs"), 0);
    assert_eq!(code("src/link"), 1);
    assert_eq!(code("src/../x"), 1);
}

#[test]
fn a_text_that_names_no_call_is_wrong_usage() {
    let project = project();
    for arguments in [
        &["mcp__files"][..],
        &["mcp__a__b__c"],
        &["Bash(git push)"],
        &["Web*"],
        &["Bash", "--args", "3"],
        &["Bash", "--args", "{"],
        &["Bash", "--args", "{\"command\": 3}"],
        &["WebFetch", "--args", "{\"url\": \"nowhere\"}"],
        &["Bash", "--mode", "yolo"],
    ] {
        let outcome = explain(&project, arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!outcome.stderr.is_empty(), "{arguments:?}");
    }
    assert_snapshot!(explain(&project, &["mcp__a__b__c"]).stderr, @"
    error: `mcp__a__b__c` can be read as 2 tools
    hint: write the one that is meant: `mcp(a, b__c)` or `mcp(a__b, c)`
    ");
}

#[test]
fn a_misspelt_tool_in_a_rule_is_told() {
    let project = Project::new();
    project.write("home/.kitbag/settings.json", "{\"permissions\": {\"deny\": [\"skill_lod\"]}}");
    assert_snapshot!(explain(&project, &["skill_load"]).text(), @"
    allow  skill_load
      because the tool only reads and is trusted
      mode ask (default)

    No rule speaks of it.

    --- stderr, exit code 0
    note: what the call works on is not given (`name` in `--args`), so rules with a subject deny and ask, and allow nothing
    warning: [ROOT]/home/.kitbag/settings.json:1:27: `skill_lod` speaks of `skill_lod`, and there is no such tool
      hint: did you mean `skill_load`? a server's tool is written `mcp__SERVER__TOOL`
    ");
}
