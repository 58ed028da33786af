//! What wins over what, and why.

use insta::assert_snapshot;
use kitbag_permission::{
    Because, Effect, Layer, Mode, Says, Subject, Traits, Verdict, WhyNot, WorkspaceTrust, decide,
    explain,
};

use crate::fixture::{bash, compile, entry, own, server, user};

#[test]
fn deny_wins_from_the_weakest_layer_in_every_mode() {
    let rules = [
        entry(Layer::Project, Effect::Deny, "Bash(git push:*)"),
        entry(Layer::Flags, Effect::Allow, "Bash"),
        entry(Layer::Session, Effect::Allow, "Bash(git push)"),
        entry(Layer::User, Effect::Ask, "Bash"),
    ];
    for trust in [WorkspaceTrust::Trusted, WorkspaceTrust::Untrusted] {
        let (rules, problems) = compile(rules.to_vec(), trust);
        assert_eq!(problems, []);
        for mode in Mode::ALL {
            let decision = decide(&rules, mode, &bash("git push"));
            assert_eq!(decision.verdict, Verdict::Deny);
            let because = decision.because.to_string();
            assert_eq!(because, "the rule deny Bash(git push:*) (project, project.json:1)");
        }
    }
}

#[test]
fn ask_beats_allow_and_full_auto() {
    let rules = user(&[(Effect::Allow, "Bash"), (Effect::Ask, "Bash(git push:*)")]);
    let verdict = |mode| decide(&rules, mode, &bash("git push")).verdict;
    assert_eq!(
        Mode::ALL.map(verdict),
        [Verdict::Ask, Verdict::Ask, Verdict::Deny, Verdict::Ask, Verdict::Deny]
    );
    assert_snapshot!(decide(&rules, Mode::DontAsk, &bash("git push")).because,
        @"the rule ask Bash(git push:*) (user, user.json:1), and in the mode dont-ask nobody is asked");
    assert_eq!(decide(&rules, Mode::Plan, &bash("git push")).because, Because::Mode(Mode::Plan));
    assert_eq!(decide(&rules, Mode::Ask, &bash("git pull")).verdict, Verdict::Allow);
}

#[test]
fn a_project_restricts_and_never_grants_until_it_is_trusted() {
    for layer in [Layer::Project, Layer::ProjectLocal] {
        let rules = vec![
            entry(layer, Effect::Allow, "Bash(make:*)"),
            entry(layer, Effect::Ask, "mcp__files"),
            entry(layer, Effect::Deny, "mcp__issues"),
        ];
        for (trust, make) in
            [(WorkspaceTrust::Untrusted, Verdict::Ask), (WorkspaceTrust::Trusted, Verdict::Allow)]
        {
            let (rules, _) = compile(rules.clone(), trust);
            assert_eq!(decide(&rules, Mode::Ask, &bash("make all")).verdict, make);
            assert_eq!(decide(&rules, Mode::FullAuto, &server("files", "x")).verdict, Verdict::Ask);
            assert_eq!(
                decide(&rules, Mode::FullAuto, &server("issues", "x")).verdict,
                Verdict::Deny
            );
        }
    }
}

/// `Skill` is read-only and trusted: no prompt by default.
#[test]
fn b33_skill_runs_without_a_question() {
    let call = own("Skill", Traits::Trusted, Some(Subject::Text("deploy".to_owned())));
    for mode in Mode::ALL {
        let rules = user(&[]);
        let decision = decide(&rules, mode, &call);
        assert_eq!((decision.verdict, decision.because), (Verdict::Allow, Because::TrustedTool));
    }
}

/// Running a script asks with all that it will do, so it is not asked about twice; where nothing may be asked, it does not
/// get so far.
#[test]
fn k42_a_tool_that_asks_by_itself_is_let_through_to_ask() {
    let call = own("skill_run", Traits::AsksItself, Some(Subject::Text("deploy".to_owned())));
    let rules = user(&[]);
    let verdict = |mode| decide(&rules, mode, &call).verdict;
    assert_eq!(
        Mode::ALL.map(verdict),
        [Verdict::Allow, Verdict::Allow, Verdict::Deny, Verdict::Allow, Verdict::Deny]
    );
    assert_eq!(decide(&rules, Mode::Ask, &call).because, Because::AsksItself);
    let rules = user(&[(Effect::Ask, "skill_run"), (Effect::Deny, "skill_run(deploy)")]);
    assert_eq!(decide(&rules, Mode::Ask, &call).verdict, Verdict::Deny);
}

/// `deny: ["Skill(deploy)"]` blocks that skill only.
#[test]
fn b34_a_skill_is_denied_by_its_name() {
    let rules = user(&[(Effect::Deny, "Skill(deploy)")]);
    let call = |name: &str| own("Skill", Traits::Trusted, Some(Subject::Text(name.to_owned())));
    assert_eq!(decide(&rules, Mode::FullAuto, &call("deploy")).verdict, Verdict::Deny);
    assert_eq!(decide(&rules, Mode::Ask, &call("deploy-docs")).verdict, Verdict::Allow);
}

