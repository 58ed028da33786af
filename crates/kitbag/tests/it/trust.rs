//! `kitbag trust`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;
use kitbag_testkit::Project;

use crate::kitbag::{command, kitbag, run};
use crate::terminal::typed;

const SETTINGS: &str = "work/.kitbag/settings.json";

fn granting() -> Project {
    let project = Project::new();
    project.write(
        SETTINGS,
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(git push:*)\"],\n    \"deny\": [\"Read(**/.env)\"]\n  }\n}\n",
    );
    project
}

/// A time is another in every run.
fn timeless(text: &str) -> String {
    let stamp = |word: &str| word.starts_with("20") && word.contains('T') && word.contains('Z');
    let line = |line: &str| {
        let words = line.split(' ').map(|word| match word.split_once('Z') {
            Some((_, rest)) if stamp(word) => format!("[TIME]{rest}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn verdict(project: &Project, tool: &str, arguments: &str) -> i32 {
    kitbag(project, &["permissions", "explain", tool, "--args", arguments]).code
}

const PUSH: &str = "{\"command\": \"git push\"}";
const ENV: &str = "{\"path\": \".env\"}";

#[test]
fn what_a_project_allows_counts_once_it_is_trusted_and_until_it_changes() {
    let project = granting();
    let both = || (verdict(&project, "Bash", PUSH), verdict(&project, "Read", ENV));
    assert_eq!(both(), (1, 4));
    let outcome = kitbag(&project, &["trust", "--yes"]);
    assert_snapshot!(outcome.text(), @"
    [ROOT]/work brings settings, and they are not trusted.
    Trust would turn on:
      permissions.allow  Bash(git push:*)  [ROOT]/work/.kitbag/settings.json:3
    What they deny or ask about counts with or without it.
    Trusted, until one of these files changes.

    --- stderr, exit code 0
    ");
    assert_eq!(both(), (0, 4));

    let text = fs::read_to_string(project.path(SETTINGS)).unwrap();
    project.write(SETTINGS, text.replace("git push", "git"));
    assert_eq!(both(), (1, 4));
    project.write(SETTINGS, &text);
    assert_eq!(both(), (0, 4));
    project.write("work/.kitbag/settings.local.json", "{}");
    assert_eq!(both(), (1, 4));
    fs::remove_file(project.path("work/.kitbag/settings.local.json")).unwrap();
    assert_eq!(both(), (0, 4));
    assert_eq!(
        kitbag(&project, &["trust", "--revoke"]).stdout,
        "This workspace is trusted no more.\n"
    );
    assert_eq!(both(), (1, 4));
}

#[test]
fn without_a_terminal_nothing_is_trusted_but_by_yes() {
    let project = granting();
    let outcome = kitbag(&project, &["trust"]);
    assert_eq!(outcome.code, 1);
    assert_snapshot!(outcome.stderr, @"
    error: the workspace is not trusted, and there is no terminal to ask at
    hint: look with `kitbag trust --diff`, then run `kitbag trust --yes`
    ");
    assert_eq!(verdict(&project, "Bash", PUSH), 1);
}

#[test]
fn at_a_terminal_it_asks_and_the_answer_counts() {
    let project = granting();
    let (text, code) = typed(&project, &["trust"], "\n");
    assert_eq!(code, Some(1));
    assert_snapshot!(text, @"
    [ROOT]/work brings settings, and they are not trusted.
    Trust would turn on:
      permissions.allow  Bash(git push:*)  [ROOT]/work/.kitbag/settings.json:3
    What they deny or ask about counts with or without it.
    Trust them? [y/N, d shows what changed] 
    error: the workspace is not trusted
    ");
    assert_eq!(typed(&project, &["trust"], "maybe\n").1, Some(1));
    assert_eq!(verdict(&project, "Bash", PUSH), 1);
    let (text, code) = typed(&project, &["trust"], "d\ny\n");
    assert_eq!(code, Some(0));
    assert_snapshot!(text, @r#"
    [ROOT]/work brings settings, and they are not trusted.
    Trust would turn on:
      permissions.allow  Bash(git push:*)  [ROOT]/work/.kitbag/settings.json:3
    What they deny or ask about counts with or without it.
    Trust them? [y/N, d shows what changed] d

    [ROOT]/work: all of it, since nothing was trusted before
    @@ -0,0 +1,7 @@
    +.kitbag/settings.json
    +  {
    +    "permissions": {
    +      "allow": ["Bash(git push:*)"],
    +      "deny": ["Read(**/.env)"]
    +    }
    +  }
    Trust them? [y/N, d shows what changed] y
    Trusted, until one of these files changes.
    "#);
    assert_eq!(verdict(&project, "Bash", PUSH), 0);
}

#[test]
fn the_diff_is_against_what_was_shown_when_it_was_trusted_and_shows_what_hides() {
    let project = granting();
    kitbag(&project, &["trust", "--yes"]);
    assert!(kitbag(&project, &["trust", "--diff"]).stdout.ends_with("Nothing has changed.\n"));
    project.write(
        SETTINGS,
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(git push:*)\", \"mcp__files\"], // \u{202e}\u{1b}[2Jhidden\n    \"deny\": []\n  }\n}\n",
    );
    let outcome = kitbag(&project, &["trust", "--diff"]);
    assert_eq!(outcome.code, 0);
    assert_snapshot!(timeless(&outcome.stdout), @r#"
    [ROOT]/work brings settings. They were trusted at [TIME], and have changed since.
    Trust would turn on:
      permissions.allow  Bash(git push:*)  [ROOT]/work/.kitbag/settings.json:3
      permissions.allow  mcp__files  [ROOT]/work/.kitbag/settings.json:3
    What they deny or ask about counts with or without it.

    [ROOT]/work: against what was trusted at [TIME]
    @@ -1,7 +1,7 @@
     .kitbag/settings.json
       {
         "permissions": {
    -      "allow": ["Bash(git push:*)"],
    -      "deny": ["Read(**/.env)"]
    +      "allow": ["Bash(git push:*)", "mcp__files"], // \u{202e}\u{1b}[2Jhidden
    +      "deny": []
         }
       }
    "#);
    assert_eq!(kitbag(&project, &["trust", "--diff", "--yes"]).code, 0);
    project
        .write(SETTINGS, fs::read_to_string(project.path(SETTINGS)).unwrap().replace('\n', "\r\n"));
    let text = kitbag(&project, &["trust", "--diff"]).stdout;
    assert!(text.ends_with("No line differs; line ends or bytes that are no text do.\n"), "{text}");
}

#[test]
fn a_workspace_without_settings_has_nothing_to_trust() {
    let outcome = kitbag(&Project::new(), &["trust"]);
    assert_snapshot!(outcome.text(), @"
    [ROOT]/work brings no settings, so there is nothing to trust.

    --- stderr, exit code 0
    ");
}

#[test]
fn a_link_to_a_workspace_is_that_workspace_and_another_copy_is_not() {
    let project = granting();
    symlink(project.path("work"), project.path("link")).unwrap();
    let mut trust = command(&project, &["trust", "--yes"]);
    trust.current_dir(project.path("link"));
    assert_eq!(run(&project, trust).code, 0);
    assert_eq!(verdict(&project, "Bash", PUSH), 0);

    fs::create_dir_all(project.path("copy/.kitbag")).unwrap();
    fs::copy(project.path(SETTINGS), project.path("copy/.kitbag/settings.json")).unwrap();
    let mut trust = command(&project, &["trust"]);
    trust.current_dir(project.path("copy"));
    assert_eq!(run(&project, trust).code, 1);
}

#[test]
fn a_workspace_whose_git_is_a_file_is_one() {
    let project = granting();
    fs::remove_dir(project.path("work/.git")).unwrap();
    project.write("work/.git", "gitdir: /elsewhere\n");
    fs::create_dir(project.path("work/deep")).unwrap();
    assert_eq!(kitbag(&project, &["trust", "--yes"]).code, 0);
    let mut explain = command(&project, &["permissions", "explain", "Bash", "--args", PUSH]);
    explain.current_dir(project.path("work/deep"));
    assert_eq!(run(&project, explain).code, 0);
}

#[test]
fn a_workspace_inside_another_is_trusted_by_itself_and_takes_nothing_from_the_outer() {
    let project = granting();
    assert_eq!(kitbag(&project, &["trust", "--yes"]).code, 0);
    project.write("work/sub/.kitbag/settings.json", "{\"permissions\": {\"allow\": [\"Edit\"]}}");
    let within = |arguments: &[&str]| {
        let mut command = command(&project, arguments);
        command.current_dir(project.path("work/sub"));
        run(&project, command).code
    };
    assert_eq!(within(&["trust"]), 1);
    assert_eq!(within(&["trust", "--yes"]), 0);
    assert_eq!(within(&["trust"]), 0);
    assert_eq!(kitbag(&project, &["trust"]).code, 0);
}

#[test]
fn a_store_that_cannot_be_used_is_a_clear_failure() {
    let project = granting();
    project.write(
        "home/.kitbag/data/kitbag.db",
        "this is no database, and long enough to be read as one",
    );
    let outcome = kitbag(&project, &["trust", "--yes"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("it was moved to"), "{}", outcome.stderr);

    let mut elsewhere = command(&project, &["trust", "--yes"]);
    elsewhere.env("KITBAG_HOME", project.path(SETTINGS));
    let outcome = run(&project, elsewhere);
    assert_snapshot!(outcome.stderr, @"error: cannot make the directory `[ROOT]/work/.kitbag/settings.json/data`: Not a directory (os error 20)");
    assert_eq!(outcome.code, 3);

    fs::set_permissions(project.path("home/.kitbag/data"), Permissions::from_mode(0o777)).unwrap();
    let outcome = kitbag(&project, &["trust"]);
    assert_snapshot!(outcome.text(), @"

    --- stderr, exit code 3
    error: `[ROOT]/home/.kitbag/data` has mode 0777, so others could give consent in your name
    hint: look at what is in it, then run `chmod go-w '[ROOT]/home/.kitbag/data'`
    ");
}
