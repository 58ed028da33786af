//! Which texts are paths inside a skill.

use kitbag_skills::{PathRule, SkillPath, SkillPathError};
use proptest::prelude::*;

fn rule(text: &str) -> Option<PathRule> {
    text.parse::<SkillPath>().err().map(|error| error.rule())
}

#[test]
fn k29_hostile_strings_are_refused_before_any_join() {
    let refused = [
        ("/etc/passwd", PathRule::EmptySegment),
        ("../x", PathRule::DotSegment("..")),
        ("scripts/../../x", PathRule::DotSegment("..")),
        ("./ok.js", PathRule::DotSegment(".")),
        ("scripts//ok.js", PathRule::EmptySegment),
        ("", PathRule::Empty),
        ("scripts\\ok.js", PathRule::Backslash),
        ("C:\\x\\ok.js", PathRule::Backslash),
        ("%2e%2e/x", PathRule::Percent),
        ("a\0b", PathRule::Nul),
        ("  ", PathRule::BlankSegment),
        ("scripts/", PathRule::EmptySegment),
        ("scripts/\u{a0}/x", PathRule::BlankSegment),
    ];
    for (text, expected) in refused {
        assert_eq!(rule(text), Some(expected), "{text:?}");
    }
    assert_eq!(rule(&"a".repeat(1025)), Some(PathRule::TooLong));
}

#[test]
fn k29_an_ordinary_path_is_returned_unchanged() {
    for text in ["scripts/ok.js", "SKILL.md", "a b/c", "..a/b..", &"é".repeat(1024)] {
        assert_eq!(text.parse::<SkillPath>().unwrap().as_str(), text);
    }
}

#[test]
fn k29_the_message_names_the_segment_and_the_hint_the_shape() {
    let error = "scripts/../../x".parse::<SkillPath>().unwrap_err();
    insta::assert_snapshot!(error, @"`scripts/../../x` is not a path inside a skill: it has a `..` segment");
    insta::assert_snapshot!(SkillPathError::hint(), @"write the path relative to the skill's directory, such as `references/guide.md`");
}

#[test]
fn section_6_a_refused_path_is_shown_short_and_escaped() {
    let error = format!("\u{1b}[2J{}%", "x".repeat(500)).parse::<SkillPath>().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("`\\u{1b}[2Jxxx"), "{text}");
    assert!(text.chars().count() < 200, "{text}");
}

/// Text in which the characters that matter to paths are frequent.
fn pathlike() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just("/".to_owned()),
            Just("..".to_owned()),
            Just(".".to_owned()),
            Just("\\".to_owned()),
            Just("\0".to_owned()),
            Just("%2e".to_owned()),
            Just("~".to_owned()),
            "[a-z \u{202e}é]{1,3}",
            any::<char>().prop_map(String::from),
        ],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    /// Fault row 52: what is accepted stays beneath whatever it is joined to.
    #[test]
    fn fault_b52_an_accepted_path_never_escapes_when_joined(text in pathlike()) {
        if let Ok(path) = text.parse::<SkillPath>() {
            let joined = std::path::Path::new("/root/skill").join(path.as_str());
            prop_assert!(joined.starts_with("/root/skill"));
            let plain = joined.components().all(|part| {
                !matches!(part, std::path::Component::ParentDir | std::path::Component::CurDir)
            });
            prop_assert!(plain);
            prop_assert_eq!(joined.components().count(), 3 + text.split('/').count());
        }
    }

    #[test]
    fn an_accepted_path_survives_the_round_trip(text in pathlike()) {
        if let Ok(path) = text.parse::<SkillPath>() {
            prop_assert_eq!(path.to_string(), text);
            let json = serde_json::to_string(&path).unwrap();
            prop_assert_eq!(serde_json::from_str::<SkillPath>(&json).unwrap(), path);
        }
    }
}
