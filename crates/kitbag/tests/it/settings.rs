//! `kitbag settings`.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::{command, kitbag, run};

fn layered() -> Project {
    let project = Project::new();
    project.write(
        "home/.kitbag/settings.json",
        "{\n  \"permissions\": {\n    \"deny\": [\"Bash(rm:*)\", \"Read(**/.env)\"],\n    \"allow\": [\"mcp__files\"]\n  },\n  \"skills\": {\"paths\": [\"~/more\"]}\n}\n",
    );
    project.write(
        "work/.kitbag/settings.json",
        "{\n  \"permissions\": {\"allow\": [\"Bash\"], \"deny\": [\"Read(**/.env)\"], \"mode\": \"full-auto\"},\n  \"skills\": {\"order\": \"project-first\", \"paths\": [\"/x\"]}\n}\n",
    );
    project.write("work/.kitbag/settings.local.json", "{\"permissions\": {\"ask\": [\"Edit\"]}}");
    project
}

#[test]
fn the_list_has_the_values_that_count() {
    let outcome = kitbag(&layered(), &["settings", "list"]);
    assert_eq!(outcome.code, 0);
    assert_snapshot!(outcome.stdout, @r#"
    permissions.allow  ["mcp__files"]
    permissions.ask    ["Edit"]
    permissions.deny   ["Read(**/.env)","Bash(rm:*)"]
    permissions.mode   "ask"
    skills.order       "user-first"
    skills.paths       ["~/more"]
    "#);
}

#[test]
fn origins_are_lines_of_files_with_what_became_of_each_value() {
    let outcome = kitbag(&layered(), &["settings", "list", "--origin"]);
    assert_snapshot!(outcome.text(), @r#"
    permissions.allow  ["mcp__files"]
      withheld    project        [ROOT]/work/.kitbag/settings.json:2  "Bash"
      counts      user           ~/.kitbag/settings.json:4  "mcp__files"
    permissions.ask    ["Edit"]
      counts      project-local  [ROOT]/work/.kitbag/settings.local.json:1  "Edit"
    permissions.deny   ["Read(**/.env)","Bash(rm:*)"]
      counts      project        [ROOT]/work/.kitbag/settings.json:2  "Read(**/.env)"
      counts      user           ~/.kitbag/settings.json:3  "Bash(rm:*)"
      counts      user           ~/.kitbag/settings.json:3  "Read(**/.env)"
    permissions.mode   "ask"
      withheld    project        [ROOT]/work/.kitbag/settings.json:2  "full-auto"
    skills.order       "user-first"
      withheld    project        [ROOT]/work/.kitbag/settings.json:3  "project-first"
    skills.paths       ["~/more"]
      user-only   project        [ROOT]/work/.kitbag/settings.json:3  "/x"
      counts      user           ~/.kitbag/settings.json:6  "~/more"

    --- stderr, exit code 0
    warning: [ROOT]/work/.kitbag/settings.json:2:28: `permissions.allow` of this project does not count until the workspace is trusted
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    warning: [ROOT]/work/.kitbag/settings.json:2:73: `permissions.mode` of this project does not count until the workspace is trusted
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    warning: [ROOT]/work/.kitbag/settings.json:3:49: `skills.paths` is the user's to set, and does not count in a project
      hint: set it in your own settings if you want it
    warning: [ROOT]/work/.kitbag/settings.json:3:23: `skills.order` of this project does not count until the workspace is trusted
      hint: `kitbag trust --diff` shows what it says, `kitbag trust` accepts it
    "#);
}

#[test]
fn json_says_the_same() {
    let project = layered();
    let json = kitbag(&project, &["settings", "list", "--json"]).json();
    assert_eq!(json["trust"], "untrusted");
    assert_eq!(json["workspace"], "[ROOT]/work");
    assert_eq!(json["settings"][0]["key"], "permissions.allow");
    assert_eq!(json["settings"][0]["origins"], serde_json::Value::Null);
    let json = kitbag(&project, &["settings", "list", "--origin", "--json"]).json();
    insta::assert_json_snapshot!(json["settings"][0], @r#"
    {
      "key": "permissions.allow",
      "value": [
        "mcp__files"
      ],
      "origins": [
        {
          "layer": "project",
          "source": {
            "file": "[ROOT]/work/.kitbag/settings.json"
          },
          "line": 2,
          "column": 28,
          "value": [
            "Bash"
          ],
          "standing": "withheld"
        },
        {
          "layer": "user",
          "source": {
            "file": "[ROOT]/home/.kitbag/settings.json"
          },
          "line": 4,
          "column": 14,
          "value": [
            "mcp__files"
          ],
          "standing": "counts"
        }
      ]
    }
    "#);
}

#[test]
fn settings_of_the_working_directory_are_the_projects_too() {
    let project = layered();
    project.write("work/sub/.kitbag/settings.json", "{\"permissions\": {\"deny\": [\"Write\"]}}");
    let mut list = command(&project, &["settings", "list", "--origin"]);
    list.current_dir(project.path("work/sub"));
    // `.kitbag` makes a workspace of its own of it, as `.git` does.
    let text = run(&project, list).stdout;
    assert!(text.contains("[ROOT]/work/sub/.kitbag/settings.json:1  \"Write\""), "{text}");
    assert!(!text.contains("[ROOT]/work/.kitbag"), "{text}");
}

#[test]
fn a_home_that_is_a_workspace_has_no_project_settings() {
    let project = Project::new();
    project.write("home/.kitbag/settings.json", "{\"permissions\": {\"allow\": [\"Bash\"]}}");
    fs::create_dir(project.path("home/.git")).unwrap();
    for directory in ["home", "home/.kitbag"] {
        let mut list = command(&project, &["settings", "list", "--json"]);
        list.current_dir(project.path(directory));
        let json = run(&project, list).json();
        assert_eq!(json["trust"], "nothing-to-trust", "{directory}");
        assert_eq!(json["settings"][0]["value"], serde_json::json!(["Bash"]), "{directory}");
    }
}

#[test]
fn without_a_home_the_project_can_restrict_and_nothing_else() {
    let project = layered();
    let mut list = command(&project, &["settings", "list"]);
    list.env_remove("HOME");
    assert_snapshot!(run(&project, list).stdout, @r#"
    permissions.allow  []
    permissions.ask    ["Edit"]
    permissions.deny   ["Read(**/.env)"]
    permissions.mode   "ask"
    skills.order       "user-first"
    skills.paths       []
    "#);
    let mut trust = command(&project, &["trust", "--yes"]);
    trust.env_remove("HOME");
    let outcome = run(&project, trust);
    assert_eq!(outcome.code, 3);
    assert_snapshot!(outcome.stderr, @"
    error: there is no home directory: neither KITBAG_HOME nor HOME is set
    hint: set KITBAG_HOME to a directory that you may write
    ");
}

#[test]
fn folders_of_skills_and_their_order_are_settings() {
    let project = Project::new();
    project.skill("home/more/extra", "Lies elsewhere.", "Do it.\n");
    project.skill("home/.kitbag/skills/deploy", "The user's.", "Do it.\n");
    project.skill("work/.agents/skills/deploy", "The project's.", "Do it.\n");
    project.write("home/.kitbag/settings.json", "{\"skills\": {\"paths\": [\"~/more\"]}}");
    project.write("work/.kitbag/settings.json", "{\"skills\": {\"order\": \"project-first\"}}");
    let statuses = || {
        let json = kitbag(&project, &["skills", "list", "--json"]).json();
        let skills = json["skills"].as_array().unwrap().iter();
        let rows = skills.map(|skill| {
            let text = |key: &str| skill[key].as_str().unwrap().to_owned();
            format!("{} {} {}", text("qualifiedName"), text("origin"), text("status"))
        });
        rows.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(statuses(), @"
    settings:extra settings used
    user:deploy user used
    project.agents:deploy project.agents withheld
    bundled:guide bundled used
    ");
    assert_eq!(kitbag(&project, &["trust", "--yes"]).code, 0);
    assert_snapshot!(statuses(), @"
    settings:extra settings used
    project.agents:deploy project.agents withheld
    user:deploy user used
    bundled:guide bundled used
    ");
}

#[test]
fn a_command_that_lists_makes_no_file() {
    let project = layered();
    project.skill("work/.agents/skills/theirs", "Comes with the project.", "Do it.\n");
    fs::remove_dir_all(project.path("home/.kitbag")).unwrap();
    for arguments in [
        &["settings", "list"][..],
        &["settings", "schema"],
        &["skills", "list"],
        &["skills", "show", "guide"],
        &["permissions", "explain", "Skill"],
        &["trust"],
        &["trust", "--revoke"],
        &["audit"],
    ] {
        kitbag(&project, arguments);
        let made: Vec<_> = fs::read_dir(project.path("home")).unwrap().collect();
        assert!(made.is_empty(), "{arguments:?}: {made:?}");
    }
}

/// `docs/reference/settings.schema.json` is what the command prints. `KITBAG_UPDATE_DOCS=1` in the environment writes it anew.
#[test]
fn the_schema_in_the_documentation_is_the_one_that_is_printed() {
    let printed = kitbag(&Project::new(), &["settings", "schema"]).stdout;
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/settings.schema.json");
    if std::env::var_os("KITBAG_UPDATE_DOCS").is_some() {
        fs::write(&page, &printed).unwrap();
    }
    let written = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        written == printed,
        "docs/reference/settings.schema.json is old: run this test with KITBAG_UPDATE_DOCS=1"
    );
}

#[test]
fn a_file_may_name_its_schema() {
    let project = Project::new();
    project.write("home/.kitbag/settings.json", "{\"$schema\": \"settings.schema.json\"}");
    assert_eq!(kitbag(&project, &["settings", "list"]).stderr, "");
}
