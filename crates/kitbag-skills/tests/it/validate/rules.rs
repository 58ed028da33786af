//! One fixture for every rule about the file, its frontmatter and its body.

use std::collections::BTreeSet;
use std::fs;

use kitbag_skills::validate::{Report, rules};

use super::{Bag, GOOD, both, portable, strict, told};

/// Rule, directory, `SKILL.md`: the strict profile tells the rule, or the portable one where the strict is silent.
const FIXTURES: &[(&str, &str, &str)] = &[
    ("byte-order-mark", "x", "\u{FEFF}---\nname: x\ndescription: d\n---\nb\n"),
    ("frontmatter-missing", "x", "# X\n"),
    ("frontmatter-not-first", "x", "\n---\nname: x\ndescription: d\n---\nb\n"),
    ("frontmatter-fence", "x", "---js\nthrow 1\n---\n"),
    ("fence-blank", "x", "--- \nname: x\ndescription: d\n---\nb\n"),
    ("frontmatter-unclosed", "x", "---\nname: x\ndescription: d\n"),
    ("frontmatter-dots", "x", "---\nname: x\ndescription: d\n...\nb\n"),
    ("frontmatter-inner-fence", "x", "---\nname: x\ndescription: a --- b\n---\nb\n"),
    ("yaml-invalid", "x", "---\nname: x\ndescription: Use when: asked\n---\nb\n"),
    ("yaml-not-a-mapping", "x", "---\n- name\n- description\n---\nb\n"),
    ("yaml-key", "x", "---\nname: x\ndescription: d\n? [a, b]\n: c\n---\nb\n"),
    ("yaml-duplicate-key", "x", "---\nname: x\ndescription: d\nname: x\n---\nb\n"),
    ("yaml-tab", "x", "---\nname: x\ndescription:\td\n---\nb\n"),
    ("yaml-anchor", "x", "---\nname: &n x\ndescription: d\n---\nb\n"),
    ("yaml-tag", "x", "---\nname: !!str x\ndescription: d\n---\nb\n"),
    ("yaml-flow", "x", "---\nname: x\ndescription: d\nmetadata: {a: b}\n---\nb\n"),
    (
        "yaml-comment-cut",
        "x",
        "---\nname: x\ndescription: Closes issue #5 and # nothing else\n---\nb\n",
    ),
    ("field-unknown", "x", "---\nname: x\ndescription: d\nversion: 1\n---\nb\n"),
    ("name-missing", "x", "---\ndescription: d\n---\nb\n"),
    ("name-empty", "x", "---\nname:\ndescription: d\n---\nb\n"),
    ("name-uppercase", "PDF", "---\nname: PDF\ndescription: d\n---\nb\n"),
    ("name-hyphen-edge", "x-", "---\nname: x-\ndescription: d\n---\nb\n"),
    ("name-hyphen-double", "x--y", "---\nname: x--y\ndescription: d\n---\nb\n"),
    ("name-characters", "x_y", "---\nname: x_y\ndescription: d\n---\nb\n"),
    ("name-not-ascii", "é", "---\nname: é\ndescription: d\n---\nb\n"),
    ("name-directory", "x", "---\nname: y\ndescription: d\n---\nb\n"),
    ("name-reserved", "claude-x", "---\nname: claude-x\ndescription: d\n---\nb\n"),
    ("name-typed", "12306", "---\nname: 12306\ndescription: d\n---\nb\n"),
    ("description-missing", "x", "---\nname: x\n---\nb\n"),
    ("description-empty", "x", "---\nname: x\ndescription: ' '\n---\nb\n"),
    ("description-typed", "x", "---\nname: x\ndescription: 1\n---\nb\n"),
    ("description-markup", "x", "---\nname: x\ndescription: Makes <b>bold</b>\n---\nb\n"),
    ("compatibility-type", "x", "---\nname: x\ndescription: d\ncompatibility:\n  - a\n---\nb\n"),
    ("compatibility-empty", "x", "---\nname: x\ndescription: d\ncompatibility: \"\"\n---\nb\n"),
    ("license-type", "x", "---\nname: x\ndescription: d\nlicense:\n  - MIT\n---\nb\n"),
    ("metadata-type", "x", "---\nname: x\ndescription: d\nmetadata: draft\n---\nb\n"),
    ("metadata-nested", "x", "---\nname: x\ndescription: d\nmetadata:\n  a:\n    b: c\n---\nb\n"),
    ("allowed-tools-type", "x", "---\nname: x\ndescription: d\nallowed-tools:\n  - Read\n---\nb\n"),
    (
        "allowed-tools-comma",
        "x",
        "---\nname: x\ndescription: d\nallowed-tools: Read, Grep\n---\nb\n",
    ),
    ("argument-hint-type", "x", "---\nname: x\ndescription: d\nargument-hint: [file]\n---\nb\n"),
    ("body-empty", "x", "---\nname: x\ndescription: d\n---\n\n"),
    ("argument-in-code", "x", "---\nname: x\ndescription: d\n---\nRun `awk '{print $1}'`.\n"),
];

