//! A view can only take away.

use std::collections::BTreeMap;

use kitbag_permission::Verdict;
use kitbag_testkit::{FakeApprover, rules};
use kitbag_tool::{
    Answer, CallContext, Changed, Gate, Mode, OfferedTool, SubjectKind, Traits, View,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Gated, call, echo, gated, own, said, spec};

fn listed(view: &View) -> Vec<String> {
    view.listing().tools().map(|spec| spec.name.to_string()).collect()
}

fn with_ours(gated: Gated) -> Gated {
    gated
        .with(own("Skill", Traits::Trusted).on("name", SubjectKind::Text))
        .with(own("Read", Traits::ReadOnly).on("path", SubjectKind::Path))
        .with(own("Bash", Traits::Untrusted).on("command", SubjectKind::Command))
        .with(OfferedTool::of_skill(spec("s__t"), "s", "t"))
}

/// What is denied whatever it works on is not advertised, by the rules of the moment.
#[tokio::test]
async fn fault_38_what_can_never_run_is_not_listed() {
    let files = ["data", "echo", "hang", "panic", "refuse", "steps"];
    let mut all = vec!["Bash", "Read", "Skill", "s__t"];
    all.extend(files);
    all.sort_unstable();
    let without = |gone: &[&str]| -> Vec<String> {
        all.iter().filter(|name| !gone.contains(name)).map(|&name| name.to_owned()).collect()
    };
    for (mode, written, gone) in [
        (Mode::Ask, &[][..], &[][..]),
        (Mode::Ask, &["deny mcp__files"], &files),
        (Mode::FullAuto, &["deny mcp__files__echo", "allow mcp__files"], &["echo"]),
        (Mode::FullAuto, &["deny s__t"], &["s__t"]),
        (Mode::FullAuto, &["deny Skill(deploy)", "deny Bash(rm:*)"], &[]),
        (Mode::FullAuto, &["deny Skill", "deny Bash(*)"], &["Skill", "Bash"]),
        // A glob that cannot be read denies every call.
        (Mode::FullAuto, &["deny Read(a[)"], &["Read"]),
        (Mode::FullAuto, &["ask mcp__files", "ask Bash"], &[]),
        (
            Mode::Plan,
            &["allow Bash(ls)"],
            &["Bash", "data", "echo", "hang", "panic", "refuse", "steps", "s__t"],
        ),
        (
            Mode::DontAsk,
            &["allow Bash(ls)", "allow s__t"],
            &["Read", "data", "echo", "hang", "panic", "refuse", "steps"],
        ),
        (
            Mode::DontAsk,
            &["allow mcp__files", "ask mcp__files__echo"],
            &["Bash", "Read", "echo", "s__t"],
        ),
    ] {
        let gated = with_ours(gated(mode, written));
        let view = gated.toolbox.view();
        assert_eq!(listed(&view), without(gone), "{mode}: {written:?}");
        for name in gone {
            assert!(view.listing().tool(name).is_none());
            let denied = said(view.call(echo(name), &CallContext::default()).await);
            assert!(denied.contains("denied by"), "{name}: {denied}");
        }
    }
}

#[tokio::test]
async fn a_view_takes_away_and_never_adds() {
    let gated = gated(Mode::Ask, &["allow mcp__files", "deny mcp__files__data"]);
    let all = gated.toolbox.view();
    let generous = all.narrowed(&Gate::new(rules(&["allow mcp__files__data"]), Mode::FullAuto));
    let strict = generous.narrowed(&Gate::new(rules(&["deny mcp__files__steps"]), Mode::FullAuto));
    let asking = all.narrowed(&Gate::new(rules(&[]), Mode::Ask));
    let planning = all.narrowed(&Gate::new(rules(&["allow mcp__files"]), Mode::Plan));
    for (name, view, echoes, steps, data) in [
        ("all", &all, "hi", "done", "deny mcp__files__data"),
        ("generous", &generous, "hi", "done", "deny mcp__files__data"),
        ("strict", &strict, "hi", "deny mcp__files__steps", "deny mcp__files__data"),
        ("asking", &asking, "nobody can be asked", "nobody can be asked", "deny mcp__files__data"),
        ("planning", &planning, "the mode plan", "the mode plan", "deny mcp__files__data"),
    ] {
        for (tool, expected) in [("echo", echoes), ("steps", steps), ("data", data)] {
            let answer = said(view.call(echo(tool), &CallContext::default()).await);
            assert!(answer.contains(expected), "{name}, {tool}: {answer}");
        }
    }
}

