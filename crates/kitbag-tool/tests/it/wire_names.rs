//! Decision 16: the names of tools on the wire.

use std::collections::HashMap;

use kitbag_permission::{Action, Effect, Entry, Layer, Origin, Verdict, WorkspaceTrust, decide};
use kitbag_tool::{
    MAX_WIRE_NAME_BYTES, Mode, Rule, RuleSet, ToolIdentity, Traits, gateway_name, model_name,
};
use proptest::prelude::*;

fn server(server: &str, tool: &str) -> ToolIdentity {
    ToolIdentity::Server { server: server.to_owned(), tool: tool.to_owned() }
}

fn skill(skill: &str, tool: &str) -> ToolIdentity {
    ToolIdentity::SkillTool { skill: skill.to_owned(), tool: tool.to_owned() }
}

fn own(name: &str) -> ToolIdentity {
    ToolIdentity::Own(name.to_owned())
}

#[test]
fn the_exact_text_is_the_name_where_it_can_be() {
    let long = "t".repeat(200);
    let names: Vec<String> = [
        server("files", "read_file"),
        server("files", "a__b"),
        server("a-b", "C-d"),
        server("_a", "b"),
        server("a__b", "c"),
        server("a_", "b"),
        server("a", "_b"),
        server("my files", "read"),
        server("my_files", "read"),
        server("1password", "get"),
        server("files", ""),
        server("日本", "読む"),
        server("files", &long),
        server("files", "read_0123456789abcdef"),
        skill("deploy", "ship"),
        skill("mcp", "a__b"),
        skill("deploy", "ship it"),
        own("Skill"),
        own("a.b/c"),
        own("a__b"),
    ]
    .iter()
    .map(|tool| format!("{} | {}", model_name(tool), gateway_name(tool)))
    .collect();
    insta::assert_snapshot!(names.join("\n"), @"
    mcp__files__read_file | files__read_file
    mcp__files__a__b | files__a__b
    mcp__a-b__C-d | a-b__C-d
    mcp___a__b | _a__b
    mcp__a_b__c_b1e67f1fd9b41155 | a_b__c_b1e67f1fd9b41155
    mcp__a__b_75698073494e4a53 | a__b_75698073494e4a53
    mcp__a__b_1243d4604b7bee29 | a__b_1243d4604b7bee29
    mcp__my_files__read_e07702dec9db399b | my_files__read_e07702dec9db399b
    mcp__my_files__read | my_files__read
    mcp__1password__get | x1password__get_589ecc8d9a64b45d
    mcp__files__x_ea6554649ffd4398 | files__x_ea6554649ffd4398
    mcp__x__x_ff9a2d562baf2e2d | x__x_ff9a2d562baf2e2d
    mcp__files__ttttttttttttttttttttttttttttttttttt_3c78cb1f863062c7 | files__tttttttttttttttttttttttttttttttttttttttt_3c78cb1f863062c7
    mcp__files__read_0123456789abcdef_1d627745ab704b4b | files__read_0123456789abcdef_1d627745ab704b4b
    deploy__ship | deploy__ship
    mcp__a_b_29deaa7774ac1d22 | mcp__a_b_29deaa7774ac1d22
    deploy__ship_it_beba6d3d1c74bd3e | deploy__ship_it_beba6d3d1c74bd3e
    Skill | Skill
    a_b_c_13f479e868a1bfae | a_b_c_13f479e868a1bfae
    a_b_00c132ded6ac7311 | a_b_00c132ded6ac7311
    ");
}

/// A name that is reached by its rule (B-76), and names that do not depend on what else there is.
#[test]
fn a_name_looks_at_nothing_but_its_tool() {
    let tools = [server("a", "b"), server("a b", "b"), skill("a", "b"), own("a")];
    let forward: Vec<_> = tools.iter().map(model_name).collect();
    let mut backward: Vec<_> = tools.iter().rev().map(model_name).collect();
    backward.reverse();
    assert_eq!(forward, backward);
}

/// Names that somebody picks so as to be taken for another: with `__`, `_` at the ends, characters that a wire does not
/// take, 200 characters, nothing left after cleaning, and what looks like a hash.
fn odd_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c_]{1,4}",
        "[a-b]{0,1}_{1,3}[a-b]{0,1}",
        "[a-b é\u{200b}日.]{1,4}",
        "[a-b]{200}",
        "[日\u{202e} ]{1,3}",
        Just("mcp".to_owned()),
        Just("mcp__a".to_owned()),
        Just("A".to_owned()),
        Just("1".to_owned()),
        Just("-".to_owned()),
        "[a-b]{1,2}_[0-9a-f]{16}",
        ".{1,10}",
    ]
}

