//! The verdicts on what the reference validator treats in a way of its own (`docs/reference/validate.md`).

use std::fs;

use kitbag_skills::validate::exit_code;
use proptest::prelude::*;

use super::{Bag, GOOD, both, portable, strict};

/// What is done, the `SKILL.md` of the directory `x`, valid or not.
const VERDICTS: &[(&str, &str, bool)] = &[
    ("a BOM is passed over", "\u{FEFF}---\nname: x\ndescription: d\n---\nb\n", true),
    ("a blank first line is not", "\n---\nname: x\ndescription: d\n---\nb\n", false),
    (
        "dashes in a value close nothing",
        "---\nname: x\ndescription: a --- b\nlicense: MIT\n---\nb\n",
        true,
    ),
    ("nor in quotes", "---\nname: x\ndescription: \"a --- b\"\n---\nb\n", true),
    (
        "what follows them still counts",
        "---\nname: x\ndescription: a --- b\nversion: 1\n---\nb\n",
        false,
    ),
    ("a longer fence closes nothing", "---\nname: x\ndescription: d\n----\nb\n", false),
    (
        "flow style is YAML",
        "---\nname: x\ndescription: d\nallowed-tools: [Read, Grep]\n---\nb\n",
        true,
    ),
    ("flow maps too", "---\nname: x\ndescription: d\nmetadata: {a: b}\n---\nb\n", true),
    ("anchors are refused", "---\nname: x\ndescription: &d d\n---\nb\n", false),
    ("tags are refused", "---\nname: x\ndescription: !!str d\n---\nb\n", false),
    ("double keys are refused", "---\nname: x\ndescription: d\ndescription: e\n---\nb\n", false),
    (
        "double keys inside, too",
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n  a: c\n---\nb\n",
        false,
    ),
    ("tabs for indentation", "---\nname: x\ndescription: d\nmetadata:\n\ta: b\n---\nb\n", false),
    ("a tab in plain text", "---\nname: x\ndescription: a\tb\n---\nb\n", false),
    ("a tab in quotes", "---\nname: x\ndescription: \"a\tb\"\n---\nb\n", true),
    ("a tab in a comment", "---\nname: x # a\tb\ndescription: d\n---\nb\n", true),
    ("dots at the end", "---\nname: x\ndescription: d\n...\nb\n", false),
    ("CRLF", "---\r\nname: x\r\ndescription: d\r\n---\r\nb\r\n", true),
    ("lone CR", "---\rname: x\rdescription: d\r---\rb\r", true),
    ("blanks after the fences", "---  \nname: x\ndescription: d\n--- \nb\n", true),
    ("a tab after the fence", "---\t\nname: x\ndescription: d\n---\nb\n", false),
    ("a comment after a value", "---\nname: x\ndescription: x # y\n---\nb\n", true),
    ("nothing but a comment", "---\nname: x\ndescription: # y\n---\nb\n", false),
    ("a boolean is text", "---\nname: x\ndescription: yes\n---\nb\n", true),
    ("so is null", "---\nname: x\ndescription: null\n---\nb\n", true),
    ("nested metadata", "---\nname: x\ndescription: d\nmetadata:\n  a:\n    b: c\n---\nb\n", true),
    (
        "uneven nested metadata",
        "---\nname: x\ndescription: d\nmetadata:\n  a:\n    b: c\n  d:\n     e: f\n---\nb\n",
        true,
    ),
    ("empty metadata", "---\nname: x\ndescription: d\nmetadata:\n---\nb\n", true),
    ("metadata that is text", "---\nname: x\ndescription: d\nmetadata: text\n---\nb\n", false),
    (
        "an empty compatibility",
        "---\nname: x\ndescription: d\ncompatibility: \"\"\n---\nb\n",
        false,
    ),
    ("a list of licences", "---\nname: x\ndescription: d\nlicense: [MIT]\n---\nb\n", false),
    ("an empty licence", "---\nname: x\ndescription: d\nlicense:\n---\nb\n", true),
    ("a list of tools", "---\nname: x\ndescription: d\nallowed-tools:\n  - Read\n---\nb\n", true),
    ("a list for a description", "---\nname: x\ndescription:\n  - a\n---\nb\n", false),
    ("blanks around a quoted name", "---\nname: ' x '\ndescription: d\n---\nb\n", true),
    ("a name in full-width letters", "---\nname: ｘ\ndescription: d\n---\nb\n", true),
    ("capital keys", "---\nName: x\nDescription: d\n---\nb\n", false),
    ("nothing between the fences", "---\n---\nb\n", false),
    ("a value with a colon", "---\nname: x\ndescription: Use when: asked\n---\nb\n", false),
    ("a value that begins with an at sign", "---\nname: x\ndescription: @a\n---\nb\n", false),
    ("a block of text", "---\nname: x\ndescription: |\n  two\n  lines\n---\nb\n", true),
    (
        "an alias bomb",
        "---\nname: x\ndescription: d\nmetadata:\n  a: &a [b, b]\n  c: &c [*a, *a]\n---\nb\n",
        false,
    ),
    (
        "tag characters in the body",
        "---\nname: x\ndescription: d\n---\n\u{E0041}\u{E0042}\n",
        false,
    ),
];

