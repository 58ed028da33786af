//! Arguments put into a body, in both dialects (B-41 to B-51; faults C-40, C-41, C-43).

use kitbag_skills::Position;
use kitbag_skills::substitute::{
    Arguments, Dialect, MAX_ARGUMENTS_BYTES, MAX_INSERTED_BYTES, MAX_PREVIEWS, Placeholder,
    PlaceholderKind, Preview, Shortfall, Values, code_placeholders, placeholders, substitute,
    substitute_values,
};
use proptest::prelude::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[track_caller]
fn check(dialect: Dialect, body: &str, declared: &[&str], text: &str, expected: &str) {
    let names = names(declared);
    let arguments = Arguments { text, names: &names };
    let expanded = substitute(body, dialect, &arguments, Some("/skills/x"));
    assert_eq!((expanded.text.as_str(), expanded.shortfall), (expected, Shortfall::default()));
}

#[track_caller]
fn kitbag(body: &str, declared: &[&str], text: &str, expected: &str) {
    check(Dialect::Kitbag, body, declared, text, expected);
}

#[track_caller]
fn claude(body: &str, declared: &[&str], text: &str, expected: &str) {
    check(Dialect::Claude, body, declared, text, expected);
}

#[test]
fn b41_substitution_is_one_pass() {
    kitbag("$1 $2 $ARGUMENTS", &[], "$2 $ARGUMENTS", "$2 $ARGUMENTS $2 $ARGUMENTS");
    kitbag("$env", &["env"], "${KITBAG_SKILL_DIR}", "${KITBAG_SKILL_DIR}");
    claude("$0 $1", &[], r"$1 \$0", r"$1 \$0");
    let names = names(&[]);
    let arguments = Arguments { text: "a", names: &names };
    let expanded = substitute("${KITBAG_SKILL_DIR} $1", Dialect::Kitbag, &arguments, Some("/s/$1"));
    assert_eq!(expanded.text, "/s/$1 a");
}

#[test]
fn b42_arguments_are_everything_typed() {
    kitbag("Do: $ARGUMENTS.", &[], "  ship it,  now ", "Do: ship it,  now.");
    kitbag("<$ARGUMENTS>", &[], "", "<>");
    kitbag("$ARGUMENTSを", &[], "a", "aを");
    kitbag("$ARGUMENTS_LIST $ARGUMENTS2", &[], "", "$ARGUMENTS_LIST $ARGUMENTS2");
    claude("<$ARGUMENTS>", &[], "\"a b\" c", "<\"a b\" c>");
}

#[test]
fn b43_indexes_count_words_from_one() {
    kitbag("$1|$2|$9", &[], "a\tb\nc d e f g h i", "a|b|i\n\nARGUMENTS: c d e f g h");
    kitbag("$1", &[], "\"a b\"", "\"a\n\nARGUMENTS: b\"");
    kitbag("$10 $0 $11", &[], "a", "$10 $0 $11\n\nARGUMENTS: a");
    kitbag("$1st $1_ $1x", &[], "a", "$1st $1_ $1x\n\nARGUMENTS: a");
    kitbag("$$1 ($1) '$1'", &[], "a", "$a (a) 'a'");
    kitbag("$1を $1-x $1.", &[], "a", "aを a-x a.");
}

#[test]
fn b44_names_stand_for_the_word_at_their_position() {
    kitbag("$issue on $branch", &["issue", "branch"], "12 main", "12 on main");
    kitbag("$env $environment $environments", &["env", "environment"], "a b", "a b $environments");
    kitbag("$issue-number $issue-x", &["issue", "issue-number"], "1 2", "2 1-x");
    kitbag("$環境へ $café", &["環境", "caf"], "a b", "aへ $café\n\nARGUMENTS: b");
    kitbag("$a", &["a", "a"], "1 2", "1\n\nARGUMENTS: 2");
    kitbag("$ARGUMENTS $1", &["ARGUMENTS", "1"], "x y", "x y x");
    kitbag("${env} $env[0] $", &["env"], "a", "${env} $env[0] $\n\nARGUMENTS: a");
}

#[test]
fn b45_the_skill_directory_has_three_spellings() {
    let body = "${KITBAG_SKILL_DIR} ${CLAUDE_SKILL_DIR} ${BINGO_SKILL_DIR}/x.sh $KITBAG_SKILL_DIR ${KITBAG_SKILL_DIRS}";
    let expected = "/skills/x /skills/x /skills/x/x.sh $KITBAG_SKILL_DIR ${KITBAG_SKILL_DIRS}";
    kitbag(body, &[], "", expected);
    claude(body, &[], "", expected);
    let arguments = Arguments { text: "", names: &[] };
    assert_eq!(substitute(body, Dialect::Kitbag, &arguments, None).text, body);
}