fn identity() -> impl Strategy<Value = ToolIdentity> {
    prop_oneof![
        (odd_name(), odd_name()).prop_map(|(left, right)| server(&left, &right)),
        (odd_name(), odd_name()).prop_map(|(left, right)| skill(&left, &right)),
        odd_name().prop_map(ToolIdentity::Own),
    ]
}

fn fits(name: &str) -> bool {
    let first = name.as_bytes()[0];
    name.len() <= MAX_WIRE_NAME_BYTES
        && (first.is_ascii_alphabetic() || first == b'_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}

/// Rules with one that does this.
fn one(effect: Effect, rule: Rule) -> RuleSet {
    let origin = Origin::Granted;
    let entry = Entry { layer: Layer::User, origin, effect, rule };
    RuleSet::build([entry], &[], WorkspaceTrust::Trusted).0
}

fn action(tool: &ToolIdentity, shown_as: Option<String>) -> Action {
    Action { tool: tool.clone(), shown_as, subject: None, claims: Traits::Untrusted }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// No two tools have one name, in whatever set they stand.
    #[test]
    fn names_are_injective(tools in prop::collection::hash_set(identity(), 1..20)) {
        let mut models = HashMap::new();
        let mut gateways = HashMap::new();
        for tool in &tools {
            let (model, gateway) = (model_name(tool), gateway_name(tool));
            prop_assert!(fits(model.as_str()), "{}", model);
            prop_assert!(fits(gateway.as_str()), "{}", gateway);
            if let Some(other) = models.insert(model.clone(), tool) {
                prop_assert!(false, "{:?} and {:?} are both {}", tool, other, model);
            }
            // Servers and skills are told apart by a model's name only.
            let kind = std::mem::discriminant(tool);
            if let Some(other) = gateways.insert((kind, gateway.clone()), tool) {
                prop_assert!(false, "{:?} and {:?} are both {}", tool, other, gateway);
            }
        }
    }

    /// Wherever a tool's name is its exact text, that text is a rule that denies it; and whatever its name is, a rule of
    /// that text denies it once the tool is shown so.
    #[test]
    fn a_name_is_a_rule_that_denies_its_tool(tool in identity()) {
        let exact = match &tool {
            ToolIdentity::Own(name) => name.clone(),
            ToolIdentity::SkillTool { skill, tool } => format!("{skill}__{tool}"),
            ToolIdentity::Server { server, tool } => format!("mcp__{server}__{tool}"),
        };
        for name in [model_name(&tool), gateway_name(&tool)] {
            let Ok(rule) = name.as_str().parse::<Rule>() else {
                // The grammar takes no name of ours that begins with `_`, and no pair with an empty half.
                prop_assert!(matches!(tool, ToolIdentity::Own(_)) || !fits(&exact), "{}", name);
                continue;
            };
            let shown_as = (name.as_str() != exact).then(|| name.to_string());
            let denied = one(Effect::Deny, rule);
            let decision = decide(&denied, Mode::FullAuto, &action(&tool, shown_as));
            prop_assert_eq!(decision.verdict, Verdict::Deny, "{}", name);
        }
    }

    /// The rule for exactly a tool allows it, denies it, survives printing, and allows no other.
    #[test]
    fn the_exact_rule_speaks_of_one_tool(tool in identity(), other in identity()) {
        let Some(rule) = Rule::exactly(&tool) else {
            // Only names of ours can be such that no rule holds them.
            prop_assert!(matches!(tool, ToolIdentity::Own(_)), "{:?}", tool);
            return Ok(());
        };
        let again: Rule = rule.as_str().parse().unwrap();
        prop_assert_eq!(&again, &rule);
        let allowed = one(Effect::Allow, rule.clone());
        let verdict = |tool: &ToolIdentity| decide(&allowed, Mode::Ask, &action(tool, None)).verdict;
        prop_assert_eq!(verdict(&tool), Verdict::Allow, "{}", rule);
        prop_assert_eq!(verdict(&other) == Verdict::Allow, tool == other, "{}", rule);
        let denied = one(Effect::Deny, rule);
        let decision = decide(&denied, Mode::FullAuto, &action(&tool, None));
        prop_assert_eq!(decision.verdict, Verdict::Deny);
    }
}
