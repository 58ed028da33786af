//! What a run gets, and what comes back.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use kitbag_builtin::skill_run::{Access, Ended, Hosting, MAX_STREAM_BYTES, RunFailure};
use kitbag_tool::{Answer, CallContext, Progress};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use crate::stage::{Act, Setting, Somebody, Stage, executable, finished};

const ROW: &str = "[[script]]\npath = \"run.sh\"\ninterpreter = \"sh\"\n";

fn call(name: &str) -> Value {
    json!({ "name": name, "script": "run.sh" })
}

/// A stage with one skill `s`, whose script has these needs and these lines.
fn stage(setting: Setting, needs: &str, script: &str) -> Stage {
    let stage = Stage::new(setting);
    stage.sidecar("s", &format!("{ROW}{needs}"), script);
    stage
}

#[tokio::test]
async fn k2_k3_the_tool_is_offered_with_its_schema_and_its_effects_only_where_scripts_run() {
    let stage = Stage::with_demo(Setting::default());
    let snapshot = stage.toolbox.snapshot();
    let spec = snapshot.tool("skill_run").unwrap();
    assert_eq!(spec.title.as_deref(), Some("Run a declared skill script"));
    let schema = Value::Object((*spec.input_schema).clone());
    assert_eq!(schema["required"], json!(["name", "script"]));
    assert_eq!(schema["properties"]["args"]["maxItems"], 64);
    assert_eq!(schema["properties"]["confirmToken"]["type"], "string");
    assert_eq!(schema["properties"].as_object().unwrap().len(), 4, "there is no `confirm`");
    let hints = serde_json::to_value(spec.annotations.as_ref().unwrap()).unwrap();
    assert_eq!(
        hints,
        json!({
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        })
    );
    let reading = crate::bag::Bag::new();
    assert!(reading.toolbox.snapshot().tool("skill_run").is_none());
}

#[tokio::test]
async fn k41_a_receipt_is_one_line_and_output_survives_byte_for_byte() {
    let stage =
        stage(Setting::default(), "", "printf 'a  \\n\\n\\tb \\r\\n'; printf 'ß' >&2; exit 3");
    let call = call("s");
    let shown = stage.call("skill_run", call.clone()).await;
    let mut confirmed = call;
    confirmed["confirmToken"] = shown["confirmToken"].clone();
    let output = stage.output("skill_run", confirmed, &CallContext::default()).await.unwrap();
    assert!(!output.is_error, "a script that fails is no failure of the tool");
    assert!(output.content.is_empty(), "the line of JSON is the text");
    let line = output.structured.unwrap();
    assert!(!line.get().contains('\n'));
    let receipt: Value = serde_json::from_str(line.get()).unwrap();
    assert_eq!(receipt["stdout"], "a  \n\n\tb \r\n");
    assert_eq!((&receipt["stderr"], &receipt["exitCode"]), (&json!("ß"), &json!(3)));
    let mut names: Vec<&String> = receipt.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(
        names,
        [
            "digest",
            "durationMs",
            "env",
            "exitCode",
            "interpreter",
            "preparedMs",
            "script",
            "signal",
            "skill",
            "stderr",
            "stdout",
            "timedOut",
            "timeoutMs",
            "truncated",
        ]
    );
}

#[tokio::test]
async fn k45_only_what_is_declared_runs_whatever_its_mode_and_its_path() {
    let stage = Stage::with_demo(Setting::default());
    stage.write("r/demo/tool.sh", "#!/bin/sh\n");
    executable(&stage.path("r/demo/tool.sh"));
    for script in
        ["tool.sh", "scripts/echo.mjs", "../demo/scripts/echo.sh", "/bin/sh", "./scripts/echo.sh"]
    {
        let refused = stage.refused(json!({ "name": "demo", "script": script })).await;
        assert!(refused.contains("is not declared") && refused.contains("mcp-host"), "{refused}");
    }
    assert_eq!(stage.started(), 0);
}

