//! What came along unread goes out as it came.

use kitbag_tool::{Content, Fields, PromptSpec, ResourceSpec, ToolOutput, ToolSpec};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn through<T: Serialize + DeserializeOwned>(text: &str) -> String {
    serde_json::to_string(&serde_json::from_str::<T>(text).unwrap()).unwrap()
}

#[test]
fn an_output_keeps_what_it_does_not_know() {
    let output = r#"{"content":[{"type":"video","fps":10000000000000000000000,"z":1,"a":{"y":1.0,"b":[]}},{"text":"x","type":"text","annotations":{"priority":1}}],"structuredContent":{"big":98765432109876543210,"b":1,"a":-0.0},"isError":true,"_meta":{"k":1e400},"later":null}"#;
    assert_eq!(through::<ToolOutput>(output), output);
}

#[test]
fn specs_keep_what_they_do_not_know() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","x-z":1,"a":[]},"title":"T","annotations":{"readOnlyHint":true,"laterHint":12345678901234567890123},"icons":[{"src":"x","theme":"dark"}],"execution":{"taskSupport":"optional"},"_meta":{"b":1,"a":2}}"#;
    assert_eq!(through::<ToolSpec>(tool), tool);
    let prompt = r#"{"name":"p","arguments":[{"name":"a","required":true,"later":1}],"icons":[],"x":99999999999999999999}"#;
    assert_eq!(through::<PromptSpec>(prompt), prompt);
    let resource = r#"{"uri":"u","name":"n","size":3,"annotations":{"priority":1},"x":[1.0]}"#;
    assert_eq!(through::<ResourceSpec>(resource), resource);
}

#[test]
fn a_missing_member_is_named() {
    let error = serde_json::from_str::<ToolSpec>(r#"{"name":"t"}"#).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"`inputSchema` is missing");
}

#[test]
fn text_is_found_in_blocks_that_came_and_in_blocks_that_were_made() {
    let came: Content = serde_json::from_str(r#"{"x":1,"type":"text","text":"a\nb"}"#).unwrap();
    assert_eq!(came.as_text().as_deref(), Some("a\nb"));
    assert_eq!(Content::Text("a".into()).as_text().as_deref(), Some("a"));
    let image: Content = serde_json::from_str(r#"{"type":"image","text":"no"}"#).unwrap();
    assert_eq!(image.as_text(), None);
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,9})?([eE]-?[0-9]{1,4})?",
        any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| object(&members)),
        ]
    })
}

fn object(members: &[(String, String)]) -> String {
    let member = |(name, value): &(String, String)| {
        format!("{}:{value}", serde_json::to_string(name).unwrap())
    };
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

proptest! {
    #[test]
    fn any_object_comes_out_as_it_went_in(
        members in prop::collection::btree_map(any::<String>(), json(), 0..6)
    ) {
        let text = object(&members.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(through::<Fields>(&text), text.clone());
        prop_assert_eq!(through::<Content>(&text), text);
    }
}
