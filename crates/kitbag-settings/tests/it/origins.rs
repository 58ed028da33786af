//! Where a value comes from.

use kitbag_settings::{KeyPath, Layer, Settings, Source, Trust};
use serde_json::json;

use crate::sections::{all, source};

fn sources() -> Vec<Source> {
    vec![
        source(
            Layer::Project,
            "{\n  \"model\": \"theirs\",\n  \"mcpServers\": {\"a\": {\"command\": \"evil\"}},\n  \"token\": \"hunter2\",\n  \"permissions\": {\"deny\": [\"a\"], \"allow\": [\"x\"]}\n}",
        ),
        source(
            Layer::User,
            "{\n  \"model\": 3,\n  \"mcpServers\": {\"a\": {\"command\": \"mine\", \"env\": {\"T\": \"hunter2\"}}},\n  \"token\": \"hunter2\",\n  \"permissions\": {\"deny\": [\"b\"]}\n}",
        ),
        Source::given(Layer::Flags, "--model", &KeyPath::of(["model"]), &json!("flag")),
    ]
}

fn origins(trust: Trust, path: &str) -> String {
    let origins = Settings::new(sources(), trust).origin(&all(), &path.parse().unwrap());
    let lines = origins.into_iter().map(|one| {
        let line = one.position.map_or(0, |position| position.line);
        format!("{:?} {}:{line} {} {}\n", one.standing, one.source, one.layer.as_str(), one.value)
    });
    lines.collect()
}

#[test]
fn each_source_of_a_value_is_named_weakest_first() {
    let paths = [
        "model",
        "token",
        "permissions.deny",
        "permissions.allow",
        "mcpServers",
        "mcpServers.a",
        "mcpServers.a.command",
        "mcpServers.a.env.T",
        "mcpServers.b",
        "nobody.knows",
    ];
    let told = |trust| paths.map(|path| format!("# {path}\n{}", origins(trust, path))).concat();
    insta::assert_snapshot!(told(Trust::Untrusted), @r#"
    # model
    Overridden /project.json:2 project "theirs"
    Invalid /user.json:2 user 3
    Counts --model:0 flags "flag"
    # token
    UserOnly /project.json:4 project "(secret)"
    Counts /user.json:4 user "(secret)"
    # permissions.deny
    Counts /project.json:5 project ["a"]
    Counts /user.json:5 user ["b"]
    # permissions.allow
    Withheld /project.json:5 project ["x"]
    # mcpServers
    Withheld /project.json:3 project {"a":{"command":"evil"}}
    Counts /user.json:3 user {"a":{"command":"mine","env":{"T":"(secret)"}}}
    # mcpServers.a
    Withheld /project.json:3 project {"command":"evil"}
    Counts /user.json:3 user {"command":"mine","env":{"T":"(secret)"}}
    # mcpServers.a.command
    Withheld /project.json:3 project "evil"
    Counts /user.json:3 user "mine"
    # mcpServers.a.env.T
    Counts /user.json:3 user "(secret)"
    # mcpServers.b
    # nobody.knows
    "#);
    insta::assert_snapshot!(told(Trust::Trusted), @r#"
    # model
    Overridden /project.json:2 project "theirs"
    Invalid /user.json:2 user 3
    Counts --model:0 flags "flag"
    # token
    UserOnly /project.json:4 project "(secret)"
    Counts /user.json:4 user "(secret)"
    # permissions.deny
    Counts /project.json:5 project ["a"]
    Counts /user.json:5 user ["b"]
    # permissions.allow
    Counts /project.json:5 project ["x"]
    # mcpServers
    Counts /project.json:3 project {"a":{"command":"evil"}}
    Counts /user.json:3 user {"a":{"command":"mine","env":{"T":"(secret)"}}}
    # mcpServers.a
    Overridden /project.json:3 project {"command":"evil"}
    Counts /user.json:3 user {"command":"mine","env":{"T":"(secret)"}}
    # mcpServers.a.command
    Overridden /project.json:3 project "evil"
    Counts /user.json:3 user "mine"
    # mcpServers.a.env.T
    Counts /user.json:3 user "(secret)"
    # mcpServers.b
    # nobody.knows
    "#);
}

#[test]
fn the_list_holds_every_key_with_the_value_that_counts() {
    let listed = Settings::new(sources(), Trust::Untrusted).list(&all());
    let lines: Vec<String> = listed
        .iter()
        .map(|one| format!("{} = {} ({})", one.key, one.value, one.origins.len()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    disabledMcpServers = [] (0)
    mcpServers = {"a":{"command":"mine","env":{"T":"(secret)"}}} (2)
    model = "flag" (3)
    permissions.allow = [] (1)
    permissions.deny = ["a","b"] (2)
    permissions.mode = "ask" (0)
    skills.limit = 12 (0)
    skills.paths = [] (0)
    token = "(secret)" (2)
    "#);
    let shown = format!("{listed:?}{}", serde_json::to_string(&listed).unwrap());
    assert_eq!(shown.find("hunter2"), None);
}

#[test]
fn each_item_of_a_list_has_a_place_of_its_own() {
    let sources = vec![
        source(
            Layer::Project,
            "{\"permissions\": {\n  \"deny\": [\n    \"a\",\n    3\n  ],\n  \"allow\": [\"x\", \"y\"]\n}}",
        ),
        source(
            Layer::User,
            "{\"permissions\": {\n  \"deny\": [\"b\", \"a\"], \"allow\": [\"x\"]\n}}",
        ),
        Source::given(Layer::Flags, "--deny", &KeyPath::of(["permissions", "deny"]), &json!(["f"])),
    ];
    let settings = Settings::new(sources, Trust::Untrusted);
    let told = |path: &str| {
        let items = settings.items(&all(), &path.parse().unwrap()).into_iter().map(|one| {
            let at =
                one.position.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
            format!("{:?} {}{at} {}\n", one.standing, one.source, one.value)
        });
        items.collect::<String>()
    };
    insta::assert_snapshot!(
        format!("{}\n{}\n{}", told("permissions.deny"), told("permissions.allow"), told("nobody")),
        @r#"
    Counts /project.json:3:5 "a"
    Invalid /project.json:4:5 3
    Counts /user.json:2:12 "b"
    Counts /user.json:2:17 "a"
    Counts --deny "f"

    Withheld /project.json:6:13 "x"
    Withheld /project.json:6:18 "y"
    Counts /user.json:2:33 "x"
    "#);
    let withheld = settings.withheld(&all());
    let withheld: Vec<String> =
        withheld.iter().map(|(key, one)| format!("{key} {}", one.value)).collect();
    assert_eq!(withheld, ["permissions.allow \"x\"", "permissions.allow \"y\""]);
}
