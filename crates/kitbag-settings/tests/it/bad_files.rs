//! What a person reads about a file that cannot be taken as it is.

use std::path::Path;

use kitbag_settings::{MAX_DEPTH, MAX_DIAGNOSTICS, MAX_FILE_BYTES, parse};
use proptest::prelude::*;

use crate::sections::told;

fn read(bytes: impl AsRef<[u8]>) -> String {
    told(&parse(Path::new("/s.json"), bytes.as_ref()).1)
}

#[test]
fn what_is_no_fault() {
    for text in [
        "{}",
        "\u{feff}{}",
        "\u{feff}// a comment\r\n{ /* another */ \"a\": [1, 2,], }\r\n",
        "{\t\"a\":\t1 }",
        "{\"a\": 18446744073709551615, \"b\": -9223372036854775808, \"c\": 1e300, \"d\": -0}",
        "{\"a\": \"\\ud834\\udd1e\", \"\": 1}",
        "{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}",
    ] {
        assert_eq!(read(text), "", "{text:?}");
    }
}

#[test]
fn a_bom_moves_no_column() {
    insta::assert_snapshot!(read("\u{feff}{\"a\": 1, \"a\": 2}"), @"
    /s.json:1:10: the key `a` stands here again, after line 1 [duplicate-key]
      hint: keep one of the two
    ");
}

#[test]
fn duplicate_keys() {
    insta::assert_snapshot!(read("{\n  // mine\n  \"model\": \"a\",\n  \"x\": {\"y\": 1, \"y\": 2},\n  \"mod\\u0065l\": \"b\",\n}"), @"
    /s.json:4:17: the key `y` stands here again, after line 4 [duplicate-key]
      hint: keep one of the two
    /s.json:5:3: the key `model` stands here again, after line 3 [duplicate-key]
      hint: keep one of the two
    ");
}

#[test]
fn truncated() {
    let texts = [
        "{\n  \"a\": {\n    \"b\": [1, 2",
        "{\n  \"a\": {\n    \"b\": [1, 2],\n",
        "{\n  \"a\":",
        "{\n  \"a\"",
        "{\n  \"a\": tru",
        "{\n  \"a\": \"half",
        "{\n  \"a\": \"half\\",
        "{\n  \"a\": 1 /* half",
        "{",
    ];
    insta::assert_snapshot!(texts.map(read).join("\n"), @"
    /s.json:3:10: the file ends at line 3 before the `[` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `]`

    /s.json:2:8: the file ends at line 4 before the `{` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `}`

    /s.json:1:1: the file ends at line 2 before the `{` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `}`

    /s.json:1:1: the file ends at line 2 before the `{` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `}`

    /s.json:1:1: the file ends at line 2 before the `{` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `}`

    /s.json:2:8: the file ends inside the string that begins here [cut-off]
      hint: the file seems cut off: restore its end, or close the string

    /s.json:2:8: the file ends inside the string that begins here [cut-off]
      hint: the file seems cut off: restore its end, or close the string

    /s.json:2:10: the comment that begins here is not closed [syntax]
      hint: close it with `*/`

    /s.json:1:1: the file ends at line 1 before the `{` here is closed [cut-off]
      hint: the file seems cut off: restore its end, or add the missing `}`
    ");
}

#[test]
fn a_file_without_a_value() {
    insta::assert_snapshot!(["", "\u{feff}", "  // nothing yet\n"].map(read).join("\n"), @"
    /s.json: the file holds no settings [empty]
      hint: write `{}` in it, or delete it

    /s.json: the file holds no settings [empty]
      hint: write `{}` in it, or delete it

    /s.json: the file holds no settings [empty]
      hint: write `{}` in it, or delete it
    ");
}

#[test]
fn a_tab_or_another_control_character_in_a_string() {
    insta::assert_snapshot!(["{\n\t\"a\": \"b\tc\"}", "{\"a\u{1b}[2J\": 1}", "{\"a\": \"b\0\"}"].map(read).join("\n"), @r#"
    /s.json:2:9: a tab stands inside a string [control-character]
      hint: write `\t` instead

    /s.json:1:4: the control character U+001B stands inside a string [control-character]
      hint: write `\u001b` instead

    /s.json:1:9: the control character U+0000 stands inside a string [control-character]
      hint: write `\u0000` instead
    "#);
}

#[test]
fn bytes_that_are_not_utf8() {
    let texts: [&[u8]; 4] = [
        b"{\n  \"a\": \"\xe9t\xe9\"\n}",
        b"\xef\xbb\xbf{\"a\": \"\xff\"}",
        b"\xff\xfe{\0}\0",
        b"{\"a\": \"\xed\xa0\x80\"}",
    ];
    insta::assert_snapshot!(texts.map(read).join("\n"), @"
    /s.json:2:9: the byte 0xe9 is not UTF-8 [not-utf8]
      hint: save the file as UTF-8

    /s.json:1:8: the byte 0xff is not UTF-8 [not-utf8]
      hint: save the file as UTF-8

    /s.json: the file is UTF-16, not UTF-8 [not-utf8]
      hint: save the file as UTF-8

    /s.json:1:8: the byte 0xed is not UTF-8 [not-utf8]
      hint: save the file as UTF-8
    ");
}

#[test]
fn a_root_that_is_no_object() {
    insta::assert_snapshot!(["[1]", "\n \"x\"", "null", "12", "true"].map(read).join("\n"), @"
    /s.json:1:1: settings are an object, and this is a list [not-an-object]
      hint: put the settings between `{` and `}`

    /s.json:2:2: settings are an object, and this is a string [not-an-object]
      hint: put the settings between `{` and `}`

    /s.json:1:1: settings are an object, and this is `null` [not-an-object]
      hint: put the settings between `{` and `}`

    /s.json:1:1: settings are an object, and this is a number [not-an-object]
      hint: put the settings between `{` and `}`

    /s.json:1:1: settings are an object, and this is `true` or `false` [not-an-object]
      hint: put the settings between `{` and `}`
    ");
}

#[test]
fn too_large() {
    let at_bound = format!("{{}}{}", " ".repeat(MAX_FILE_BYTES - 2));
    assert_eq!(read(&at_bound), "");
    insta::assert_snapshot!(read(at_bound + " "), @"
    /s.json: the file has more than 1048576 bytes, so none of it is read [too-large]
      hint: settings are small: see whether this is the file that was meant
    ");
}

#[test]
fn too_deep() {
    let nested =
        |levels: usize| format!("{{\"a\": {}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    assert_eq!(read(nested(MAX_DEPTH)), "");
    insta::assert_snapshot!([nested(MAX_DEPTH + 1), "{\"a\":".repeat(50_000)].map(read).join("\n"), @"
    /s.json:1:70: objects and lists are nested deeper than 64 levels [too-deep]
      hint: settings are flat: see whether a closing bracket is missing above

    /s.json:1:321: objects and lists are nested deeper than 64 levels [too-deep]
      hint: settings are flat: see whether a closing bracket is missing above
    ");
}

#[test]
fn syntax() {
    let texts = [
        "{\"a\": 1\n \"b\": 2}",
        "{\"a\": [1 2]}",
        "{\"a\": [{} {}]}",
        "{\"a\": [[] []]}",
        "{\"a\" 1}",
        "{a: 1}",
        "{'a': 1}",
        "{\"a\": 'x'}",
        "{\"a\": hunter2}",
        "{\"a\": ,}",
        "{\"a\": 1,,}",
        "{,}",
        "{\"a\": 1}}",
        "{\"a\": [1}",
        "{\"a\": 1]",
        "{\"a\": 1} {}",
        "{\"a\": 0x1F}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": 01}",
        "{\"a\": NaN}",
        "{\"a\": -Infinity}",
        "{\"a\": 1e}",
        "{\"a\": \"\\x41\"}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"b\n\"}",
        "{# a comment\n}",
        "{/ a: 1}",
        "{\"a\": @}",
        "}",
    ];
    insta::assert_snapshot!(texts.map(|text| format!("{}\n{}", text.escape_debug(), read(text))).join("\n"), @r#"
    {\"a\": 1\n \"b\": 2}
    /s.json:1:8: a comma is missing here [syntax]
      hint: separate the two with `,`

    {\"a\": [1 2]}
    /s.json:1:9: a comma is missing here [syntax]
      hint: separate the two with `,`

    {\"a\": [{} {}]}
    /s.json:1:10: a comma is missing here [syntax]
      hint: separate the two with `,`

    {\"a\": [[] []]}
    /s.json:1:10: a comma is missing here [syntax]
      hint: separate the two with `,`

    {\"a\" 1}
    /s.json:1:6: no `:` follows the key [syntax]
      hint: write `"key": value`

    {a: 1}
    /s.json:1:2: a key stands without double quotes [syntax]
      hint: write it as `"key"`

    {\'a\': 1}
    /s.json:1:2: a string stands in single quotes [syntax]
      hint: use double quotes

    {\"a\": \'x\'}
    /s.json:1:7: a string stands in single quotes [syntax]
      hint: use double quotes

    {\"a\": hunter2}
    /s.json:1:7: what stands here is no JSON [syntax]
      hint: put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`

    {\"a\": ,}
    /s.json:1:7: a comma stands where a value belongs [syntax]
      hint: delete it, or write the value

    {\"a\": 1,,}
    /s.json:1:9: a key in double quotes belongs here [syntax]
      hint: write `"key": value`, one comma between two

    {,}
    /s.json:1:2: a key in double quotes belongs here [syntax]
      hint: write `"key": value`, one comma between two

    {\"a\": 1}}
    /s.json:1:9: something follows the end of the settings [syntax]
      hint: delete it, or see whether a `}` above closes too much

    {\"a\": [1}
    /s.json:1:9: a `}` cannot close the `[` of line 1, column 7 [syntax]
      hint: see whether a bracket is missing or too many between the two

    {\"a\": 1]
    /s.json:1:8: a `]` cannot close the `{` of line 1, column 1 [syntax]
      hint: see whether a bracket is missing or too many between the two

    {\"a\": 1} {}
    /s.json:1:10: something follows the end of the settings [syntax]
      hint: delete it, or see whether a `}` above closes too much

    {\"a\": 0x1F}
    /s.json:1:7: the number is not written as JSON wants it [syntax]
      hint: write it in decimal, as `12`, `-0.5` or `1e6`

    {\"a\": +1}
    /s.json:1:7: the number is not written as JSON wants it [syntax]
      hint: write it in decimal, as `12`, `-0.5` or `1e6`

    {\"a\": .5}
    /s.json:1:7: the number is not written as JSON wants it [syntax]
      hint: write it in decimal, as `12`, `-0.5` or `1e6`

    {\"a\": 01}
    /s.json:1:8: a comma is missing here [syntax]
      hint: separate the two with `,`

    {\"a\": NaN}
    /s.json:1:7: what stands here is no JSON [syntax]
      hint: put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`

    {\"a\": -Infinity}
    /s.json:1:7: the number is not written as JSON wants it [syntax]
      hint: write it in decimal, as `12`, `-0.5` or `1e6`

    {\"a\": 1e}
    /s.json:1:9: the number is not written as JSON wants it [syntax]
      hint: write it in decimal, as `12`, `-0.5` or `1e6`

    {\"a\": \"\\x41\"}
    /s.json:1:8: a string holds an escape that JSON does not know [syntax]
      hint: the escapes are `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\u` with four hexadecimal digits

    {\"a\": \"\\ud800\"}
    /s.json:1:8: half of a surrogate pair stands in a string [syntax]
      hint: write both halves, or the character itself

    {\"a\": \"\\u12\"}
    /s.json:1:8: a string holds an escape that JSON does not know [syntax]
      hint: the escapes are `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\u` with four hexadecimal digits

    {\"a\": \"b\n\"}
    /s.json:1:7: the string that begins here is not closed on its line [syntax]
      hint: close it with `"`, and write a line end inside a string as `\n`

    {# a comment\n}
    /s.json:1:2: what stands here is no JSON [syntax]
      hint: put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`

    {/ a: 1}
    /s.json:1:2: what stands here is no JSON [syntax]
      hint: put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`

    {\"a\": @}
    /s.json:1:7: what stands here is no JSON [syntax]
      hint: put texts in double quotes, begin comments with `//`; the only bare words are `true`, `false` and `null`

    }
    /s.json:1:1: a `}` closes nothing here [syntax]
      hint: delete it, or write the value that is missing
    "#);
}

#[test]
fn numbers_that_lose_digits() {
    insta::assert_snapshot!(read("{\"a\": 12345678901234567890123, \"b\": 1e999}"), @"
    /s.json:1:7: the number is too large to be held exactly [number]
      hint: write a smaller number, or a string if the key takes one
    /s.json:1:37: the number is too large to be held exactly [number]
      hint: write a smaller number, or a string if the key takes one
    ");
}

#[test]
fn many_faults_are_cut_and_the_cut_is_told() {
    let text = format!("{{{}}}", "\"a\": 1,".repeat(MAX_DIAGNOSTICS + 51));
    let (_, diagnostics) = parse(Path::new("/s.json"), text.as_bytes());
    assert_eq!(diagnostics.len(), MAX_DIAGNOSTICS + 1);
    insta::assert_snapshot!(told(&diagnostics[MAX_DIAGNOSTICS..]), @"/s.json: there are more faults than these 100 [more]");
}

#[test]
fn neither_debug_nor_a_fault_holds_what_the_file_says() {
    let (document, diagnostics) =
        parse(Path::new("/s.json"), b"{\"token\": \"hunter2\", \"token\": \"hunter2\"}");
    assert_eq!(diagnostics.len(), 1);
    let source = kitbag_settings::Source::file(kitbag_settings::Layer::User, document.clone());
    let shown = format!("{document:?} {diagnostics:?} {source:?}");
    assert_eq!(shown.find("hunter2"), None, "{shown}");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (_, diagnostics) = parse(Path::new("/s.json"), &bytes);
        prop_assert!(diagnostics.len() <= MAX_DIAGNOSTICS + 1);
    }

    #[test]
    fn no_text_panics_and_what_is_taken_is_what_json_says(
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "\\u", "d800", "1", "-", ".", "e", "0", "true",
            "null", "//", "/*", "*/", "/", "\n", "\r", " ", "\t", "é", "\u{feff}", "'", "x",
        ]), 0..40)
    ) {
        let text = parts.concat();
        let (_, diagnostics) = parse(Path::new("/s.json"), text.as_bytes());
        let strict: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(&text);
        if strict.is_ok() {
            let told = diagnostics.iter().map(|one| one.fault.as_str()).collect::<Vec<_>>();
            prop_assert!(told.iter().all(|fault| ["duplicate-key", "number"].contains(fault)), "{text:?} {told:?}");
        }
    }
}