#[tokio::test]
async fn k45_weakness_17_a_declared_link_runs_where_it_stays_inside_and_is_refused_where_not() {
    let stage = Stage::new(Setting::default());
    stage.sidecar("s", &format!("{ROW}[[script]]\npath = \"out.sh\"\ninterpreter = \"sh\"\n"), "");
    fs::rename(stage.path("r/s/run.sh"), stage.path("r/s/real.sh")).unwrap();
    stage.write("r/s/real.sh", "echo inside\n").write("outside.sh", "echo outside\n");
    symlink("real.sh", stage.path("r/s/run.sh")).unwrap();
    symlink("../../outside.sh", stage.path("r/s/out.sh")).unwrap();
    assert_eq!(stage.confirmed(call("s")).await["stdout"], "inside\n");
    let refused = stage.refused(json!({ "name": "s", "script": "out.sh" })).await;
    assert_eq!(refused, "`out.sh` of `s` cannot run here: `out.sh` leads out of this skill.");
    let listed = stage.call("skill_list", json!({})).await;
    assert_eq!(listed["skills"][0]["unavailableScripts"][0]["script"], "out.sh");
}

#[tokio::test]
async fn k46_arguments_arrive_word_for_word_in_the_folder_of_the_skill() {
    let stage = stage(
        Setting::default(),
        "",
        "for a in \"$@\"; do printf '%s|' \"$a\"; done; read line < data.txt; printf '%s' \"$line\"",
    );
    stage.write("r/s/data.txt", "beside\n");
    let mut call = call("s");
    call["args"] = json!(["; touch pwned", "$(whoami)", "|| ls", "", "ä\n"]);
    let receipt = stage.confirmed(call).await;
    assert_eq!(receipt["stdout"], "; touch pwned|$(whoami)||| ls||ä\n|beside");
    let run = stage.runner.runs.lock().unwrap()[0].clone();
    assert_eq!(
        run.argv[..2],
        [stage.path("bin/sh").into_os_string(), run.folder.join("run.sh").into()]
    );
    assert_eq!(run.shown_as, stage.path("r/s"));
}

#[tokio::test]
async fn k46_weakness_9_arguments_that_no_script_takes_are_refused_before_anybody_is_asked() {
    let stage = Stage::with_demo(Setting::default());
    let yes = Somebody::who_says(Answer::Allow);
    let with = |args: Value| json!({ "name": "demo", "script": "scripts/echo.sh", "args": args });
    for (args, text) in [
        (json!(["a\0b"]), "An argument holds a NUL character."),
        (json!(["x".repeat(9000)]), "The arguments have 9000 bytes, and a script takes 8192."),
        (json!(vec!["x"; 200]), "Input validation error"),
    ] {
        let refused = stage.refused_as(&yes.context(), with(args)).await;
        assert!(refused.starts_with(text), "{refused}");
    }
    assert_eq!((yes.times(), stage.started()), (0, 0));
    assert_eq!(stage.confirmed(with(json!(vec!["x"; 64]))).await["exitCode"], 0);
}

/// Decision 22: the table, and nothing else; no extension, no first line of a script.
#[tokio::test]
async fn k47_an_interpreter_is_one_of_the_table_and_on_this_machine() {
    let stage = Stage::new(Setting {
        interpreters: &["sh", "deno", "uv", "constructor"],
        ..Setting::default()
    });
    let names = ["python3", "constructor", "toString", "/bin/sh", "../sh", "SH"];
    let rows: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| format!("[[script]]\npath = \"{at}.sh\"\ninterpreter = \"{name}\"\n"))
        .collect();
    stage.sidecar("s", &rows.concat(), "");
    for at in 0..names.len() {
        stage.write(&format!("r/s/{at}.sh"), "#!/bin/sh\necho no\n");
    }
    let mut refusals = Vec::new();
    for at in 0..names.len() {
        refusals.push(stage.refused(json!({ "name": "s", "script": format!("{at}.sh") })).await);
    }
    insta::assert_snapshot!(refusals[..2].join("\n\n"), @r"
    `0.sh` of `s` cannot run here: `python3` is not installed.

    Hint: The interpreters that are offered here are: sh, deno, uv.

    `1.sh` of `s` cannot run here: `constructor` is no interpreter that a skill may use.

    Hint: The interpreters that are offered here are: sh, deno, uv.
    ");
    assert!(
        refusals[2..].iter().all(|text| text.contains("is no interpreter that a skill may use"))
    );
}

