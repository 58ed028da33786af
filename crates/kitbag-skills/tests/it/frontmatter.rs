//! What a `SKILL.md` says, and what is told of what it says badly.

use std::path::Path;

use insta::assert_snapshot;
use kitbag_skills::frontmatter::{
    DescriptionSource, Header, MAX_BODY_DESCRIPTION_CHARS, MAX_FIELD_ITEMS, MAX_FRONTMATTER_BYTES,
    SkillMd, read,
};
use kitbag_skills::{Problem, Reason, Severity};
use serde_json::json;

fn skill(file: impl AsRef<[u8]>) -> SkillMd {
    read(Path::new("x/SKILL.md"), file.as_ref())
}

/// The header of a file with these lines between its fences, which nothing is wrong with.
#[track_caller]
fn header(fields: &str) -> Header {
    let skill = skill(format!("---\n{fields}\n---\n"));
    assert_eq!(skill.problems, [], "{fields}");
    skill.header
}

/// What is wrong with a file: severity, place, detail, reason and hint, one problem a line.
fn problems(file: impl AsRef<[u8]>) -> String {
    let tell = |problem: &Problem| {
        format!("{:?} {problem} {}", problem.severity, problem.hint.as_deref().unwrap_or("-"))
    };
    skill(file).problems.iter().map(tell).collect::<Vec<_>>().join("\n")
}

/// What is wrong with a file of these lines between its fences.
fn problems_of(fields: &str) -> String {
    problems(format!("---\n{fields}\n---\n"))
}

#[test]
fn b15_b19_k19_the_name_is_what_is_written_or_nothing() {
    assert_eq!(header("name: My Skill!\ndescription: d").name.as_deref(), Some("My Skill!"));
    for nameless in ["description: d", "name:\ndescription: d", "name: ''\ndescription: d"] {
        assert_eq!(header(nameless).name, None, "the directory's name stands, without a problem");
    }
}

#[test]
fn b17_a_file_without_frontmatter_is_a_skill() {
    let skill = skill("# Deploy\n\nSteps.\n");
    assert_eq!(skill.problems, []);
    assert_eq!((skill.frontmatter, skill.body_start), (None, 0));
    assert_eq!(skill.header.description.as_deref(), Some("Deploy"));
    assert_eq!(skill.header.description_source, DescriptionSource::Body);
}

#[test]
fn b18_fault_a8_frontmatter_further_down_is_body_text_and_told() {
    for (lead, line) in [("\n", 2), ("<!-- generated -->\n", 2), ("# Title\n\n", 3)] {
        let file = format!("{lead}---\nname: x\ndescription: d\n---\nFirst line\n");
        let skill = skill(&file);
        assert_eq!((&skill.frontmatter, skill.body_start), (&None, 0));
        assert_eq!(skill.header.name, None);
        assert!(skill.is_usable());
        let problem = &skill.problems[0];
        assert_eq!(
            (problem.reason, problem.severity),
            (Reason::RepairedFrontmatter, Severity::Warning)
        );
        assert_eq!(problem.position.unwrap().line, line);
    }
    assert_snapshot!(
        problems("\n---\nname: x\n---\nBody\n"),
        @"Warning x/SKILL.md:2:1: the frontmatter begins on line 2, after blank lines, so it was read as body text [repaired-frontmatter] move its `---` to line 1"
    );
    let hidden = skill("\n---\ndisable_model_invocation: true\n---\nBody\n");
    assert!(hidden.header.user_only, "what a misplaced block forbids stays forbidden");
}

#[test]
fn b20_the_description_defaults_to_the_bodys_first_line() {
    for (body, description) in [
        ("# Deploy to staging\n\nText", "Deploy to staging"),
        ("\n\n## Closed ##\n", "Closed"),
        ("# About C#\n", "About C#"),
        ("#tag is no heading\n", "#tag is no heading"),
        ("<!-- a\ncomment -->\n---\n\nFirst words.\r\nMore\n", "First words."),
        ("Plain\rSecond", "Plain"),
    ] {
        let skill = skill(format!("---\nname: x\n---\n{body}"));
        assert_eq!(skill.header.description.as_deref(), Some(description), "{body:?}");
        assert_eq!(skill.header.description_source, DescriptionSource::Body);
        assert_eq!(skill.problems, []);
    }
    let long = format!(
        "---\nname: x\ndescription: ' '\n---\n{}",
        "é".repeat(MAX_BODY_DESCRIPTION_CHARS + 1)
    );
    let skill = skill(&long);
    assert_eq!(skill.header.description.unwrap().chars().count(), MAX_BODY_DESCRIPTION_CHARS);
    assert_eq!(skill.problems[0].severity, Severity::Note);
}

