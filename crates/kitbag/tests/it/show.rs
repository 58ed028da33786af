//! `kitbag skills show`.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use kitbag_builtin::{Caller, SkillCall, answer};
use kitbag_skills::budget::Budget;
use kitbag_skills::{Library, Places, RootChoice, RootOrder, SkillLimit};
use kitbag_testkit::Project;

use crate::kitbag::{kitbag, uncounted};

fn deploy() -> Project {
    let project = Project::new();
    let body = "# Deploy $1\n\nRead `references/checks.md`. Then: $ARGUMENTS.\n";
    project.skill("home/.kitbag/skills/deploy", "Moves what was built.", body);
    let long = "Check one thing more.\n".repeat(4_000);
    project.write("home/.kitbag/skills/deploy/references/checks.md", long);
    project
}

#[test]
fn what_is_shown_is_byte_for_byte_what_a_model_gets() {
    let project = deploy();
    let library = Library::new(
        Places {
            home: Some(project.path("home")),
            kitbag_home: Some(project.path("home/.kitbag")),
            cwd: project.path("work"),
            choice: RootChoice::Default { also: Vec::new() },
            order: RootOrder::UserFirst,
        },
        SkillLimit(100),
    );
    let checks = Some("references/checks.md");
    for (arguments, resource, offset, window) in [
        ("", None, 0, 200_000),
        ("staging now", None, 0, 200_000),
        ("", None, 9, 200_000),
        ("", None, 1_000_000, 200_000),
        ("", checks, 0, 200_000),
        ("", checks, 500, 32_768),
        ("", checks, 0, 0),
        ("", checks, 0, u64::MAX),
    ] {
        let call = SkillCall { name: "deploy", arguments, resource, offset };
        let expected = answer(&library, &call, Caller::Person, &Budget::for_window(window));
        let (offset, window) = (offset.to_string(), window.to_string());
        let mut line = vec!["skills", "show", "--offset", &offset, "--window", &window];
        line.extend(resource.iter().flat_map(|path| ["--resource", path]));
        line.push("deploy");
        line.extend(arguments.split_whitespace());
        let shown = kitbag(&project, &line);
        assert_eq!((shown.code, shown.stdout), (0, project.filtered(&expected)), "{line:?}");
        line.push("--json");
        assert_eq!(kitbag(&project, &line).json()["text"], project.filtered(&expected));
    }
}

