//! `kitbag skills new`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::{command, kitbag, run};

fn new(project: &Project, arguments: &[&str]) -> crate::kitbag::Outcome {
    kitbag(project, &[&["skills", "new"], arguments].concat())
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_it_writes_has_nothing_to_find_fault_with() {
    let project = Project::new();
    for (name, with) in [
        ("plain", &[][..]),
        ("scripted", &["--with", "script"]),
        ("referring", &["--with", "reference"]),
        ("full", &["--with", "script", "--with", "reference"]),
        ("twice", &["--with", "script", "--with", "script"]),
    ] {
        let made = new(&project, &[&[name], with].concat());
        assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{name}");
        let path = format!("../home/.kitbag/skills/{name}");
        for profile in [&[][..], &["--portable"]] {
            let line = [&["skills", "validate", "--json", path.as_str()], profile].concat();
            let json = kitbag(&project, &line).json();
            assert_eq!(json["skills"][0]["findings"], serde_json::json!([]), "{name}");
        }
    }
    let list = kitbag(&project, &["skills", "list", "--json"]).json();
    assert_eq!(list["problems"], serde_json::json!([]));
    assert_eq!(
        names(&project.path("home/.kitbag/skills/full")),
        ["SKILL.md", "kitbag.toml", "references", "scripts"]
    );
}

#[test]
fn it_says_where_it_is_and_what_comes_next() {
    let project = Project::new();
    let made = new(&project, &["notes", "--dir", "it's here"]);
    assert_snapshot!(made.text(), @r#"
    it's here/notes
    Edit its SKILL.md, then: kitbag skills validate 'it'\''s here/notes'

    --- stderr, exit code 0
    "#);
    let json = new(&project, &["more", "--dir", "skills", "--json"]).json();
    assert_eq!(json, serde_json::json!({ "name": "more", "directory": "[ROOT]/work/skills/more" }));
}

#[test]
fn a_description_survives_its_quoting() {
    let project = Project::new();
    for (number, description) in [
        "He said \"hi\": yes",
        "# not a comment # at all",
        "it's a \\ back-slash",
        "- item",
        "{a: b}",
        "*alias &anchor !tag %directive @at `tick`",
        "日本語: 説明 😀",
        "yes",
        "1.0",
        "null",
        "ends with a colon:",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("d{number}");
        let made = new(&project, &[&name, "--dir", "d", "--description", description]);
        assert_eq!(made.code, 0, "{description}: {}", made.stderr);
        let list =
            kitbag(&project, &["skills", "list", "--json", "--skills", &format!("d/{name}")]);
        assert_eq!(list.json()["skills"][0]["description"], description);
        let valid = kitbag(&project, &["skills", "validate", &format!("d/{name}")]);
        assert_eq!(valid.stdout, format!("d/{name}: valid\n"));
    }
    let made = new(&project, &["lines", "--description", " Two\n\tlines. "]);
    assert_eq!(made.code, 0);
    let list = kitbag(&project, &["skills", "list", "--json"]);
    assert_eq!(list.json()["skills"][0]["description"], "Two lines.");
}

#[test]
fn a_description_that_no_skill_may_have_is_refused() {
    let project = Project::new();
    let long = "x".repeat(1025);
    for description in ["", "  ", long.as_str(), "red \u{1b}[31m", "\u{202e}back", "a\u{200b}b"] {
        let refused = new(&project, &["some", "--description", description]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{description:?}");
        assert!(!project.path("home/.kitbag").exists(), "{description:?}");
    }
    assert_snapshot!(new(&project, &["some", "--description", "a\u{200b}b"]).stderr, @r#"
    error: the description holds a control or an invisible character
    hint: leave it out: `a\u{200b}b`
    "#);
}

#[test]
fn a_name_that_is_none_is_refused_before_anything_is_written() {
    let project = Project::new();
    let long = "x".repeat(65);
    for name in
        ["", ".", "..", "a/b", "../up", "/abs", "Upper", "a--b", "a-", "a b", "a.b", long.as_str()]
    {
        let refused = new(&project, &["--", name]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{name:?}");
    }
    assert_eq!(names(&project.path("home")), Vec::<String>::new());
    assert_eq!(names(&project.path("work")), [".git"]);
    assert_snapshot!(new(&project, &["Release Notes"]).stderr, @"
    error: `Release Notes` cannot be a skill's name
    hint: use 1 to 64 lower-case letters, digits and single hyphens, such as `release-notes`
    ");
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let project = Project::new();
    project.write("work/s/file", "mine");
    project.write("work/s/folder/SKILL.md", "mine");
    fs::create_dir(project.path("work/s/empty")).unwrap();
    symlink("nowhere", project.path("work/s/broken")).unwrap();
    symlink("folder", project.path("work/s/link")).unwrap();
    let before = names(&project.path("work/s"));
    for name in ["file", "folder", "empty", "broken", "link"] {
        let refused = new(&project, &[name, "--dir", "s"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{name}");
        assert!(refused.stderr.contains("exists already"), "{}", refused.stderr);
    }
    assert_eq!(names(&project.path("work/s")), before);
    assert_eq!(fs::read_to_string(project.path("work/s/file")).unwrap(), "mine");
    assert_eq!(names(&project.path("work/s/folder")), ["SKILL.md"]);
    assert_eq!(names(&project.path("work/s/empty")), Vec::<String>::new());
}

#[test]
fn what_fails_midway_leaves_nothing() {
    let project = Project::new();
    fs::create_dir(project.path("work/s")).unwrap();
    // Room for the SKILL.md, and none for the script: the limit is 512 bytes, or 1024 where a shell counts in those.
    let script = r#"trap '' XFSZ; ulimit -f 1; exec "$@""#;
    let description = "x".repeat(400);
    for with in [&["--with", "script"][..], &["--with", "reference", "--with", "script"]] {
        let mut shell = project.command("/bin/sh");
        shell
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_kitbag"), "skills", "new", "some"])
            .args(["--dir", "s", "--description", &description.repeat(2)])
            .args(with);
        let failed = run(&project, shell);
        assert_eq!((failed.code, failed.stdout.as_str()), (3, ""), "{failed:?}");
        assert_eq!(names(&project.path("work/s")), Vec::<String>::new());
    }
}

#[test]
fn a_place_that_cannot_be_written_is_said() {
    let project = Project::new();
    project.write("work/file", "");
    assert_snapshot!(new(&project, &["some", "--dir", "file/below"]).text(), @"

    --- stderr, exit code 3
    error: `[ROOT]/work/file/below` cannot be written: Not a directory (os error 20)
    ");
    let mut homeless = command(&project, &["skills", "new", "some"]);
    homeless.env_remove("HOME");
    assert_snapshot!(run(&project, homeless).text(), @"

    --- stderr, exit code 3
    error: there is no home directory to put it in
    hint: name a folder with `--dir`, or set HOME
    ");
    let mut elsewhere = command(&project, &["skills", "new", "some"]);
    elsewhere.env("KITBAG_HOME", "kit");
    assert_eq!(run(&project, elsewhere).code, 0);
    assert!(project.path("work/kit/skills/some/SKILL.md").is_file());
}