/// The rules whose fixtures are longer than a line, or no text at all; each is told by a test of its own.
const ELSEWHERE: &[&str] = &[
    "path-missing",
    "path-not-a-skill",
    "skill-md-missing",
    "skill-md-case",
    "skill-md-link",
    "skill-md-unreadable",
    "skill-md-too-large",
    "skill-md-not-utf8",
    "name-too-long",
    "description-too-long",
    "compatibility-too-long",
    "body-lines",
    "body-tokens",
    "tag-character",
    "hidden-character",
    "bidi-control",
    "control-character",
    "reference-escape",
    "reference-host-path",
    "reference-missing",
    "secret",
    "pipe-to-shell",
    "unpinned-runner",
    "findings-cut",
    "files-cut",
];

#[test]
fn every_rule_has_a_fixture() {
    let covered: BTreeSet<&str> =
        FIXTURES.iter().map(|(rule, ..)| *rule).chain(ELSEWHERE.iter().copied()).collect();
    let table: BTreeSet<&str> = rules().iter().map(|rule| rule.id).collect();
    assert_eq!(covered, table);
    assert_eq!(table.len(), rules().len(), "an id stands for one rule");
}

#[test]
fn every_fixture_breaks_its_rule_as_the_table_says() {
    for (rule, directory, text) in FIXTURES {
        let info = rules().iter().find(|info| info.id == *rule).unwrap();
        let (strict, portable) = both(directory, text);
        let severity = |report: &Report| {
            report.findings.iter().find(|finding| finding.rule == *rule).map(|found| found.severity)
        };
        assert_eq!(
            (severity(&strict), severity(&portable)),
            (info.strict, info.portable),
            "{rule}"
        );
    }
}

