//! Who says yes to a run, and what is shown before.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use kitbag_builtin::skill_run::{ConfirmValues, Confirmation, Grant, Hosting, MAX_STREAM_BYTES};
use kitbag_tool::{Answer, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::stage::{Act, Setting, Somebody, Stage};

fn echo() -> Value {
    json!({ "name": "demo", "script": "scripts/echo.sh", "args": ["hello"] })
}

fn with_token(mut call: Value, token: &Value) -> Value {
    call["confirmToken"] = token.clone();
    call
}

/// What is left of a preview when what differs from run to run is taken out.
fn steady(stage: &Stage, shown: &Value) -> String {
    let mut shown = shown.clone();
    shown["confirmToken"] = json!("TOKEN");
    shown["expiresAt"] = json!("TIME");
    stage.anywhere(&serde_json::to_string_pretty(&shown).unwrap())
}

#[tokio::test]
async fn k38_the_first_call_shows_everything_and_starts_nothing() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    insta::assert_snapshot!(steady(&stage, &shown), @r#"
    {
      "status": "confirmation-required",
      "confirmed": false,
      "dispatched": false,
      "action": "skill.run",
      "preview": {
        "dryRun": true,
        "willRun": {
          "skill": "demo",
          "interpreter": "sh",
          "program": [
            "/bin/sh"
          ],
          "argv": [
            "scripts/echo.sh",
            "hello"
          ],
          "cwd": "/r/demo",
          "timeoutMs": 60000,
          "envNames": [
            "HOME",
            "PATH",
            "TMPDIR"
          ],
          "mayRead": [
            "its own folder, as a private copy",
            "the programs and libraries of the system"
          ],
          "mayWrite": [
            "a scratch folder that is removed after the run"
          ],
          "mayReach": [
            "nothing: it has no network"
          ],
          "digest": "sha256:a996e36533f6bf407cd13153ecdec19ffcbb4ed46fb7e3c4dacce89a5ee0cdd1",
          "digestOf": "all 2 files of the skill, 187 bytes"
        },
        "note": "No process has been started. This is what will run, and nothing else."
      },
      "confirmToken": "TOKEN",
      "expiresAt": "TIME",
      "ttlSeconds": 600,
      "instruction": "Show the preview to the user word for word. Only after they have said yes in this conversation, call skill_run again with the same arguments and this confirmToken."
    }
    "#);
    assert!(shown["confirmToken"].as_str().unwrap().starts_with("mcpu.token.v1."));
    assert_eq!(stage.started(), 0);
    let output = stage.output("skill_run", echo(), &kitbag_tool::CallContext::default()).await;
    let output = output.unwrap();
    let text = output.content[0].as_text().unwrap();
    assert!(
        text.contains("\n  \"status\": \"confirmation-required\""),
        "it is indented for people"
    );
}

#[tokio::test]
async fn k39_a_token_runs_once() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    let call = with_token(echo(), &shown["confirmToken"]);
    let receipt = stage.call("skill_run", call.clone()).await;
    assert_eq!((&receipt["exitCode"], &receipt["stdout"]), (&json!(0), &json!("hello\n")));
    assert_eq!(stage.started(), 1);
    let again = stage.call("skill_run", call).await;
    assert_eq!(
        (&again["status"], &again["error"]),
        (&json!("confirmation-rejected"), &json!("TOKEN_REUSED"))
    );
    assert_eq!((&again["confirmed"], &again["dispatched"]), (&json!(false), &json!(false)));
    assert_eq!(stage.started(), 1);
}

#[tokio::test]
async fn k39_other_arguments_are_another_run_with_a_token_of_its_own() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    let mut other = with_token(echo(), &shown["confirmToken"]);
    other["args"] = json!(["bye"]);
    let changed = stage.call("skill_run", other.clone()).await;
    assert_eq!(
        (&changed["error"], &changed["reason"]),
        (&json!("DRAFT_CHANGED"), &json!("payload-changed"))
    );
    assert_eq!(changed["preview"]["willRun"]["argv"], json!(["scripts/echo.sh", "bye"]));
    assert_eq!(stage.started(), 0);
    // The fresh token is for what was shown with it, and the old one is still good for what it was shown with.
    let receipt = stage.call("skill_run", with_token(other, &changed["confirmToken"])).await;
    assert_eq!(receipt["stdout"], "bye\n");
    let receipt = stage.call("skill_run", with_token(echo(), &shown["confirmToken"])).await;
    assert_eq!(receipt["stdout"], "hello\n");
}

