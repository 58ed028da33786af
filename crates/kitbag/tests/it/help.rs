//! What the binary says about itself, and how it refuses a wrong command line.

use kitbag_testkit::Project;

use crate::kitbag::kitbag;

#[test]
fn help_and_version_are_answers() {
    let project = Project::new();
    for arguments in [
        &["--help"][..],
        &["help", "skills", "new"],
        &["skills", "--help"],
        &["skills", "list", "-h"],
        &["serve", "--help"],
        &["tour", "--help"],
    ] {
        let outcome = kitbag(&project, arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(outcome.stdout.contains("Examples:\n  kitbag "), "{arguments:?}");
    }
    let version = kitbag(&project, &["--version"]);
    assert_eq!(version.code, 0);
    assert_eq!(version.stdout, format!("kitbag {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_is_exit_code_2_and_nothing_on_stdout() {
    let project = Project::new();
    for arguments in [
        &[][..],
        &["skills"],
        &["nothing"],
        &["skills", "lst"],
        &["--nothing"],
        &["skills", "list", "--nothing"],
        &["skills", "list", "extra"],
        &["skills", "show"],
        &["skills", "show", "x", "--offset", "-1"],
        &["skills", "validate"],
        &["skills", "validate", "x", "--json", "--sarif"],
        &["skills", "new"],
        &["skills", "new", "x", "--with", "nothing"],
        &["serve", "--token-file", "x"],
        &["serve", "--max-skills", "many"],
    ] {
        let outcome = kitbag(&project, arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!outcome.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_near_miss_is_recognised() {
    let project = Project::new();
    let outcome = kitbag(&project, &["skills", "lst"]);
    assert!(outcome.stderr.contains("'list'"), "{}", outcome.stderr);
}
