//! Which declared scripts may run.

use kitbag_builtin::skill_run::{
    Grant, GrantFrom, Hosting, MAX_GRANT_BYTES, MAX_GRANT_ROWS, RunFailure, Scrub, Unscrubbed,
};
use serde_json::{Value, json};

use crate::bag::each;
use crate::stage::{Setting, Stage};

const TWO: &str = "---\nname: two\ndescription: x\nmcp-host:\n  version: 1\n  run:\n    - script: a.sh\n      interpreter: sh\n      env: [KEY, OTHER]\n    - script: b.sh\n      interpreter: sh\n---\nx\n";

fn two(setting: Setting) -> Stage {
    let stage = Stage::new(setting);
    stage.write("r/two/SKILL.md", TWO).write("r/two/a.sh", "").write("r/two/b.sh", "");
    stage
}

fn granted(grant: &'static str) -> Setting {
    Setting { grant: Some(grant), ..Setting::default() }
}

async fn list(stage: &Stage) -> Value {
    stage.call("skill_list", json!({})).await
}

fn scripts(listed: &Value) -> Vec<&str> {
    each(&listed["skills"][0]["scripts"], "script")
}

#[tokio::test]
async fn k9_a_grant_that_cannot_be_read_is_empty_and_says_so() {
    // Weakness 10: whoever set the variable meant to narrow, so a placeholder and `null` are closed as well.
    for grant in ["{", "[", "{}", "\"x\"", "7", "null", "${GRANT}", "undefined"] {
        let stage = two(Setting { grant: Some(grant), ..Setting::default() });
        let listed = list(&stage).await;
        assert_eq!(listed["grantFrom"], "MCP_SKILL_RUN", "{grant}");
        assert!(listed["grantError"].as_str().unwrap().starts_with("MCP_SKILL_RUN: "), "{grant}");
        assert_eq!(scripts(&listed), [""; 0], "{grant}");
        assert_eq!(each(&listed["skills"][0]["ungrantedScripts"], "script"), ["a.sh", "b.sh"]);
        assert!(each(&listed["problems"], "reason").contains(&"grant"), "{grant}");
    }
}

#[tokio::test]
async fn k10_without_a_grant_a_hosted_server_runs_nothing_and_a_standalone_one_what_is_declared() {
    let hosted = Setting { hosting: Hosting::Hosted, ..Setting::default() };
    let listed = list(&two(hosted)).await;
    assert_eq!((&listed["grantFrom"], &listed["hosted"]), (&json!("hosted-default"), &json!(true)));
    assert_eq!(listed["grantError"], Value::Null);
    assert!(scripts(&listed).is_empty());

    for blank in [None, Some(""), Some("  \n")] {
        let listed = list(&two(Setting { grant: blank, ..Setting::default() })).await;
        assert_eq!(listed["grantFrom"], "declaration");
        assert_eq!(listed["hosted"], false);
        assert_eq!((&listed["grantError"], &listed["grantNote"]), (&Value::Null, &Value::Null));
        assert_eq!(scripts(&listed), ["a.sh", "b.sh"]);
        assert_eq!(listed["skills"][0]["scripts"][0]["env"], json!(["KEY", "OTHER"]));
    }
}

