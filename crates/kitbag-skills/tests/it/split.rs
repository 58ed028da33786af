//! Where frontmatter begins and ends.

use kitbag_skills::frontmatter::MAX_FRONTMATTER_BYTES;
use kitbag_skills::frontmatter::split::{Before, Closing, Fence, LineEnds, split};

/// The YAML and the body of a file that has frontmatter.
#[track_caller]
fn parts(file: &str) -> (&str, &str) {
    match split(file.as_bytes()).fence {
        Fence::Closed { yaml, body, .. } => (&file[yaml], &file[body..]),
        other => panic!("{other:?} in {file:?}"),
    }
}

#[test]
fn fault_a1_bom_is_passed_over_once_and_noted() {
    let file = "\u{feff}---\nname: x\n---\n\u{feff}body";
    assert!(split(file.as_bytes()).bom);
    assert_eq!(parts(file), ("name: x\n", "\u{feff}body"));
    assert_eq!(split("\u{feff}\u{feff}---\nname: x\n---\n".as_bytes()).fence, Fence::Absent);
}

#[test]
fn fault_a4_every_line_end_closes_a_line() {
    for (end, line_ends) in [
        ("\n", LineEnds { lf: true, ..LineEnds::default() }),
        ("\r\n", LineEnds { crlf: true, ..LineEnds::default() }),
        ("\r", LineEnds { cr: true, ..LineEnds::default() }),
    ] {
        let file = ["---", "name: x", "---", "body"].join(end);
        assert_eq!(parts(&file), (format!("name: x{end}").as_str(), "body"));
        assert_eq!(split(file.as_bytes()).line_ends, line_ends);
    }
    let mixed = "---\r\nname: x\n--- \t\rbody";
    assert_eq!(parts(mixed), ("name: x\n", "body"));
    assert_eq!(split(mixed.as_bytes()).line_ends, LineEnds { lf: true, crlf: true, cr: true });
}

#[test]
fn fault_a6_only_a_whole_line_closes() {
    let file = "---\ndescription: a --- b\n---x\n----\n ---\nlicense: MIT\n---\n";
    assert_eq!(parts(file), ("description: a --- b\n---x\n----\n ---\nlicense: MIT\n", ""));
}

#[test]
fn k27_the_body_keeps_its_own_rules() {
    assert_eq!(parts("---\nname: x\n---\na\n---\nb\n"), ("name: x\n", "a\n---\nb\n"));
    assert_eq!(parts("---\n---\n"), ("", ""));
}

#[test]
fn dots_close_as_the_end_of_a_yaml_document() {
    assert_eq!(
        split(b"---\na: b\n...\nbody").fence,
        Fence::Closed { yaml: 4..9, body: 13, closing_line: 3, closing: Closing::Dots }
    );
}

#[test]
fn fault_a8_b18_a_fence_further_down_is_body_text() {
    for (lead, line, before) in [
        ("\n", 2, Before::Blank),
        ("\r\n\r\n", 3, Before::Blank),
        ("<!-- generated -->\n", 2, Before::Comment),
        ("# Title\n\n", 3, Before::Text),
    ] {
        let file = format!("{lead}---\nname: x\n---\n");
        let yaml = lead.len() + 4..lead.len() + 12;
        assert_eq!(split(file.as_bytes()).fence, Fence::Misplaced { line, before, yaml });
    }
}

#[test]
fn a_rule_or_an_example_in_the_body_is_no_misplaced_fence() {
    for file in [
        "# Title\n\n---\n\nA paragraph.\n\n---\n",
        "Text\n\n---\nNote: to be continued\n",
        "Write this:\n\n```yaml\n---\nname: x\n---\n```\n",
        " ---\nname: x\n---\n",
        "----\nname: x\n----\n",
        "--- not a tag ---\n",
        "",
    ] {
        assert_eq!(split(file.as_bytes()).fence, Fence::Absent, "{file:?}");
    }
}

#[test]
fn fault_a18_a_language_tag_is_told_and_never_taken() {
    for (first, tag) in [("---js", "js"), ("--- json ", "json"), ("---toml", "toml")] {
        let file = format!("{first}\nthrow 1\n---\n");
        assert_eq!(split(file.as_bytes()).fence, Fence::Tagged { tag: tag.to_owned() });
    }
}

#[test]
fn k27_what_does_not_close_is_told_apart_from_what_is_too_long() {
    assert_eq!(split(b"---\nname: x\nbody").fence, Fence::Unclosed);
    assert_eq!(split(b"---").fence, Fence::Unclosed);
    let yaml = |bytes: usize| format!("---\n#{}\n---\nbody", "x".repeat(bytes - 2));
    assert_eq!(parts(&yaml(MAX_FRONTMATTER_BYTES)).1, "body");
    assert_eq!(split(yaml(MAX_FRONTMATTER_BYTES + 1).as_bytes()).fence, Fence::TooLong);
    let unclosed = format!("---\n{}", "x\n".repeat(MAX_FRONTMATTER_BYTES));
    assert_eq!(split(unclosed.as_bytes()).fence, Fence::TooLong);
}

#[test]
fn utf16_is_recognised_by_its_mark() {
    assert_eq!(split(b"\xFF\xFE-\0-\0-\0\n\0").fence, Fence::Utf16);
    assert_eq!(split(b"\xFE\xFF\0-\0-\0-\0\n").fence, Fence::Utf16);
}