#[tokio::test]
async fn k39_a_token_for_another_script_or_server_or_none_at_all_is_invalid() {
    let stage = Stage::with_demo(Setting::default());
    stage.sidecar("other", "[[script]]\npath = \"run.sh\"\ninterpreter = \"sh\"\n", "");
    let shown = stage.call("skill_run", json!({ "name": "other", "script": "run.sh" })).await;
    let elsewhere = Stage::with_demo(Setting::default());
    let foreign = elsewhere.call("skill_run", echo()).await;
    for token in [&shown["confirmToken"], &foreign["confirmToken"], &json!(""), &json!("yes")] {
        let rejected = stage.call("skill_run", with_token(echo(), token)).await;
        assert_eq!(rejected["error"], "TOKEN_INVALID", "{token}");
    }
    assert_eq!(stage.started(), 0);
}

#[tokio::test]
async fn k39_where_the_mode_refuses_nothing_runs_and_the_answer_says_what_to_set() {
    for (setting, remedy) in [
        (Setting { mode: Some("refuse"), ..Setting::default() }, "MCP_CONFIRM_MODE=ask-user"),
        (Setting { mode: Some("perhaps"), ..Setting::default() }, "none of `ask-user`"),
        (Setting { ttl: Some("60s"), ..Setting::default() }, "MCP_CONFIRM_TTL_SECONDS"),
        (Setting { ttl: Some("0"), ..Setting::default() }, "MCP_CONFIRM_TTL_SECONDS"),
    ] {
        let stage = Stage::with_demo(setting);
        let answer = stage.call("skill_run", echo()).await;
        assert_eq!(answer["reason"], "confirmation-unsupported");
        assert_eq!(answer["dispatched"], false);
        assert!(answer["note"].as_str().unwrap().contains(remedy), "{answer}");
        assert_eq!(stage.started(), 0);
    }
}

#[tokio::test]
async fn in_the_mode_auto_the_model_may_use_the_token_and_still_sees_the_preview_first() {
    let stage = Stage::with_demo(Setting { mode: Some("AUTO"), ..Setting::default() });
    let shown = stage.call("skill_run", echo()).await;
    assert!(shown["instruction"].as_str().unwrap().contains("need not ask the user"));
    assert_eq!(stage.confirmed(echo()).await["exitCode"], 0);
}

#[tokio::test]
async fn k40_whoever_can_be_asked_is_asked_with_the_whole_preview() {
    let stage = Stage::with_demo(Setting::default());
    let yes = Somebody::who_says(Answer::Allow);
    let receipt = stage.call_as(&yes.context(), "skill_run", echo()).await;
    assert_eq!(receipt["stdout"], "hello\n");
    let asked = yes.asked.lock().unwrap().join("\n");
    assert!(asked.contains("`scripts/echo.sh`") && asked.contains("\"digest\":\"sha256:"));
    assert_eq!(stage.started(), 1);

    let no = Somebody::who_says(Answer::Deny { reason: None });
    let answer = stage.call_as(&no.context(), "skill_run", echo()).await;
    insta::assert_snapshot!(answer, @r#"{"confirmed":false,"cancelled":true,"action":"skill.run","note":"No process has been started: the user did not approve it. Do not try again unless the user asks for it."}"#);

    let later = Somebody::who_says(Answer::Defer(ToolOutput::text("{}")));
    let output = stage.output("skill_run", echo(), &later.context()).await.unwrap();
    assert_eq!(output, ToolOutput::text("{}"));
    assert_eq!(stage.started(), 1);
}

#[tokio::test]
async fn k40_a_token_is_ignored_where_somebody_can_be_asked() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    let no = Somebody::who_says(Answer::Deny { reason: None });
    let call = with_token(echo(), &shown["confirmToken"]);
    let answer = stage.call_as(&no.context(), "skill_run", call).await;
    assert_eq!((answer["cancelled"].clone(), no.times(), stage.started()), (json!(true), 1, 0));
}

#[tokio::test]
async fn where_prompts_are_off_a_client_that_has_them_gets_a_token() {
    let setting = Setting { elicitation: Some("off"), ..Setting::default() };
    let stage = Stage::with_demo(setting);
    let yes = Somebody::who_says(Answer::Allow);
    let shown = stage.call_as(&yes.context(), "skill_run", echo()).await;
    assert_eq!((&shown["status"], yes.times()), (&json!("confirmation-required"), 0));
}

