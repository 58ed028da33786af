//! B-33, B-34, B-78 to B-83, G-56 to G-58 and decision 17: what runs, what is asked about, and what is denied.

use kitbag_testkit::{FakeApprover, rules};
use kitbag_tool::{
    Answer, CallContext, Gate, Mode, OfferedTool, SubjectKind, ToolHints, ToolIdentity, Traits,
};
use serde_json::json;

use crate::support::{call, echo, gated, own, spec};

/// The tools of servers, with whatever they say about themselves, ask; nobody is there, so the answer is no.
#[tokio::test]
async fn b78_b79_b80_g57_g58_a_call_asks_whatever_the_server_says_of_its_tool() {
    let gated = gated(Mode::Ask, &[]);
    let hints = gated.toolbox.snapshot().tool("echo").unwrap().annotations.clone();
    assert_eq!(hints, Some(ToolHints::reads_closed_world()));
    insta::assert_snapshot!(gated.says(echo("echo")).await, @"tool `echo` was not called: it would have to be asked about, and nobody can be asked here; to allow it, add the rule `mcp__files__echo` to `permissions.allow`");
    // What a source claims of a tool that is not ours counts for nothing.
    let mut boasting = OfferedTool::of_server(spec("boast"), "files", "boast");
    boasting.claims = Traits::Trusted;
    let gated = gated.with(boasting);
    let answer = gated.says(echo("boast")).await;
    assert!(answer.contains("it would have to be asked about"), "{answer}");
}

/// B-81, as far as it is kept: the tools of skills have the same stance.
#[tokio::test]
async fn b81_a_tool_of_a_skill_asks_too() {
    let gated = gated(Mode::Ask, &[]).with(OfferedTool::of_skill(spec("s__t"), "s", "t"));
    let answer = gated.says(echo("s__t")).await;
    assert!(answer.contains("add the rule `s__t`"), "{answer}");
}

#[tokio::test]
async fn b33_a_trusted_tool_of_ours_runs_without_a_question() {
    let listing = OfferedTool::own(spec("skill_list"), Traits::Trusted);
    let gated = gated(Mode::Ask, &["ask Bash"]).with(listing);
    assert_eq!(gated.says(echo("skill_list")).await, "hi");
}

