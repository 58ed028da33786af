//! `kitbag skills list`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use insta::{assert_json_snapshot, assert_snapshot};
use kitbag_testkit::Project;
use serde_json::Value;

use crate::kitbag::{command, kitbag, run};

/// One skill of each status, but for those that two roots of one rank dispute.
fn one_of_each() -> Project {
    let project = Project::new();
    project.skill(
        "home/.kitbag/skills/deploy",
        "Moves what was built. Use on a release.",
        "1234\n",
    );
    project.skill("home/.agents/skills/deploy", "Another one.", "12345678\n");
    project.skill("home/.kitbag/skills/日本語", "日本語のスキル", "Do it.\n");
    project.write("home/.claude/skills/mute/SKILL.md", "---\nname: mute\n---\n");
    project.skill("work/.agents/skills/theirs", "Comes with the project.", "Do it.\n");
    project
}

#[test]
fn the_table_says_where_each_is_from_and_why_it_is_not_used() {
    let project = one_of_each();
    assert_snapshot!(kitbag(&project, &["skills", "list"]).text(), @"
    NAME    STATUS    ORIGIN           ~TOKENS  DESCRIPTION
    deploy  used      user                  14  Moves what was built. Use on a release.
    日本語  used      user                  13  日本語のスキル
    deploy  shadowed  user.agents            8  shadowed by user:deploy; it answers to user.agents:deploy
    mute    invalid   user.claude            3  neither a description nor a body
    theirs  withheld  project.agents         9  it comes with the project and has not been approved
    guide   used      bundled             1212  How to use and write Agent Skills with kitbag. Use when someone asks what a skill is, wants to writ…

    3 of 6 skills are used. Their names and descriptions are ~77 tokens; instructions are read on demand.

    Withheld, until `kitbag skills approve` has shown them and you said yes:
      project.agents:theirs
        says  Comes with the project.
        runs  nothing that it declares

    --- stderr, exit code 0
    error: [ROOT]/home/.claude/skills/mute/SKILL.md: neither a description nor a body [no-description]
      hint: add `description:` with what the skill does and when to use it
    ");
}

#[test]
fn json_says_the_same() {
    let project = one_of_each();
    let outcome = kitbag(&project, &["skills", "list", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let json = outcome.json();
    let said: Vec<Vec<&Value>> = json["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| vec![&skill["qualifiedName"], &skill["status"], &skill["because"]])
        .collect();
    assert_snapshot!(serde_json::to_string(&said).unwrap().replace("],", "],\n"), @r#"
    [["user:deploy","used",null],
    ["user:日本語","used",null],
    ["user.agents:deploy","shadowed","shadowed by user:deploy; it answers to user.agents:deploy"],
    ["user.claude:mute","invalid","neither a description nor a body"],
    ["project.agents:theirs","withheld","it comes with the project and has not been approved"],
    ["bundled:guide","used",null]]
    "#);
    assert_json_snapshot!(json["skills"][0], @r#"
    {
      "name": "deploy",
      "alias": null,
      "qualifiedName": "user:deploy",
      "status": "used",
      "because": null,
      "origin": "user",
      "root": "[ROOT]/home/.kitbag/skills",
      "foundAt": [
        "[ROOT]/home/.kitbag/skills/deploy"
      ],
      "description": "Moves what was built. Use on a release.",
      "whenToUse": null,
      "argumentHint": null,
      "userOnly": false,
      "tokens": {
        "catalogue": 13,
        "instructions": 1
      },
      "trust": "trusted",
      "requests": [],
      "files": 1,
      "problems": []
    }
    "#);
    assert_json_snapshot!(json["problems"], @r#"
    [
      {
        "reason": "no-description",
        "severity": "error",
        "path": "[ROOT]/home/.claude/skills/mute/SKILL.md",
        "detail": "neither a description nor a body",
        "hint": "add `description:` with what the skill does and when to use it"
      }
    ]
    "#);
}

#[test]
fn two_of_one_rank_are_both_disputed() {
    let project = Project::new();
    project.skill("a/same", "One.", "One.\n");
    project.skill("b/same", "Two.", "Two.\n");
    let outcome = kitbag(&project, &["skills", "list", "--skills", "../a", "--skills", "../b"]);
    assert_snapshot!(outcome.text(), @"
    NAME  STATUS    ORIGIN   ~TOKENS  DESCRIPTION
    same  disputed  given          6  2 directories have this name
    same  disputed  given          6  2 directories have this name

    0 of 2 skills are used. Their names and descriptions are ~0 tokens; instructions are read on demand.

    --- stderr, exit code 0
    error: [ROOT]/work/../a/same: `same` is the name of 2 directories, so none of them is used: `[ROOT]/work/../a/same`, `[ROOT]/work/../b/same` [duplicate-name]
      hint: rename or remove all but one
    ");
}

#[test]
fn a_problem_has_its_line_and_its_remedy() {
    let project = Project::new();
    let text = "---\nname: loose\ndescription: Says this: and that.\n---\nDo it.\n";
    project.write("home/.kitbag/skills/loose/SKILL.md", text);
    assert_snapshot!(kitbag(&project, &["skills", "list"]).stderr, @"
    warning: [ROOT]/home/.kitbag/skills/loose/SKILL.md:3:14: `description` was read as if its value stood in quotes (mapping values are not allowed in this context) [repaired-frontmatter]
      hint: put the value in quotes
    ");
}

#[test]
fn what_is_over_the_limit_is_listed_as_such() {
    let project = Project::new();
    for number in 0..34 {
        project.skill(&format!("many/skill-{number:02}"), "Does one thing.", "Do it.\n");
    }
    let mut list = command(&project, &["skills", "list"]);
    list.env("MCP_SKILLS_PATH", project.path("many"));
    let outcome = run(&project, list);
    let tail: Vec<&str> = outcome.stdout.lines().skip(32).collect();
    assert_snapshot!(tail.join("\n"), @"
    skill-31  used        environment        10  Does one thing.
    skill-32  over-limit  environment        10  more skills were found than are used
    skill-33  over-limit  environment        10  more skills were found than are used

    32 of 34 skills are used. Their names and descriptions are ~288 tokens; instructions are read on demand.
    ");
    assert_snapshot!(outcome.stderr, @"
    error: [ROOT]/many: 32 skills are used at most; 2 more were found and are left out [skill-limit]
      hint: raise the limit, or serve fewer roots
    ");
}

#[test]
fn a_full_disk_is_a_failure() {
    let project = one_of_each();
    let mut shell = project.command("/bin/sh");
    let script = r#"exec "$0" skills list --json > /dev/full"#;
    shell.args(["-c", script, env!("CARGO_BIN_EXE_kitbag")]);
    let outcome = run(&project, shell);
    assert_eq!(outcome.code, 70, "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
}

#[test]
fn what_a_skill_says_of_itself_cannot_write_a_line_of_its_own() {
    let project = Project::new();
    let hostile = r#""\e[31mred\e[2J \u202Egnp\u202C a\u200Bb\n\nerror: <b>all</b> is lost\r\x07 \U000E0041""#;
    project.skill("home/.kitbag/skills/evil", hostile, "\u{1b}[2J\n");
    let outcome = kitbag(&project, &["skills", "list"]);
    assert_snapshot!(outcome.stdout, @"
    NAME   STATUS  ORIGIN    ~TOKENS  DESCRIPTION
    evil   used    user           24  [31mred[2J gnp ab error: <b>all</b> is lost
    guide  used    bundled      1212  How to use and write Agent Skills with kitbag. Use when someone asks what a skill is, wants to writ…

    2 of 2 skills are used. Their names and descriptions are ~75 tokens; instructions are read on demand.
    ");
    let told = &outcome.stderr;
    assert!(
        told.contains("evil/SKILL.md:3:14: ") && told.contains("[frontmatter-field]"),
        "{told}"
    );
    for text in [&outcome.stdout, told] {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    }
}

#[test]
fn empty_places_are_an_answer() {
    let project = Project::new();
    fs::create_dir_all(project.path("empty")).unwrap();
    let outcome = kitbag(&project, &["skills", "list", "--skills", "../empty"]);
    assert_snapshot!(outcome.text(), @"
    No skills were found. `kitbag skills new NAME` writes one.

    --- stderr, exit code 0
    ");
    let outcome = kitbag(&project, &["skills", "list", "--skills", "../nowhere"]);
    assert_snapshot!(outcome.text(), @"
    No skills were found. `kitbag skills new NAME` writes one.

    --- stderr, exit code 0
    error: [ROOT]/work/../nowhere: it cannot be resolved: No such file or directory (os error 2) [root-unreadable]
      hint: name a directory that exists and that you may read
    ");
    let json = kitbag(&project, &["skills", "list", "--skills", "../empty", "--json"]).json();
    assert_eq!(
        (&json["skills"], &json["problems"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
}

#[test]
fn without_a_home_the_rest_is_listed() {
    let project = one_of_each();
    let mut list = command(&project, &["skills", "list"]);
    list.env_remove("HOME");
    assert_snapshot!(run(&project, list).text(), @"
    NAME    STATUS    ORIGIN           ~TOKENS  DESCRIPTION
    theirs  withheld  project.agents         9  it comes with the project and has not been approved
    guide   used      bundled             1212  How to use and write Agent Skills with kitbag. Use when someone asks what a skill is, wants to writ…

    1 of 2 skills are used. Their names and descriptions are ~52 tokens; instructions are read on demand.

    Withheld, until `kitbag skills approve` has shown them and you said yes:
      project.agents:theirs
        says  Comes with the project.
        runs  nothing that it declares

    --- stderr, exit code 0
    ");
}

#[test]
fn a_working_directory_that_is_gone_is_said() {
    let project = Project::new();
    let gone = project.path("gone");
    fs::create_dir(&gone).unwrap();
    let mut shell = project.command("/bin/sh");
    let script = r#"cd "$1" && rmdir "$1" && exec "$2" skills list"#;
    shell.args(["-c", script, "sh"]).arg(&gone).arg(env!("CARGO_BIN_EXE_kitbag"));
    assert_snapshot!(run(&project, shell).text(), @"

    --- stderr, exit code 3
    error: the working directory cannot be found: No such file or directory (os error 2)
    hint: change to a directory that exists
    ");
}

#[test]
fn thousands_are_listed_and_a_reader_may_leave_at_any_time() {
    let project = Project::new();
    for number in 0..3_000 {
        project.skill(&format!("many/skill-{number:04}"), "Does one thing of many.", "Do it.\n");
    }
    let whole = kitbag(&project, &["skills", "list", "--skills", "../many"]);
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""));
    assert_eq!(whole.stdout.lines().count(), 3_003);
    for json in [&["--json"][..], &[]] {
        let mut list = command(&project, &["skills", "list", "--skills", "../many"]);
        let mut child =
            list.args(json).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{first}");
    }
}

/// A folder whose name is no UTF-8 is named as far as JSON can, and hides nothing else.
#[test]
fn json_survives_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::new();
    project.skill("skills/good", "Works", "Do it.");
    let odd = project.path("skills").join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("SKILL.md"), "---\nname: g\ndescription: d\n---\nb\n").unwrap();
    let listed = kitbag(&project, &["skills", "list", "--json", "--skills", "../skills"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert_eq!(listed.json()["skills"][0]["name"], "good");
    assert_eq!(listed.json()["problems"][0]["reason"], "unusable-name");

    let inside = project.path("skills").join(std::ffi::OsStr::from_bytes(b"in\xfe"));
    std::fs::create_dir_all(inside.join("fine")).unwrap();
    std::fs::write(inside.join("fine/SKILL.md"), "---\nname: fine\ndescription: d\n---\nb\n")
        .unwrap();
    let shown = kitbag(&project, &["skills", "show", "fine", "--json", "--skills", "../skills"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.json()["foundAt"][0].as_str().unwrap().contains('\u{fffd}'));
}

#[test]
fn json_writes_what_cannot_be_seen_as_escapes() {
    let project = Project::new();
    project.skill("skills/odd", "Works", "a\u{9b}b \u{202e} \u{e0041} \u{1b}[31m");
    let shown = kitbag(&project, &["skills", "show", "odd", "--json", "--skills", "../skills"]);
    for escape in ["\\u009b", "\\u202e", "\\udb40\\udc41", "\\u001b"] {
        assert!(shown.stdout.contains(escape), "{escape} in {}", shown.stdout);
    }
    assert!(
        shown.json()["text"].as_str().unwrap().contains("a\u{9b}b \u{202e} \u{e0041} \u{1b}[31m")
    );
}

#[test]
fn problems_of_files_are_told_too() {
    let project = Project::new();
    project.skill("skills/x", "Works", "Do it.");
    std::os::unix::fs::symlink("/etc/passwd", project.path("skills/x/pw")).unwrap();
    let text = kitbag(&project, &["skills", "list", "--skills", "../skills"]);
    assert!(text.stderr.contains("symlink-escape"), "{text:?}");
    let json = kitbag(&project, &["skills", "list", "--json", "--skills", "../skills"]).json();
    assert_eq!(json["problems"][0]["reason"], "symlink-escape");
    assert_eq!(json["skills"][0]["problems"][0]["reason"], "symlink-escape");
}
