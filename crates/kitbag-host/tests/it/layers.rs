//! What all layers together say.

use kitbag_host::{Host, HostError};
use kitbag_permission::{Mode, Verdict};
use kitbag_settings::{KeyPath, Layer, Source};
use serde_json::{Map, Value, json};

use crate::place::Place;

fn given(layer: Layer, name: &str, key: &str, value: &Value) -> Source {
    Source::given(layer, name, &key.parse().unwrap(), value)
}

fn rules(place: &Place, host: &Host) -> String {
    let lines = host.rules().entries().iter().map(|entry| format!("{entry}\n"));
    place.filtered(&lines.collect::<String>())
}

fn errors(place: &Place) -> String {
    match place.open() {
        Ok(_) => "no error".to_owned(),
        Err(HostError::Settings(told)) => {
            let lines = told.iter().map(|one| format!("{one} [{}]", one.fault.as_str()));
            place.filtered(&lines.collect::<Vec<_>>().join("\n"))
        }
        Err(error) => error.to_string(),
    }
}

fn verdict(host: &Host, tool: &str, arguments: &Value) -> Verdict {
    let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
    let judged = host.call(tool, Some(&arguments)).unwrap();
    host.explain(&judged.action, host.mode()).decision.verdict
}

#[test]
fn every_rule_has_its_own_place_and_the_strongest_layer_comes_first() {
    let place = Place::new();
    place.user("{\"permissions\": {\n  \"deny\": [\"Bash(rm:*)\",\n    \"mcp__x\"]\n}}");
    place.project("{\"permissions\": {\n  \"allow\": [\"Bash\"],\n  \"ask\": [\"Edit\"]}}");
    let flags = vec![
        given(Layer::Flags, "--allow", "permissions.allow", &json!(["Write"])),
        given(Layer::Environment, "KITBAG_DENY", "permissions.deny", &json!(["Read"])),
        given(Layer::RunFile, "--settings", "permissions.ask", &json!(["skill_list"])),
    ];
    let host = place.open_with(flags).unwrap();
    insta::assert_snapshot!(rules(&place, &host), @"
    ask skill_list (flags, --settings)
    allow Write (flags, --allow)
    deny Read (environment, KITBAG_DENY)
    deny Bash(rm:*) (user, ~/.kitbag/settings.json:2)
    deny mcp__x (user, ~/.kitbag/settings.json:3)
    ask Edit (project, [ROOT]/work/.kitbag/settings.json:3)
    allow Bash (project, [ROOT]/work/.kitbag/settings.json:2)
    ");
}

#[test]
fn a_flag_is_stronger_than_the_user_and_the_user_than_the_project() {
    let place = Place::new();
    place.project("{\"permissions\": {\"mode\": \"full-auto\"}}");
    assert_eq!(place.open().unwrap().mode(), Mode::Ask);
    place.user("{\"permissions\": {\"mode\": \"plan\"}}");
    assert_eq!(place.open().unwrap().mode(), Mode::Plan);
    let flag = given(Layer::Flags, "--mode", "permissions.mode", &json!("dont-ask"));
    assert_eq!(place.open_with(vec![flag]).unwrap().mode(), Mode::DontAsk);
}

#[test]
fn a_project_restricts_at_once_and_grants_nothing_untrusted() {
    let place = Place::new();
    place.project(
        "{\"permissions\": {\"allow\": [\"mcp__files\"], \"deny\": [\"mcp__files__rm\"], \"ask\": [\"skill_list\"]}}",
    );
    let host = place.open().unwrap();
    let none = json!({});
    assert_eq!(verdict(&host, "mcp__files__read", &none), Verdict::Ask);
    assert_eq!(verdict(&host, "mcp__files__rm", &none), Verdict::Deny);
    assert_eq!(verdict(&host, "skill_list", &none), Verdict::Ask);
    host.trust_reviewed(&host.review()).unwrap();
    let host = place.open().unwrap();
    assert_eq!(verdict(&host, "mcp__files__read", &none), Verdict::Allow);
    assert_eq!(verdict(&host, "mcp__files__rm", &none), Verdict::Deny);
}

#[test]
fn an_error_anywhere_is_a_failure_that_names_the_place() {
    let place = Place::new();
    place.user("{\"permissions\": {\"allow\": [\"Bash()\"]}}");
    place.project("{\"permissions\": {\"deny\": [\"mcp__a__*\"], \"allow\": [\"Read([)\"]}}");
    place.write("work/.kitbag/settings.local.json", "{\"permision\": 1}");
    insta::assert_snapshot!(errors(&place), @"
    [ROOT]/work/.kitbag/settings.local.json:1:2: the key `permision` is unknown [unknown-key]
    [ROOT]/work/.kitbag/settings.json:1:27: `mcp__a__*` is no permission rule: something is missing at character 7 [refused]
    [ROOT]/home/.kitbag/settings.json:1:28: `Bash()` is no permission rule: something is missing at character 6 [refused]
    [ROOT]/work/.kitbag/settings.json:1:51: `Read([)`: the glob cannot be read: unclosed character class; missing ']' [refused]
    [ROOT]/work/.kitbag/settings.json:1:50: `permissions.allow` of this project does not count until the workspace is trusted [withheld]
    ");
    place.write("work/.kitbag/settings.local.json", "{\"permissions\": {\"deny\": [\"Bash\"");
    insta::assert_snapshot!(errors(&place), @"[ROOT]/work/.kitbag/settings.local.json:1:26: the file ends at line 1 before the `[` here is closed [cut-off]");
}

#[test]
fn more_faults_than_are_told_are_counted_among_them() {
    let place = Place::new();
    let rules = vec!["Bash()"; 500];
    place.user(&json!({"permissions": {"deny": rules}}).to_string());
    let Err(HostError::Settings(told)) = place.open() else { panic!("it opened") };
    assert_eq!(told.len(), kitbag_settings::MAX_DIAGNOSTICS + 1);
    assert_eq!(told.last().unwrap().fault.as_str(), "more");
}

#[test]
fn what_the_settings_say_of_skills_reaches_the_places() {
    let place = Place::new();
    place.user("{\"skills\": {\"paths\": [\"~/a\", \"/b\"], \"order\": \"project-first\"}}");
    place.project("{\"skills\": {\"paths\": [\"/evil\"]}}");
    let host = place.open().unwrap();
    let places = host.skill_places();
    let shown = place.filtered(&format!("{:?} {:?}", places.choice, places.order));
    insta::assert_snapshot!(shown, @r#"Default { also: ["[ROOT]/home/a", "/b"] } ProjectFirst"#);
    let key: KeyPath = "skills.paths".parse().unwrap();
    assert!(host.warnings().iter().any(|one| one.key.as_ref() == Some(&key)));
}

/// Who may not have a skill by one door may not have it by another: a session's `Skill` is a client's `skill_load`.
#[test]
fn a_rule_against_a_skill_holds_for_the_skill_server_too() {
    let place = Place::new();
    place.user("{\"permissions\": {\"deny\": [\"Skill(deploy)\"], \"ask\": [\"Skill(release-:*)\"], \"allow\": [\"Skill\"]}}");
    let host = place.open().unwrap();
    for tool in ["Skill", "skill_load", "skill_file", "skill_run"] {
        let asked = |name: &str| verdict(&host, tool, &json!({"name": name}));
        assert_eq!(asked("deploy"), Verdict::Deny, "{tool}");
        assert_eq!(asked("release-notes"), Verdict::Ask, "{tool}");
    }
    assert_eq!(verdict(&host, "skill_list", &json!({})), Verdict::Allow);
    assert_eq!(host.rules().entries().len(), 9);
}

#[test]
fn names_of_tools_and_their_subjects() {
    let place = Place::new();
    let host = place.open().unwrap();
    for (tool, arguments, expected) in [
        ("Skill", json!({"name": "deploy"}), "Own(\"Skill\") Some(Text(\"deploy\"))"),
        ("skill_list", json!({"name": "unused"}), "Own(\"skill_list\") None"),
        (
            "WebFetch",
            json!({"url": "https://me:pw@Example.com:8080/x?y"}),
            "Own(\"WebFetch\") Some(Domain(\"Example.com\"))",
        ),
        (
            "WebFetch",
            json!({"url": "http://[::1]:80/"}),
            "Own(\"WebFetch\") Some(Domain(\"[::1]\"))",
        ),
        ("mcp(a, b)", json!({}), "Server { server: \"a\", tool: \"b\" } None"),
        ("deploy__ship", json!({}), "SkillTool { skill: \"deploy\", tool: \"ship\" } None"),
        ("price", json!({}), "SkillTool { skill: \"price\", tool: \"price\" } None"),
    ] {
        let judged = host.call(tool, arguments.as_object()).unwrap();
        let shown = format!("{:?} {:?}", judged.action.tool, judged.action.subject);
        assert_eq!(shown, expected, "{tool}");
    }
}

/// A repository may bring a file of 1 MiB: it is read at a cost that grows with its length alone.
#[test]
fn a_list_of_many_short_items_is_read_to_its_end() {
    let place = Place::new();
    let rules = "\"a\",\n".repeat(30_000);
    place.project(&format!("{{\"permissions\": {{\"deny\": [\n{rules}\"z\"]}}}}"));
    let host = place.open().unwrap();
    let last = host.rules().entries().iter().find(|entry| entry.rule.as_str() == "z").unwrap();
    assert!(last.origin.to_string().ends_with("settings.json:30002"), "{}", last.origin);
}
