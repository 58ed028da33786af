//! `autoAttach` globs and the hint line (G-15, G-16).

use std::path::Path;

use kitbag_skills::attach::{AutoAttach, MAX_GLOBS, hint};
use kitbag_skills::{Reason, Severity, estimate_tokens};
use proptest::prelude::*;

fn matches(glob: &str, file: &str) -> bool {
    let (globs, problems) = AutoAttach::new(&[glob.to_owned()], Path::new("x/SKILL.md"));
    assert_eq!(problems, []);
    globs.matches(&[file])
}

#[test]
fn g15_globs_match_open_files() {
    for (glob, file, expected) in [
        ("*.rs", "main.rs", true),
        ("*.rs", "src/deep/main.rs", true),
        ("*.rs", "src/main.rss", false),
        ("Cargo.toml", "crates/a/Cargo.toml", true),
        ("src/*.rs", "src/main.rs", true),
        ("src/*.rs", "src/deep/main.rs", false),
        ("src/**/*.rs", "src/deep/main.rs", true),
        ("/main.rs", "main.rs", true),
        ("/main.rs", "src/main.rs", false),
        ("./src/*.rs", "./src/main.rs", true),
        ("docs/", "docs/a/b.md", true),
        ("docs/", "web/docs/b.md", true),
        ("/docs/", "web/docs/b.md", false),
        ("*.{ts,tsx}", "web/App.tsx", true),
        ("*.RS", "main.rs", false),
        ("[a-c].md", "b.md", true),
    ] {
        assert_eq!(matches(glob, file), expected, "{glob} on {file}");
    }
}

#[test]
fn any_glob_and_any_file_will_do() {
    let globs = ["*.py".to_owned(), "*.rs".to_owned()];
    let (globs, _) = AutoAttach::new(&globs, Path::new("SKILL.md"));
    assert!(globs.matches(&["README.md", "src/main.rs"]));
    assert!(!globs.matches(&["README.md"]));
    assert!(!globs.matches(&[]));
    assert!(!AutoAttach::default().matches(&["README.md"]));
}

#[test]
fn a_bad_glob_is_a_problem_and_the_rest_count() {
    let globs =
        ["[a".to_owned(), String::new(), "!*.md".to_owned(), "a".repeat(300), "*.rs".to_owned()];
    let (globs, problems) = AutoAttach::new(&globs, Path::new("x/SKILL.md"));
    assert!(globs.matches(&["a.rs"]));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let long = format!("{}…", "a".repeat(120));
    assert_eq!(told, [
        "x/SKILL.md: the `autoAttach` glob `[a` is not used: unclosed character class; missing ']' [frontmatter-field]"
            .to_owned(),
        "x/SKILL.md: the `autoAttach` glob `` is not used: it is empty [frontmatter-field]".to_owned(),
        "x/SKILL.md: the `autoAttach` glob `!*.md` is not used: a glob cannot exclude [frontmatter-field]".to_owned(),
        format!(
            "x/SKILL.md: the `autoAttach` glob `{long}` is not used: it is longer than 256 characters [frontmatter-field]"
        ),
    ]);
    assert!(problems.iter().all(|p| p.severity == Severity::Warning && p.hint.is_some()));
}

#[test]
fn globs_past_the_bound_are_reported() {
    let globs: Vec<String> = (0..=MAX_GLOBS).map(|at| format!("{at}.rs")).collect();
    let (globs, problems) = AutoAttach::new(&globs, Path::new("SKILL.md"));
    assert!(globs.matches(&["63.rs"]) && !globs.matches(&["64.rs"]));
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].reason, Reason::FrontmatterField);
}

#[test]
fn g16_one_line_names_what_matches() {
    assert_eq!(hint(&[]), None);
    assert_eq!(hint(&["rust-style"]).as_deref(), Some("(Skill `rust-style` fits the open files.)"));
    assert_eq!(hint(&["a", "b"]).as_deref(), Some("(Skills `a`, `b` fit the open files.)"));
    let many = hint(&["a", "b<\n>", "c", "d", "e"]);
    assert_eq!(
        many.as_deref(),
        Some("(Skills `a`, `b&lt; &gt;`, `c` and 2 more fit the open files.)")
    );
    assert!(estimate_tokens(&hint(&["rust-style"]).unwrap()) <= 15);
}

proptest! {
    #[test]
    fn no_glob_panics(glob in "[\\[\\]{},*?!/\\\\a-c^-]{0,20}", file in "\\PC{0,20}") {
        let (globs, _) = AutoAttach::new(&[glob], Path::new("SKILL.md"));
        globs.matches(&[&file]);
    }
}
