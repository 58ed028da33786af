//! Paths of keys as text.

use kitbag_settings::KeyPath;
use proptest::prelude::*;

#[test]
fn paths_that_are_none() {
    let faults = ["", "a..b", "a.", ".a", "a b", "a.\"b", "\"a\"b", "a/b", &"a.".repeat(64)]
        .map(|text| text.parse::<KeyPath>().unwrap_err().to_string());
    insta::assert_snapshot!(faults.join("\n"), @r#"
    a key is empty; write `""` if that is its name
    a key is empty; write `""` if that is its name
    a key is empty; write `""` if that is its name
    a key is empty; write `""` if that is its name
    a key holds ` `; put that key in double quotes
    a quoted key is no JSON string
    a quoted key is no JSON string
    a key holds `/`; put that key in double quotes
    more than 64 keys
    "#);
}

#[test]
fn a_key_with_a_dot_is_quoted() {
    let path: KeyPath = "mcpServers.\"my.server\".env".parse().unwrap();
    assert_eq!(path, KeyPath::of(["mcpServers", "my.server", "env"]));
    assert_eq!(path.to_string(), "mcpServers.\"my.server\".env");
}

proptest! {
    #[test]
    fn print_then_parse_is_identity(keys in prop::collection::vec(any::<String>(), 1..8)) {
        let path = KeyPath::of(keys);
        prop_assert_eq!(path.to_string().parse::<KeyPath>(), Ok(path));
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        drop(text.parse::<KeyPath>());
    }
}
