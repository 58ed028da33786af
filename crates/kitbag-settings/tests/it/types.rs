//! Values that do not fit their keys.

use kitbag_settings::{KeyPath, Layer, Settings, Source, Trust};
use serde_json::json;

use crate::sections::{Agent, Permissions, Servers, settings, told};

#[test]
fn one_value_that_does_not_fit_costs_only_its_key() {
    let all = settings(
        &[
            (Layer::Project, r#"{"model": "theirs", "permissions": {"deny": ["a"]}}"#),
            (
                Layer::User,
                "{\n  \"model\": 3,\n  \"skills\": {\"limit\": -1},\n  \"permissions\": {\n    \"deny\": [\"b\", 4, \"c\"],\n    \"mode\": \"yolo\"\n  }\n}",
            ),
        ],
        Trust::Untrusted,
    );
    let (agent, mut faults) = all.get::<Agent>();
    // What the user meant is unknown, so the project's value does not take its place.
    assert_eq!((agent.model, agent.skills.limit), (None, 12));
    let (permissions, more) = all.get::<Permissions>();
    assert_eq!(permissions.deny, ["a", "b", "c"]);
    faults.extend(more);
    insta::assert_snapshot!(told(&faults), @"
    /user.json:2:12: `model` does not fit: invalid type: integer `3`, expected a string [wrong-type]
    /user.json:3:23: `skills.limit` does not fit: invalid value: integer `-1`, expected u32 [wrong-type]
    /user.json:5:19: `permissions.deny.1` does not fit: invalid type: integer `4`, expected a string [wrong-type]
    /user.json:6:13: `permissions.mode` does not fit: unknown variant `yolo`, expected one of `ask`, `plan`, `full-auto` [wrong-type]
    ");
}

#[test]
fn one_entry_that_does_not_fit_costs_only_itself() {
    let all = settings(
        &[(
            Layer::User,
            "{\"mcpServers\": {\n  \"good\": {\"command\": \"x\"},\n  \"no command\": {},\n  \"args\": {\"command\": \"x\", \"args\": [\"a\", 1]},\n  \"flat\": \"x\"\n}}",
        )],
        Trust::Untrusted,
    );
    let (servers, faults) = all.get::<Servers>();
    assert_eq!(servers.mcp_servers.keys().collect::<Vec<_>>(), ["good"]);
    insta::assert_snapshot!(told(&faults), @r#"
    /user.json:3:17: `mcpServers."no command"` does not fit: missing field `command` [wrong-type]
    /user.json:4:42: `mcpServers.args.args.1` does not fit: invalid type: integer `1`, expected a string [wrong-type]
    /user.json:5:11: `mcpServers.flat` does not fit: invalid type: string "(secret)", expected struct Server [wrong-type]
    "#);
}

#[test]
fn a_fault_in_the_users_entry_lets_no_project_entry_through() {
    let project = r#"{"mcpServers": {"a": {"command": "evil"}, "b": {"command": "b"}}}"#;
    let names = |user: &str| {
        let all = settings(&[(Layer::Project, project), (Layer::User, user)], Trust::Trusted);
        let (servers, faults) = all.get::<Servers>();
        assert_eq!(faults.len(), 1);
        servers.mcp_servers.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names(r#"{"mcpServers": {"a": {"comand": "mine"}}}"#), ["b"]);
    assert_eq!(names(r#"{"mcpServers": ["a"]}"#), Vec::<String>::new());
}

#[test]
fn a_value_where_an_object_belongs_is_told_once() {
    let all =
        settings(&[(Layer::User, r#"{"permissions": ["a"], "skills": 3}"#)], Trust::Untrusted);
    let mut faults = all.get::<Permissions>().1;
    faults.extend(all.get::<Agent>().1);
    insta::assert_snapshot!(told(&faults), @r#"
    /user.json:1:17: `permissions` is a list, and must be an object [wrong-type]
      hint: write `"permissions": { … }`
    /user.json:1:34: `skills` is a number, and must be an object [wrong-type]
      hint: write `"skills": { … }`
    "#);
}

#[test]
fn many_misfits_are_cut_and_the_cut_is_told() {
    let text = format!("{{\"permissions\": {{\"deny\": [{}\"a\"]}}}}", "1,".repeat(100_000));
    let all = settings(&[(Layer::Project, &text)], Trust::Untrusted);
    let (permissions, faults) = all.get::<Permissions>();
    assert_eq!(permissions.deny, ["a"]);
    assert_eq!(faults.len(), 101);
    insta::assert_snapshot!(told(&faults[100..]), @"/project.json: there are more faults than these 100 [more]");
}

#[test]
fn a_variable_that_does_not_fit_is_named() {
    let given = Source::given(
        Layer::Environment,
        "KITBAG_SKILLS_LIMIT",
        &KeyPath::of(["skills", "limit"]),
        &json!("many"),
    );
    let (_, faults) = Settings::new(vec![given], Trust::Untrusted).get::<Agent>();
    insta::assert_snapshot!(told(&faults), @r#"KITBAG_SKILLS_LIMIT: `skills.limit` does not fit: invalid type: string "many", expected u32 [wrong-type]"#);
}

#[test]
fn no_message_holds_a_secret() {
    for text in [
        r#"{"token": ["hunter2"]}"#,
        r#"{"token": {"hunter": "hunter2"}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": ["hunter2"]}}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": "hunter2"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": ["hunter2"]}}}"#,
        r#"{"mcpServers": {"a": "hunter2"}}"#,
        r#"{"mcpServers": "hunter2"}"#,
        r#"{"mcpServers": ["hunter2"]}"#,
    ] {
        let all = settings(&[(Layer::User, text)], Trust::Untrusted);
        let mut faults = all.get::<Agent>().1;
        faults.extend(all.get::<Servers>().1);
        assert_eq!(faults.len(), 1, "{text}");
        let shown = format!("{faults:?} {} {all:?}", told(&faults));
        assert_eq!(shown.find("hunter2"), None, "{shown}");
    }
    let all = settings(
        &[(Layer::User, r#"{"token": ["x"], "mcpServers": {"a": {"command": "x", "env": "x"}}}"#)],
        Trust::Untrusted,
    );
    let mut faults = all.get::<Agent>().1;
    faults.extend(all.get::<Servers>().1);
    insta::assert_snapshot!(told(&faults), @r#"
    /user.json:1:11: `token` does not fit: invalid type: sequence, expected a string [wrong-type]
    /user.json:1:62: `mcpServers.a.env` does not fit: invalid type: string "(secret)", expected a map [wrong-type]
    "#);
}
