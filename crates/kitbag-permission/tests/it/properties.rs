//! What holds for every text, every rule and every call.

use kitbag_permission::{
    Action, Because, Effect, Entry, Layer, Mode, PathSubject, Rule, Subject, ToolIdentity, Traits,
    Verdict, WorkspaceTrust, decide, explain, narrowest_grant,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixture::{BASES, compile, entry};

/// Names made of what makes names hard: underscores, the words of the grammar, quotes, blanks, what cannot be seen.
fn name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[ab]",
        5 => Just("_".to_owned()),
        1 => prop_oneof!["mcp", "skill", "\\*", "\\(", "\\)", ",", "\"", " ", r"\\", "ä", "\u{202e}", "\n"],
    ];
    vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]", " ", "/", "\\*\\*", "\\*", ":\\*", "domain:", "\\.", "\\.\\.", ";", "&", "\\|",
        "\\$", "\\(", "\\)", "'", "\"", "`", r"\\", "<", ">", "\\{", "\\}", "\\[", "\\]", "~", "#",
        "\n", "=", "-", ",", "é", "git", "rm", "sudo", "sh -c", "find", "-exec", "mcp__", "__",
        "Bash\\(", "Read\\(", "mcp\\(", "skill\\(",
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn subject() -> impl Strategy<Value = Option<Subject>> {
    prop_oneof![
        1 => Just(None),
        3 => text().prop_map(|text| Some(Subject::Command(text))),
        3 => text().prop_map(|text| {
            Some(Subject::Path(PathSubject::new(&format!("/home/me/app/{text}"), BASES).unwrap()))
        }),
        1 => text().prop_map(|text| Some(Subject::Text(text))),
        1 => text().prop_map(|text| Some(Subject::Domain(text))),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let tool = prop_oneof![
        (name(), name()).prop_map(|(server, tool)| ToolIdentity::Server { server, tool }),
        (name(), name()).prop_map(|(skill, tool)| ToolIdentity::SkillTool { skill, tool }),
        prop_oneof!["Bash", "Read", "Skill", "WebFetch", "Odd"].prop_map(ToolIdentity::Own),
    ];
    let claims = prop_oneof![
        Just(Traits::Trusted),
        Just(Traits::ReadOnly),
        Just(Traits::WorkspaceEdit),
        Just(Traits::Untrusted)
    ];
    (tool, subject(), claims).prop_map(|(tool, subject, claims)| {
        let subject = subject.filter(|_| matches!(tool, ToolIdentity::Own(_)));
        Action { tool, shown_as: None, subject, claims }
    })
}

/// Texts of rules, most of which can be read.
fn rule_text() -> impl Strategy<Value = String> {
    prop_oneof![
        (name(), name()).prop_map(|(server, tool)| format!("mcp__{server}__{tool}")),
        (name(), name()).prop_map(|(skill, tool)| format!("{skill}__{tool}")),
        (name(), name()).prop_map(|(server, tool)| format!("mcp({server}, {tool})")),
        name().prop_map(|server| format!("mcp__{server}")),
        name().prop_map(|server| format!("mcp({server}, *)")),
        ("Bash|Read|Skill|WebFetch|Odd", text()).prop_map(|(tool, text)| format!("{tool}({text})")),
        ("Bash|Read|Skill|WebFetch|Odd", text())
            .prop_map(|(tool, text)| format!("{tool}({text}:*)")),
        Just("Bash".to_owned()),
        text(),
    ]
}

fn rules() -> impl Strategy<Value = Vec<Entry>> {
    let layer = prop_oneof![Just(Layer::Project), Just(Layer::User), Just(Layer::Flags)];
    let effect = prop_oneof![Just(Effect::Deny), Just(Effect::Ask), Just(Effect::Allow)];
    vec((layer, effect, rule_text()), 0..8).prop_map(|rules| {
        let readable = rules.into_iter().filter(|(_, _, text)| text.parse::<Rule>().is_ok());
        readable.map(|(layer, effect, text)| entry(layer, effect, &text)).collect()
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    (0..Mode::ALL.len()).prop_map(|at| Mode::ALL[at])
}

/// The tool that a rule or a call is about, as far as rules of one can never be about the other.
fn family(entry: &Entry) -> &str {
    let text = entry.rule.as_str();
    if text.starts_with("mcp") {
        return "mcp";
    }
    let name = text.split('(').next().unwrap_or(text);
    if name == "skill" || name.contains("__") { "skill" } else { name }
}

fn family_of(action: &Action) -> &str {
    match &action.tool {
        ToolIdentity::Own(name) => name,
        ToolIdentity::Server { .. } => "mcp",
        ToolIdentity::SkillTool { .. } => "skill",
    }
}

/// What is put before or after a subject to make it nearly the same.
fn near() -> impl Strategy<Value = (bool, String)> {
    (any::<bool>(), prop_oneof![text(), "[ \\t/.*a]", "[A-Z]"])
}

/// The call about nearly the same; for the tool of a server or a skill, another tool of nearly the same name.
fn nearly(action: &Action, (before, more): &(bool, String)) -> Action {
    let change =
        |text: &str| if *before { format!("{more}{text}") } else { format!("{text}{more}") };
    let mut other = action.clone();
    match (&mut other.subject, &mut other.tool) {
        (Some(Subject::Command(text) | Subject::Domain(text) | Subject::Text(text)), _) => {
            *text = change(text);
        }
        (Some(subject @ Subject::Path(_)), _) => {
            *subject =
                Subject::Path(PathSubject::new(&format!("/home/me/app/{more}"), BASES).unwrap());
        }
        (None, ToolIdentity::Server { tool, .. } | ToolIdentity::SkillTool { tool, .. }) => {
            *tool = change(tool);
        }
        (None, ToolIdentity::Own(_)) => {}
    }
    other
}

/// Whether two calls of one tool are one and the same: blanks around a command, the case of a host and its last stop do not
/// count, and two calls whose subjects are of different kinds are never the same.
fn same(one: &Action, other: &Action) -> bool {
    let host = |host: &str| host.strip_suffix('.').unwrap_or(host).to_lowercase();
    match (&one.subject, &other.subject) {
        (Some(Subject::Command(one)), Some(Subject::Command(other))) => {
            one.trim_matches([' ', '\t', '\n']) == other.trim_matches([' ', '\t', '\n'])
        }
        (Some(Subject::Domain(one)), Some(Subject::Domain(other))) => host(one) == host(other),
        (one, other) => one == other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parse_then_print_is_identity(text in prop_oneof![rule_text(), any::<String>()]) {
        match text.parse::<Rule>() {
            Ok(rule) => {
                prop_assert_eq!(rule.to_string(), text.as_str());
                prop_assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
            }
            Err(error) => {
                prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
                if let Some(nearest) = error.nearest {
                    prop_assert!(nearest.parse::<Rule>().is_ok());
                }
            }
        }
    }

    #[test]
    fn a_deny_is_never_lost_by_adding_allows(
        rules in rules(), more in rules(), mode in mode(), action in action(),
    ) {
        for trust in [WorkspaceTrust::Trusted, WorkspaceTrust::Untrusted] {
            let before = decide(&compile(rules.clone(), trust).0, mode, &action).verdict;
            let allows = more.iter().cloned().map(|entry| Entry { effect: Effect::Allow, ..entry });
            let set = compile(rules.iter().cloned().chain(allows).collect(), trust).0;
            let after = decide(&set, mode, &action);
            let by_rule = decide(&compile(rules.clone(), trust).0, Mode::FullAuto, &action).verdict;
            if by_rule != Verdict::Allow {
                prop_assert_eq!(after.verdict, before);
            }
            prop_assert_eq!(explain(&set, mode, &action).decision, after);
        }
    }

    #[test]
    fn adding_a_deny_or_an_ask_never_lets_more_run(
        rules in rules(), more in rules(), mode in mode(), action in action(),
    ) {
        let before = decide(&compile(rules.clone(), WorkspaceTrust::Trusted).0, mode, &action).verdict;
        let restricts = more.into_iter().filter(|entry| entry.effect != Effect::Allow);
        let set = compile(rules.into_iter().chain(restricts).collect(), WorkspaceTrust::Trusted).0;
        let after = decide(&set, mode, &action).verdict;
        let rank = |verdict| match verdict { Verdict::Allow => 0, Verdict::Ask => 1, Verdict::Deny => 2 };
        prop_assert!(rank(after) >= rank(before));
    }

    #[test]
    fn rules_of_other_tools_change_nothing(
        rules in rules(), mode in mode(), action in action(),
    ) {
        let own = rules.iter().filter(|entry| family(entry) == family_of(&action)).cloned().collect();
        let all = compile(rules, WorkspaceTrust::Trusted).0;
        let own = compile(own, WorkspaceTrust::Trusted).0;
        prop_assert_eq!(decide(&all, mode, &action), decide(&own, mode, &action));
    }

    /// Decision 16: a rule written as one name allows one exact pair, or nothing.
    #[test]
    fn a_name_never_allows_two_tools(
        one in (name(), name()), other in (name(), name()), rule in rule_text(),
    ) {
        prop_assume!(one.0 != other.0);
        prop_assume!(rule.parse::<Rule>().is_ok());
        let set = compile(vec![entry(Layer::User, Effect::Allow, &rule)], WorkspaceTrust::Trusted).0;
        let allowed = |pair: &(String, String)| {
            decide(&set, Mode::Ask, &crate::fixture::server(&pair.0, &pair.1)).verdict == Verdict::Allow
        };
        prop_assert!(!(allowed(&one) && allowed(&other)));
    }

    /// What the granted rule lets run is this call: the decision is made again with it for the call, for the same call about
    /// anything else, and for calls of other tools.
    #[test]
    fn a_grant_is_enough_and_grants_nothing_else(
        rules in rules(), action in action(), other in action(), near in near(),
    ) {
        let set = compile(rules, WorkspaceTrust::Trusted).0;
        if let Some(rule) = narrowest_grant(&set, Mode::Ask, &action) {
            prop_assert_eq!(decide(&set, Mode::Ask, &action).verdict, Verdict::Ask);
            let granted = set.granting(rule.clone());
            let again = decide(&granted, Mode::Ask, &action);
            prop_assert_eq!(again.verdict, Verdict::Allow);
            let of_the_grant = matches!(again.because, Because::Rule(entry) if entry.rule == rule);
            prop_assert!(of_the_grant, "{:?}", again.because);
            let own = matches!(action.tool, ToolIdentity::Own(_));
            let subject = other.subject.clone().filter(|_| own);
            let swapped = Action { subject, ..action.clone() };
            for other in [other, swapped, nearly(&action, &near)] {
                if other.tool != action.tool || !same(&action, &other) {
                    let before = decide(&set, Mode::Ask, &other).verdict;
                    let after = decide(&granted, Mode::Ask, &other).verdict;
                    prop_assert_eq!(after, before, "{} let {:?} run", rule, other);
                }
            }
        }
    }

    /// The words of a simple command stay the first words, whatever follows an operator.
    #[test]
    fn no_prefix_allows_what_an_operator_follows(
        tail in text(), operator in prop_oneof![";", "&", "\\|", "\n", "<", ">", "`", "\\$\\(", "\\(", "\\{"],
    ) {
        let set = compile(vec![entry(Layer::User, Effect::Allow, "Bash(git:*)")], WorkspaceTrust::Trusted).0;
        let line = format!("git x {operator}{tail}");
        prop_assume!(!line.trim_end().ends_with("git x"));
        let verdict = decide(&set, Mode::Ask, &crate::fixture::bash(&line)).verdict;
        prop_assert_eq!(verdict, Verdict::Ask);
    }
}