#[test]
fn g13_without_any_description_the_skill_is_invalid_and_says_why() {
    for file in ["", "---\nname: x\n---\n", "---\nname: x\n---\n\n***\n", "<!-- only\n"] {
        let skill = skill(file);
        assert!(!skill.is_usable());
        assert_eq!(skill.header.description_source, DescriptionSource::Absent);
    }
    assert_snapshot!(
        problems("---\nname: x\n---\n"),
        @"Error x/SKILL.md: neither a description nor a body [no-description] add `description:` with what the skill does and when to use it"
    );
}

#[test]
fn b21_fault_a10_an_argument_hint_is_its_source_text() {
    for (written, hint) in [
        ("[topic: foo | bar]", "[topic: foo | bar]"),
        ("[issue] [branch]", "[issue] [branch]"),
        ("<name>", "<name>"),
        ("{a: b}", "{a: b}"),
        ("12", "12"),
        ("\n  - one\n  - two", "- one - two"),
    ] {
        let skill = skill(format!("---\ndescription: d\nargument-hint: {written}\n---\n"));
        assert_eq!(skill.header.argument_hint.as_deref(), Some(hint));
        assert!(skill.is_usable());
    }
}

#[test]
fn b22_arguments_are_words_or_a_list() {
    for written in
        ["issue branch", "[issue, branch]", "issue, branch", "\n  - issue\n  - name: branch"]
    {
        let header = header(&format!("description: d\narguments: {written}"));
        assert_eq!(header.arguments, ["issue", "branch"], "{written}");
    }
}

#[test]
fn b21_b22_arguments_under_metadata_count_where_the_top_level_has_none() {
    let metadata = "metadata:\n  arguments: from to\n  argument-hint: FROM [TO]";
    let strict = header(&format!("description: d\n{metadata}"));
    assert_eq!(strict.arguments, ["from", "to"]);
    assert_eq!(strict.argument_hint.as_deref(), Some("FROM [TO]"));
    let both = header(&format!("description: d\narguments: issue\nargument-hint: N\n{metadata}"));
    assert_eq!(both.arguments, ["issue"]);
    assert_eq!(both.argument_hint.as_deref(), Some("N"));
    let neither = header("description: d\nmetadata:\n  arguments: [a, b]\n  argument-hint: ' '");
    assert_eq!((neither.arguments, neither.argument_hint), (Vec::new(), None));
}

#[test]
fn b23_fault_a11_allowed_tools_in_every_spelling() {
    for written in [
        "Read Bash(git add:*, git commit:*) Grep",
        "Read,Bash(git add:*, git commit:*) Grep",
        "Read, Bash(git add:*, git commit:*), Grep",
        "\n  - Read\n  - Bash(git add:*, git commit:*)\n  - Grep",
        "['Read, Bash(git add:*, git commit:*)', Grep]",
    ] {
        let header = header(&format!("description: d\nallowed-tools: {written}"));
        assert_eq!(
            header.allowed_tools,
            ["Read", "Bash(git add:*, git commit:*)", "Grep"],
            "{written}"
        );
        assert!(!header.user_only);
    }
    assert_eq!(header("description: d\nallowed-tools: []").allowed_tools, [""; 0]);
    let open = skill("---\ndescription: d\nallowed-tools: Bash(a Read\n---\n");
    assert_eq!(open.header.allowed_tools, ["Bash(a Read"]);
    assert_eq!(open.problems[0].reason, Reason::FrontmatterField);
}

