use kitbag_tool::ToolName;
use proptest::prelude::*;

#[test]
fn a_name_is_what_the_protocol_allows() {
    let shown = |text: &str| match text.parse::<ToolName>() {
        Ok(name) => format!("{name}"),
        Err(error) => error.to_string(),
    };
    insta::assert_snapshot!(shown("skill_list"), @"skill_list");
    insta::assert_snapshot!(shown("a.b-c/D9"), @"a.b-c/D9");
    insta::assert_snapshot!(shown(""), @"`` cannot be a name: 1 to 128 ASCII letters, digits, `_`, `-`, `.` and `/` may stand in one");
    insta::assert_snapshot!(shown("a\nb"), @r"`a\nb` cannot be a name: 1 to 128 ASCII letters, digits, `_`, `-`, `.` and `/` may stand in one");
    assert!("x".repeat(128).parse::<ToolName>().is_ok());
    assert!("x".repeat(129).parse::<ToolName>().is_err());
}

proptest! {
    #[test]
    fn a_name_reads_back_as_itself(text in any::<String>()) {
        if let Ok(name) = text.parse::<ToolName>() {
            prop_assert_eq!(name.as_str(), text.as_str());
        }
    }
}