#[test]
fn verdicts_on_the_quirks_of_the_reference() {
    for (what, text, valid) in VERDICTS {
        let report = both("x", text).0;
        assert_eq!(report.valid(), *valid, "{what}: {:?}", report.findings);
    }
}

#[test]
fn names_are_compared_after_normalisation() {
    let valid = |directory: &str, name: &str| {
        both(directory, format!("---\nname: {name}\ndescription: d\n---\nb\n")).0.valid()
    };
    assert!(valid("é", "e\u{301}"));
    assert!(valid("fix", "ﬁx"));
    assert!(valid("日本", "日本"));
    assert!(valid("2", "²"), "the digit that NFKC makes of it");
    assert!(!valid("हिन्दी", "हिन्दी"), "vowel signs are marks, and no letters");
    assert!(!valid("ǅ", "ǅ"));
}

#[test]
fn paths_are_resolved_before_their_name_is_compared() {
    let bag = Bag::new();
    let skill = bag.write("x/SKILL.md", format!("{GOOD}---\nb\n"));
    fs::create_dir(skill.join("sub")).unwrap();
    for path in [skill.clone(), skill.join("."), skill.join("sub/.."), skill.join("SKILL.md")] {
        let report = strict(&path);
        assert_eq!((report.valid(), report.path), (true, path));
    }
    let wrong = bag.write("y/SKILL.md", format!("{GOOD}---\nb\n"));
    assert!(!strict(wrong.join("SKILL.md")).valid());
}

#[test]
fn exit_codes_are_those_of_the_reference() {
    let bag = Bag::new();
    let good = strict(bag.write("x/SKILL.md", format!("{GOOD}---\nb\n")));
    let bad = strict(bag.write("y/SKILL.md", format!("{GOOD}---\nb\n")));
    let missing = strict(bag.path("z"));
    assert_eq!(exit_code(std::slice::from_ref(&good)), 0);
    assert_eq!(exit_code(&[good.clone(), bad.clone()]), 1);
    assert_eq!(exit_code(&[good, bad, missing]), 2);
}

/// Fault rows 1, 6, 8, 9, 13, 15, 16 and 18 as the strict side sees them.
#[test]
fn fault_rows_of_reading_have_their_strict_verdicts() {
    let verdict = |directory: &str, text: &str| {
        let (strict, portable) = both(directory, text);
        (strict.valid(), portable.valid())
    };
    assert_eq!(
        verdict("x", "\u{FEFF}---\nname: x\ndescription: d\n---\n"),
        (true, false),
        "fault_a1"
    );
    assert_eq!(
        verdict("x", "---\nname: x\ndescription: a --- b\nlicense: MIT\n---\n"),
        (true, true),
        "fault_a6"
    );
    assert_eq!(
        verdict("x", "<!-- gen -->\n---\nname: x\ndescription: d\n---\n"),
        (false, false),
        "fault_a8"
    );
    assert_eq!(
        verdict("12306", "---\nname: 12306\ndescription: on\n---\n"),
        (true, false),
        "fault_a9"
    );
    assert_eq!(verdict("x", "---\nname: x\ndescription: d\n---\n"), (true, true), "fault_a15");
    assert_eq!(verdict("x", "---\ndescription: d\n---\n"), (false, false), "fault_a16");
    assert_eq!(verdict("x", "---js\nthrow 1\n---\n"), (false, false), "fault_a18");
}

proptest! {
    /// Whatever stands in the file, validating ends with findings whose places lie in it.
    #[test]
    fn no_text_breaks_the_validator(
        text in proptest::string::string_regex(
            "(---\n)?((name|description|metadata|license): ?[ -~\t\n\u{e9}\u{200b}\u{e0041}]{0,40}\n){0,5}(---\n)?[ -~\n`\\[\\]().$|\u{85}\u{2028}]{0,300}"
        ).unwrap()
    ) {
        let bag = Bag::new();
        let skill = bag.write("x/SKILL.md", &text);
        for report in [strict(&skill), portable(&skill)] {
            for finding in &report.findings {
                if let Some(at) = finding.position {
                    let lines = text.split(['\n', '\r']).collect::<Vec<_>>();
                    let line = lines.get(at.line as usize - 1).unwrap_or(&"");
                    prop_assert!(at.line as usize <= lines.len());
                    prop_assert!(at.column as usize <= line.chars().count() + 1, "{:?}", finding);
                }
            }
        }
    }
}
