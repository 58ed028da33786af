//! YAML as nodes that keep what was written.

use insta::assert_snapshot;
use kitbag_skills::frontmatter::MAX_FRONTMATTER_BYTES;
use kitbag_skills::frontmatter::yaml::{
    Document, Finding, MAX_YAML_DEPTH, Node, Style, YamlErrorKind, parse,
};

/// One line for each entry of the outermost mapping: place, source, style, text and JSON.
fn entries(text: &str) -> String {
    let document = parse(text, 2).expect("good YAML");
    let entries = document.entries().expect("a mapping").iter().map(|entry| {
        let Node { position, style, .. } = &*entry.value;
        let (line, column) = (position.line, position.column);
        let (source, json) = (document.source(&entry.value), document.to_json(&entry.value));
        format!("{} {line}:{column} {style:?} {source:?} {json}", entry.name)
    });
    entries.collect::<Vec<_>>().join("\n")
}

/// The place and message of the error in `text`.
#[track_caller]
fn error(text: &str) -> String {
    let error = parse(text, 2).expect_err("bad YAML");
    format!("{}:{} {error}", error.position.line, error.position.column)
}

fn value<'d>(document: &'d Document<'_>, name: &str) -> &'d Node {
    let mut entries = document.entries().expect("a mapping").iter();
    &entries.find(|entry| entry.name == name).expect("an entry of that name").value
}

