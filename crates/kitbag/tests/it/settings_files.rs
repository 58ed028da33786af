//! What a person reads who has made a mistake in a settings file: where it is, and what to do.

use std::fs;

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::kitbag;

/// What a command says that reads these bytes as the user's settings.
fn told(bytes: &[u8]) -> String {
    let project = Project::new();
    project.write("home/.kitbag/settings.json", bytes);
    let outcome = kitbag(&project, &["settings", "list"]);
    format!("exit code {}\n{}{}", outcome.code, outcome.stdout, outcome.stderr)
}

#[test]
fn a_byte_order_mark_comments_trailing_commas_and_tabs_between_values_are_no_fault() {
    let text =
        "\u{feff}// mine\r\n{\r\n\t/* all */ \"permissions\": {\t\"mode\": \"plan\", },\r\n}\r\n";
    assert_snapshot!(told(text.as_bytes()), @r#"
    exit code 0
    permissions.allow  []
    permissions.ask    []
    permissions.deny   []
    permissions.mode   "plan"
    skills.order       "user-first"
    skills.paths       []
    "#);
}

#[test]
fn a_key_that_stands_twice() {
    let text = "{\n  \"permissions\": {\n    \"deny\": [\"a\"],\n    \"deny\": [\"b\"]\n  }\n}\n";
    assert_snapshot!(told(text.as_bytes()), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:4:5: the key `deny` stands here again, after line 3
    hint: keep one of the two
    ");
}

#[test]
fn a_misspelt_key() {
    let text = "{\n  \"permissions\": {\n    \"denny\": [\"Bash\"]\n  },\n  \"skils\": {}\n}\n";
    assert_snapshot!(told(text.as_bytes()), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:3:5: the key `denny` is unknown in `permissions`
      hint: did you mean `permissions.deny`?
    error: [ROOT]/home/.kitbag/settings.json:5:3: the key `skils` is unknown
      hint: did you mean `skills`?
    error: the settings hold 2 errors
    hint: nothing of such settings is used, since what they deny could be lost
    ");
}

#[test]
fn a_tab_inside_a_text() {
    assert_snapshot!(told(b"{\n  \"permissions\": { \"deny\": [\"Bash(a\tb)\"] }\n}\n"), @r#"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:2:36: a tab stands inside a string
    hint: write `\t` instead
    "#);
}

#[test]
fn a_tail_that_is_missing() {
    assert_snapshot!(told(b"{\n  \"permissions\": {\n    \"deny\": [\"Bash\"\n"), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:3:13: the file ends at line 4 before the `[` here is closed
    hint: the file seems cut off: restore its end, or add the missing `]`
    ");
}

#[test]
fn another_encoding_and_a_value_of_another_type() {
    assert_snapshot!(told(&[0xff, 0xfe, b'{', 0, b'}', 0]), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json: the file is UTF-16, not UTF-8
    hint: save the file as UTF-8
    ");
    let text = "{\n  \"permissions\": { \"deny\": [\"Bash\", 3], \"mode\": \"planned\" }\n}\n";
    assert_snapshot!(told(text.as_bytes()), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:2:37: `permissions.deny.1` does not fit: invalid type: integer `3`, expected a string
    error: [ROOT]/home/.kitbag/settings.json:2:49: `permissions.mode` does not fit: `planned` is no mode; the modes are `ask`, `accept-edits`, `plan`, `full-auto` and `dont-ask`
    error: the settings hold 2 errors
    hint: nothing of such settings is used, since what they deny could be lost
    ");
}

#[test]
fn a_rule_that_cannot_be_read_stops_the_start_with_its_own_line() {
    let text = "{\n  \"permissions\": {\n    \"deny\": [\n      \"Bash(rm:*)\",\n      \"mcp__files__*\"\n    ]\n  }\n}\n";
    assert_snapshot!(told(text.as_bytes()), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:5:7: `mcp__files__*` is no permission rule: something is missing at character 11
    hint: `mcp__files` covers all of its tools; did you mean `mcp__files`?
    ");
}

#[test]
fn a_path_that_would_be_another_in_each_directory() {
    assert_snapshot!(told(b"{ \"skills\": { \"paths\": [\"/x\", \"skills\"] } }"), @"
    exit code 3
    error: [ROOT]/home/.kitbag/settings.json:1:31: a relative path would be another folder in each directory
    hint: write the whole path, or one that begins with `~/`
    ");
}

/// Its rules that deny would be lost with it, so nothing starts.
#[test]
fn a_project_file_that_cannot_be_read_stops_every_command_that_uses_settings() {
    for name in ["settings.json", "settings.local.json"] {
        let project = Project::new();
        project.write(&format!("work/.kitbag/{name}"), "{\n  \"permissions\": {\n");
        for arguments in [
            &["settings", "list"][..],
            &["skills", "list"],
            &["skills", "show", "guide"],
            &["skills", "to-prompt"],
            &["serve"],
            &["run", "guide"],
            &["trust", "--yes"],
            &["permissions", "explain", "Skill"],
            &["audit"],
        ] {
            let outcome = kitbag(&project, arguments);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (3, ""), "{arguments:?}");
            let place = format!("[ROOT]/work/.kitbag/{name}:2:18: ");
            assert!(outcome.stderr.contains(&place), "{arguments:?}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("\nhint: "), "{arguments:?}: {}", outcome.stderr);
        }
        for arguments in [&["skills", "new", "x", "--dir", "skills"][..], &["trust", "--revoke"]] {
            assert_eq!(kitbag(&project, arguments).code, 0, "{arguments:?}");
        }
    }
}

#[test]
fn what_lies_in_the_place_of_a_file_is_named() {
    let project = Project::new();
    fs::create_dir_all(project.path("home/.kitbag/settings.json")).unwrap();
    let outcome = kitbag(&project, &["settings", "list"]);
    assert_snapshot!(outcome.text(), @"

    --- stderr, exit code 3
    error: [ROOT]/home/.kitbag/settings.json: a directory, pipe or device lies where the settings file belongs
    hint: put a regular file in its place, or move it away
    ");
}
