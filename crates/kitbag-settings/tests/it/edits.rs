//! Edits that leave every other byte as it was.

use std::path::Path;

use kitbag_settings::edit::{EditError, add_item, remove, remove_item, set};
use kitbag_settings::{KeyPath, MAX_DEPTH, MAX_FILE_BYTES, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

fn path(text: &str) -> KeyPath {
    text.parse().unwrap()
}

fn after_set(text: &str, key: &str, value: impl Into<Value>) -> String {
    set(text, &path(key), &value.into()).unwrap()
}

fn after_remove(text: &str, key: &str) -> String {
    remove(text, &path(key)).unwrap()
}

const COMMENTED: &str = r#"// mine
{
    // the model
    "model": "a", // good
    "permissions": {
        "deny": ["x"] /* all of it */, // two
        "allow": [] // last
    },
    "skills": {"limit": 3, "paths": []}
}
// the end"#;

#[test]
fn set_what_is_there() {
    insta::assert_snapshot!(after_set(COMMENTED, "model", json!("b")), @r#"
    // mine
    {
        // the model
        "model": "b", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_set(COMMENTED, "skills.limit", json!(4)), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 4, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_set(COMMENTED, "permissions.allow", json!(["a", {"b": 1}])), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": ["a",{"b":1}] // last
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    assert_eq!(after_set(COMMENTED, "permissions.deny", json!(["x"])), COMMENTED);
}

#[test]
fn set_what_is_new() {
    insta::assert_snapshot!(after_set(COMMENTED, "permissions.mode", json!("ask")), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [], // last
            "mode": "ask"
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_set(COMMENTED, "skills.order", json!("user")), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 3, "paths": [], "order": "user"}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_set(COMMENTED, "mcpServers.\"my.server\".env", json!({"A": "b\nc"})), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 3, "paths": []},
        "mcpServers": {
            "my.server": {
                "env": {
                    "A": "b\nc"
                }
            }
        }
    }
    // the end
    "#);
}

#[test]
fn remove_what_is_there() {
    insta::assert_snapshot!(after_remove(COMMENTED, "model"), @r#"
    // mine
    {
        // the model
        // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "permissions.deny"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
             /* all of it */ // two
            "allow": [] // last
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "permissions.allow"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */ // two
            // last
        },
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "permissions"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "skills": {"limit": 3, "paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "skills.limit"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"paths": []}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "skills.paths"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        },
        "skills": {"limit": 3}
    }
    // the end
    "#);
    insta::assert_snapshot!(after_remove(COMMENTED, "skills"), @r#"
    // mine
    {
        // the model
        "model": "a", // good
        "permissions": {
            "deny": ["x"] /* all of it */, // two
            "allow": [] // last
        }
    }
    // the end
    "#);
    for absent in ["nothing", "skills.nothing", "no.thing"] {
        assert_eq!(after_remove(COMMENTED, absent), COMMENTED);
    }
}

#[test]
fn small_texts() {
    let sets = [
        ("", "a", "{\n  \"a\": 1\n}\n"),
        ("\u{feff}", "a", "\u{feff}{\n  \"a\": 1\n}\n"),
        ("// x", "a", "// x\n{\n  \"a\": 1\n}\n"),
        ("", "a.b", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"),
        ("{}", "a", "{\n  \"a\": 1\n}"),
        ("{\n}\n", "a", "{\n  \"a\": 1\n}\n"),
        ("{\r\n}\r\n", "a", "{\r\n  \"a\": 1\r\n}\r\n"),
        ("{\n  // none\n}", "a", "{\n  // none\n  \"a\": 1\n}"),
        ("{/* none */}", "a", "{/* none */\n  \"a\": 1\n}"),
        ("{\"b\": 2}", "a", "{\"b\": 2, \"a\": 1}"),
        ("{\"b\": 2,}", "a", "{\"b\": 2, \"a\": 1,}"),
        ("{\"b\": 2 // x\n}", "a", "{\"b\": 2, \"a\": 1 // x\n}"),
        ("{\n\t\"b\": 2\n}", "a", "{\n\t\"b\": 2,\n\t\"a\": 1\n}"),
        ("{\r\n\"b\": 2,\r\n}", "a", "{\r\n\"b\": 2,\r\n\"a\": 1,\r\n}"),
        ("{\n  \"b\": 2 }", "a", "{\n  \"b\": 2,\n  \"a\": 1 }"),
        ("{\n  \"b\": 2 // ,x\n  , // y\n}", "a", "{\n  \"b\": 2 // ,x\n  , // y\n  \"a\": 1,\n}"),
        ("{\n  \"b\": {}\n}", "b.a", "{\n  \"b\": {\n    \"a\": 1\n  }\n}"),
        ("\u{feff}{\"a\":2}", "a", "\u{feff}{\"a\":1}"),
    ];
    for (before, key, after) in sets {
        assert_eq!(after_set(before, key, json!(1)), after, "{before:?}");
    }
    let removals = [
        ("{\"a\": 1}", "{}"),
        ("{ \"a\": 1, }", "{ }"),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2}"),
        ("{\"b\": 2, \"a\": 1}", "{\"b\": 2}"),
        ("{\n  \"b\": 2,\n  \"a\": 1\n}", "{\n  \"b\": 2\n}"),
        ("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", "{\r\n  \"b\": 2\r\n}"),
        ("{\n  \"b\": 2, // x\n  \"a\": 1 // y\n}", "{\n  \"b\": 2 // x\n  // y\n}"),
        ("{\n  \"a\": 1 /* , */, \"b\": 2\n}", "{\n   /* , */ \"b\": 2\n}"),
        ("", ""),
    ];
    for (before, after) in removals {
        assert_eq!(after_remove(before, "a"), after, "{before:?}");
    }
}

#[test]
fn what_cannot_be_edited() {
    let one = json!(1);
    let deep = KeyPath::of(vec!["a"; MAX_DEPTH + 1]);
    let nested = (0..MAX_DEPTH).fold(json!(1), |value, _| json!([value]));
    let large = json!("x".repeat(MAX_FILE_BYTES));
    let faults: [EditError; 8] = [
        set("{\"a\": 1", &path("b"), &one).unwrap_err(),
        remove("{\"a\": 1, \"a\": 2}", &path("a")).unwrap_err(),
        set("{}", &KeyPath::default(), &one).unwrap_err(),
        set("{\n\"a\": [1]}", &path("a.b"), &one).unwrap_err(),
        remove("{\"a\": \"hunter2\"}", &path("a.b")).unwrap_err(),
        set("{}", &deep, &one).unwrap_err(),
        set("{}", &path("a"), &nested).unwrap_err(),
        set("{}", &path("a"), &large).unwrap_err(),
    ];
    insta::assert_snapshot!(faults.map(|fault| fault.to_string()).join("\n"), @"
    the settings have a fault that an edit could make worse: settings:1:1: the file ends at line 1 before the `{` here is closed
    the settings have a fault that an edit could make worse: settings:1:10: the key `a` stands here again, after line 1
    no key is given
    `a` at line 2 is a list, not an object
    `a` at line 1 is a string, not an object
    settings are nested at most 64 levels deep
    settings are nested at most 64 levels deep
    settings have at most 1048576 bytes
    ");
}

/// What a text says.
fn value(text: &str) -> Value {
    let (document, faults) = parse(Path::new("/s.json"), text.as_bytes());
    assert!(
        faults.iter().all(|fault| fault.severity < kitbag_settings::Severity::Error),
        "{text:?} {faults:?}"
    );
    document.to_value()
}

/// Whether the characters of `part` stand in `whole` in their order.
fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|wanted| rest.any(|one| one == wanted))
}

fn trivia() -> impl Strategy<Value = String> {
    let one = prop::sample::select(vec![
        "",
        "",
        " ",
        "\n",
        "\r\n",
        "\n    ",
        "\t",
        " // c, \"}\n",
        "/* , } */",
        " // é\r\n  ",
    ]);
    prop::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

/// What stands between a key and its value, and goes with them.
fn inside() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", " ", "\n", "/* in */"]).prop_map(str::to_owned)
}

/// Texts of objects with trivia at every place that may have it.
fn object() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["1", "\"x,}\"", "[1, {\"a\": 2}]", "null", "[ // c\n]"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(3, 16, 4, |inner| {
        let names = Just(vec!["a", "b", "c", "d"]).prop_shuffle();
        let members = prop::collection::vec((trivia(), inside(), inside(), inner, trivia()), 0..4);
        (names, members, any::<bool>(), trivia()).prop_map(|(names, members, trailing, end)| {
            let count = members.len();
            let mut parts = vec!["{".to_owned()];
            for (at, (name, (a, b, c, value, d))) in names.iter().zip(members).enumerate() {
                let comma = if at + 1 < count || trailing { "," } else { "" };
                parts.push(format!("{a}\"{name}\"{b}:{c}{value}{d}{comma}"));
            }
            parts.extend([end, "}".to_owned()]);
            parts.concat()
        })
    })
}

fn file() -> impl Strategy<Value = String> {
    (prop::sample::select(vec!["", "\u{feff}"]), trivia(), object(), trivia()).prop_map(
        |(mark, before, object, after)| {
            let object =
                if object.starts_with('{') { object } else { format!("{{\"a\": {object}}}") };
            format!("{mark}{before}{object}{after}")
        },
    )
}

fn keys() -> impl Strategy<Value = KeyPath> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "e"]), 1..4)
        .prop_map(KeyPath::of)
}

