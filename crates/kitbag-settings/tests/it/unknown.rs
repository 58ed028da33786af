//! Keys that nobody reads.

use kitbag_settings::{Layer, Trust};

use crate::sections::{all, settings, told};

fn unknown(text: &str) -> String {
    told(&settings(&[(Layer::User, text)], Trust::Untrusted).unknown_keys(&all()))
}

#[test]
fn known_keys_and_the_schema_are_silent() {
    let text = r#"{
        "$schema": "x", "model": "m", "token": null, "skills": {"paths": [], "limit": 1},
        "permissions": {"allow": [], "deny": [], "mode": "ask"},
        "mcpServers": {"any name": {"command": "", "args": [], "env": {"ANY": ""}}}, "disabledMcpServers": []
    }"#;
    assert_eq!(unknown(text), "");
}

#[test]
fn the_nearest_known_key_is_named() {
    insta::assert_snapshot!(unknown("{
  \"modle\": \"m\",
  \"Permissions\": {},
  \"deny\": [],
  \"permissions\": {\"alow\": [], \"whatever\": {\"x\": 1}},
  \"mcpServers\": {\"a\": {\"comand\": \"x\", \"env\": {\"ANY\": \"x\"}}},
  \"\\u001b[2J\": 1
}"), @r#"
    /user.json:2:3: the key `modle` is unknown [unknown-key]
      hint: did you mean `model`?
    /user.json:3:3: the key `Permissions` is unknown [unknown-key]
      hint: did you mean `permissions`?
    /user.json:4:3: the key `deny` is unknown [unknown-key]
      hint: did you mean `permissions.deny`?
    /user.json:5:19: the key `alow` is unknown in `permissions` [unknown-key]
      hint: did you mean `permissions.allow`?
    /user.json:5:31: the key `whatever` is unknown in `permissions` [unknown-key]
      hint: known here: `allow`, `deny`, `mode`
    /user.json:6:24: the key `comand` is unknown in `mcpServers.a` [unknown-key]
      hint: did you mean `mcpServers.a.command`?
    /user.json:7:3: the key `\u{1b}[2J` is unknown [unknown-key]
      hint: known here: `disabledMcpServers`, `mcpServers`, `model`, `permissions`, `skills`, `token`
    "#);
}

#[test]
fn many_are_cut_and_the_cut_is_told() {
    let keys: Vec<String> = (0..500).map(|at| format!("\"k{at}\": 1")).collect();
    let text = format!("{{{}}}", keys.join(","));
    let faults = settings(&[(Layer::User, &text)], Trust::Untrusted).unknown_keys(&all());
    assert_eq!(faults.len(), 101);
    insta::assert_snapshot!(told(&faults[99..]), @"
    /user.json:1:883: the key `k99` is unknown [unknown-key]
      hint: known here: `disabledMcpServers`, `mcpServers`, `model`, `permissions`, `skills`, `token`
    /user.json: there are more faults than these 100 [more]
    ");
}
