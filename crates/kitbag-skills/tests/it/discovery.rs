//! Where skills are found, and which of them answers to a name.

use std::fs;

use kitbag_skills::{GivenBy, Reason, RootOrder, Status, workspace};

use crate::tree::{Tree, statuses, used};

const FM: &str = "---\nname: x\ndescription: d\n---\n";

#[test]
fn k15_three_layouts_are_found_in_order() {
    let tree = Tree::new();
    tree.skill("a/direct").skill("a/skills/nested").skill("a/zulu").skill("b/other");
    let catalog = tree.three_layouts(&["a", "b"]);
    assert_eq!(used(&catalog), ["direct", "zulu", "nested", "other"]);
    let sources: Vec<_> = catalog.used().map(|skill| skill.root.clone()).collect();
    assert_eq!(sources[2], tree.path("a"));
    assert_eq!(sources[3], tree.path("b"));
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn k15_a_root_with_a_skill_md_is_one_skill_named_by_its_directory() {
    let tree = Tree::new();
    tree.write("demo/SKILL.md", "---\nname: other\ndescription: d\n---\n").skill("demo/inner");
    for catalog in [tree.three_layouts(&["demo"]), tree.collection(&["demo"])] {
        assert_eq!(used(&catalog), ["demo"]);
    }
}

#[test]
fn k15_a_missing_root_is_a_problem_and_the_rest_is_served() {
    let tree = Tree::new();
    tree.skill("a/x").write("file", "");
    let catalog = tree.three_layouts(&["nowhere", "file", "a"]);
    assert_eq!(used(&catalog), ["x"]);
    assert_eq!(tree.told(&catalog.problems), ["nowhere: root-unreadable", "file: root-unreadable"]);
    assert!(catalog.problems[0].hint.is_some());
}

#[test]
fn k16_what_is_no_skill_is_named_and_its_neighbours_are_served() {
    let tree = Tree::new();
    tree.skill("r/a").directory("r/b").skill("r/d");
    tree.write("r/c/SKILL.md", "---\n{{{\n---\nbody\n");
    for catalog in [tree.three_layouts(&["r"]), tree.collection(&["r"])] {
        assert_eq!(used(&catalog), ["a", "d"]);
        let told = tree.told(&catalog.problems);
        assert!(told.contains(&"r/b: no-skill-md".to_owned()), "{told:?}");
        assert!(told.contains(&"r/c/SKILL.md: malformed-frontmatter".to_owned()), "{told:?}");
        let missing = catalog.problems.iter().find(|p| p.reason == Reason::NoSkillMd).unwrap();
        assert!(missing.detail.contains("SKILL.md"));
    }
}

#[test]
fn k17_a_name_cannot_be_taken_by_what_a_file_says() {
    let tree = Tree::new();
    tree.write("r/aaa/SKILL.md", "---\nname: docx\ndescription: impostor\n---\n");
    tree.skill("r/docx");
    let catalog = tree.three_layouts(&["r"]);
    assert_eq!(used(&catalog), ["aaa", "docx"]);
    assert_eq!(catalog.get("docx").unwrap().description(), "The r/docx skill");
    let told = tree.told(&catalog.problems);
    assert!(told.contains(&"r/aaa/SKILL.md: name-mismatch".to_owned()), "{told:?}");
    assert!(!told.iter().any(|line| line.contains("duplicate-name")), "{told:?}");
}

/// Decision 1: the other name is an alias, unless some directory has it.
#[test]
fn b15_a_frontmatter_name_is_an_alias_and_the_directory_is_the_name() {
    let tree = Tree::new();
    tree.write("r/deploy/SKILL.md", "---\nname: Ship It\ndescription: d\n---\n");
    tree.write("r/other/SKILL.md", "---\nname: deploy\ndescription: d\n---\n");
    let catalog = tree.collection(&["r"]);
    let spoken = |name: &str| catalog.resolve(name).map(|skill| skill.name().to_string());
    assert_eq!(spoken("deploy").as_deref(), Some("deploy"));
    assert_eq!(spoken("Ship It").as_deref(), Some("deploy"));
    assert_eq!(spoken("other").as_deref(), Some("other"));
    assert_eq!(catalog.get("Ship It"), None);
    assert!(tree.told(&catalog.problems).contains(&"r/other: alias-taken".to_owned()));
}

#[test]
fn k18_a_name_in_two_roots_of_one_rank_is_nobodys() {
    let tree = Tree::new();
    tree.skill("a/x").skill("a/fine").write("b/x/SKILL.md", "---\ndescription: another\n---\n");
    let catalog = tree.three_layouts(&["a", "b"]);
    assert_eq!(used(&catalog), ["fine"]);
    let problem = catalog.problems.iter().find(|p| p.reason == Reason::DuplicateName).unwrap();
    for path in ["a/x", "b/x"] {
        assert!(problem.detail.contains(&tree.path(path).display().to_string()), "{problem}");
    }
    assert_eq!(catalog.resolve("x"), None);
    assert_eq!(catalog.resolve("environment:x"), None);
}

/// Decision 2: equal digest is one skill without a warning.
#[test]
fn fault_31_the_same_content_twice_is_one_skill() {
    let tree = Tree::new();
    for root in ["a", "b"] {
        tree.write(&format!("{root}/x/SKILL.md"), FM).write(&format!("{root}/x/ref/r.md"), "r");
    }
    let catalog = tree.three_layouts(&["a", "b"]);
    assert_eq!(used(&catalog), ["x"]);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    assert_eq!(catalog.skills[0].found_at, [tree.path("a/x"), tree.path("b/x")]);

    tree.write("b/x/ref/r.md", "other");
    let catalog = tree.three_layouts(&["a", "b"]);
    assert_eq!(used(&catalog), Vec::<&str>::new());
}

#[test]
fn k19_the_directory_names_a_skill_whose_file_gives_no_name_or_another() {
    let tree = Tree::new();
    tree.write("r/plain/SKILL.md", "---\ndescription: d\n---\n");
    tree.write("r/odd/SKILL.md", "---\nname: ../../evil\ndescription: d\n---\n");
    let catalog = tree.three_layouts(&["r"]);
    assert_eq!(used(&catalog), ["odd", "plain"]);
    assert_eq!(tree.told(&catalog.problems), ["r/odd/SKILL.md: name-mismatch"]);
}

#[test]
fn k20_a_directory_whose_name_is_none_is_skipped() {
    let tree = Tree::new();
    tree.skill("r/ok")
        .skill("r/not a name")
        .skill("r/-flag")
        .skill(&format!("r/{}", "n".repeat(65)));
    let catalog = tree.three_layouts(&["r"]);
    assert_eq!(used(&catalog), ["ok"]);
    let unusable = catalog.problems.iter().filter(|problem| problem.reason == Reason::UnusableName);
    assert_eq!(unusable.count(), 3);
}

#[test]
fn k22_more_skills_than_the_limit_are_left_out_and_said() {
    let tree = Tree::new();
    for number in 0..35 {
        tree.skill(&format!("r/s{number:02}"));
    }
    let library = kitbag_skills::Library::new(
        tree.given(GivenBy::Variable, &["r"]).places().clone(),
        kitbag_skills::SkillLimit(32),
    );
    let catalog = library.look();
    assert_eq!(used(&catalog).len(), 32);
    assert_eq!(used(&catalog)[31], "s31");
    let problem = catalog.problems.iter().find(|p| p.reason == Reason::SkillLimit).unwrap();
    assert!(problem.detail.contains("32"), "{problem}");
    assert_eq!(catalog.skills[34].status, Status::OverLimit);
}

#[test]
fn k24_links_out_of_the_root_are_refused() {
    let tree = Tree::new();
    tree.skill("outside/s").skill("r/ok");
    tree.link("linked/skills", "../outside");
    let catalog = tree.three_layouts(&["linked"]);
    assert_eq!(used(&catalog), Vec::<&str>::new());
    assert_eq!(tree.told(&catalog.problems), ["linked/skills: symlink-escape"]);
    assert!(catalog.problems[0].detail.contains("outside"));

    tree.link("r/evil", "../outside/s").link("r/skills/bad", "../../outside/s");
    tree.link("r/dangling", "nowhere");
    for catalog in [tree.three_layouts(&["r"]), tree.collection(&["r"])] {
        assert_eq!(used(&catalog), ["ok"]);
        let mut told = tree.told(&catalog.problems);
        told.retain(|line| line.contains("symlink"));
        assert_eq!(
            told,
            [
                "r/dangling: symlink-escape",
                "r/evil: symlink-escape",
                "r/skills/bad: symlink-escape"
            ]
        );
        assert!(catalog.problems[0].detail.contains("broken symlink"));
    }
}

#[test]
fn k24_links_inside_the_root_lead_to_one_skill_under_its_own_name() {
    let tree = Tree::new();
    tree.skill("r/shared/gamma").link("r/skills/gamma", "../shared/gamma");
    let catalog = tree.three_layouts(&["r"]);
    assert_eq!(used(&catalog), ["gamma"]);
    assert!(!tree.told(&catalog.problems).iter().any(|line| line.contains("symlink-escape")));

    tree.skill("q/bar").link("q/skills/foo", "../bar");
    let catalog = tree.three_layouts(&["q"]);
    assert_eq!(used(&catalog), ["bar"]);
    assert_eq!(tree.told(&catalog.problems), ["q/skills/foo: name-mismatch"]);
    assert!(catalog.problems[0].detail.contains("`bar`"));
}

#[test]
fn k24_a_root_given_twice_is_read_once() {
    let tree = Tree::new();
    tree.skill("r/x").link("alias", "r");
    let catalog = tree.three_layouts(&["r", "r", "alias"]);
    assert_eq!(used(&catalog), ["x"]);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn k24_a_skill_md_may_be_a_link_inside_its_skill_only() {
    let tree = Tree::new();
    tree.write("outside.md", FM).write("r/inner/docs/real.md", FM).write("r/beside/x.md", FM);
    tree.link("r/inner/SKILL.md", "docs/real.md");
    tree.link("r/out/SKILL.md", "../../outside.md");
    tree.link("r/side/SKILL.md", "../beside/x.md");
    let catalog = tree.three_layouts(&["r"]);
    assert_eq!(used(&catalog), ["inner"]);
    let told = tree.told(&catalog.problems);
    for path in ["r/out/SKILL.md", "r/side/SKILL.md"] {
        assert!(told.contains(&format!("{path}: symlink-escape")), "{told:?}");
    }
}

#[test]
fn b8_to_b10_the_users_come_first_then_the_nearest_directory() {
    let tree = Tree::new();
    tree.skill("home/.kitbag/skills/mine").skill("repo/.kitbag/skills/theirs");
    let catalog = tree.usual().look();
    assert_eq!(statuses(&catalog), ["user:mine used", "project-1:theirs withheld"]);

    for level in ["", "repo/", "repo/app/"] {
        tree.write(&format!("{level}.kitbag/skills/same/SKILL.md"), format!("{FM}{level}"));
    }
    let labels: Vec<String> = statuses(&tree.usual().look());
    assert_eq!(
        labels,
        [
            "user:mine used",
            "project:same withheld",
            "project-1:same withheld",
            "project-1:theirs withheld",
            "project-2:same withheld",
        ]
    );
}

/// A repository must not make its root trusted by marking a directory further down as a workspace, and what an archive
/// brought is no more the user's for being owned by them.
#[test]
fn decision_4_directories_above_the_workspace_wait_for_an_approval_too() {
    let tree = Tree::new();
    tree.skill("repo/.agents/skills/x").directory("repo/app/.kitbag");
    let library = tree.usual();
    assert_eq!(workspace(library.places()), tree.path("repo/app"));
    assert_eq!(statuses(&library.look()), ["project-1.agents:x withheld"]);
}

#[test]
fn decision_2_a_stronger_skill_shadows_and_the_weaker_keeps_its_full_name() {
    let tree = Tree::new();
    for (client, text) in [(".kitbag", "1"), (".agents", "2"), (".claude", "3")] {
        tree.write(&format!("home/{client}/skills/x/SKILL.md"), format!("{FM}{text}"));
    }
    let catalog = tree.usual().look();
    assert_eq!(
        statuses(&catalog),
        ["user:x used", "user.agents:x shadowed by user:x", "user.claude:x shadowed by user:x",]
    );
    let weaker = catalog.resolve("user.claude:x").unwrap();
    assert_eq!(weaker.found_at, [tree.path("home/.claude/skills/x")]);
}

#[test]
fn g6_a_setting_can_put_the_project_before_the_user() {
    let tree = Tree::new();
    tree.write(".agents/skills/x/SKILL.md", format!("{FM}a"));
    tree.write("home/.agents/skills/x/SKILL.md", format!("{FM}b"));
    let library = tree.usual_with(|places| places.order = RootOrder::ProjectFirst);
    let ranks: Vec<String> = library.look().roots.iter().map(|root| root.origin.label()).collect();
    assert_eq!(ranks, ["project-2.agents", "user.agents"]);
}

/// A repository must not take a skill away from its user by bringing one of the same name.
#[test]
fn g5_what_is_withheld_shadows_nothing() {
    let tree = Tree::new();
    tree.write("repo/.agents/skills/x/SKILL.md", format!("{FM}a"));
    tree.write("home/.agents/skills/x/SKILL.md", format!("{FM}b"));
    let library = tree.usual_with(|places| places.order = RootOrder::ProjectFirst);
    assert_eq!(statuses(&library.look()), ["project-1.agents:x withheld", "user.agents:x used"]);
}

#[test]
fn b11_any_skill_on_disk_replaces_the_bundled_guide() {
    let tree = Tree::new();
    assert_eq!(tree.usual().look().get("guide").unwrap().origin.label(), "bundled");
    tree.skill("home/.kitbag/skills/guide");
    let catalog = tree.usual().look();
    assert_eq!(catalog.get("guide").unwrap().origin.label(), "user");
    assert_eq!(catalog.resolve("bundled:guide").unwrap().origin.label(), "bundled");
}

#[test]
fn b12_b13_fault_26_a_directory_in_no_repository_has_skills() {
    let tree = Tree::new();
    tree.skill("repo/app/.agents/skills/x");
    let library = tree.usual_with(|_| ());
    fs::remove_dir(tree.path("repo/.git")).unwrap();
    assert_eq!(workspace(library.places()), tree.path("repo/app"));
    assert_eq!(statuses(&library.look()), ["project.agents:x withheld"]);
}

#[test]
fn b14_a_directory_in_two_layers_is_read_once() {
    let tree = Tree::new();
    tree.skill("home/.kitbag/skills/x").directory("home/code");
    let library = tree.usual_with(|places| places.cwd = tree.path("home/code"));
    assert_eq!(statuses(&library.look()), ["user:x used"]);
    assert_eq!(workspace(library.places()), tree.path("home/code"));
}

#[test]
fn b4_nothing_is_a_valid_answer() {
    let tree = Tree::new();
    let catalog = tree.usual().look();
    assert!(statuses(&catalog).is_empty());
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn g13_without_a_description_a_skill_is_invalid_and_listed_with_its_reason() {
    let tree = Tree::new();
    tree.write("r/empty/SKILL.md", "---\nname: empty\n---\n\n").skill("r/ok");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["ok"]);
    assert!(matches!(
        catalog.skills[0].status,
        Status::Invalid { reason: Reason::NoDescription, .. }
    ));
    assert_eq!(catalog.resolve("empty"), None);
    assert_eq!(catalog.resolve("given:empty"), None);
}

#[test]
fn g3_packages_bring_skills_that_wait_for_an_approval() {
    let tree = Tree::new();
    tree.write(
        "repo/package.json",
        r#"{"dependencies": {"one": "1", "@scope/two": "1", "none": "1"}, "devDependencies": {"out": "1"}}"#,
    );
    let package = |name: &str, keys: &str| {
        tree.write(&format!("repo/node_modules/{name}/package.json"), keys);
    };
    package("one", r#"{"kitbagSkills": "./skills"}"#);
    package("@scope/two", r#"{"gbsSkills": ["a", "b"]}"#);
    package("out", r#"{"kitbagSkills": ["../../.git", "link", "/etc"]}"#);
    package("stranger", r#"{"kitbagSkills": "skills"}"#);
    tree.skill("repo/node_modules/one/skills/first").skill("repo/node_modules/@scope/two/b/second");
    tree.skill("repo/node_modules/stranger/skills/third").skill("elsewhere/fourth");
    tree.directory("repo/node_modules/@scope/two/a");
    tree.link("repo/node_modules/out/link", "../../../elsewhere");
    let catalog = tree.usual().look();
    assert_eq!(
        statuses(&catalog),
        ["package(@scope/two):second withheld", "package(one):first withheld"]
    );
    let refused = catalog.problems.iter().filter(|problem| problem.reason == Reason::Package);
    assert_eq!(refused.count(), 3, "{:?}", catalog.problems);
}

#[test]
fn g3_a_broken_package_json_is_a_problem_and_no_more() {
    let tree = Tree::new();
    tree.skill("home/.agents/skills/x");
    for rubbish in ["{", "", "null", "5", "\"x\"", "[]", "\u{0}"] {
        tree.write("repo/package.json", rubbish);
        let catalog = tree.usual().look();
        assert_eq!(used(&catalog), ["x"]);
        assert_eq!(tree.told(&catalog.problems), ["repo/package.json: package"], "{rubbish:?}");
    }
}

#[test]
fn fault_20_another_spelling_is_taken_with_a_warning() {
    let tree = Tree::new();
    tree.write("r/one/skill.md", "---\ndescription: d\n---\n");
    tree.write("r/two/skill.md", FM).write("r/two/Skill.md", FM);
    tree.write("r/both/SKILL.md", "---\ndescription: right\n---\n");
    tree.write("r/both/skill.md", "---\ndescription: wrong\n---\n");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["both", "one"]);
    assert_eq!(catalog.get("both").unwrap().description(), "right");
    assert_eq!(
        tree.told(&catalog.problems),
        ["r/two: skill-md-case", "r/one/skill.md: skill-md-case"]
    );
}

#[test]
fn fault_21_a_flat_file_is_named_with_what_to_do() {
    let tree = Tree::new();
    tree.write("r/review.md", FM).write("r/README.md", "# Read me\n").skill("r/ok");
    let catalog = tree.collection(&["r"]);
    assert_eq!(tree.told(&catalog.problems), ["r/review.md: flat-file"]);
    assert!(catalog.problems[0].hint.as_ref().unwrap().contains("review/SKILL.md"));
}

#[test]
fn fault_22_linked_folders_of_the_user_are_followed_wherever_they_lead() {
    let tree = Tree::new();
    tree.skill("src/s").link("home/.agents/skills/s", "../../../src/s");
    tree.link("home/.agents/skills/gone", "../../../src/none");
    let catalog = tree.usual().look();
    assert_eq!(used(&catalog), ["s"]);
    assert_eq!(tree.told(&catalog.problems), ["home/.agents/skills/gone: symlink-escape"]);
}

#[test]
fn fault_24_a_skill_ends_the_descent_and_vendored_trees_are_not_searched() {
    let tree = Tree::new();
    tree.skill("r/s").skill("r/s/node_modules/p").skill("r/s/inner");
    tree.skill("r/node_modules/q").skill("r/.git/hooks").skill("r/build").skill("r/dist/made");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["build", "s"]);
}

#[test]
fn fault_25_grouped_layouts_are_found_to_depth_six() {
    let tree = Tree::new();
    tree.skill("r/skills/common/x").skill("r/1/2/3/4/5/six").skill("r/1/2/3/4/5/6/seven");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["six", "x"]);
    assert_eq!(tree.told(&catalog.problems), ["r/1/2/3/4/5/6: too-deep"]);
}

#[test]
fn fault_27_a_linked_worktree_has_the_main_checkouts_skills_once() {
    let tree = Tree::new();
    let library = tree.usual_with(|places| places.cwd = tree.path("tree"));
    tree.skill("repo/.agents/skills/x");
    tree.write("tree/.git", format!("gitdir: {}\n", tree.path("repo/.git/worktrees/t").display()));
    tree.write("repo/.git/worktrees/t/commondir", "../..\n");
    tree.write("repo/.git/worktrees/t/gitdir", format!("{}\n", tree.path("tree/.git").display()));
    let catalog = library.look();
    assert_eq!(catalog.skills[0].name().as_str(), "x");
    assert_eq!(catalog.skills[0].status, Status::Withheld);
    assert_eq!(catalog.skills.len(), 2);

    // A pointer that the other side does not return leads nowhere.
    tree.write("repo/.git/worktrees/t/gitdir", "/somewhere/else/.git\n");
    assert_eq!(library.look().skills.len(), 1);
}

#[test]
fn fault_28_discovery_takes_its_working_directory_from_the_caller() {
    let tree = Tree::new();
    tree.skill("repo/app/.agents/skills/a").skill("repo/other/.agents/skills/b");
    let here = tree.usual();
    let there = tree.usual_with(|places| places.cwd = tree.path("repo/other"));
    assert_eq!(statuses(&here.look()), ["project.agents:a withheld"]);
    assert_eq!(statuses(&there.look()), ["project.agents:b withheld"]);
}

#[test]
fn fault_29_one_folder_reached_by_many_ways_is_one_skill() {
    let tree = Tree::new();
    tree.skill("home/.agents/skills/s").link("home/.claude/skills", "../.agents/skills");
    let catalog = tree.usual().look();
    assert_eq!(statuses(&catalog), ["user.agents:s used"]);
    assert_eq!(catalog.skills[0].found_at.len(), 2);
}

/// Decision 8: a skill found under `.claude/skills`, also by a link, is written in that dialect.
#[test]
fn decision_8_the_dialect_follows_every_way_to_a_skill() {
    use kitbag_skills::substitute::Dialect;
    let tree = Tree::new();
    tree.skill("home/.agents/skills/linked")
        .link("home/.claude/skills/linked", "../../.agents/skills/linked");
    tree.skill("home/.agents/skills/plain");
    let catalog = tree.usual().look();
    assert_eq!(catalog.get("linked").unwrap().dialect, Dialect::Claude);
    assert_eq!(catalog.get("plain").unwrap().dialect, Dialect::Kitbag);
}

#[test]
fn fault_32_the_known_client_directories_inside_a_given_root_are_searched() {
    let tree = Tree::new();
    tree.skill("r/.opencode/skill/a").skill("r/.opencode/skills/b").skill("r/.github/skills/c");
    tree.skill("r/skills/.curated/d").skill("r/.cache/skills/e");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["c", "a", "b", "d"]);
    assert_eq!(tree.told(&catalog.problems), ["r/.cache/skills: hidden-directory"]);
}

#[test]
fn fault_33_a_path_filter_hides_nothing() {
    let tree = Tree::new();
    tree.write("r/x/SKILL.md", "---\nname: x\ndescription: d\npaths: ['*.tf']\n---\nbody\n");
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["x"]);
    assert_eq!(catalog.get("x").unwrap().document.header.auto_attach, ["*.tf"]);
}

#[test]
fn bad_input_is_named_and_the_rest_served() {
    let tree = Tree::new();
    tree.skill("r/ok").directory("r/dir/SKILL.md").link("r/loop/a", "../loop");
    tree.write("r/bytes/SKILL.md", b"---\nname: bytes\ndescription: \xff\xfe\n---\n");
    tree.write("r/body/SKILL.md", b"---\nname: body\ndescription: d\n---\n\xff\xfe\n");
    fs::create_dir(tree.path("r/fifo")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.path("r/fifo/SKILL.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let catalog = tree.collection(&["r"]);
    assert_eq!(used(&catalog), ["body", "ok"]);
    let told = tree.told(&catalog.problems);
    for line in [
        "r/dir/SKILL.md: unreadable-skill-md",
        "r/fifo/SKILL.md: unreadable-skill-md",
        "r/bytes/SKILL.md: malformed-frontmatter",
        "r/loop: no-skill-md",
    ] {
        assert!(told.contains(&line.to_owned()), "{line} in {told:?}");
    }
}

#[test]
fn g2_the_project_brings_skills_in_our_directory_and_in_the_others() {
    let tree = Tree::new();
    tree.skill("repo/app/.kitbag/skills/ours").skill("repo/app/.claude/skills/theirs");
    tree.skill("repo/app/.agents/skills/shared");
    assert_eq!(
        statuses(&tree.usual().look()),
        [
            "project:ours withheld",
            "project.agents:shared withheld",
            "project.claude:theirs withheld",
        ]
    );
}

#[test]
fn g4_a_setting_names_more_folders_of_the_users() {
    let tree = Tree::new();
    tree.skill("mine/x").skill("home/.kitbag/skills/y");
    let also = vec![tree.path("mine"), tree.path("missing")];
    let library =
        tree.usual_with(|places| places.choice = kitbag_skills::RootChoice::Default { also });
    let catalog = library.look();
    assert_eq!(statuses(&catalog), ["settings:x used", "user:y used"]);
    assert_eq!(tree.told(&catalog.problems), ["missing: root-unreadable"]);
}

/// What is the same file by its number is not the same skill: only paths are compared.
#[test]
fn fault_30_two_skills_that_share_a_file_are_two() {
    let tree = Tree::new();
    tree.write("r/one/SKILL.md", "---\ndescription: d\n---\n").directory("r/two");
    fs::hard_link(tree.path("r/one/SKILL.md"), tree.path("r/two/SKILL.md")).unwrap();
    assert_eq!(used(&tree.collection(&["r"])), ["one", "two"]);
}