/// `value` with `new` at `path`, or without what is there.
fn changed(mut value: Value, path: &KeyPath, new: Option<&Value>) -> Value {
    let (last, above) = path.keys().split_last().unwrap();
    let mut at = &mut value;
    for key in above {
        let members = at.as_object_mut().unwrap();
        if new.is_none() && !members.contains_key(key) {
            return value;
        }
        at = members.entry(key.clone()).or_insert_with(|| json!({}));
    }
    let members = at.as_object_mut().unwrap();
    match new {
        Some(new) => drop(members.insert(last.clone(), new.clone())),
        None => drop(members.shift_remove(last)),
    }
    value
}

/// The comments of a text, in order.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if let Some(inner) = rest.strip_prefix('"') {
            1 + inner.find('"').unwrap() + 1
        } else if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else {
            character.len_utf8()
        };
        if rest.starts_with('/') {
            found.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_new_key_leaves_all_other_bytes(text in file(), path in keys()) {
        let before = value(&text);
        let pointer = format!("/{}", path.keys().join("/"));
        if before.pointer(&pointer).is_some() {
            return Ok(());
        }
        let Ok(after) = set(&text, &path, &json!({"new": [1]})) else { return Ok(()) };
        prop_assert_eq!(value(&after), changed(before, &path, Some(&json!({"new": [1]}))), "{}", after);
        prop_assert!(is_subsequence(&text, &after), "{text:?} {after:?}");
        prop_assert_eq!(comments(&after), comments(&text));
    }

    #[test]
    fn another_value_leaves_all_other_bytes(text in file(), path in keys()) {
        let before = value(&text);
        let pointer = format!("/{}", path.keys().join("/"));
        if before.pointer(&pointer).is_none() {
            return Ok(());
        }
        let after = set(&text, &path, &json!("new")).unwrap();
        prop_assert_eq!(value(&after), changed(before, &path, Some(&json!("new"))));
        // Exactly one stretch differs, and the new value is what stands there.
        let at = after.find("\"new\"").unwrap();
        prop_assert!(text.starts_with(&after[..at]));
        prop_assert!(text.ends_with(&after[at + 5..]));
    }

    #[test]
    fn a_removal_leaves_all_other_keys_and_comments(text in file(), path in keys()) {
        let before = value(&text);
        let Ok(after) = remove(&text, &path) else { return Ok(()) };
        let there = before.pointer(&format!("/{}", path.keys().join("/"))).cloned();
        prop_assert_eq!(value(&after), changed(before, &path, None), "{}", after);
        prop_assert!(is_subsequence(&after, &text), "{text:?} {after:?}");
        match there {
            None => prop_assert_eq!(after, text),
            Some(inner) if !inner.is_object() && !inner.is_array() => {
                let outside = |text| {
                    let all = comments(text).into_iter();
                    all.filter(|comment| comment != "/* in */").collect::<Vec<_>>()
                };
                prop_assert_eq!(outside(&after), outside(&text));
            }
            Some(_) => {}
        }
    }

    #[test]
    fn set_then_remove_leaves_at_most_white_space(text in file()) {
        let key = KeyPath::of(["zz"]);
        let after = remove(&set(&text, &key, &json!(1)).unwrap(), &key).unwrap();
        let without = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(without(&after), without(&text));
    }

    #[test]
    fn no_text_panics(text in any::<String>(), key in any::<String>()) {
        drop(set(&text, &KeyPath::of([key.clone()]), &json!(1)));
        drop(remove(&text, &KeyPath::of([key])));
    }
}