#[test]
fn the_text_is_on_stdout_and_its_cost_is_not() {
    let project = deploy();
    let arguments = ["skills", "show", "deploy", "staging", "--window", "32768"];
    assert_snapshot!(uncounted(&kitbag(&project, &arguments).text()), @"
    Skill `deploy`.
    Its directory is `[ROOT]/home/.kitbag/skills/deploy`; a relative path in the text below starts there.
    Its files, each read by `Skill` with `resource`: `references/checks.md` (88000 bytes).

    # Deploy staging

    Read `references/checks.md`. Then: staging.

    --- stderr, exit code 0
    ~[COUNT] tokens
    ");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let project = deploy();
    project.skill("home/.kitbag/skills/deliver", "Delivers.", "Do it.\n");
    let show =
        |arguments: &[&str]| kitbag(&project, &[&["skills", "show"], arguments].concat()).text();
    assert_snapshot!(show(&["deplyo"]), @"

    --- stderr, exit code 1
    error: There is no skill `deplyo`. There are 3 skills: `deploy`, `deliver`, `guide`.
    ");
    assert_snapshot!(show(&["../deploy"]), @"

    --- stderr, exit code 1
    error: There is no skill `../deploy`. There are 3 skills: `deploy`, `guide`, `deliver`.
    ");
    assert_snapshot!(show(&["deploy", "--resource", "references/check.md"]), @"

    --- stderr, exit code 1
    error: Skill `deploy` has no file `references/check.md`. There are 2 files: `references/checks.md`, `SKILL.md`.
    ");
    assert_snapshot!(show(&["deploy", "--resource", "../../../secret"]), @"

    --- stderr, exit code 1
    error: Skill `deploy` has no file `../../../secret`. There are 2 files: `SKILL.md`, `references/checks.md`.
    ");
}

#[test]
fn a_search_is_an_answer() {
    let project = deploy();
    assert_snapshot!(kitbag(&project, &["skills", "show", "?built"]).text(), @"
    1 of 2 skills match `built`:

    - deploy — Moves what was built.

    --- stderr, exit code 0
    ");
}

#[test]
fn a_skill_that_is_not_used_says_why_and_what_to_do() {
    let project = Project::new();
    project.write("home/.claude/skills/mute/SKILL.md", "---\nname: mute\n---\n");
    project.skill("work/.agents/skills/theirs", "Comes with the project.", "Do it.\n");
    let show = |name: &str| kitbag(&project, &["skills", "show", name]).text();
    assert_snapshot!(show("mute"), @"

    --- stderr, exit code 1
    error: [ROOT]/home/.claude/skills/mute/SKILL.md: neither a description nor a body [no-description]
      hint: add `description:` with what the skill does and when to use it
    error: `mute` is invalid: neither a description nor a body
    hint: `kitbag skills validate [ROOT]/home/.claude/skills/mute` says more
    ");
    assert_eq!(
        show("user.claude:mute").replace("user.claude:mute", "mute"),
        show("mute"),
        "its qualified name is as good"
    );
    assert_snapshot!(show("theirs"), @"

    --- stderr, exit code 1
    error: `theirs` is withheld: it comes with the project and has not been approved
    hint: `kitbag skills approve theirs` shows it, and asks
    hint: `kitbag skills show theirs --trust` prints it all the same
    ");
    project.skill("a/same", "One.", "One.\n");
    project.skill("b/same", "Two.", "Two.\n");
    let both = ["skills", "show", "same", "--skills", "../a", "--skills", "../b"];
    assert_snapshot!(kitbag(&project, &both).text(), @"

    --- stderr, exit code 1
    error: `same` is disputed: 2 directories have this name
    hint: one is `[ROOT]/work/../a/same`
    hint: one is `[ROOT]/work/../b/same`
    ");
}

#[test]
fn the_remedy_for_a_withheld_skill_works() {
    let project = Project::new();
    let directory = project.skill("work/.agents/skills/theirs", "Theirs.", "Do it.\n");
    let directory = directory.parent().unwrap().to_str().unwrap();
    let outcome = kitbag(&project, &["skills", "show", "theirs", "--skills", directory]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Do it."));
}

/// Decision 8: an author must learn what a call makes of `$1` in code.
#[test]
fn decision_8_code_that_arguments_would_change_is_warned_of() {
    let project = Project::new();
    let body = "\n```sh\nawk '{print $1}' log\n```\n";
    project.skill("home/.kitbag/skills/count", "Counts.", body);
    project.skill("home/.claude/skills/sum", "Sums.", body);
    let declared = format!("---\nname: told\ndescription: Told.\narguments: [file]\n---\n{body}");
    project.write("home/.kitbag/skills/told/SKILL.md", declared);
    let warned = |name: &str| uncounted(&kitbag(&project, &["skills", "show", name]).stderr);
    assert_snapshot!(warned("count"), @"
    warning: [ROOT]/home/.kitbag/skills/count/SKILL.md:7:13: called with arguments, `awk '{print $1}' log` becomes `awk '{print ONE}' log` [argument-in-code]
      hint: declare the skill's `arguments`, or write the code without a `$` before a digit
    ~[COUNT] tokens
    ");
    assert_snapshot!(warned("sum"), @"
    warning: [ROOT]/home/.claude/skills/sum/SKILL.md:7:13: called with arguments, `awk '{print $1}' log` becomes `awk '{print TWO}' log` [argument-in-code]
      hint: declare the skill's `arguments`, or write the code without a `$` before a digit
    ~[COUNT] tokens
    ");
    assert_snapshot!(warned("told"), @"~[COUNT] tokens");
    let validated = kitbag(&project, &["skills", "validate", "../home/.kitbag/skills/count"]);
    assert_eq!(validated.code, 0);
    assert!(validated.stdout.contains("SKILL.md:7:13: called with arguments"), "{validated:?}");
}

#[test]
fn a_link_from_claude_is_read_in_its_dialect() {
    let project = Project::new();
    project.skill("home/.agents/skills/pick", "Picks.", "Take $0.\n");
    fs::create_dir_all(project.path("home/.claude/skills")).unwrap();
    symlink(project.path("home/.agents/skills/pick"), project.path("home/.claude/skills/pick"))
        .unwrap();
    let outcome = kitbag(&project, &["skills", "show", "pick", "this"]);
    assert!(outcome.stdout.contains("Take this."), "{}", outcome.stdout);
}

#[test]
fn a_root_that_is_not_there_is_told_before_the_skill_that_is_not() {
    let project = Project::new();
    let shown = kitbag(&project, &["skills", "show", "x", "--skills", "../nowhere"]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.stderr.contains("root-unreadable"), "{shown:?}");
}
