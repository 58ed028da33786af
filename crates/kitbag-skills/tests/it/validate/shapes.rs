//! The documented shapes: the rules table, JSON, SARIF.

use std::path::Path;

use kitbag_skills::Severity;
use kitbag_skills::validate::{Profile, ValidateOptions, rules, to_json, to_sarif, validate};

use super::{Bag, strict};

const DOCS: &str = include_str!("../../../../../docs/reference/validate.md");

/// The first cells of a documented table's rows, after its heading.
fn rows<'d>(heading: &str) -> Vec<Vec<&'d str>> {
    let (_, section) = DOCS.split_once(heading).unwrap();
    let section = section.split("\n## ").next().unwrap();
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches(['|', ' ']).split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn the_documented_rules_are_the_rules() {
    let severity = |severity: Option<Severity>| match severity {
        Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Note) => "note",
        None => "-",
    };
    let table: Vec<Vec<String>> = rules()
        .iter()
        .map(|rule| {
            vec![
                format!("`{}`", rule.id),
                severity(rule.strict).to_owned(),
                severity(rule.portable).to_owned(),
                rule.summary.to_owned(),
            ]
        })
        .collect();
    assert_eq!(rows("## Rules"), table);
}

#[test]
fn the_documented_differences_name_rules() {
    let beyond_rules = ["nested-indentation", "path-resolved"];
    for row in rows("## Differences from the reference") {
        let id = row[0].trim_matches('`');
        let known = rules().iter().any(|rule| rule.id == id) || beyond_rules.contains(&id);
        assert!(known, "{id}");
    }
}

#[test]
fn json_has_the_documented_shape() {
    let bag = Bag::new();
    bag.write("PDF/SKILL.md", "---\nname: PDF\ndescription: d\n---\nb\n");
    let mut report = strict(bag.path("PDF"));
    report.path = "skills/PDF".into();
    let documented = DOCS.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    let documented: serde_json::Value = serde_json::from_str(documented).unwrap();
    assert_eq!(to_json(&[report]), documented);
}

#[test]
fn sarif_points_into_files_by_relative_uris() {
    let bag = Bag::new();
    let skill = bag.write("my skills/SKILL.md", "---\nname: my skills\ndescription: d\n---\nb\n");
    let reports = [
        validate(&skill, ValidateOptions { profile: Profile::Portable }),
        validate(&bag.path("none"), ValidateOptions { profile: Profile::Portable }),
    ];
    let sarif = to_sarif(&reports, &bag.path(""));
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), rules().len());
    let mut results = run["results"].clone();
    for result in results.as_array_mut().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        result.as_object_mut().unwrap().shift_remove("ruleIndex");
    }
    // What the operating system says of a missing file is its own.
    results[1]["message"]["text"] = "".into();
    insta::assert_json_snapshot!(results, @r#"
    [
      {
        "ruleId": "name-characters",
        "level": "warning",
        "message": {
          "text": "`my skills` has ` ` in it; use letters, digits and hyphens only."
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "my%20skills/SKILL.md",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "startLine": 2,
                "startColumn": 7
              }
            }
          }
        ]
      },
      {
        "ruleId": "path-missing",
        "level": "error",
        "message": {
          "text": ""
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "none",
                "uriBaseId": "%SRCROOT%"
              }
            }
          }
        ]
      }
    ]
    "#);
    let elsewhere = to_sarif(&reports, Path::new("/somewhere/else"));
    let uri = &elsewhere["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        ["uri"];
    assert!(uri.as_str().unwrap().starts_with("file:///"), "{uri}");
}
