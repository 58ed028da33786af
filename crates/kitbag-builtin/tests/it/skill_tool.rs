//! The agent's tool `Skill` (decision 7; B-31, B-35, G-9, G-10, G-17; faults C-39, C-44).

use kitbag_builtin::{Caller, SkillCall, answer, catalogue};
use kitbag_skills::budget::Budget;
use kitbag_skills::{Library, Places, RootChoice, RootOrder, SkillLimit};

use crate::bag::Bag;

const NOTHING: SkillCall<'_> = SkillCall { name: "", arguments: "", resource: None, offset: 0 };

fn small() -> Budget {
    Budget::for_window(32_768)
}

fn ask(bag: &Bag, call: &SkillCall<'_>) -> String {
    bag.anywhere(&answer(&bag.library, call, Caller::Model, &small()))
}

fn named(name: &str) -> SkillCall<'_> {
    SkillCall { name, ..NOTHING }
}

/// B-31 and C-44: the instructions with the arguments in them, and where relative paths start.
#[test]
fn b31_a_call_gives_the_expanded_instructions() {
    let bag = Bag::new();
    bag.write(
        "r/deploy/SKILL.md",
        "---\nname: deploy\ndescription: D\narguments: where\n---\nDeploy to $where by scripts/x.sh.\n",
    )
    .write("r/deploy/scripts/x.sh", "");
    let call = SkillCall { arguments: "staging now", ..named("deploy") };
    insta::assert_snapshot!(ask(&bag, &call), @r"
    Skill `deploy`.
    Its directory is `/r/deploy`; a relative path in the text below starts there.
    Its files, each read by `Skill` with `resource`: `scripts/x.sh` (0 bytes).

    Deploy to staging by scripts/x.sh.

    ARGUMENTS: now
    ");
}

#[test]
fn b35_an_unknown_name_is_answered_with_the_nearest() {
    let bag = Bag::new();
    bag.skill("r/deploy").skill("r/review");
    insta::assert_snapshot!(ask(&bag, &named("depoly")), @"There is no skill `depoly`. There are 2 skills: `deploy`, `review`.");
    insta::assert_snapshot!(ask(&bag, &named("")), @"There is no skill ``. There are 2 skills: `deploy`, `review`.");
    for number in 0..100 {
        bag.skill(&format!("r/n{number:02}"));
    }
    let text = ask(&bag, &named("reviews"));
    assert!(text.contains("There are 102 skills; the nearest: `review`, "), "{text}");
    assert_eq!(text.matches('`').count(), 2 * (1 + 20 + 2), "{text}");
}

#[test]
fn decision_5_words_after_a_question_mark_search() {
    let bag = Bag::new();
    bag.skill("r/deploy").skill("r/review");
    insta::assert_snapshot!(ask(&bag, &named("?deploy now")), @r"
    1 of 2 skills match `deploy now`:

    - deploy — The deploy skill
    ");
    insta::assert_snapshot!(ask(&bag, &named("?nothing")), @"None of 2 skills matches `nothing`.");
}

/// All pieces from the first to the last, by the offset that each one names.
fn pieces(bag: &Bag, call: SkillCall<'_>, caller: Caller) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut call = call;
    loop {
        let text = answer(&bag.library, &call, caller, &small());
        let next =
            text.rsplit_once("`offset` ").map(|(_, end)| end.trim_end_matches(".]\n").to_owned());
        pieces.push(text);
        match next {
            Some(offset) => call.offset = offset.parse().unwrap(),
            None => return pieces,
        }
    }
}

/// What a piece gives of the text itself: what stands between the first blank line and the note on how to read on.
fn given(piece: &str) -> &str {
    let (_, text) = piece.split_once("\n\n").unwrap();
    text.rsplit_once("\n[Cut here").map_or(text, |(text, _)| text)
}

#[test]
fn g9_a_long_body_is_read_on_to_its_end_without_loss() {
    let bag = Bag::new();
    let line = "Ünd so weiter, $where and on.\n";
    let body = line.repeat(1_000);
    bag.write(
        "r/long/SKILL.md",
        format!("---\nname: long\ndescription: D\narguments: where\n---\n{body}"),
    );
    let call = SkillCall { arguments: "there", ..named("long") };
    let pieces = pieces(&bag, call, Caller::Model);
    assert!(pieces.len() > 4);
    let text: String = pieces.iter().map(|piece| given(piece)).collect();
    assert_eq!(text, body.replace("$where", "there"));
    for piece in &pieces {
        assert!(given(piece).chars().count() <= 6_000);
    }
    insta::assert_snapshot!(pieces[0].rsplit_once("\n\n").unwrap().1, @"[Cut here: 23026 of 29000 characters are left. To read on, call `Skill` with the same `name` and `arguments` and `offset` 5974.]");
}

#[test]
fn g10_a_resource_is_read_on_to_its_end_without_loss() {
    let bag = Bag::new();
    let text = "one line of it\n".repeat(3_000);
    bag.skill("r/x").write("r/x/references/long.md", &text);
    let call = SkillCall { resource: Some("references/long.md"), ..named("x") };
    let pieces = pieces(&bag, call, Caller::Model);
    assert_eq!(pieces.iter().map(|piece| given(piece)).collect::<String>(), text);
    for piece in &pieces {
        assert!(given(piece).chars().count() <= 12_000);
    }
    let call = SkillCall { resource: Some("SKILL.md"), ..named("x") };
    assert!(ask(&bag, &call).contains("description: The x skill"));
    let call = SkillCall { resource: Some(""), ..named("x") };
    assert_eq!(ask(&bag, &call), ask(&bag, &named("x")), "an empty field is none");
}

#[test]
fn g17_a_resource_lies_inside_the_skill() {
    let bag = Bag::new();
    bag.skill("r/x")
        .skill("r/y")
        .write("r/x/references/guide.md", "")
        .write("r/x/a.bin", b"\0\xff")
        .link("r/x/out.md", "../y/SKILL.md");
    let resource = |path| ask(&bag, &SkillCall { resource: Some(path), ..named("x") });
    insta::assert_snapshot!(resource("guide.md"), @"Skill `x` has no file `guide.md`. There are 3 files: `references/guide.md`, `SKILL.md`, `a.bin`.");
    for path in ["../y/SKILL.md", "/etc/passwd", "out.md", "references", "a\0b"] {
        assert!(resource(path).starts_with("Skill `x` has no file "), "{path}");
    }
    insta::assert_snapshot!(resource("a.bin"), @"File `a.bin` of skill `x` is not text; it has 2 bytes.");
}

/// Fault C-39: blocked for the model alone, which is told whom to ask.
#[test]
fn fault_c39_a_skill_for_people_is_theirs() {
    let bag = Bag::new();
    let head = "---\nname: deploy\ndescription: D\ndisable-model-invocation: true\n---\n";
    bag.skill("r/open")
        .write("r/deploy/SKILL.md", format!("{head}{}", "Deploy it.\n".repeat(1_000)))
        .write("r/deploy/steps.md", "one, two");
    let call = SkillCall { arguments: "staging", ..named("deploy") };
    insta::assert_snapshot!(ask(&bag, &call), @"Skill `deploy` can be started by a person only. Ask the user to type `/deploy staging`, and do not do its work in another way.");
    let steps = SkillCall { resource: Some("steps.md"), ..named("deploy") };
    assert!(ask(&bag, &steps).contains("by a person only"));
    assert!(ask(&bag, &SkillCall { offset: 5, ..named("deploy") }).contains("by a person only"));
    assert!(ask(&bag, &named("?deploy")).starts_with("None of 1 skills matches"));
    assert!(!ask(&bag, &named("deplo")).contains("`deploy`"));
    assert!(!catalogue(&bag.library.look(), &small()).unwrap().text.contains("deploy"));

    let person = |call: &SkillCall<'_>| answer(&bag.library, call, Caller::Person, &small());
    assert!(person(&named("deploy")).contains("Deploy it."));
    assert!(person(&named("?deploy")).contains("- deploy"));
}

/// What a person was given tells the model to read on, and to read files.
#[test]
fn fault_c39_a_skill_that_a_person_started_is_read_on_by_the_model() {
    let bag = Bag::new();
    let head = "---\nname: deploy\ndescription: D\ndisable-model-invocation: true\n---\n";
    let body = "Deploy it.\n".repeat(1_000);
    bag.write("r/deploy/SKILL.md", format!("{head}{body}")).write("r/deploy/steps.md", "one, two");
    let pieces = pieces(&bag, named("deploy"), Caller::ModelAfterPerson);
    assert_eq!(pieces.iter().map(|piece| given(piece)).collect::<String>(), body);
    let steps = SkillCall { resource: Some("steps.md"), ..named("deploy") };
    assert!(answer(&bag.library, &steps, Caller::ModelAfterPerson, &small()).contains("one, two"));
    let found = answer(&bag.library, &named("?deploy"), Caller::ModelAfterPerson, &small());
    assert!(found.starts_with("None of 0 skills matches"), "it is still not advertised: {found}");
}

/// Decisions 1 and 2: a name, an alias, and `origin:name` where another one has the name.
#[test]
fn decision_1_a_skill_answers_to_its_alias_and_its_origin() {
    let bag = Bag::new();
    bag.write(
        "home/.kitbag/skills/x/SKILL.md",
        "---\nname: other\ndescription: D\n---\nStronger.\n",
    )
    .write("home/.agents/skills/x/SKILL.md", "---\nname: x\ndescription: D\n---\nWeaker.\n")
    .write("home/.agents/skills/x/a.md", "a");
    let library = Library::new(
        Places {
            home: Some(bag.path("home")),
            kitbag_home: Some(bag.path("home/.kitbag")),
            cwd: bag.path("home/work"),
            choice: RootChoice::Default { also: Vec::new() },
            order: RootOrder::UserFirst,
        },
        SkillLimit(100),
    );
    let ask = |call: &SkillCall<'_>| answer(&library, call, Caller::Model, &small());
    for name in ["x", "other", "user:x"] {
        let text = ask(&named(name));
        assert!(text.starts_with("Skill `x`.\n") && text.ends_with("\nStronger.\n"), "{text}");
    }
    let weaker = ask(&named("user.agents:x"));
    assert!(weaker.starts_with("Skill `user.agents:x`.\n"), "the name by which it is read on");
    assert!(weaker.ends_with("\nWeaker.\n"));
    let file = SkillCall { resource: Some("a.md"), ..named("user.agents:x") };
    assert!(ask(&file).ends_with("\na"), "{}", ask(&file));
    assert!(ask(&named("project:x")).starts_with("There is no skill `project:x`."));
}

#[test]
fn what_cannot_be_read_is_told_on_a_line_of_its_own() {
    let bag = Bag::new();
    bag.write("r/x/SKILL.md", b"---\nname: x\ndescription: D\n---\nbad \xff end")
        .write("r/x/large.txt", "a line\n".repeat(700_000));
    let text = ask(&bag, &named("x"));
    assert!(text.ends_with("bad \u{fffd} end\n\n[The text is not valid UTF-8; each \u{fffd} stands for bytes that could not be read.]\n"), "{text}");
    let call = SkillCall { resource: Some("large.txt"), ..named("x") };
    let text = ask(&bag, &call);
    insta::assert_snapshot!(text.rsplit_once("\n\n[").unwrap().1, @"The file has 4900000 bytes; only the first 4194304 can be read this way.]");
}

/// G-21: where there is nothing to say, nothing is said.
#[test]
fn the_catalogue_of_an_empty_bag_is_none() {
    let bag = Bag::new();
    assert_eq!(catalogue(&bag.library.look(), &small()), None);
}