#[tokio::test]
async fn decision_22_some_interpreters_take_a_script_after_a_word_of_their_own() {
    for (interpreter, words) in [
        ("sh", vec![]),
        ("python3", vec![]),
        ("deno", vec!["run", "--allow-all", "--no-prompt"]),
        ("bun", vec!["run"]),
        ("uv", vec!["run", "--script"]),
    ] {
        let here: &'static [&'static str] = &["sh", "python3", "deno", "bun", "uv"];
        let stage = Stage::new(Setting { interpreters: here, ..Setting::default() });
        let rows = format!("[[script]]\npath = \"run.sh\"\ninterpreter = \"{interpreter}\"\n");
        stage.sidecar("s", &rows, "");
        let shown = stage.call("skill_run", call("s")).await["preview"]["willRun"].take();
        let program = stage.anywhere(&shown["program"]);
        let expected: Vec<String> = std::iter::once(format!("/bin/{interpreter}"))
            .chain(words.iter().map(|word| (*word).to_owned()))
            .collect();
        assert_eq!(program, json!(expected).to_string());
    }
}

#[tokio::test]
async fn k48_a_script_gets_a_few_variables_and_those_that_were_granted() {
    let setting = Setting {
        grant: Some(
            r#"[{"skill":"s","script":"run.sh","env":["API_KEY","LD_PRELOAD","UNSET","MCP_CONFIRM_SECRET"]}]"#,
        ),
        variables: &[
            ("API_KEY", "k"),
            ("OTHER_KEY", "o"),
            ("LANG", "C"),
            ("HOME", "/root"),
            ("LD_PRELOAD", "/evil.so"),
            ("MCP_HOST_METER_FILE", "/meter"),
            ("MCP_CONFIRM_SECRET", "hush"),
            ("HTTPS_PROXY", "http://proxy"),
        ],
        data: true,
        ..Setting::default()
    };
    let needs =
        "env = [\"API_KEY\", \"OTHER_KEY\", \"LD_PRELOAD\", \"UNSET\", \"MCP_CONFIRM_SECRET\"]\n";
    let stage = stage(setting, needs, "");
    stage.confirmed(call("s")).await;
    let run = stage.runner.runs.lock().unwrap()[0].clone();
    let scratch = run.scratch.to_str().unwrap().to_owned();
    let env: Vec<String> = run
        .env
        .iter()
        .map(|(name, value)| {
            format!("{name}={}", value.to_str().unwrap().replace(&scratch, "SCRATCH"))
        })
        .map(|line| stage.anywhere(&line))
        .collect();
    insta::assert_snapshot!(env.join("\n"), @r"
    API_KEY=k
    HOME=SCRATCH/home
    LANG=C
    MCP_DATA_DIR=/data/skills/s
    PATH=/bin
    TMPDIR=SCRATCH/tmp
    ");
}

#[tokio::test]
async fn k49_how_a_run_ended_is_told_and_each_stream_is_bounded() {
    let stage = stage(Setting::default(), "", "");
    let give = |ended, stdout: &[u8], stderr: &[u8]| {
        *stage.runner.act.lock().unwrap() = Act::Give(finished(ended, stdout, stderr));
    };
    give(Ended::TimedOut, b"partial", b"");
    let receipt = stage.confirmed(call("s")).await;
    assert_eq!((&receipt["timedOut"], &receipt["exitCode"]), (&json!(true), &Value::Null));
    assert_eq!((&receipt["stdout"], &receipt["durationMs"]), (&json!("partial"), &json!(7)));
    assert_eq!(receipt["timeoutMs"], 60000);

    give(Ended::Signal(9), b"", b"");
    let receipt = stage.confirmed(call("s")).await;
    assert_eq!((&receipt["signal"], &receipt["timedOut"]), (&json!("SIGKILL"), &json!(false)));

    // The cut goes through the last character, which has two bytes.
    let long = format!("x{}", "é".repeat(1_250_000));
    give(Ended::Code(0), long.as_bytes(), b"short");
    let receipt = stage.confirmed(call("s")).await;
    assert_eq!(receipt["truncated"], json!({ "stdout": true, "stderr": false }));
    let kept = receipt["stdout"].as_str().unwrap();
    assert_eq!(kept.len(), MAX_STREAM_BYTES - 1);
    assert_eq!(receipt["stdoutEncoding"], Value::Null);
}

#[tokio::test]
async fn weakness_15_output_that_is_no_text_comes_as_base64() {
    let stage = stage(Setting::default(), "", "printf '\\377\\376'; printf 'a\\000b' >&2");
    let receipt = stage.confirmed(call("s")).await;
    assert_eq!(
        (&receipt["stdout"], &receipt["stdoutEncoding"]),
        (&json!("//4="), &json!("base64"))
    );
    assert_eq!(
        (&receipt["stderr"], &receipt["stderrEncoding"]),
        (&json!("YQBi"), &json!("base64"))
    );
}

/// Section 10, weakness 24: runs wait for each other, in order and up to a bound.
#[tokio::test]
async fn weakness_24_runs_past_the_slots_wait_and_past_the_queue_are_refused() {
    let stage = Arc::new(Stage::with_demo(Setting { slots: (2, 1), ..Setting::default() }));
    let go = Arc::new(Semaphore::new(0));
    *stage.runner.act.lock().unwrap() = Act::Wait(go.clone());
    let run = || {
        let stage = stage.clone();
        let yes = Somebody::who_says(Answer::Allow);
        tokio::spawn(async move {
            let call = json!({ "name": "demo", "script": "scripts/echo.sh" });
            stage.call_as(&yes.context(), "skill_run", call).await
        })
    };
    let mut runs = vec![run(), run()];
    while stage.started() < 2 {
        tokio::task::yield_now().await;
    }
    runs.push(run());
    let call = json!({ "name": "demo", "script": "scripts/echo.sh" });
    let refused = loop {
        // The third takes its place in the queue at some moment; from then on a fourth finds none, and is not asked about.
        let no = Somebody::who_says(Answer::Deny { reason: None });
        if let Err(error) = stage.output("skill_run", call.clone(), &no.context()).await {
            assert_eq!(no.times(), 0);
            break error.to_output();
        }
    };
    assert!(refused.content[0].as_text().unwrap().starts_with("2 scripts run and 1 more wait"));
    assert_eq!(stage.started(), 2);
    go.add_permits(3);
    for run in runs {
        assert_eq!(run.await.unwrap()["exitCode"], 0);
    }
    assert_eq!(stage.started(), 3);
}

#[tokio::test]
async fn a_run_that_is_given_up_leaves_its_slot_and_no_folder() {
    let stage = Arc::new(Stage::with_demo(Setting { slots: (1, 0), ..Setting::default() }));
    *stage.runner.act.lock().unwrap() = Act::Wait(Arc::new(Semaphore::new(0)));
    let yes = Somebody::who_says(Answer::Allow);
    let context = yes.context();
    let cancel = context.cancel.clone();
    let running = tokio::spawn({
        let stage = stage.clone();
        async move {
            let call = json!({ "name": "demo", "script": "scripts/echo.sh" });
            stage.output("skill_run", call, &context).await
        }
    });
    while stage.started() == 0 {
        tokio::task::yield_now().await;
    }
    let scratch = stage.runner.runs.lock().unwrap()[0].scratch.clone();
    assert!(scratch.is_dir());
    cancel.cancel();
    running.await.unwrap().unwrap_err();
    *stage.runner.act.lock().unwrap() = Act::Spawn;
    let receipt = stage
        .call_as(
            &yes.context(),
            "skill_run",
            json!({ "name": "demo", "script": "scripts/echo.sh" }),
        )
        .await;
    assert_eq!(receipt["exitCode"], 0);
    while fs::read_dir(stage.path("runs")).unwrap().count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn k52_a_failure_behind_a_proxy_is_told_of_egress() {
    let proxied =
        || Setting { variables: &[("HTTPS_PROXY", "http://proxy")], ..Setting::default() };
    let note = async |setting: Setting, needs: &str, script: &str| {
        stage(setting, needs, script).confirmed(call("s")).await["networkNote"].take()
    };
    let told = note(proxied(), "", "exit 1").await;
    assert!(told.as_str().unwrap().contains("declares no egress"), "{told}");
    let told = note(proxied(), "network = [\"api.example.com\"]\n", "exit 1").await;
    assert!(told.as_str().unwrap().contains("egress; this one declares api.example.com"), "{told}");
    assert_eq!(note(proxied(), "", "exit 0").await, Value::Null);
    assert_eq!(note(Setting::default(), "", "exit 1").await, Value::Null);
}

#[tokio::test]
async fn a_run_that_the_sandbox_does_not_start_is_a_refusal() {
    let stage = stage(Setting::default(), "", "");
    *stage.runner.act.lock().unwrap() = Act::Fail(RunFailure {
        reason: "no process could be made".to_owned(),
        hint: Some("Look at the limits.".to_owned()),
    });
    let shown = stage.call("skill_run", call("s")).await;
    let mut confirmed = call("s");
    confirmed["confirmToken"] = shown["confirmToken"].clone();
    insta::assert_snapshot!(stage.refused(confirmed).await, @r"
    `run.sh` of `s` was not started: no process could be made.

    Hint: Look at the limits.
    ");
}

#[tokio::test]
async fn lines_are_told_while_a_script_runs() {
    let stage = stage(Setting::default(), "", "echo one; echo two; printf three");
    let (queue, mut reports) = mpsc::channel(16);
    let yes = Somebody::who_says(Answer::Allow);
    let context = CallContext { progress: Progress::to(queue), ..yes.context() };
    stage.call_as(&context, "skill_run", call("s")).await;
    let mut lines = Vec::new();
    while let Ok(report) = reports.try_recv() {
        lines.push(format!("{} {}", report.done, report.message.unwrap()));
    }
    assert_eq!(lines, ["0 waiting", "1 one", "2 two", "3 three"]);
}

#[tokio::test]
async fn decision_23_what_a_script_may_touch_is_shown_in_words_and_handed_over_as_shown() {
    let needs = "network = [\"api.example.com\", \"*\"]\nread = [\"workspace\", \"~/notes\", \"~/way\"]\nwrite = [\"data\"]\n";
    let stage = stage(Setting { workspace: true, data: true, ..Setting::default() }, needs, "");
    fs::create_dir(stage.path("notes")).unwrap();
    symlink(stage.path("notes"), stage.path("way")).unwrap();
    let shown = stage.call("skill_run", call("s")).await["preview"]["willRun"].take();
    let words =
        ["mayRead", "mayWrite", "mayReach"].map(|key| serde_json::to_string(&shown[key]).unwrap());
    insta::assert_snapshot!(stage.anywhere(&words.join("\n")), @r#"
    ["its own folder, as a private copy","the programs and libraries of the system","the workspace /work","/notes","/way, which is /notes"]
    ["a scratch folder that is removed after the run","what it keeps between runs, in /data/skills/s"]
    ["api.example.com","every host on the network"]
    "#);
    stage.confirmed(call("s")).await;
    let run = stage.runner.runs.lock().unwrap()[0].clone();
    assert_eq!(
        run.access,
        Access {
            read: vec![stage.path("work"), stage.path("notes"), stage.path("notes")],
            write: vec![stage.path("data/skills/s")],
            network: vec!["api.example.com".to_owned(), "*".to_owned()],
        }
    );
}

#[tokio::test]
async fn decision_23_our_own_state_is_given_to_no_script_on_any_way() {
    for need in ["~/state", "~/state/deeper", "~/way", "/"] {
        let stage = stage(Setting::default(), &format!("read = [\"{need}\"]\n"), "");
        fs::create_dir(stage.path("state/deeper")).unwrap();
        symlink(stage.path("state"), stage.path("way")).unwrap();
        let refused = stage.refused(call("s")).await;
        assert!(
            refused.contains("where kitbag keeps what no script may touch"),
            "{need}: {refused}"
        );
    }
}

#[tokio::test]
async fn decision_23_a_hosted_server_gives_nothing_of_its_machine() {
    let grant = r#"[{"skill":"s","script":"run.sh"}]"#;
    let hosted = || Setting {
        hosting: Hosting::Hosted,
        grant: Some(grant),
        workspace: true,
        data: true,
        ..Setting::default()
    };
    for need in ["workspace", "/etc", "~/notes"] {
        let refused =
            stage(hosted(), &format!("read = [\"{need}\"]\n"), "").refused(call("s")).await;
        assert!(refused.contains("which a hosted server gives to no script"), "{refused}");
    }
    let stage = stage(hosted(), "write = [\"data\"]\nnetwork = [\"api.example.com\"]\n", "");
    assert_eq!(stage.confirmed(call("s")).await["exitCode"], 0);
}

#[tokio::test]
async fn what_is_asked_for_and_not_there_is_said() {
    for (need, text) in [
        ("workspace", "it asks for the workspace, and there is none"),
        ("data", "it asks for a data folder, and this server has none"),
        ("/nowhere/at/all", "it asks for /nowhere/at/all: No such file or directory"),
    ] {
        let stage = stage(Setting::default(), &format!("read = [\"{need}\"]\n"), "");
        let refused = stage.refused(call("s")).await;
        assert!(refused.contains(text), "{refused}");
    }
}

/// A skill of which a part is not digested is not bound to anything.
#[tokio::test]
async fn weakness_7_a_skill_that_cannot_be_digested_whole_does_not_run() {
    let stage = stage(Setting::default(), "", "");
    for number in 0..2001 {
        stage.write(&format!("r/s/files/{number}"), "");
    }
    let refused = stage.refused(call("s")).await;
    assert!(refused.contains("not all files of the skill could be listed"), "{refused}");
}