#[test]
fn b46_an_index_without_a_word_stays() {
    kitbag("$1 $2", &[], "a", "a $2");
    kitbag("$1 $2", &[], "", "$1 $2");
    claude("$0 $1 $ARGUMENTS[7]", &[], "a", "a $1 $ARGUMENTS[7]");
}

#[test]
fn b47_a_name_without_a_word_becomes_empty() {
    kitbag("<$issue><$branch>", &["issue", "branch"], "12", "<12><>");
    claude("<$issue><$branch>", &["issue", "branch"], "", "<><>");
}

#[test]
fn b48_any_other_dollar_is_untouched() {
    for body in [
        "$HOME",
        "${HOME}",
        "$(date)",
        "$",
        "$$",
        "$-",
        "a$",
        "$é",
        "$[1]",
        "$01",
        "$18446744073709551616",
    ] {
        kitbag(body, &["env"], "", body);
        claude(body, &["env"], "", body);
    }
}

#[test]
fn b49_an_indexed_arguments_is_left_whole() {
    kitbag("$ARGUMENTS[0] $ARGUMENTS[N]", &[], "a", "$ARGUMENTS[0] $ARGUMENTS[N]\n\nARGUMENTS: a");
    claude("$ARGUMENTS[N] $ARGUMENTS[0", &[], "", "$ARGUMENTS[N] $ARGUMENTS[0");
}

#[test]
fn b50_unasked_arguments_are_appended_as_a_last_line() {
    kitbag("Go.", &[], "a  b", "Go.\n\nARGUMENTS: a  b");
    kitbag("Go.\n", &[], "a", "Go.\n\nARGUMENTS: a");
    kitbag("Go.\r\n", &[], "a", "Go.\r\n\r\nARGUMENTS: a");
    kitbag("", &[], "a", "ARGUMENTS: a");
    kitbag("Go.", &[], " \n ", "Go.");
    kitbag(
        "To $environment",
        &["environment"],
        "staging but skip  tests",
        "To staging\n\nARGUMENTS: but skip  tests",
    );
    kitbag("$2", &[], "a  b c  d", "b\n\nARGUMENTS: a c  d");
    claude("Go.", &[], "'a b' c", "Go.\n\nARGUMENTS: 'a b' c");
    claude("$1", &[], "'a b' c 'd e'", "c\n\nARGUMENTS: 'a b' 'd e'");
}

#[test]
fn b51_a_backslash_does_not_escape_in_our_dialect() {
    kitbag(r"\$1 \$ARGUMENTS \$env", &["env"], "a", r"\a \a \a");
}

#[test]
fn a_backslash_escapes_in_the_other_dialect() {
    claude(
        r"\$0 \$ARGUMENTS \$env \${CLAUDE_SKILL_DIR}",
        &["env"],
        "",
        "$0 $ARGUMENTS $env ${CLAUDE_SKILL_DIR}",
    );
    claude(r"\$1.42B, \\$0, \\\$0, \$HOME", &[], "a", r"$1.42B, \\a, \\$0, \$HOME");
}