/// Whatever a server or a skill claims of its tools, they gate like any unknown tool; read-only hints never skip approval,
/// and a question is left out by full auto alone.
#[test]
fn b78_b79_b80_g56_g57_g58_claims_of_others_count_for_nothing() {
    let rules = user(&[]);
    for claims in [Traits::Trusted, Traits::ReadOnly, Traits::WorkspaceEdit, Traits::Untrusted] {
        let mut call = server("files", "read_file");
        call.claims = claims;
        assert_eq!(call.traits(), Traits::Untrusted);
        let verdict = |mode| decide(&rules, mode, &call).verdict;
        assert_eq!(
            Mode::ALL.map(verdict),
            [Verdict::Ask, Verdict::Ask, Verdict::Deny, Verdict::Allow, Verdict::Deny]
        );
        call.tool = kitbag_permission::ToolIdentity::SkillTool {
            skill: "deploy".to_owned(),
            tool: "ship".to_owned(),
        };
        assert_eq!(decide(&rules, Mode::AcceptEdits, &call).verdict, Verdict::Ask);
    }
}

/// A tool that a skill declares takes the place of a cross-process plugin's, with the same fail-closed traits.
#[test]
fn b81_b82_b83_rules_reach_tools_of_others_at_either_grain() {
    let rules = user(&[
        (Effect::Allow, "mcp__files__read_file"),
        (Effect::Deny, "mcp__issues"),
        (Effect::Allow, "mcp__notes"),
        (Effect::Deny, "mcp__notes__erase"),
    ]);
    let verdict = |name, tool| decide(&rules, Mode::Ask, &server(name, tool)).verdict;
    assert_eq!(verdict("files", "read_file"), Verdict::Allow);
    assert_eq!(verdict("files", "write_file"), Verdict::Ask);
    assert_eq!(verdict("issues", "create"), Verdict::Deny);
    assert_eq!(verdict("notes", "list"), Verdict::Allow);
    assert_eq!(verdict("notes", "erase"), Verdict::Deny);
}

#[test]
fn a_shown_name_is_denied_and_not_allowed() {
    let mut call = server("my files", "read");
    call.shown_as = Some("mcp__my_files__read_1f3a9c2e".to_owned());
    let rule = "mcp__my_files__read_1f3a9c2e";
    assert_eq!(
        decide(&user(&[(Effect::Deny, rule)]), Mode::FullAuto, &call).verdict,
        Verdict::Deny
    );
    assert_eq!(decide(&user(&[(Effect::Allow, rule)]), Mode::Ask, &call).verdict, Verdict::Ask);
    call.shown_as = Some("my_files__read".to_owned());
    let rules = user(&[(Effect::Deny, "my_files__read")]);
    assert_eq!(decide(&rules, Mode::FullAuto, &call).verdict, Verdict::Deny);
}

#[test]
fn an_explanation_lists_all_that_had_a_say() {
    let (rules, _) = compile(
        vec![
            entry(Layer::Project, Effect::Allow, "mcp__a"),
            entry(Layer::User, Effect::Allow, "mcp__a__b__c"),
            entry(Layer::User, Effect::Allow, "mcp(a, b__c)"),
            entry(Layer::Flags, Effect::Ask, "mcp(a, *)"),
            entry(Layer::Project, Effect::Ask, "mcp__a__b__c"),
            entry(Layer::User, Effect::Deny, "mcp__other"),
        ],
        WorkspaceTrust::Untrusted,
    );
    let explained = explain(&rules, Mode::Ask, &server("a", "b__c"));
    assert_eq!(explained.decision, decide(&rules, Mode::Ask, &server("a", "b__c")));
    let lines: Vec<(String, Says)> =
        explained.hits.iter().map(|hit| (hit.entry.to_string(), hit.says)).collect();
    assert_eq!(
        lines,
        [
            ("ask mcp(a, *) (flags, flags.json:1)".to_owned(), Says::Decides),
            ("ask mcp__a__b__c (project, project.json:1)".to_owned(), Says::Agrees),
            (
                "allow mcp__a__b__c (user, user.json:1)".to_owned(),
                Says::NotCounted(WhyNot::SeveralReadings)
            ),
            ("allow mcp(a, b__c) (user, user.json:1)".to_owned(), Says::Overruled),
            (
                "allow mcp__a (project, project.json:1)".to_owned(),
                Says::NotCounted(WhyNot::UntrustedWorkspace)
            ),
        ]
    );
}

#[test]
fn an_explanation_says_why_a_compound_command_is_not_allowed() {
    let rules = user(&[(Effect::Allow, "Bash(git:*)")]);
    let explained = explain(&rules, Mode::Ask, &bash("git status; rm -rf /"));
    assert_eq!(explained.decision.verdict, Verdict::Ask);
    assert_eq!(explained.hits[0].says, Says::NotCounted(WhyNot::CompoundCommand));
}

#[test]
fn what_is_too_long_to_judge_fails_closed() {
    let line = format!("git {}", "x".repeat(kitbag_permission::MAX_SUBJECT_BYTES));
    let verdict = |effect, rule| decide(&user(&[(effect, rule)]), Mode::Ask, &bash(&line)).verdict;
    assert_eq!(verdict(Effect::Allow, "Bash(git:*)"), Verdict::Ask);
    assert_eq!(verdict(Effect::Deny, "Bash(rm:*)"), Verdict::Deny);
    assert_eq!(verdict(Effect::Allow, "Bash"), Verdict::Allow);
}