#[test]
fn a_tool_that_yaml_takes_for_a_mapping_or_an_alias_is_its_text() {
    let skill = skill(
        "---\ndescription: d\nallowed-tools:\n  - Bash(git: *)\n  - Read\n  - Bash(npm: test)\n---\n",
    );
    assert_eq!(skill.header.allowed_tools, ["Bash(git: *)", "Read", "Bash(npm: test)"]);
    assert!(!skill.header.user_only);
}

#[test]
fn b24_the_model_is_recorded() {
    assert_eq!(header("description: d\nmodel: small-1.10").model.as_deref(), Some("small-1.10"));
}

#[test]
fn b25_k28_other_keys_are_ignored_without_a_word_and_kept_for_the_wire() {
    let header = header("description: d\nwhen_to_use: often\norigin: a\n2: {b: [012, yes]}");
    assert_eq!(header.when_to_use.as_deref(), Some("often"));
    assert_eq!(
        serde_json::to_string(&header.wire).unwrap(),
        r#"{"description":"d","when_to_use":"often","origin":"a","2":{"b":[12,"yes"]}}"#
    );
}

#[test]
fn b26_k27_the_body_is_everything_after_the_frontmatter() {
    let file = "---\nname: x\ndescription: d\n---\n\n a\n---\nb\n---\n";
    assert_eq!(&file[skill(file).body_start..], "\n a\n---\nb\n---\n");
    let marked = "\u{feff}---\r\ndescription: d\r\n---\r\nbody";
    assert_eq!(&marked[skill(marked).body_start..], "body");
    assert_eq!(&marked[skill(marked).frontmatter.unwrap()], "description: d\r\n");
}

