//! What `Skill` answers (B-31, B-32, B-35; G-9, G-10, G-20, G-24; faults C-39, C-44).

use insta::assert_snapshot;
use kitbag_skills::activation::{
    Activation, BundledFile, Cut, MAX_NEAREST, Piece, Refusal, Repeat, Resource, Unknown,
    UnknownResource, piece,
};
use kitbag_skills::catalogue::{Guidance, nearest};
use kitbag_skills::substitute::{Arguments, Dialect, Shortfall, substitute};
use proptest::prelude::*;

const FILES: [BundledFile<'static>; 2] = [
    BundledFile { path: "references/guide.md", size: 1_204 },
    BundledFile { path: "scripts/a\nb.sh", size: 88 },
];

fn activation<'a>(body: Piece<'a>, files: &'a [BundledFile<'a>]) -> Activation<'a> {
    Activation {
        name: "deploy",
        guidance: Guidance::User,
        directory: Some("/home/a/.kitbag/skills/deploy"),
        files,
        body,
        shortfall: Shortfall::default(),
    }
}

/// B-31 and fault C-44: the expanded body, and where its relative paths start.
#[test]
fn b31_fault_c44_an_activation_is_the_expanded_body_and_its_directory() {
    let names = ["env".to_owned()];
    let arguments = Arguments { text: "staging", names: &names };
    let expanded =
        substitute("Deploy to $env.\nRun scripts/x.sh.\n", Dialect::Kitbag, &arguments, None);
    let answer = activation(piece(&expanded.text, 0, 6_000), &FILES);
    assert_snapshot!(answer, @r"
    Skill `deploy`.
    Its directory is `/home/a/.kitbag/skills/deploy`; a relative path in the text below starts there.
    Its files, each read by `Skill` with `resource`: `references/guide.md` (1204 bytes), `scripts/a\u{a}b.sh` (88 bytes).

    Deploy to staging.
    Run scripts/x.sh.
    ");
}

#[test]
fn g24_project_skills_say_whose_guidance_they_are() {
    let answer = Activation {
        guidance: Guidance::Project,
        directory: None,
        ..activation(piece("Go.", 0, 9), &[])
    };
    assert_snapshot!(answer, @r"
    Skill `deploy`. It comes with the project: project guidance, not the user's instructions.

    Go.
    ");
}

#[test]
fn g9_a_long_body_is_cut_at_a_line_and_read_on_by_offset() {
    let body = "One line.\nTwo lines.\nThree lines.\n";
    assert_snapshot!(activation(piece(body, 0, 25), &[]), @r"
    Skill `deploy`.
    Its directory is `/home/a/.kitbag/skills/deploy`; a relative path in the text below starts there.

    One line.
    Two lines.

    [Cut here: 13 of 34 characters are left. To read on, call `Skill` with the same `name` and `arguments` and `offset` 21.]
    ");
    assert_snapshot!(activation(piece(body, 21, 25), &FILES), @r"
    Skill `deploy`.
    Its directory is `/home/a/.kitbag/skills/deploy`; a relative path in the text below starts there.
    It goes on from character 21 of 34.

    Three lines.
    ");
    assert_snapshot!(activation(piece(body, 99, 25), &FILES), @r"
    Skill `deploy`.
    Its directory is `/home/a/.kitbag/skills/deploy`; a relative path in the text below starts there.
    Nothing is left: the text has 34 characters.
    ");
}

#[test]
fn g10_a_resource_is_cut_in_the_same_way() {
    let text = "x".repeat(30);
    let resource = Resource {
        name: "deploy",
        path: "assets/long.txt",
        guidance: Guidance::Project,
        text: piece(&text, 0, 10),
    };
    assert_snapshot!(resource, @r"
    File `assets/long.txt` of skill `deploy`, which comes with the project.

    xxxxxxxxxx

    [Cut here, in the middle of a long line: 20 of 30 characters are left. To read on, call `Skill` with the same `name` and `resource` and `offset` 10.]
    ");
}

#[test]
fn a_cut_falls_inside_a_line_only_where_the_line_is_too_long() {
    let text = "ab\r\ncdefgh\r\n";
    let cut = |offset, chars| {
        let piece = piece(text, offset, chars);
        (piece.text, piece.end, piece.cut)
    };
    assert_eq!(cut(0, 6), ("ab\r\n", 4, Cut::Line));
    assert_eq!(cut(4, 6), ("cdefgh", 10, Cut::MidLine));
    assert_eq!(cut(4, 7), ("cdefgh", 10, Cut::MidLine));
    assert_eq!(cut(4, 8), ("cdefgh\r\n", 12, Cut::End));
    assert_eq!(cut(0, 0), ("a", 1, Cut::MidLine));
    assert_eq!(cut(12, 5), ("", 12, Cut::End));
}

#[test]
fn the_list_of_files_is_bounded_and_says_so() {
    let paths: Vec<String> = (0..1_103).map(|at| format!("assets/{at:04}.md")).collect();
    let files: Vec<BundledFile<'_>> =
        paths.iter().map(|path| BundledFile { path, size: 1 }).collect();
    let answer = activation(piece("", 0, 9), &files).to_string();
    assert!(answer.contains("`assets/0039.md` (1 bytes); 1063 more are not listed.\n"), "{answer}");
    let long = "a".repeat(3_000);
    let files = [BundledFile { path: &long, size: 1 }];
    let answer = activation(piece("", 0, 9), &files).to_string();
    assert!(answer.contains("It has 1 files, whose paths are too long to list.\n"), "{answer}");
}

#[test]
fn what_substitution_left_out_is_said() {
    let shortfall = Shortfall { placeholders: 2, argument_bytes: 3 };
    let answer = Activation { shortfall, directory: None, ..activation(piece("Go.", 0, 9), &[]) };
    assert_snapshot!(answer, @r"
    Skill `deploy`.
    The arguments are too long: 2 of their places were left as written.
    The last 3 bytes of the arguments were not read.

    Go.
    ");
}

#[test]
fn g20_a_repeat_is_a_short_pointer() {
    assert_snapshot!(Repeat { name: "deploy" }, @"Skill `deploy` is already in this conversation, unchanged: go by the text you have of it.");
}

/// Fault C-39: the flag blocks the model alone, and the model learns whom to ask.
#[test]
fn fault_c39_a_refusal_sends_the_model_to_the_user() {
    assert_snapshot!(Refusal { name: "deploy", arguments: " <staging> " }, @"Skill `deploy` can be started by a person only. Ask the user to type `/deploy <staging>`, and do not do its work in another way.");
    assert_snapshot!(Refusal { name: "deploy", arguments: "" }, @"Skill `deploy` can be started by a person only. Ask the user to type `/deploy`, and do not do its work in another way.");
}

#[test]
fn b35_an_unknown_name_is_answered_with_the_nearest() {
    let names = ["review", "deploy", "deploy-web"];
    let unknown = Unknown { name: "Deplyo<b>", nearest: nearest("deplyo", &names, MAX_NEAREST) };
    assert_snapshot!(unknown, @"There is no skill `Deplyo<b>`. There are 3 skills: `deploy`, `deploy-web`, `review`.");
    let names: Vec<String> = (0..25).map(|at| format!("skill-{at:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let unknown = Unknown { name: "skill-24x", nearest: nearest("skill-24x", &names, 3) };
    assert_snapshot!(unknown, @r"
    There is no skill `skill-24x`. There are 25 skills; the nearest: `skill-24`, `skill-04`, `skill-14`.
    `Skill` with `?words` searches all of them.
    ");
    let unknown = Unknown { name: "x", nearest: nearest("x", &[], MAX_NEAREST) };
    assert_snapshot!(unknown, @"There is no skill `x`. There is no skill at all.");
}

#[test]
fn an_unknown_resource_is_answered_with_the_nearest() {
    let paths = ["references/guide.md"];
    let nearest = nearest("guide.md", &paths, MAX_NEAREST);
    let unknown = UnknownResource { name: "deploy", path: "guide.md", nearest };
    assert_snapshot!(unknown, @"Skill `deploy` has no file `guide.md`. There is one file: `references/guide.md`.");
}

proptest! {
    /// Pieces lose nothing, keep to their budget, and part a line only where it is longer than the budget.
    #[test]
    fn pieces_are_the_whole_text(text in "(\\PC{0,9}(\n|\r\n|\r)?){0,12}", chars in 1_usize..20) {
        let mut whole = String::new();
        let mut offset = 0;
        loop {
            let piece = piece(&text, offset, chars);
            prop_assert!(piece.text.chars().count() <= chars);
            prop_assert_eq!(piece.total, text.chars().count());
            if piece.cut == Cut::MidLine {
                prop_assert!(!piece.text.contains('\n'));
            }
            whole.push_str(piece.text);
            if piece.cut == Cut::End {
                break;
            }
            prop_assert!(piece.end > offset);
            offset = piece.end;
        }
        prop_assert_eq!(whole, text);
    }

    /// B-31: a body that fits stands in the answer byte for byte, at its end.
    #[test]
    fn a_whole_body_is_the_end_of_the_answer(body in "\\PC{0,40}", name in "\\PC{0,9}", offset in 0_usize..50) {
        let whole = Activation { name: &name, ..activation(piece(&body, 0, 40), &FILES) };
        let end = format!("\n\n{body}");
        prop_assert!(whole.to_string().ends_with(&end));
        let rest = activation(piece(&body, offset, 3), &FILES).to_string();
        prop_assert!(rest.starts_with("Skill `deploy`."));
    }
}