#[tokio::test]
async fn k12_an_explicit_grant_wins_when_hosted_also_an_empty_one() {
    let setting =
        Setting { hosting: Hosting::Hosted, ..granted(r#"[{"skill":"two","script":"b.sh"}]"#) };
    let listed = list(&two(setting)).await;
    assert_eq!(listed["grantFrom"], "MCP_SKILL_RUN");
    assert_eq!(listed["grantNote"], Value::Null);
    assert_eq!(scripts(&listed), ["b.sh"]);

    let listed = list(&two(Setting { hosting: Hosting::Hosted, ..granted("[]") })).await;
    assert_eq!(listed["grantFrom"], "MCP_SKILL_RUN");
    assert_eq!(listed["grantError"], Value::Null);
    assert!(scripts(&listed).is_empty());
}

#[test]
fn k13_a_grant_is_read_or_says_what_is_wrong_with_it() {
    let read = |value: &str| Grant::read(Some(value), Hosting::Standalone);
    assert_eq!(read("").from(), GrantFrom::Declaration);
    assert_eq!(Grant::read(None, Hosting::Hosted).from(), GrantFrom::HostedDefault);
    assert_eq!(read("[]").error(), None);
    assert_eq!(read(r#"[{"skill":"a","script":"b","env":["C"]}]"#).error(), None);
    let faults = [
        r#"[{"skill":"a"}]"#,
        r#"[{"script":"a"}]"#,
        r#"[{"skill":"a","script":""}]"#,
        r#"[{"skill":1,"script":"b"}]"#,
        r#"["a/b"]"#,
        r#"[{"skill":"a","script":"b","env":"C"}]"#,
        r#"[{"skill":"a","script":"b","env":[1]}]"#,
        r#"[{"skill":"a","script":"b","hosts":["example.com"]}]"#,
    ];
    let errors: Vec<String> = faults.iter().map(|value| read(value).error().unwrap()).collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    MCP_SKILL_RUN: row 1 has no `script`, and grants nothing.
    MCP_SKILL_RUN: row 1 has no `skill`, and grants nothing.
    MCP_SKILL_RUN: row 1 has a `script` that is no text, or blank, and grants nothing.
    MCP_SKILL_RUN: row 1 has a `skill` that is no text, or blank, and grants nothing.
    MCP_SKILL_RUN: row 1 is no object with `skill` and `script`, and grants nothing.
    MCP_SKILL_RUN: row 1 has an `env` that is no list of names, and grants nothing.
    MCP_SKILL_RUN: row 1 has an `env` that is no list of names, and grants nothing.
    MCP_SKILL_RUN: row 1 has a member `hosts`, which is not known, and grants nothing.
    "#);
    let many = format!("[{}1]", "1,".repeat(MAX_GRANT_ROWS));
    assert!(read(&many).error().unwrap().contains("more than 1000 rows"));
    let long = format!("[{}]", " ".repeat(MAX_GRANT_BYTES));
    assert!(read(&long).error().unwrap().contains("longer than"));
}

/// Section 10, weakness 11: a bad row voids itself alone, and opens nothing.
#[tokio::test]
async fn weakness_11_a_bad_row_grants_nothing_and_leaves_the_others() {
    let grant = r#"[{"skill":"two"},{"skill":"two","script":"b.sh"}]"#;
    let listed = list(&two(granted(grant))).await;
    assert_eq!(scripts(&listed), ["b.sh"]);
    assert_eq!(listed["grantError"], "MCP_SKILL_RUN: row 1 has no `script`, and grants nothing.");
}

#[tokio::test]
async fn k14_a_grant_narrows_and_never_widens() {
    let grant = r#"[
        {"skill":"two","script":"a.sh","env":["KEY","SECRET"]},
        {"skill":"two","script":"gone.sh"},
        {"skill":"nobody","script":"a.sh"}
    ]"#;
    let stage = two(granted(grant));
    let listed = list(&stage).await;
    let skill = &listed["skills"][0];
    assert_eq!(
        skill["scripts"],
        json!([{
            "script": "a.sh", "interpreter": "sh", "timeoutMs": 60000, "env": ["KEY"],
        }])
    );
    assert_eq!(each(&skill["ungrantedScripts"], "script"), ["b.sh"]);
    let problems: Vec<String> = listed["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|problem| problem["reason"] == "grant")
        .map(|problem| problem["detail"].as_str().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r#"
    it grants `SECRET` to `a.sh` of `two`, which does not declare it
    it grants `gone.sh`, which the skill `two` does not declare
    it grants `a.sh` of `nobody`, and no skill of that name is served
    "#);
    let loaded = stage.call("skill_load", json!({ "name": "two" })).await;
    assert_eq!(
        loaded["scripts"],
        json!([
            { "script": "a.sh", "interpreter": "sh", "runnableHere": true },
            { "script": "b.sh", "interpreter": "sh", "runnableHere": false },
        ]),
        "the declaration stays readable"
    );
}

#[tokio::test]
async fn k14_a_grant_goes_by_the_directory_and_not_by_what_a_skill_calls_itself() {
    let stage = Stage::new(granted(r#"[{"skill":"honest","script":"run.sh"}]"#));
    let skill = "---\nname: honest\ndescription: x\nmcp-host:\n  version: 1\n  run:\n    - script: run.sh\n      interpreter: sh\n---\nx\n";
    stage.write("r/impostor/SKILL.md", skill).write("r/impostor/run.sh", "");
    let listed = list(&stage).await;
    assert_eq!(each(&listed["skills"], "name"), ["impostor"]);
    assert!(scripts(&listed).is_empty());
    stage.write("r/honest/SKILL.md", skill).write("r/honest/run.sh", "");
    let listed = list(&stage).await;
    assert_eq!(each(&listed["skills"], "name"), ["honest", "impostor"]);
    assert_eq!(scripts(&listed), ["run.sh"]);
    assert_eq!(listed["skills"][1]["executable"], false);
}

#[tokio::test]
async fn k36_the_list_says_what_can_run_here_and_why_the_rest_cannot() {
    let stage = Stage::new(granted(
        r#"[{"skill":"demo","script":"ok.sh"},{"skill":"demo","script":"a.py"},{"skill":"demo","script":"c.x"},
            {"skill":"demo","script":"gone.sh"}]"#,
    ));
    stage
        .write("r/demo/SKILL.md", "---\nname: demo\ndescription: x\n---\nx\n")
        .write(
            "r/demo/kitbag.toml",
            "version = 1\n[[script]]\npath = \"ok.sh\"\ninterpreter = \"sh\"\nnetwork = [\"api.example.com\"]\ntimeout = 90\n\
             [[script]]\npath = \"a.py\"\ninterpreter = \"python3\"\n[[script]]\npath = \"c.x\"\ninterpreter = \"constructor\"\n\
             [[script]]\npath = \"gone.sh\"\ninterpreter = \"sh\"\n[[script]]\npath = \"held.sh\"\ninterpreter = \"sh\"\n",
        )
        .write("r/demo/ok.sh", "")
        .write("r/demo/a.py", "")
        .write("r/demo/c.x", "")
        .write("r/demo/held.sh", "")
        .write("r/plain/SKILL.md", "---\nname: plain\ndescription: y\n---\ny\n");
    let listed = list(&stage).await;
    let skills = serde_json::to_string_pretty(&listed["skills"]).unwrap();
    insta::assert_snapshot!(stage.anywhere(&skills), @r#"
    [
      {
        "name": "demo",
        "description": "x",
        "source": "/r",
        "files": 6,
        "bytes": 331,
        "executable": true,
        "scripts": [
          {
            "script": "ok.sh",
            "interpreter": "sh",
            "timeoutMs": 90000,
            "env": []
          }
        ],
        "unavailableScripts": [
          {
            "script": "a.py",
            "reason": "`python3` is not installed"
          },
          {
            "script": "c.x",
            "reason": "`constructor` is no interpreter that a skill may use"
          },
          {
            "script": "gone.sh",
            "reason": "`gone.sh` is not a file in this skill"
          }
        ],
        "ungrantedScripts": [
          {
            "script": "held.sh",
            "reason": "it is declared, and not granted for this registration"
          }
        ],
        "declaredEgress": [
          "api.example.com"
        ]
      },
      {
        "name": "plain",
        "description": "y",
        "source": "/r",
        "files": 1,
        "bytes": 37,
        "executable": false,
        "scripts": [],
        "unavailableScripts": []
      }
    ]
    "#);
    assert_eq!(listed["scrub"], "scrubbed");
}

#[tokio::test]
async fn k37_a_hosted_server_says_how_to_grant_and_refuses_until_then() {
    let hosted = || Setting { hosting: Hosting::Hosted, ..Setting::default() };
    let stage = Stage::with_demo(hosted());
    let listed = list(&stage).await;
    let skill = &listed["skills"][0];
    assert!(listed["grantNote"].as_str().unwrap().contains("MCP_SKILL_RUN"));
    assert_eq!((&skill["executable"], &skill["scripts"]), (&json!(false), &json!([])));
    assert_eq!(skill["ungrantedScripts"].as_array().unwrap().len(), 1);
    let refused = stage.refused(json!({ "name": "demo", "script": "scripts/echo.sh" })).await;
    insta::assert_snapshot!(refused, @r"
    `scripts/echo.sh` is declared by the skill `demo` but is not granted for this registration.

    Hint: This server is hosted, and MCP_SKILL_RUN is not set; whoever runs it can grant the script there.
    ");
    let listed = list(&Stage::with_demo(Setting::default())).await;
    assert_eq!(scripts(&listed), ["scripts/echo.sh"]);
}

#[tokio::test]
async fn k44_a_hosted_server_whose_environment_was_not_wiped_runs_nothing_unless_told_to() {
    let failed = || Scrub::Failed { reason: "the memory cannot be written".to_owned() };
    let grant = r#"[{"skill":"demo","script":"scripts/echo.sh"}]"#;
    let call = json!({ "name": "demo", "script": "scripts/echo.sh" });
    let hosted = || Setting { hosting: Hosting::Hosted, scrub: failed(), ..granted(grant) };
    let stage = Stage::with_demo(hosted());
    let refused = stage.refused(call.clone()).await;
    assert!(refused.contains("environ") && refused.contains("MCP_SKILL_ALLOW_UNSCRUBBED"));
    let listed = list(&stage).await;
    let problem = &listed["problems"][0];
    assert_eq!(problem["reason"], "environ-unscrubbed");
    assert_eq!(problem["path"], "/proc/self/environ");
    assert!(problem["detail"].as_str().unwrap().contains("cannot be written"));
    assert_eq!(listed["scrub"], "failed");

    let stage = Stage::with_demo(Setting { unscrubbed: Unscrubbed::Allow, ..hosted() });
    let shown = stage.call("skill_run", call.clone()).await;
    assert_eq!(shown["status"], "confirmation-required");

    let stage = Stage::with_demo(Setting { scrub: failed(), ..Setting::default() });
    assert_eq!(stage.call("skill_run", call).await["status"], "confirmation-required");
    assert_eq!(list(&stage).await["problems"], json!([]));
    assert_eq!(stage.started(), 0);
}

/// What cannot be enforced is not offered, and nobody is asked about it.
#[tokio::test]
async fn decision_23_a_script_whose_needs_cannot_be_enforced_is_unavailable() {
    let stage = Stage::with_demo(Setting::default());
    *stage.runner.check.lock().unwrap() = Some(RunFailure {
        reason: "the kernel has no user namespaces".to_owned(),
        hint: Some("See `kitbag doctor`.".to_owned()),
    });
    let listed = list(&stage).await;
    assert_eq!(
        listed["skills"][0]["unavailableScripts"],
        json!([{ "script": "scripts/echo.sh", "reason": "the kernel has no user namespaces" }])
    );
    let refused = stage.refused(json!({ "name": "demo", "script": "scripts/echo.sh" })).await;
    insta::assert_snapshot!(refused, @r"
    `scripts/echo.sh` of `demo` cannot run here: the kernel has no user namespaces.

    Hint: See `kitbag doctor`.
    ");
}