#[tokio::test]
async fn k42_what_is_refused_is_refused_before_anybody_is_asked() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    let yes = Somebody::who_says(Answer::Allow);
    let undeclared = json!({ "name": "demo", "script": "SKILL.md" });
    let token = with_token(undeclared.clone(), &shown["confirmToken"]);
    for text in [
        stage.refused_as(&yes.context(), undeclared.clone()).await,
        stage.refused(undeclared).await,
        stage.refused(token).await,
    ] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @r"
            `SKILL.md` is not declared as a runnable script of the skill `demo`.

            Hint: These may run: scripts/echo.sh. Scripts are declared in the skill's `kitbag.toml`, or under `mcp-host.run` in its SKILL.md; nothing else is run.
            ");
        }
    }
    let unknown = json!({ "name": "nobody", "script": "x" });
    assert!(
        stage.refused_as(&yes.context(), unknown).await.starts_with("No skill is called `nobody`.")
    );
    assert_eq!((yes.times(), stage.started()), (0, 0));
}

#[tokio::test]
async fn k43_the_preview_names_exactly_the_variables_that_the_run_gets() {
    let rows = "[[script]]\npath = \"run.sh\"\ninterpreter = \"sh\"\nenv = [\"API_KEY\", \"MISSING\", \"PATH\"]\n";
    let call = json!({ "name": "keys", "script": "run.sh" });
    let setting = || Setting {
        variables: &[("API_KEY", "k"), ("TZ", "UTC"), ("OTHER", "o")],
        ..Setting::default()
    };
    let stage = Stage::new(setting());
    stage.sidecar("keys", rows, "");
    let shown = stage.call("skill_run", call.clone()).await["preview"]["willRun"].take();
    assert_eq!(shown["envNames"], json!(["API_KEY", "HOME", "PATH", "TMPDIR", "TZ"]));
    assert_eq!(shown["envNotSet"], json!(["MISSING"]));
    let warning = shown["envWarning"].as_str().unwrap();
    assert!(warning.contains("API_KEY") && warning.contains("MCP_SKILL_RUN"));
    assert!(!warning.contains("PATH") && !warning.contains("HOME"));
    let receipt = stage.confirmed(call.clone()).await;
    assert_eq!(receipt["env"], shown["envNames"]);
    let run = stage.runner.runs.lock().unwrap()[0].clone();
    let names: Vec<String> = run.env.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(json!(names), shown["envNames"]);

    let grant = r#"[{"skill":"keys","script":"run.sh","env":["API_KEY"]}]"#;
    let stage = Stage::new(Setting { grant: Some(grant), ..setting() });
    stage.sidecar("keys", rows, "");
    let shown = stage.call("skill_run", call).await["preview"]["willRun"].take();
    assert_eq!(shown["envNames"], json!(["API_KEY", "HOME", "PATH", "TMPDIR", "TZ"]));
    assert_eq!(shown["envWarning"], Value::Null);
}

/// Section 10, weakness 7: a token is for the bytes that were shown, of every file of the skill.
#[tokio::test]
async fn weakness_7_a_token_does_not_run_another_file_than_was_shown() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    stage.write("r/demo/lib.sh", "echo not approved\n");
    let changed = stage.call("skill_run", with_token(echo(), &shown["confirmToken"])).await;
    assert_eq!(changed["error"], "DRAFT_CHANGED");
    assert_ne!(changed["preview"]["willRun"]["digest"], shown["preview"]["willRun"]["digest"]);
    fs::remove_file(stage.path("r/demo/lib.sh")).unwrap();
    let receipt = stage.call("skill_run", with_token(echo(), &shown["confirmToken"])).await;
    assert_eq!(receipt["digest"], shown["preview"]["willRun"]["digest"]);
}

/// A person takes a while to say yes; what is swapped meanwhile does not run.
#[tokio::test]
async fn weakness_7_a_script_that_is_swapped_while_somebody_is_asked_does_not_run() {
    struct Swaps(std::path::PathBuf);
    impl kitbag_tool::Approver for Swaps {
        fn ask<'a>(
            &'a self,
            _question: &'a kitbag_tool::Question<'a>,
            _context: &'a kitbag_tool::CallContext,
        ) -> kitbag_tool::BoxFuture<'a, Answer> {
            fs::write(&self.0, "echo evil\n").unwrap();
            Box::pin(async { Answer::Allow })
        }
    }
    let stage = Stage::with_demo(Setting::default());
    let swaps = Arc::new(Swaps(stage.path("r/demo/scripts/echo.sh")));
    let context = kitbag_tool::CallContext { approver: swaps, ..Default::default() };
    let refused = stage.refused_as(&context, echo()).await;
    insta::assert_snapshot!(refused, @r"
    No process has been started: the skill `demo` changed after its run was approved.

    Hint: Call again, so that the user is asked about the skill as it is now.
    ");
    assert_eq!(stage.started(), 0);
}