const LISTED: &str = "{\n  \"off\": [\n    // slow\n    \"a\", // since May\n    /* b */ \"b\"\n  ],\n  \"one\": [\"x\"], // kept\n  \"n\": 1\n}\n";

#[test]
fn items_come_and_go_beside_their_comments() {
    let add = |key, item: &str| add_item(LISTED, &path(key), &json!(item)).unwrap();
    let drop = |key, item: &str| remove_item(LISTED, &path(key), &json!(item)).unwrap();
    insta::assert_snapshot!(add("off", "c"), @r#"
    {
      "off": [
        // slow
        "a", // since May
        /* b */ "b", "c"
      ],
      "one": ["x"], // kept
      "n": 1
    }
    "#);
    insta::assert_snapshot!(drop("off", "a"), @r#"
    {
      "off": [
        // slow
        // since May
        /* b */ "b"
      ],
      "one": ["x"], // kept
      "n": 1
    }
    "#);
    insta::assert_snapshot!(drop("off", "b"), @r#"
    {
      "off": [
        // slow
        "a" // since May
        /* b */
      ],
      "one": ["x"], // kept
      "n": 1
    }
    "#);
    insta::assert_snapshot!(add("one", "y"), @r#"
    {
      "off": [
        // slow
        "a", // since May
        /* b */ "b"
      ],
      "one": ["x", "y"], // kept
      "n": 1
    }
    "#);
    insta::assert_snapshot!(drop("one", "x"), @r#"
    {
      "off": [
        // slow
        "a", // since May
        /* b */ "b"
      ],
      "one": [], // kept
      "n": 1
    }
    "#);
    insta::assert_snapshot!(add("new.list", "y"), @r#"
    {
      "off": [
        // slow
        "a", // since May
        /* b */ "b"
      ],
      "one": ["x"], // kept
      "n": 1,
      "new": {
        "list": [
          "y"
        ]
      }
    }
    "#);
    assert_eq!(add("off", "a"), LISTED);
    assert_eq!(drop("off", "c"), LISTED);
    assert_eq!(drop("gone", "c"), LISTED);
    assert_eq!(
        remove_item(r#"{"a": [1, 2, 1, 1]}"#, &path("a"), &json!(1)).unwrap(),
        r#"{"a": [2]}"#
    );
    assert_eq!(add_item("", &path("a"), &json!(1)).unwrap(), "{\n  \"a\": [\n    1\n  ]\n}\n");
    let error = add_item(LISTED, &path("n"), &json!(1)).unwrap_err();
    assert_eq!(error.to_string(), "`n` at line 8 is a number, not a list");
    assert!(matches!(remove_item(LISTED, &path("n"), &json!(1)), Err(EditError::NotAList { .. })));
}

proptest! {
    /// Whatever stands around and in a list, an added item is there once, and removing it brings the other items back.
    #[test]
    fn an_item_that_was_added_can_be_removed(
        before in proptest::collection::vec("[abc]", 0..4),
        (open, between, close) in ("[ \n]{0,2}(/\\*x\\*/)?", "(//y\n|/\\*,\\*/)?[ \n]?", "(,)?[ \n]?(//z\n)?"),
    ) {
        let quoted: Vec<String> = before.iter().map(|one| format!("\"{one}\"")).collect();
        let close = if before.is_empty() { close.replace(',', "") } else { close };
        let text = format!("{{\"l\": [{open}{}{close}]}}", quoted.join(&format!("{between},{between}")));
        let items = |text: &str| {
            let (document, diagnostics) = parse(Path::new("f"), text.as_bytes());
            assert_eq!(diagnostics.len(), 0, "{text}");
            document.to_value()["l"].clone()
        };
        let added = add_item(&text, &path("l"), &json!("new")).unwrap();
        prop_assert_eq!(items(&added), json!(before.iter().map(String::as_str).chain(["new"]).collect::<Vec<_>>()));
        let removed = remove_item(&added, &path("l"), &json!("new")).unwrap();
        prop_assert_eq!(items(&removed), json!(before));
    }
}