#[test]
fn findings_stand_where_the_fault_is() {
    let text =
        "---\nname: Big_Name-\ndescription: one # two\nversion: 3\nmetadata:\n  a: &q b\n---\nb\n";
    insta::assert_debug_snapshot!(told(&both("x", text).0), @r#"
    [
        "! name-uppercase 2:7",
        "! name-hyphen-edge 2:7",
        "! name-characters 2:7",
        "! name-directory 2:7",
        "yaml-comment-cut 3:18",
        "! field-unknown 4:1",
        "! yaml-anchor 6:9",
    ]
    "#);
}

#[test]
fn paths_that_are_no_skill() {
    let bag = Bag::new();
    let file = bag.write("notes/readme.txt", "no skill").join("readme.txt");
    let told_of = |path: std::path::PathBuf| told(&strict(path));
    assert_eq!(told_of(bag.path("nowhere")), ["! path-missing"]);
    assert_eq!(told_of(file), ["! path-not-a-skill"]);
    assert_eq!(told_of(bag.path("notes")), ["! skill-md-missing"]);
}

#[test]
fn fault_20_a_lower_case_file_is_a_warning_and_not_portable() {
    let bag = Bag::new();
    let skill = bag.write("x/skill.md", format!("{GOOD}---\nb\n"));
    assert_eq!(told(&strict(&skill)), ["skill-md-case"]);
    assert_eq!(told(&portable(&skill)), ["! skill-md-case"]);
}

#[cfg(unix)]
#[test]
fn a_linked_file_is_not_portable_and_a_linked_directory_keeps_its_name() {
    use std::os::unix::fs::symlink;

    let bag = Bag::new();
    let real = bag.write("real/SKILL.md", format!("{GOOD}---\nb\n"));
    symlink(&real, bag.path("x")).unwrap();
    assert_eq!(told(&portable(bag.path("x"))), Vec::<String>::new());
    fs::create_dir(bag.path("linked")).unwrap();
    symlink(real.join("SKILL.md"), bag.path("linked/SKILL.md")).unwrap();
    let rules: Vec<_> = portable(bag.path("linked")).findings.iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["skill-md-link", "reference-escape", "name-directory"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let bag = Bag::new();
    fs::create_dir(bag.path("x")).unwrap();
    mknodat(CWD, bag.path("x/SKILL.md"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(told(&strict(bag.path("x"))), ["! skill-md-unreadable"]);
    fs::create_dir_all(bag.path("y/SKILL.md")).unwrap();
    assert_eq!(told(&strict(bag.path("y"))), ["! skill-md-unreadable"]);
}

#[test]
fn sizes_at_their_limits() {
    let with = |field: &str, length: usize| {
        let text = format!("{GOOD}{field}: {}\n---\nb\n", "é".repeat(length));
        told(&both("x", text).0)
    };
    assert_eq!(with("compatibility", 500), Vec::<String>::new());
    assert_eq!(with("compatibility", 501), ["! compatibility-too-long 4:16"]);
    let name = |length: usize| {
        let name = "n".repeat(length);
        told(&both(&name, format!("---\nname: {name}\ndescription: d\n---\nb\n")).0)
    };
    assert_eq!(name(64), Vec::<String>::new());
    assert_eq!(name(65), ["! name-too-long 2:7"]);
    let body = |body: String| told(&both("x", format!("{GOOD}---\n{body}")).0);
    assert_eq!(body("a\n".repeat(500)), Vec::<String>::new());
    assert_eq!(body("a\n".repeat(501)), ["body-lines 5:1"]);
    assert_eq!(body(format!("{}\n", "word ".repeat(9_000))), ["body-tokens 5:1"]);
    assert_eq!(told(&both("x", vec![b'x'; 4 * 1024 * 1024 + 1]).0), ["! skill-md-too-large"]);
}

#[test]
fn fault_13_a_description_is_measured_in_characters() {
    let with = |length: usize| {
        let text = format!("---\nname: x\ndescription: {}\n---\nb\n", "é".repeat(length));
        told(&both("x", text).0)
    };
    assert_eq!(with(1024), Vec::<String>::new());
    assert_eq!(with(1025), ["! description-too-long 3:14"]);
}

#[test]
fn bytes_that_are_not_utf8_are_found_where_they_stand() {
    assert_eq!(told(&both("x", b"---\nname: x\nd\xE9 \n").0), ["! skill-md-not-utf8 3:2"]);
}

#[test]
fn arguments_that_are_declared_may_stand_in_code() {
    let body = "---\n```sh\necho $1\n```\n";
    assert_eq!(told(&both("x", format!("{GOOD}{body}")).0), ["argument-in-code 6:6"]);
    let declared = both("x", format!("{GOOD}arguments: file\n{body}")).1;
    assert_eq!(told(&declared), ["field-unknown 4:1"]);
}