/// Section 10, weakness 9: everything is checked before a token is used up.
#[tokio::test]
async fn weakness_9_a_call_that_finds_no_room_keeps_its_token() {
    let stage = Arc::new(Stage::with_demo(Setting { slots: (1, 0), ..Setting::default() }));
    let go = Arc::new(Semaphore::new(0));
    *stage.runner.act.lock().unwrap() = Act::Wait(go.clone());
    let shown = stage.call("skill_run", echo()).await;
    let running = tokio::spawn({
        let stage = stage.clone();
        async move { stage.confirmed(echo()).await }
    });
    while stage.started() == 0 {
        tokio::task::yield_now().await;
    }
    let call = with_token(echo(), &shown["confirmToken"]);
    let refused = stage.refused(call.clone()).await;
    assert!(refused.starts_with("1 scripts run and 0 more wait"), "{refused}");
    go.add_permits(2);
    running.await.unwrap();
    assert_eq!(stage.call("skill_run", call).await["exitCode"], 0);
}

/// A run that could not be copied or started for want of room on the disk leaves the token as it was.
#[tokio::test]
async fn weakness_9_a_run_that_has_no_folder_keeps_its_token() {
    let stage = Stage::with_demo(Setting::default());
    let shown = stage.call("skill_run", echo()).await;
    let call = with_token(echo(), &shown["confirmToken"]);
    fs::remove_dir(stage.path("runs")).unwrap();
    stage.write("runs", "in the way");
    assert!(stage.refused(call.clone()).await.starts_with("No process has been started"));
    fs::remove_file(stage.path("runs")).unwrap();
    assert_eq!(stage.call("skill_run", call).await["exitCode"], 0);
}

#[tokio::test]
async fn weakness_5_spent_tokens_are_kept_where_no_script_may_write() {
    let stage = Stage::new(Setting { data: true, ..Setting::default() });
    let rows = "[[script]]\npath = \"run.sh\"\ninterpreter = \"sh\"\nread = [\"data\"]\nwrite = [\"data\"]\n";
    stage.sidecar("keeps", rows, "echo $MCP_DATA_DIR\n");
    let call = json!({ "name": "keeps", "script": "run.sh" });
    let shown = stage.call("skill_run", call.clone()).await;
    let token = with_token(call, &shown["confirmToken"]);
    let receipt = stage.call("skill_run", token.clone()).await;
    assert_eq!(stage.anywhere(&receipt["stdout"].as_str().unwrap()), "/data/skills/keeps\n");
    let run = stage.runner.runs.lock().unwrap()[0].clone();
    let spent = stage.path("data/.mcp-confirm/spent");
    assert_eq!(run.access.write, [stage.path("data/skills/keeps")]);
    assert!(run.access.write[0].is_dir());
    assert!(!spent.starts_with(&run.access.write[0]));

    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files: Vec<_> = fs::read_dir(&spent).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((mode(&spent), files.len(), mode(&files[0])), (0o700, 1, 0o600));
    assert_eq!(stage.call("skill_run", token).await["error"], "TOKEN_REUSED");
}

/// What cannot be looked up was not found to be unspent.
#[tokio::test]
async fn k39_a_store_that_cannot_be_read_lets_nothing_run() {
    let stage = Stage::with_demo(Setting { data: true, ..Setting::default() });
    let shown = stage.call("skill_run", echo()).await;
    stage.write("data/.mcp-confirm", "no folder");
    let refused = stage.refused(with_token(echo(), &shown["confirmToken"])).await;
    assert!(refused.contains("cannot be told whether the confirmToken was used"), "{refused}");
    assert_eq!(stage.started(), 0);
}

#[test]
fn what_configures_the_confirmation_fails_closed_and_says_so() {
    let warnings = |values: ConfirmValues<'_>| Confirmation::read(&values).unwrap().1.len();
    let none = ConfirmValues::default();
    assert_eq!(warnings(none), 0);
    assert_eq!(
        warnings(ConfirmValues {
            mode: Some("Ask-User"),
            elicitation: Some("ON"),
            ttl_seconds: Some("60"),
            ..none
        }),
        0
    );
    assert_eq!(warnings(ConfirmValues { mode: Some("token"), ..none }), 1);
    assert_eq!(warnings(ConfirmValues { elicitation: Some("maybe"), ..none }), 1);
    for ttl in ["0", "-5", "1e3", "60s", "", " 60", "+60", "060", "99999999999999999999"] {
        assert_eq!(warnings(ConfirmValues { ttl_seconds: Some(ttl), ..none }), 1, "{ttl:?}");
    }
    assert!(
        !format!("{:?}", Confirmation::read(&ConfirmValues { secret: Some("hush"), ..none }))
            .contains("hush")
    );
}

#[test]
fn bounds_are_those_of_the_promises() {
    assert_eq!(MAX_STREAM_BYTES, 1024 * 1024);
    assert!(Grant::read(None, Hosting::Hosted).note().is_some());
}