#[test]
fn scalars_keep_their_text_and_are_typed_only_as_json() {
    assert_snapshot!(entries(
        "a: 12306\nb: on\nc: 1.10\nd: 012\ne: 0o14\nf: 0x1F\ng: .inf\nh: ~\ni: True\nj: 'yes'\nk: \"1\"\n\
         l: -0\nm: 99999999999999999999\nn: 1e3\no: !!str 5\np: !!int \"5\"\nq: !mine 5\nr: ! 5\ns: .\n\
         t: 1e999\nu: -9223372036854775808\nv:\n"
    ), @r#"
    a 2:4 Plain "12306" 12306
    b 3:4 Plain "on" "on"
    c 4:4 Plain "1.10" 1.1
    d 5:4 Plain "012" 12
    e 6:4 Plain "0o14" 12
    f 7:4 Plain "0x1F" 31
    g 8:4 Plain ".inf" ".inf"
    h 9:4 Plain "~" null
    i 10:4 Plain "True" true
    j 11:4 SingleQuoted "'yes'" "yes"
    k 12:4 DoubleQuoted "\"1\"" "1"
    l 13:4 Plain "-0" 0
    m 14:4 Plain "99999999999999999999" "99999999999999999999"
    n 15:4 Plain "1e3" 1000.0
    o 16:10 Plain "5" "5"
    p 17:10 DoubleQuoted "\"5\"" 5
    q 18:10 Plain "5" 5
    r 19:6 Plain "5" "5"
    s 20:4 Plain "." "."
    t 21:4 Plain "1e999" "1e999"
    u 22:4 Plain "-9223372036854775808" -9223372036854775808
    v 23:2 Plain "" null
    "#);
}

#[test]
fn collections_have_their_source_without_what_follows() {
    assert_snapshot!(entries(
        "hint: [topic: foo | bar]\nlist:\n  - a\n  - {b: c}\n\n# comment\nfold: >-\n  one\n  two\n? [k]\n: v\n"
    ), @r#"
    hint 2:7 Flow "[topic: foo | bar]" [{"topic":"foo | bar"}]
    list 4:3 Block "- a\n  - {b: c}" ["a",{"b":"c"}]
    fold 9:3 Folded "one\n  two\n" "one two"
    [k] 12:3 Plain "v" "v"
    "#);
}

#[test]
fn fault_a4_positions_are_the_same_under_every_line_end() {
    let places = |end: &str| {
        let text = ["a: é", "b:", "  - x", "c: [y"].join(end);
        let error = parse(&text, 2).unwrap_err();
        (error.position.line, error.position.column)
    };
    assert_eq!(places("\n"), places("\r\n"));
    assert_eq!(places("\n"), places("\r"));
}

#[test]
fn findings_tell_what_a_narrower_reader_refuses() {
    let document = parse("a: &x {k: v} # why\nb: *x\nc: !mine 1\na: 2\nd: 'x # y'\n", 2).unwrap();
    let found = |(finding, place): &(Finding, _)| {
        let kitbag_skills::Position { line, column } = place;
        format!("{line}:{column} {finding}")
    };
    assert_eq!(
        document.findings.iter().map(found).collect::<Vec<_>>(),
        [
            "2:7 an anchor",
            "2:7 a collection in flow style",
            "2:14 a comment after a value",
            "3:4 an alias",
            "4:10 the tag `!mine`",
            "5:1 `a` a second time",
        ]
    );
    assert_eq!(document.to_json(document.root.as_ref().unwrap())["a"], 2);
}

#[test]
fn aliases_share_what_they_name() {
    let document = parse("a: &x [1, 2]\nb: *x\n", 2).unwrap();
    assert_eq!(document.to_json(value(&document, "b")), serde_json::json!([1, 2]));
    assert_eq!(value(&document, "b").style, Style::Flow);
}

#[test]
fn an_alias_bomb_is_refused() {
    let levels = ["ba", "cb", "dc", "ed", "fe", "gf"].map(|pair| {
        let (name, of) = pair.split_at(1);
        format!("{name}: &{name} [{}]\n", vec![format!("*{of}"); 9].join(", "))
    });
    let bomb = format!("a: &a [x, x, x, x, x, x, x, x, x]\n{}", levels.concat());
    assert_eq!(parse(&bomb, 2).unwrap_err().kind, YamlErrorKind::TooLarge);
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(32_000), "*a, ".repeat(8_000));
    assert_eq!(parse(&long, 2).unwrap_err().kind, YamlErrorKind::TooLarge);
    assert_eq!(error("a: &a [*a]\n"), "2:8 an alias stands inside the node that it names");
}

#[test]
fn a_document_without_aliases_never_meets_the_cap_on_what_aliases_expand_to() {
    for dense in ["a,", ":,", "{},", "a: b,", "? ,", "[],"] {
        let text = format!("a: [{}]\n", dense.repeat((MAX_FRONTMATTER_BYTES - 6) / dense.len()));
        if let Err(error) = parse(&text, 2) {
            assert!(matches!(error.kind, YamlErrorKind::Syntax(_)), "{dense}: {error}");
        }
    }
    let lines = "- \n".repeat(MAX_FRONTMATTER_BYTES / 3);
    assert!(parse(&lines, 2).is_ok());
}

#[test]
fn depth_is_capped_with_aliases_expanded() {
    let nested = |depth: u32| {
        let (open, close) = ("[".repeat(depth as usize), "]".repeat(depth as usize));
        format!("a: {open}{close}\n")
    };
    assert!(parse(&nested(MAX_YAML_DEPTH - 1), 2).is_ok());
    assert_eq!(parse(&nested(MAX_YAML_DEPTH), 2).unwrap_err().kind, YamlErrorKind::TooDeep);
    let blocks = format!("a:\n {}x\n", "- ".repeat(500));
    assert_eq!(parse(&blocks, 2).unwrap_err().kind, YamlErrorKind::TooDeep);
    let half = "[".repeat(40) + &"]".repeat(40);
    let shared = format!("a: &a {half}\nb: {}*a{}\n", "[".repeat(40), "]".repeat(40));
    assert_eq!(parse(&shared, 2).unwrap_err().kind, YamlErrorKind::TooDeep);
}

#[test]
fn errors_name_the_place_in_the_file() {
    let errors = [
        "a: b: c\n",
        "a: 1\nb: [x\n",
        "a: @x\n",
        "a: *b\n",
        "a: \"x\" y\n",
        "a:\n\tb: 1\n",
        "a: \u{1}\n",
        "a: 1\n--- \nb: 2\n",
        "- a\nb: c\n",
    ];
    assert_snapshot!(errors.map(error).join("\n"), @r#"
    2:5 mapping values are not allowed in this context
    3:4 unclosed bracket '['
    2:4 unexpected character: `@'
    2:4 while parsing node, found unknown anchor
    2:8 invalid trailing content after double-quoted scalar
    3:2 tabs disallowed within this context (block indentation)
    2:4 unexpected character: `\u{1}'
    3:1 a second document begins here
    3:1 while parsing a block collection, did not find expected '-' indicator
    "#);
}

#[test]
fn a_blank_document_has_no_entries_and_a_list_none_to_ask_for() {
    assert_eq!(parse("", 2).unwrap().entries(), Some(&[][..]));
    assert_eq!(parse("# only this\n\n", 2).unwrap().entries(), Some(&[][..]));
    assert!(parse("- a\n", 2).unwrap().entries().is_none());
    assert!(parse("text\n", 2).unwrap().entries().is_none());
}