#[test]
fn k27_what_cannot_be_read_is_refused_with_its_place() {
    let long = format!("---\n#{}\n---\n", "x".repeat(MAX_FRONTMATTER_BYTES));
    let files = [
        "---\nname: x\n",
        "---\nname: x\n- [a\n---\n",
        "---\n- a\n- b\n---\n",
        "---\njust text\n---\n",
        "---\nname: &a [*a]\n---\n",
        &long,
    ];
    assert_snapshot!(files.map(problems).join("\n"), @r#"
    Error x/SKILL.md:1:1: no `---` line closes the frontmatter [malformed-frontmatter] write `---` alone on the line below the last field
    Error x/SKILL.md:3:3: the frontmatter cannot be read as YAML: while parsing a block mapping, did not find expected key [malformed-frontmatter] put values that hold `: `, ` #` or a leading sign in quotes
    Error x/SKILL.md:2:1: the frontmatter is a list, not fields with values [malformed-frontmatter] write fields such as `description: what it does`
    Error x/SKILL.md:2:1: the frontmatter is text, not fields with values [malformed-frontmatter] write fields such as `description: what it does`
    Error x/SKILL.md:2:11: the frontmatter cannot be read as YAML: an alias stands inside the node that it names [malformed-frontmatter] write the values out, and move long ones into the body
    Error x/SKILL.md:1:1: no `---` line closes the frontmatter in its first 65536 bytes [malformed-frontmatter] move long text into the body
    "#);
    for file in files {
        assert!(!skill(file).is_usable());
        assert!(skill(file).header.user_only);
    }
}

#[test]
fn anchors_and_aliases_are_yaml_like_any_other() {
    let header = header("description: &d text\nwhen-to-use: *d\nlicense: '*emphasis* & more'");
    assert_eq!(header.when_to_use.as_deref(), Some("text"));
    assert_eq!(header.license.as_deref(), Some("*emphasis* & more"));
}

#[test]
fn fault_a1_a_mark_is_a_note() {
    let file = "\u{feff}---\nname: x\ndescription: d\n---\n";
    assert_eq!(skill(file).header, header("name: x\ndescription: d"));
    assert_snapshot!(
        problems(file),
        @"Note x/SKILL.md:1:1: the file begins with a byte order mark, which was passed over [repaired-frontmatter] save the file as UTF-8 without a mark"
    );
}

#[test]
fn fault_a2_a_colon_in_a_value_is_repaired_and_told() {
    let skill = skill("---\nname: x\ndescription: Use when: asked\n---\n");
    assert_eq!(skill.header.description.as_deref(), Some("Use when: asked"));
    assert!(skill.repaired && skill.is_usable());
    assert_snapshot!(
        problems_of("name: x\ndescription: Use when: asked"),
        @"Warning x/SKILL.md:3:14: `description` was read as if its value stood in quotes (mapping values are not allowed in this context) [repaired-frontmatter] put the value in quotes"
    );
}

#[test]
fn the_repair_reads_what_fails_in_the_wild() {
    for (written, description) in [
        ("@team: a", "@team: a"),
        ("*all* files", "*all* files"),
        ("%d files", "%d files"),
        ("`x` does", "`x` does"),
        ("[a] [b]", "[a] [b]"),
        ("[unclosed", "[unclosed"),
        ("\"Use\" or \"Do\"", "\"Use\" or \"Do\""),
        ("\"say \"hi\" twice\"", "say \"hi\" twice"),
        ("'it's here'", "it's here"),
        ("\"unclosed", "unclosed"),
        ("see: issue #12", "see: issue #12"),
        ("a: b\n  c: d\n\n  e", "a: b c: d\ne"),
        ("\n  Use when: a: b\n  c", "Use when: a: b c"),
        ("C:\\dir: 'x'", "C:\\dir: 'x'"),
        (">\n\tfolded\n\ttext", "folded text"),
    ] {
        for end in ["\n", "\r\n", "\r"] {
            let file = format!("---\ndescription: {written}\nname: x\n---\n").replace('\n', end);
            let skill = skill(&file);
            assert_eq!(skill.header.description.as_deref(), Some(description), "{file:?}");
            assert_eq!(skill.header.name.as_deref(), Some("x"));
            assert!(skill.repaired && skill.problems.len() == 1, "{:?}", skill.problems);
        }
    }
}

#[test]
fn the_repair_reaches_lists_and_nested_values() {
    let fields = "description: d\nmetadata:\n\tnote: a: b\n\tlist:\n\t  - @x\nbase: &b 1\nsame: *b";
    let skill = skill(format!("---\n{fields}\n---\n"));
    assert_eq!(json!(skill.header.metadata), json!({"note": "a: b", "list": ["@x"]}));
    assert_eq!(skill.header.wire["same"], 1, "a sound alias of a sound anchor stays one");
}

#[test]
fn fault_a3_a_broken_line_never_widens_what_a_skill_may_do() {
    let header = |fields: &str| skill(format!("---\n{fields}\n---\n")).header;
    let repaired = header(
        "name: x\ndescription: a: b\ndisable-model-invocation: true\nallowed-tools: Bash(a: *)",
    );
    assert!(repaired.disable_model_invocation && repaired.user_only);
    assert_eq!(repaired.allowed_tools, ["Bash(a: *)"]);
    for unreadable in [
        "disable-model-invocation: perhaps",
        "disable-model-invocation:",
        "disable_model_invocation: [true]",
        "disable-model-invocation: true\ndisable-model-invocation: false",
        "allowed-tools: {a: b}",
        "allowed-tools:\n  - [Read]",
    ] {
        let skill = skill(format!("---\ndescription: d\n{unreadable}\n---\n"));
        assert!(skill.header.user_only, "{unreadable}");
        assert!(skill.is_usable() && !skill.problems.is_empty(), "{unreadable}");
    }
    assert_snapshot!(problems_of("description: d\ndisable-model-invocation: perhaps\nallowed-tools: {a: b}"), @r#"
    Warning x/SKILL.md:3:27: `disable-model-invocation` can't be `perhaps`, so it is taken for true [frontmatter-field] write `true` or `false`
    Warning x/SKILL.md:4:16: `allowed-tools` can't be `{a: b}`, so only a person may use the skill [frontmatter-field] write tools with blanks or commas between, or a list
    "#);
}

#[test]
fn booleans_are_read_by_our_own_rule() {
    for (written, value) in [
        ("true", true),
        ("Yes", true),
        ("on", true),
        ("1", true),
        ("'true'", true),
        ("false", false),
        ("NO", false),
        ("off", false),
        ("0", false),
        ("\"no\"", false),
    ] {
        let header = header(&format!(
            "description: d\ndisable-model-invocation: {written}\nuser-invocable: {written}"
        ));
        assert_eq!(
            (header.disable_model_invocation, header.user_only),
            (value, value),
            "{written}"
        );
        assert_eq!(header.user_invocable, value, "{written}");
    }
}

#[test]
fn fault_a4_every_line_end_reads_the_same() {
    let file = "---\nname: x\ndescription: d: e\nlist:\n  - a\n---\nbody\n";
    let read = |end: &str| {
        let SkillMd { header, repaired, problems, .. } = skill(file.replace('\n', end));
        (header, repaired, problems)
    };
    assert_eq!(read("\n"), read("\r\n"));
    assert_eq!(read("\n"), read("\r"));
}

#[test]
fn fault_a6_nothing_inside_a_value_closes() {
    let header = header("name: x\ndescription: a --- b\nlicense: MIT");
    assert_eq!(header.description.as_deref(), Some("a --- b"));
    assert_eq!(header.license.as_deref(), Some("MIT"));
}

#[test]
fn fault_a9_scalars_are_their_source_text() {
    let header = header(
        "name: 12306\ndescription: on\nlicense: 1.10\ncompatibility: 012\nmetadata: {v: 1.10, w: yes}",
    );
    assert_eq!(header.name.as_deref(), Some("12306"));
    assert_eq!(header.description.as_deref(), Some("on"));
    assert_eq!(header.license.as_deref(), Some("1.10"));
    assert_eq!(header.compatibility.as_deref(), Some("012"));
    assert_eq!(json!(header.metadata), json!({"v": "1.10", "w": "yes"}));
    assert_eq!(
        json!(header.wire),
        json!({"name": 12306, "description": "on", "license": 1.1, "compatibility": 12, "metadata": {"v": 1.1, "w": "yes"}})
    );
}

#[test]
fn fault_a13_a_long_description_is_loaded_whole() {
    let long = "é".repeat(1025);
    assert_eq!(header(&format!("description: {long}")).description, Some(long));
}

#[test]
fn fault_a15_a16_name_and_licence_may_be_missing() {
    assert_eq!(header("name: x\ndescription: d").license, None);
    assert_eq!(header("description: d").description.as_deref(), Some("d"));
}

#[test]
fn fault_a18_a_language_tag_is_an_error() {
    assert_snapshot!(
        problems("---js\nthrow 1\n---\n"),
        @"Error x/SKILL.md:1:1: `js` follows the opening `---`, and only YAML is read [malformed-frontmatter] write `---` alone on the first line, and YAML below it"
    );
}

#[test]
fn fault_b33_paths_limit_nothing_but_what_is_attached() {
    let list = header("description: d\npaths: ['*.tf', 'src/**/*.{a,b}']");
    let text = header("description: d\nauto-attach: '*.tf, src/**/*.{a,b}'");
    let own = header("description: d\nautoAttach:\n  - '*.tf'\n  - src/**/*.{a,b}");
    for header in [&list, &text, &own] {
        assert_eq!(header.auto_attach, ["*.tf", "src/**/*.{a,b}"]);
        assert!(header.user_invocable && !header.user_only);
    }
}

#[test]
fn a_double_key_is_told_and_the_last_one_counts() {
    let file = "---\nname: a\ndescription: d\nname: b\n---\n";
    assert_eq!(skill(file).header.name.as_deref(), Some("b"));
    assert_eq!(skill(file).header.wire["name"], "b");
    assert_snapshot!(
        problems(file),
        @"Warning x/SKILL.md:4:1: `name` stands twice, and the last one counts [frontmatter-field] keep one of them"
    );
}

#[test]
fn invalid_utf8_is_an_error_in_frontmatter_and_nothing_in_a_body() {
    assert_snapshot!(
        problems(b"---\nname: x\ndescription: caf\xE9\n---\n"),
        @"Error x/SKILL.md:3:17: the frontmatter holds a byte that is not UTF-8 [malformed-frontmatter] save the file as UTF-8"
    );
    assert_snapshot!(
        problems(b"\xFF\xFE-\0-\0-\0\n\0"),
        @"Error x/SKILL.md:1:1: the file is UTF-16 [malformed-frontmatter] save the file as UTF-8"
    );
    let body = skill(b"---\nname: x\n---\ncaf\xE9 first\n");
    assert_eq!(body.header.description.as_deref(), Some("caf\u{fffd} first"));
    assert_eq!(body.problems, []);
}

#[test]
fn fields_of_another_kind_are_told_and_cost_only_themselves() {
    assert_snapshot!(
        problems_of("name: [x]\ndescription: {a: b}\nmetadata: text\narguments: {a: b}\npaths: {a: b}\nuser-invocable: x"),
        @r#"
    Warning x/SKILL.md:2:7: `name` can't be `[x]`, so its source text is taken [frontmatter-field] put the value in quotes
    Warning x/SKILL.md:3:14: `description` can't be `{a: b}`, so its source text is taken [frontmatter-field] put the value in quotes
    Warning x/SKILL.md:4:11: `metadata` can't be `text`, so it is left out [frontmatter-field] write names with values below it
    Warning x/SKILL.md:5:12: `arguments` can't be `{a: b}`, so it is left out [frontmatter-field] write names with blanks between, or a list
    Warning x/SKILL.md:6:8: `paths` can't be `{a: b}`, so it is left out [frontmatter-field] write globs with commas between, or a list
    Warning x/SKILL.md:7:17: `user-invocable` can't be `x`, so it is taken for true [frontmatter-field] write `true` or `false`
    "#
    );
}

#[test]
fn lists_and_problems_are_bounded_and_a_cut_is_told() {
    let items = "- x\n".repeat(MAX_FIELD_ITEMS + 1);
    let long = skill(format!("---\ndescription: d\narguments:\n{items}---\n"));
    assert_eq!(long.header.arguments.len(), MAX_FIELD_ITEMS);
    assert_eq!(long.problems.len(), 1);
    let items = "- [x]\n".repeat(1000);
    let wrong = skill(format!("---\ndescription: d\narguments:\n{items}---\n"));
    assert!(wrong.problems.len() < 70);
}

/// Fault C-35: what reaches a model unasked holds nothing that a person would not see in it.
#[test]
fn fault_c35_hidden_characters_are_left_out_of_what_a_model_gets_unasked() {
    let skill = read(
        Path::new("SKILL.md"),
        "---\nname: x\ndescription: \"Sorts\\U000E0049\\u202e\\u200b\\e[31m it\"\nwhen-to-use: \"a\u{2066}b\"\n---\nbody\n"
            .as_bytes(),
    );
    assert_eq!(skill.header.description.as_deref(), Some("Sorts[31m it"));
    assert_eq!(skill.header.when_to_use.as_deref(), Some("ab"));
    assert_eq!(skill.problems.len(), 2, "{:?}", skill.problems);
    let emoji = "---\ndescription: \"👩\u{200d}🔧 ❤\u{fe0f} می\u{200c}خواهم\"\n---\n";
    let skill = read(Path::new("SKILL.md"), emoji.as_bytes());
    assert_eq!(skill.header.description.as_deref(), Some("👩\u{200d}🔧 ❤\u{fe0f} می\u{200c}خواهم"));
    assert!(skill.problems.is_empty(), "{:?}", skill.problems);
}

/// Decision 3: a double key never widens what a skill may do, and the message says which one counts.
#[test]
fn a_restrictive_key_that_stands_twice_restricts() {
    for values in [["true", "false"], ["false", "true"]] {
        let [first, second] = values;
        let text = format!(
            "---\ndescription: d\ndisable-model-invocation: {first}\ndisable-model-invocation: {second}\n---\n"
        );
        let skill = read(Path::new("SKILL.md"), text.as_bytes());
        assert!(skill.header.user_only, "{values:?}");
        let told: Vec<&str> =
            skill.problems.iter().map(|problem| problem.detail.as_str()).collect();
        assert_eq!(
            told,
            ["`disable-model-invocation` stands twice, and any that restricts counts"]
        );
    }
}
