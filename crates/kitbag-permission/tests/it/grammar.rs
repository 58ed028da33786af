//! Reading and printing one rule.

use insta::assert_snapshot;
use kitbag_permission::{MAX_RULE_BYTES, Mode, Rule, RuleFault};

#[test]
fn an_error_says_where_and_what_to_do() {
    let error = "mcp__files__\u{202e}read".parse::<Rule>().unwrap_err();
    assert_eq!((error.fault, error.column), (RuleFault::Invisible, 13));
    assert_snapshot!(error, @r"`mcp__files__\u{202e}read` is no permission rule: a character that cannot be seen stands at character 13");
    assert_snapshot!(error.hint, @r"take it out; in a quoted name it can be written as `\u{200b}`");
}

#[test]
fn columns_count_characters() {
    let error = "mcp(äöü, ß*)".parse::<Rule>().unwrap_err();
    assert_eq!((error.fault, error.column), (RuleFault::Wildcard, 11));
}

#[test]
fn a_rule_has_a_bound() {
    let longest = format!("Bash({})", "x".repeat(MAX_RULE_BYTES - 6));
    assert_eq!(longest.parse::<Rule>().unwrap().as_str(), longest);
    let error = format!("{longest}x").parse::<Rule>().unwrap_err();
    assert_eq!(error.fault, RuleFault::TooLong);
    assert!(error.to_string().len() < 400);
}

#[test]
fn settings_carry_rules_and_modes_as_text() {
    let rule: Rule = serde_json::from_str(r#""mcp( a , \"b c\" )""#).unwrap();
    assert_eq!(rule.to_string(), r#"mcp( a , "b c" )"#);
    assert_eq!(serde_json::to_string(&rule).unwrap(), r#""mcp( a , \"b c\" )""#);
    assert!(serde_json::from_str::<Rule>(r#""Bash(""#).is_err());
    let mode: Mode = serde_json::from_str(r#""accept-edits""#).unwrap();
    assert_eq!(serde_json::to_string(&mode).unwrap(), r#""accept-edits""#);
    assert_snapshot!("yolo".parse::<Mode>().unwrap_err(), @"`yolo` is no mode; the modes are `ask`, `accept-edits`, `plan`, `full-auto` and `dont-ask`");
}