#[test]
fn shell_quotes_group_words_in_the_other_dialect() {
    claude("$0|$1|$2", &[], r#""hello world" 'it is' a\ b"#, "hello world|it is|a b");
    claude("$0|$1|$2", &[], r#"--m="a \"b\" \\ \n" '\' """#, r#"--m=a "b" \ \n|\|"#);
    claude("$0|$1|$2", &[], r"fix Bob's C:\temp", r"fix|Bob's|C:\temp");
    claude("$0|$1", &[], r#"say "hi"#, r#"say|"hi"#);
}

/// Fault C-40: an amount is not an index, and what has no word stays.
#[test]
fn fault_c40_amounts_stay() {
    for dialect in [Dialect::Kitbag, Dialect::Claude] {
        check(dialect, "$1.42B $0.10 $1,000 $5k", &[], "", "$1.42B $0.10 $1,000 $5k");
        let expected = "$1.42B $0.10 $1,000 $5k\n\nARGUMENTS: a b";
        check(dialect, "$1.42B $0.10 $1,000 $5k", &[], "a b", expected);
    }
}

/// Fault C-41: the dialect says which word `$1` is; `$ARGUMENTS[N]` counts from 0.
#[test]
fn fault_c41_dialects_count_differently() {
    kitbag("$1", &[], "A B", "A\n\nARGUMENTS: B");
    claude("$1", &[], "A B", "B\n\nARGUMENTS: A");
    claude(
        "$ARGUMENTS[0] $10",
        &[],
        "a b c d e f g h i j k",
        "a k\n\nARGUMENTS: b c d e f g h i j",
    );
}

/// Fault C-43: a command in a body is text, wherever it stands.
#[test]
fn fault_c43_commands_stay_text() {
    let body = "!`touch pwned`\n```!\ntouch pwned\n```\nWrite `!` for \"not\".";
    kitbag(body, &[], "", body);
    claude(body, &[], "", body);
    claude("!`$0`", &[], "'rm -rf .'", "!`rm -rf .`");
}

#[test]
fn values_are_bounded_and_the_cut_is_reported() {
    let text = "a".repeat(MAX_ARGUMENTS_BYTES + 3);
    let arguments = Arguments { text: &text, names: &[] };
    let expanded = substitute(&"$1".repeat(10_000), Dialect::Kitbag, &arguments, None);
    let fitting = MAX_INSERTED_BYTES / MAX_ARGUMENTS_BYTES;
    assert_eq!(expanded.shortfall, Shortfall { placeholders: 10_000 - fitting, argument_bytes: 3 });
    assert_eq!(expanded.text.len(), MAX_INSERTED_BYTES + 2 * (10_000 - fitting));
}

#[test]
fn values_keep_what_words_cannot_hold() {
    let declared = names(&["what", "where"]);
    let values = |words: &[&str], body: &str| {
        let fill = |dialect| {
            substitute_values(body, dialect, &Values { words, names: &declared }, None).text
        };
        let text = fill(Dialect::Kitbag);
        assert_eq!(fill(Dialect::Claude), text);
        text
    };
    let words = ["Bob's \"new\" page", " a  b "];
    assert_eq!(values(&words, "<$what> at <$where>"), "<Bob's \"new\" page> at < a  b >");
    assert_eq!(values(&words, "<$ARGUMENTS>"), "<Bob's \"new\" page  a  b >");
    assert_eq!(values(&words, "do $where"), "do  a  b \n\nARGUMENTS: Bob's \"new\" page");
    assert_eq!(values(&["", "b"], "<$what> <$where> <$ARGUMENTS>"), "<> <b> <b>");
    assert_eq!(values(&["a", "", "c"], "x"), "x\n\nARGUMENTS: a c");
    assert_eq!(values(&["a", "", "c"], "$what"), "a\n\nARGUMENTS: c");
    assert_eq!(values(&["a"], "<$what> <$where>"), "<a> <>");
    assert_eq!(values(&[], "<$what> <$ARGUMENTS>"), "<> <>");
    assert_eq!(values(&["$where", "b"], "$what"), "$where\n\nARGUMENTS: b", "B-41: one pass");
}

#[test]
fn values_are_bounded_together() {
    let long = "é".repeat(MAX_ARGUMENTS_BYTES / 2 - 1);
    let values = Values { words: &[&long, "éa", "b"], names: &[] };
    let expanded = substitute_values("$1", Dialect::Kitbag, &values, None);
    assert!(expanded.text.starts_with(&format!("{long}\n\nARGUMENTS: é")));
    assert_eq!(expanded.shortfall, Shortfall { placeholders: 0, argument_bytes: 2 });
}

#[test]
fn placeholders_have_places() {
    let names = names(&["env"]);
    let found = placeholders("a $1\r\né $env\n\\$2", Dialect::Claude, &names);
    let at = |line, column| Position { line, column };
    assert_eq!(
        found,
        [
            Placeholder { kind: PlaceholderKind::Word(1), span: 2..4, position: at(1, 3) },
            Placeholder {
                kind: PlaceholderKind::Name { word: 0, name: "env" },
                span: 9..13,
                position: at(2, 3)
            },
            Placeholder { kind: PlaceholderKind::Escape, span: 14..17, position: at(3, 1) },
        ]
    );
}

/// Fault C-40 and decision 8: an index in code is shown with its place and what a call makes of it.
#[test]
fn fault_c40_an_index_in_code_has_a_preview() {
    let body = "Costs $1.\n\nRun `awk '{print $1, $2}'` or\n\n> ```sh\n> echo $1\n> ```\n\n~~~\n$3\n``` $4\n~~~\n\n`a $5\n\nb` and ``x $6 ` y``";
    let shown = |line, column, text: &str, becomes: &str| Preview {
        position: Position { line, column },
        line: text.to_owned(),
        becomes: becomes.to_owned(),
    };
    let previews = code_placeholders(body, Dialect::Kitbag, &[]);
    assert_eq!(
        previews.shown,
        [
            shown(3, 18, "Run `awk '{print $1, $2}'` or", "Run `awk '{print ONE, TWO}'` or"),
            shown(6, 8, "> echo $1", "> echo ONE"),
            shown(10, 1, "$3", "THREE"),
            shown(11, 5, "``` $4", "``` FOUR"),
            shown(16, 12, "b` and ``x $6 ` y``", "b` and ``x SIX ` y``"),
        ]
    );
    assert_eq!(previews.more, 0);
    assert_eq!(code_placeholders(body, Dialect::Kitbag, &names(&["file"])).shown, []);
    assert_eq!(code_placeholders("`$ARGUMENTS[0] $ARGUMENTS`", Dialect::Claude, &[]).shown, []);
}

#[test]
fn previews_are_bounded() {
    let body = format!(
        "```\n{}```",
        format!("{}$1{}\n", "·".repeat(500), "·".repeat(500)).repeat(MAX_PREVIEWS + 5)
    );
    let previews = code_placeholders(&body, Dialect::Kitbag, &[]);
    assert_eq!((previews.shown.len(), previews.more), (MAX_PREVIEWS, 5));
    assert_eq!(previews.shown[0].line, format!("{}$1{}", "·".repeat(40), "·".repeat(78)));
}

/// Texts that are mostly made of what the scanner looks at.
fn tricky() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("$".to_owned()),
        Just("\\".to_owned()),
        Just("`".to_owned()),
        Just("```\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("$ARGUMENTS".to_owned()),
        Just("[0]".to_owned()),
        Just("${KITBAG_SKILL_DIR}".to_owned()),
        Just("$env".to_owned()),
        "[0-9]{1,2}",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Kitbag), Just(Dialect::Claude)]
}

proptest! {
    #[test]
    fn no_text_panics(body in tricky(), text in tricky(), name in tricky(), dialect in dialect()) {
        let names = [name, "env".to_owned()];
        let arguments = Arguments { text: &text, names: &names };
        substitute(&body, dialect, &arguments, Some(&text));
        code_placeholders(&body, dialect, &[]);
    }

    #[test]
    fn placeholders_are_apart_and_in_order(body in tricky(), dialect in dialect()) {
        let names = ["env".to_owned()];
        let mut end = 0;
        for found in placeholders(&body, dialect, &names) {
            prop_assert!(found.span.start >= end && found.span.start < found.span.end);
            prop_assert_eq!(found.position, Position::at(&body, found.span.start));
            end = found.span.end;
        }
    }

    #[test]
    fn a_body_without_placeholders_and_arguments_is_untouched(
        body in "[$\\\\`{}\\[\\]'\"A-Z \r\n.é部-]{0,24}",
        dialect in dialect(),
    ) {
        let names = ["env".to_owned()];
        prop_assume!(placeholders(&body, dialect, &names).is_empty());
        let arguments = Arguments { text: "", names: &names };
        prop_assert_eq!(substitute(&body, dialect, &arguments, Some("/x")).text, body);
    }

    /// B-41: what is inserted is what was typed, whatever it holds.
    #[test]
    fn inserted_values_are_never_expanded_again(value in tricky(), after in "[a-z ]{0,8}") {
        let word: String = value.split_whitespace().collect();
        prop_assume!(!word.is_empty());
        let names = ["env".to_owned()];
        let arguments = Arguments { text: &word, names: &names };
        let body = format!("$ARGUMENTS|$1|$env|{after}");
        let expanded = substitute(&body, Dialect::Kitbag, &arguments, Some("/x"));
        prop_assert_eq!(expanded.text, format!("{word}|{word}|{word}|{after}"));
    }

    /// B-50: every word that was typed is in the text.
    #[test]
    fn no_word_is_lost(body in tricky(), words in proptest::collection::vec("[a-z]{12}", 0..6)) {
        let text = words.join(" ");
        let names = ["env".to_owned()];
        let expanded = substitute(&body, Dialect::Kitbag, &Arguments { text: &text, names: &names }, None);
        for word in &words {
            prop_assert!(expanded.text.contains(word.as_str()));
        }
    }
}
