//! What is said of rules that can be read and do not work.

use insta::assert_snapshot;
use kitbag_permission::{
    Effect, KnownTool, Layer, MAX_RULES, Mode, RuleSet, Severity, Verdict, WorkspaceTrust, decide,
};

use crate::fixture::{bash, compile, entry, own, path, server};

fn told(effect: Effect, rule: &str) -> String {
    let (_, problems) = compile(vec![entry(Layer::User, effect, rule)], WorkspaceTrust::Trusted);
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| {
            format!(
                "{:?} {problem}\nhint: {}\n{:?}",
                problem.severity, problem.hint, problem.nearest
            )
        })
        .collect();
    lines.join("\n")
}

#[test]
fn an_allow_with_several_readings_asks_for_the_explicit_form() {
    assert_snapshot!(told(Effect::Allow, "mcp__a__b__c"), @r"
    Warning user.json:1: `mcp__a__b__c` can be read as 2 tools, so it allows none
    hint: write the one that is meant: `mcp(a, b__c)` or `mcp(a__b, c)`
    None
    ");
    assert_eq!(told(Effect::Deny, "mcp__a__b__c"), "");
}

#[test]
fn a_misspelt_tool_is_named_with_the_nearest() {
    assert_snapshot!(told(Effect::Deny, "bash(rm:*)"), @r#"
    Warning user.json:1: `bash(rm:*)` speaks of `bash`, and there is no such tool
    hint: did you mean `Bash`? a server's tool is written `mcp__SERVER__TOOL`
    Some("Bash(rm:*)")
    "#);
    assert_snapshot!(told(Effect::Deny, "mcp_files"), @r"
    Warning user.json:1: `mcp_files` speaks of `mcp_files`, and there is no such tool
    hint: a server's tool is written `mcp__SERVER__TOOL`, a skill's `SKILL__TOOL`
    None
    ");
}

#[test]
fn a_subject_of_another_kind_is_an_error() {
    assert_snapshot!(told(Effect::Deny, "Read(src/:*)"), @r"
    Error user.json:1: `Read(src/:*)`: this tool is about files
    hint: write a glob, as in `src/**`
    None
    ");
    assert_snapshot!(told(Effect::Deny, "WebFetch(https://example.com/*)"), @r"
    Error user.json:1: `WebFetch(https://example.com/*)`: this tool is about hosts
    hint: write `domain:HOST`, or `domain:*.HOST` for all below it
    None
    ");
    assert_snapshot!(told(Effect::Allow, "Bash(cd x && git:*)"), @r"
    Error user.json:1: `Bash(cd x && git:*)`: no simple command begins so
    hint: what stands before `:*` are up to 32 plain words, without quotes and operators
    None
    ");
    assert_snapshot!(told(Effect::Deny, "Skill(domain:x)"), @r"
    Error user.json:1: `Skill(domain:x)`: this tool is not about hosts
    hint: write the name alone
    None
    ");
    assert_snapshot!(told(Effect::Deny, "skill_list(x)"), @r"
    Error user.json:1: `skill_list(x)`: calls of `skill_list` have no subject
    hint: write `skill_list` for every call of it
    None
    ");
}

#[test]
fn globs_that_hit_nothing_are_errors_and_narrow_ones_are_noted() {
    assert_snapshot!(told(Effect::Deny, "Read(src/[)"), @r"
    Error user.json:1: `Read(src/[)`: the glob cannot be read: unclosed character class; missing ']'
    hint: escape `*`, `?`, `[`, `{` and `\` with `\` where they mean themselves
    None
    ");
    for odd in ["Read(./src)", "Read(src/)", "Read(a//b)", "Read(../x)"] {
        assert!(told(Effect::Allow, odd).starts_with("Error"), "{odd}");
    }
    assert_snapshot!(told(Effect::Deny, "Read(.env)"), @r"
    Note user.json:1: `Read(.env)` hits at the top of the workspace only
    hint: `**/.env` hits in every directory
    None
    ");
    assert_eq!(told(Effect::Allow, "Read(.env)"), "");
}

#[test]
fn a_faulty_rule_denies_everything_and_allows_nothing() {
    let faulty = ["Read(src/[)", "Read(a:*)", "Read(domain:x)"];
    for rule in faulty {
        let (deny, problems) =
            compile(vec![entry(Layer::User, Effect::Deny, rule)], WorkspaceTrust::Trusted);
        assert_eq!(problems[0].severity, Severity::Error);
        let call = own("Read", kitbag_permission::Traits::ReadOnly, Some(path("/home/me/app/x")));
        assert_eq!(decide(&deny, Mode::FullAuto, &call).verdict, Verdict::Deny, "{rule}");
        let (allow, _) =
            compile(vec![entry(Layer::User, Effect::Allow, rule)], WorkspaceTrust::Trusted);
        assert_eq!(decide(&allow, Mode::Ask, &call).verdict, Verdict::Ask, "{rule}");
    }
}

/// A call whose subject is of another kind than its tool was declared with cannot be compared.
#[test]
fn a_subject_that_does_not_fit_its_tool_fails_closed() {
    let known = [KnownTool { name: "Bash", subject: Some(kitbag_permission::SubjectKind::Text) }];
    let rules = [entry(Layer::User, Effect::Deny, "Bash(rm)")];
    let (rules, _) = RuleSet::build(rules, &known, WorkspaceTrust::Trusted);
    assert_eq!(decide(&rules, Mode::FullAuto, &bash("ls")).verdict, Verdict::Deny);
}

#[test]
fn past_the_bound_only_rules_that_restrict_are_taken() {
    let mut rules: Vec<_> = (0..MAX_RULES)
        .map(|at| entry(Layer::User, Effect::Allow, &format!("mcp__s{at}")))
        .collect();
    rules.push(entry(Layer::Project, Effect::Allow, "mcp__late"));
    rules.push(entry(Layer::Project, Effect::Deny, "mcp__s1"));
    let (set, problems) = compile(rules, WorkspaceTrust::Trusted);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].severity, Severity::Error);
    assert_eq!(decide(&set, Mode::Ask, &server("late", "x")).verdict, Verdict::Ask);
    assert_eq!(decide(&set, Mode::Ask, &server("s1", "x")).verdict, Verdict::Deny);
    assert_eq!(decide(&set, Mode::Ask, &server("s2", "x")).verdict, Verdict::Allow);
}
