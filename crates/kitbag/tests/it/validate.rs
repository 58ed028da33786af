//! `kitbag skills validate`.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use kitbag_testkit::Project;
use serde_json::Value;

use crate::kitbag::{command, kitbag, run};

fn good_and_bad() -> Project {
    let project = Project::new();
    project.skill("work/skills/good", "Does good. Use when good is asked for.", "Do it.\n");
    project.write("work/skills/bad/SKILL.md", "---\nname: Other\n---\nSee `references/none.md`.\n");
    project.skill("work/skills/odd name", "\"Bidi \u{202e} here. Use never.\"", "Do it.\n");
    project.write("work/notes.txt", "not a skill\n");
    project
}

#[test]
fn exit_codes_are_0_1_and_2() {
    let project = good_and_bad();
    for (paths, code) in [
        (&["skills/good"][..], 0),
        (&["skills/good/"], 0),
        (&["skills/good/SKILL.md"], 0),
        (&["skills/good", "skills/good"], 0),
        (&["skills/bad"], 1),
        (&["skills/good", "skills/bad"], 1),
        (&["notes.txt"], 1),
        (&["skills"], 1),
        (&["."], 1),
        (&["nowhere"], 2),
        (&["skills/bad", "nowhere", "skills/good"], 2),
    ] {
        for form in [&[][..], &["--json"], &["--sarif"], &["--portable"]] {
            let line = [&["skills", "validate"], form, paths].concat();
            let outcome = kitbag(&project, &line);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (code, ""), "{line:?}");
        }
    }
}

#[test]
fn findings_are_told_with_place_rule_and_remedy() {
    let project = good_and_bad();
    let outcome = kitbag(&project, &["skills", "validate", "skills/good", "skills/bad", "nowhere"]);
    assert_snapshot!(outcome.text(), @"
    skills/good: valid
    skills/bad: not valid
      error: skills/bad/SKILL.md:1:1: there is no `description` [description-missing]
        hint: say what the skill does and when to use it
      error: skills/bad/SKILL.md:2:7: `Other` is not lower-case [name-uppercase]
        hint: write it in lower-case letters
      error: skills/bad/SKILL.md:2:7: `name` is `Other`, and the directory `bad` [name-directory]
        hint: rename one of them: both must be the same
      warning: skills/bad/SKILL.md:4:6: `references/none.md` does not exist in the skill [reference-missing]
        hint: add the file, or correct the path; it is relative to the skill's directory
    nowhere: not valid
      error: nowhere: nothing can be found here: No such file or directory (os error 2) [path-missing]
        hint: give a skill's directory

    1 of 3 are valid.

    --- stderr, exit code 2
    ");
    assert_snapshot!(kitbag(&project, &["skills", "validate", "notes.txt", "skills"]).text(), @"
    notes.txt: not valid
      error: notes.txt: this is a file, and not a `SKILL.md` [path-not-a-skill]
        hint: give a skill's directory
    skills: not valid
      error: skills: there is no `SKILL.md` in this directory [skill-md-missing]
        hint: give the directory of one skill, or create the file with that exact name

    0 of 2 are valid.

    --- stderr, exit code 1
    ");
}

#[test]
fn a_dot_is_the_directory_it_stands_for() {
    let project = good_and_bad();
    let mut validate = command(&project, &["skills", "validate", "."]);
    validate.current_dir(project.path("work/skills/good"));
    assert_snapshot!(run(&project, validate).text(), @"
    .: valid

    --- stderr, exit code 0
    ");
}

#[test]
fn json_says_the_same() {
    let project = good_and_bad();
    let line = ["skills", "validate", "--json", "skills/good", "skills/bad"];
    let json = kitbag(&project, &line).json();
    assert_eq!(json["valid"], false);
    let valid: Vec<&Value> =
        json["skills"].as_array().unwrap().iter().map(|skill| &skill["valid"]).collect();
    assert_eq!(valid, [true, false]);
    assert_snapshot!(serde_json::to_string_pretty(&json["skills"][1]["findings"][0]).unwrap(), @r#"
    {
      "rule": "description-missing",
      "severity": "error",
      "file": "SKILL.md",
      "line": 1,
      "column": 1,
      "message": "there is no `description`",
      "hint": "say what the skill does and when to use it"
    }
    "#);
}

/// The rules of SARIF 2.1.0 (sections 3.13, 3.14, 3.27, 3.28, 3.30) that code scanning relies on.
#[test]
fn sarif_keeps_the_rules_of_the_format() {
    let project = good_and_bad();
    let absolute = project.path("work/skills/bad");
    let line = [
        "skills",
        "validate",
        "--sarif",
        "skills/good",
        "./skills/odd name",
        absolute.to_str().unwrap(),
        "nowhere",
    ];
    let sarif = kitbag(&project, &line).json();
    assert_eq!(sarif["version"], "2.1.0");
    let [run] = sarif["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is there twice");
    assert_eq!(run["tool"]["driver"]["name"], "kitbag");
    let results = run["results"].as_array().unwrap();
    let mut uris = BTreeSet::new();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], ids[index]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let [location] = result["locations"].as_array().unwrap().as_slice() else { panic!() };
        let physical = &location["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.starts_with('/') && !uri.contains([' ', '\\']), "{uri}");
        uris.insert(uri);
        if let Some(region) = physical.get("region") {
            assert!(region["startLine"].as_u64().unwrap() >= 1);
            assert!(region["startColumn"].as_u64().unwrap() >= 1);
        }
    }
    assert_snapshot!(uris.into_iter().collect::<Vec<_>>().join("\n"), @"
    nowhere
    skills/bad/SKILL.md
    skills/odd%20name/SKILL.md
    ");
}

#[test]
fn portable_is_another_measure() {
    let project = Project::new();
    let text = "---\nname: own\ndescription: Does it. Use when asked.\nargument-hint: '[file]'\n---\nDo it.\n";
    project.write("work/own/SKILL.md", text);
    let strict = kitbag(&project, &["skills", "validate", "own"]);
    let portable = kitbag(&project, &["skills", "validate", "--portable", "own"]);
    assert_eq!((strict.code, portable.code), (1, 0), "{strict:?} {portable:?}");
}