/// What one client is granted is granted to nobody else, and not to the session on whose toolbox it looks.
#[tokio::test]
async fn a_grant_holds_for_one_view() {
    let gated = gated(Mode::Ask, &[]);
    let narrow = Gate::new(rules(&[]), Mode::Ask);
    let view = gated.toolbox.view().narrowed(&narrow);
    let other = view.fresh();
    let approver = FakeApprover::new([Answer::AllowForSession]);
    let context = CallContext { approver: approver.clone(), ..CallContext::default() };
    assert_eq!(said(view.call(echo("echo"), &context).await), "hi");
    assert_eq!(approver.asked()[0].grant.as_deref(), Some("mcp__files__echo"));
    let default = CallContext::default();
    assert_eq!(said(view.clone().call(echo("echo"), &default).await), "hi");
    for refused in [
        said(other.call(echo("echo"), &default).await),
        said(view.narrowed(&narrow).call(echo("echo"), &default).await),
        gated.says(echo("echo")).await,
    ] {
        assert!(refused.contains("nobody can be asked"), "{refused}");
    }
    // A rule that comes later still goes before the grant.
    gated.gate.replace(rules(&["deny mcp__files"]), Mode::Ask);
    assert!(said(view.call(echo("echo"), &default).await).contains("deny mcp__files"));
    gated.gate.replace(rules(&[]), Mode::Ask);
    assert_eq!(said(view.call(echo("echo"), &default).await), "hi");
}

#[tokio::test]
async fn other_rules_are_a_change_of_the_tools() {
    let gated = gated(Mode::Ask, &[]);
    let narrow = Gate::open();
    let view = gated.toolbox.view().narrowed(&narrow);
    let mut changes = view.changes();
    let tools = Changed { tools: true, ..Changed::default() };
    assert_eq!(changes.take(), Changed::default());
    gated.gate.replace(rules(&["deny mcp__files"]), Mode::Ask);
    assert_eq!(changes.next().await, tools);
    assert_eq!(changes.take(), Changed::default());
    narrow.replace(rules(&["deny mcp__files"]), Mode::Ask);
    assert_eq!(changes.next().await, tools);
    gated.source.add_tool("later");
    assert_eq!(changes.next().await, tools);
    assert_eq!(changes.take(), Changed::default());
}

/// Prompts are a person's and resources the client's own: both are given, and neither calls a tool.
#[tokio::test]
async fn prompts_and_resources_go_through_the_view() {
    let gated = gated(Mode::Ask, &["deny mcp__files"]);
    gated.source.put("greet", "hello");
    let view = gated.toolbox.view();
    let context = CallContext::default();
    let page =
        kitbag_tool::PageRequest { after: None, limit: std::num::NonZeroUsize::new(10).unwrap() };
    assert_eq!(view.prompts(page, &context).await.unwrap().items[0].name, "greet");
    assert_eq!(view.resources(page, &context).await.unwrap().items[0].uri, "fake://files/greet");
    assert_eq!(view.read("fake://files/greet", &context).await.unwrap().len(), 1);
    let request =
        kitbag_tool::PromptRequest { name: "greet".to_owned(), arguments: BTreeMap::new() };
    assert_eq!(view.prompt(&request, &context).await.unwrap().messages.len(), 1);
    assert!(gated.audit.lines().is_empty());
}

fn verdict(view: &View, name: &str) -> Verdict {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let result = runtime.block_on(view.call(call(name, json!({})), &CallContext::default()));
    match said(result) {
        text if text.contains("denied by") => Verdict::Deny,
        text if text.contains("nobody can be asked") => Verdict::Ask,
        _ => Verdict::Allow,
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Deny => 0,
        Verdict::Ask => 1,
        Verdict::Allow => 2,
    }
}

const WRITTEN: [&str; 9] = [
    "deny mcp__files",
    "ask mcp__files",
    "allow mcp__files",
    "deny mcp__files__steps",
    "ask mcp(files, steps)",
    "allow mcp__files__steps",
    "allow s__t",
    "deny skill(s, *)",
    "ask s__t",
];

fn some_policy() -> impl Strategy<Value = (Vec<&'static str>, Mode)> {
    let written = prop::sample::subsequence(WRITTEN.to_vec(), 0..5);
    (written, prop::sample::select(Mode::ALL.to_vec()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The verdict of a view is never weaker than that of either gate, and what it lists is what it might run.
    #[test]
    fn a_view_is_the_strictest_of_its_gates(one in some_policy(), other in some_policy()) {
        let alone = |(written, mode): &(Vec<&str>, Mode)| {
            gated(*mode, written).with(OfferedTool::of_skill(spec("s__t"), "s", "t"))
        };
        let (first, second) = (alone(&one), alone(&other));
        let view = first.toolbox.view().narrowed(&second.gate);
        for tool in ["steps", "s__t"] {
            let verdicts =
                [&first, &second].map(|gated| rank(verdict(&gated.toolbox.view(), tool)));
            let together = verdict(&view, tool);
            prop_assert_eq!(Some(rank(together)), verdicts.into_iter().min(), "{}", tool);
            prop_assert_eq!(view.listing().tool(tool).is_some(), together != Verdict::Deny);
        }
    }
}