#[tokio::test]
async fn b34_a_rule_about_a_skill_blocks_that_skill_only() {
    let skill = own("Skill", Traits::Trusted).on("name", SubjectKind::Text);
    let gated = gated(Mode::Ask, &["deny Skill(deploy)"]).with(skill);
    let load = |name: &str| call("Skill", json!({ "name": name, "text": "body" }));
    insta::assert_snapshot!(gated.says(load("deploy")).await, @"
    tool `Skill` was not called: denied by the rule deny Skill(deploy) (user, settings.json:1)

    Hint: nothing goes before a rule that denies; this one stands in settings.json:1
    ");
    assert_eq!(gated.says(load("deploy-all")).await, "body");
    // A call that does not say which skill it is about cannot be judged, so the rule hits.
    for unjudged in [json!({}), json!({ "name": ["deploy"] }), json!({ "Name": "deploy" })] {
        let answer = gated.says(call("Skill", unjudged)).await;
        assert!(answer.contains("deny Skill(deploy)"), "{answer}");
    }
}

#[tokio::test]
async fn b82_b83_rules_cover_a_server_or_one_tool_and_deny_wins() {
    for (written, echoes, data) in [
        (&["allow mcp__files"][..], true, true),
        (&["allow mcp__files__echo"], true, false),
        (&["allow mcp(files, echo)"], true, false),
        (&["allow mcp__other"], false, false),
        (&["allow mcp__files", "deny mcp__files__echo"], false, true),
        (&["allow mcp__files__echo", "deny mcp__files"], false, false),
        (&["allow mcp__files", "ask mcp__files__echo"], false, true),
    ] {
        let gated = gated(Mode::Ask, written);
        assert_eq!(gated.says(echo("echo")).await == "hi", echoes, "{written:?}");
        let ran = gated.toolbox.call(call("data", json!({})), &CallContext::default()).await;
        assert_eq!(ran.is_ok(), data, "{written:?}");
    }
}

/// Decision 17: the five modes, for each kind of tool.
#[tokio::test]
async fn every_mode_does_what_its_row_says() {
    for (mode, trusted, reads, edits, other) in [
        (Mode::Ask, "runs", "asks", "asks", "asks"),
        (Mode::AcceptEdits, "runs", "asks", "runs", "asks"),
        (Mode::Plan, "runs", "runs", "denied", "denied"),
        (Mode::FullAuto, "runs", "runs", "runs", "runs"),
        (Mode::DontAsk, "runs", "denied", "denied", "denied"),
    ] {
        let gated = gated(mode, &[])
            .with(own("t", Traits::Trusted))
            .with(own("r", Traits::ReadOnly))
            .with(own("w", Traits::WorkspaceEdit));
        for (tool, expected) in [("t", trusted), ("r", reads), ("w", edits), ("echo", other)] {
            let answer = gated.says(echo(tool)).await;
            let happened = match answer.as_str() {
                "hi" => "runs",
                text if text.contains("nobody can be asked here") => "asks",
                text if text.contains(&format!("denied by the mode {mode}")) => "denied",
                text => text,
            };
            assert_eq!(happened, expected, "{tool} in {mode}");
        }
    }
}

#[tokio::test]
async fn what_would_help_is_said() {
    let denied = gated(Mode::DontAsk, &["ask mcp__files__data"]);
    insta::assert_snapshot!(denied.says(echo("echo")).await, @"
    tool `echo` was not called: denied by the mode dont-ask

    Hint: add the rule `mcp__files__echo` to `permissions.allow`
    ");
    insta::assert_snapshot!(denied.says(call("data", json!({}))).await, @"
    tool `data` was not called: denied by the rule ask mcp__files__data (user, settings.json:1), and in the mode dont-ask nobody is asked

    Hint: choose a mode in which somebody is asked
    ");
    insta::assert_snapshot!(gated(Mode::Plan, &[]).says(echo("echo")).await, @"
    tool `echo` was not called: denied by the mode plan

    Hint: choose another mode
    ");
}

/// A policy that is put in place while somebody thinks about a question counts for that call.
#[tokio::test]
async fn the_rules_of_the_moment_count() {
    let gated = gated(Mode::Ask, &["allow mcp__files"]);
    assert_eq!(gated.says(echo("echo")).await, "hi");
    gated.gate.replace(rules(&["deny mcp__files"]), Mode::FullAuto);
    assert!(gated.says(echo("echo")).await.contains("deny mcp__files"));
    gated.gate.replace(rules(&[]), Mode::Ask);
    gated.gate.grant("mcp__files__echo".parse().unwrap());
    assert_eq!(gated.says(echo("echo")).await, "hi");
    gated.gate.replace(rules(&[]), Mode::Ask);
    assert!(gated.says(echo("echo")).await.contains("nobody can be asked"));
}

/// The name that a tool is shown by is enough to deny, and never enough to allow (decision 16).
#[tokio::test]
async fn a_shown_name_denies_and_does_not_allow() {
    let shown = || OfferedTool::of_skill(spec("price"), "price", "price");
    let denied = gated(Mode::FullAuto, &["deny price"]).with(shown());
    assert!(denied.says(echo("price")).await.contains("deny price"));
    let asked = gated(Mode::Ask, &["allow price"]).with(shown());
    assert!(asked.says(echo("price")).await.contains("add the rule `price__price`"));
    let allowed = gated(Mode::Ask, &["allow skill(price, price)"]).with(shown());
    assert_eq!(allowed.says(echo("price")).await, "hi");
}

/// Rules about files see the path a call names, from the workspace, and where its links lead.
#[tokio::test]
async fn a_path_is_judged_by_its_name_and_by_where_it_leads() {
    let bag = tempfile::tempdir().unwrap();
    let root = bag.path().canonicalize().unwrap();
    let (app, secret) = (root.join("app"), root.join("secret"));
    std::fs::create_dir_all(app.join("src")).unwrap();
    std::fs::write(app.join("src/a"), "").unwrap();
    std::fs::write(&secret, "").unwrap();
    std::os::unix::fs::symlink(&secret, app.join("src/link")).unwrap();
    std::os::unix::fs::symlink("nowhere", app.join("src/dangling")).unwrap();
    let bases = kitbag_permission::Bases { workspace: app.to_str(), home: None };
    let source = kitbag_testkit::FakeSource::new("files");
    source.add_offered(own("Read", Traits::ReadOnly).on("path", SubjectKind::Path));
    let gate = Gate::with_bases(rules(&["allow Read(src/**)"]), Mode::DontAsk, bases);
    let toolbox = kitbag_tool::Toolbox::new(vec![source], gate, None);
    let link = format!("{}/src/link", app.display());
    for (path, runs) in [
        ("src/a", true),
        ("src/not-yet", true),
        ("src/not/yet", true),
        ("src/../src/a", true),
        ("src/link", false),
        (link.as_str(), false),
        ("src/dangling", false),
        ("src/../../secret", false),
        ("secret", false),
        ("~/a", false),
        ("", false),
    ] {
        let asked = call("Read", json!({ "path": path }));
        let ran = toolbox.call(asked, &CallContext::default()).await;
        assert_eq!(ran.is_ok(), runs, "{path}: {ran:?}");
    }
}

#[tokio::test]
async fn a_host_is_taken_out_of_a_url_and_what_is_odd_is_not_judged() {
    let fetch = own("Fetch", Traits::Untrusted).on("url", SubjectKind::Domain);
    let gated = gated(Mode::DontAsk, &["allow Fetch(domain:good.org)"]).with(fetch);
    for (url, runs) in [
        ("https://good.org/x?y#z", true),
        ("https://GOOD.org:8443", true),
        ("good.org", true),
        ("https://user:pass@good.org/", true),
        ("https://good.org@evil.org/", false),
        ("https://evil.org/good.org", false),
        ("https://evil.org\\@good.org/", false),
        ("https://good.org\t.evil.org/", false),
        (" https://good.org/", false),
        ("https://[::1]/good.org", false),
        ("https:///good.org", false),
    ] {
        let answer = gated.says(call("Fetch", json!({ "url": url, "text": "x" }))).await;
        assert_eq!(answer == "x", runs, "{url}: {answer}");
    }
}

/// Every argument that was judged is the one that the tool gets, and the one that the question shows.
#[tokio::test]
async fn the_identity_is_exact_and_never_a_text_that_is_taken_apart() {
    let odd = OfferedTool::of_server(spec("odd"), "files__echo", "x");
    let gated = gated(Mode::Ask, &["allow mcp__files"]).with(odd);
    assert!(gated.says(echo("odd")).await.contains("add the rule `mcp(files__echo, x)`"));
    let snapshot = gated.toolbox.snapshot();
    let identity = snapshot.offered().find(|tool| tool.spec.name.as_str() == "odd").unwrap();
    let exact = ToolIdentity::Server { server: "files__echo".to_owned(), tool: "x".to_owned() };
    assert_eq!(identity.identity, exact);
    let context =
        CallContext { approver: FakeApprover::new([Answer::Allow]), ..CallContext::default() };
    assert_eq!(gated.says_to(echo("odd"), &context).await, "hi");
}
