//! What a library says after something on disk changed.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use kitbag_skills::{GivenBy, Library, Watch, extension_fault};

use crate::tree::{Tree, used};

fn library(tree: &Tree) -> Library {
    tree.directory("r");
    tree.given(GivenBy::CommandLine, &["r"])
}

fn skill_md(description: &str) -> String {
    format!("---\nname: x\ndescription: {description}\n---\nbody\n")
}

#[test]
fn b2_making_a_library_reads_nothing() {
    let tree = Tree::new();
    tree.skill("r/x");
    let library = library(&tree);
    assert_eq!(library.latest().generation, 0);
    assert!(library.latest().skills.is_empty());
}

#[test]
fn b16_every_kind_of_change_is_in_the_next_look() {
    let tree = Tree::new();
    let library = library(&tree);
    let look = || {
        let catalog = library.look();
        let skills: Vec<String> = catalog
            .used()
            .map(|skill| format!("{} {}", skill.name(), skill.description()))
            .collect();
        skills.join(", ")
    };
    assert_eq!(look(), "");
    tree.write("r/x/SKILL.md", skill_md("one"));
    assert_eq!(look(), "x one");
    tree.write("r/x/SKILL.md", skill_md("two"));
    assert_eq!(look(), "x two", "edited within the same instant, to the same length");
    fs::rename(tree.path("r/x"), tree.path("r/y")).unwrap();
    assert_eq!(look(), "y two");
    tree.write("elsewhere/SKILL.md", skill_md("three"));
    fs::remove_file(tree.path("r/y/SKILL.md")).unwrap();
    assert_eq!(look(), "");
    fs::remove_dir(tree.path("r/y")).unwrap();
    tree.write("r/group/deep/z/SKILL.md", skill_md("four"));
    tree.link("r/y", "group/deep/z");
    assert_eq!(look(), "z four");
    fs::remove_dir_all(tree.path("r")).unwrap();
    assert_eq!(look(), "");
    tree.write("r/back/SKILL.md", skill_md("five"));
    assert_eq!(look(), "back five");
}

#[test]
fn b16_a_link_that_leads_elsewhere_is_followed_there() {
    let tree = Tree::new();
    tree.write("r/a/one/SKILL.md", skill_md("one")).write("r/b/one/SKILL.md", skill_md("other"));
    let tree_root = tree.path("current");
    tree.link("current", "r/a");
    let library = tree.given(GivenBy::CommandLine, &["current"]);
    assert_eq!(library.look().get("one").unwrap().description(), "one");
    fs::remove_file(&tree_root).unwrap();
    tree.link("current", "r/b");
    assert_eq!(library.look().get("one").unwrap().description(), "other");
}

#[test]
fn the_generation_grows_only_when_something_changed() {
    let tree = Tree::new();
    tree.skill("r/x").write("r/.hidden", "");
    let library = library(&tree);
    let first = library.look();
    assert_eq!(first.generation, 1);
    assert!(Arc::ptr_eq(&first, &library.look()));
    tree.write("r/ignored.txt", "no skill");
    assert_eq!(library.look().generation, 1);
    tree.skill("r/y");
    assert_eq!(library.look().generation, 2);
    assert_eq!(used(&library.latest()), ["x", "y"]);
}

#[test]
fn a_declaration_that_comes_or_goes_is_seen() {
    let tree = Tree::new();
    tree.skill("r/x").write("r/x/run.py", "");
    let library = library(&tree);
    let scripts = || library.look().get("x").unwrap().document.declaration.scripts.len();
    assert_eq!(scripts(), 0);
    tree.write(
        "r/x/kitbag.toml",
        "version = 1\n[[script]]\npath = \"run.py\"\ninterpreter = \"python3\"\n",
    );
    assert_eq!(scripts(), 1);
    fs::remove_file(tree.path("r/x/kitbag.toml")).unwrap();
    assert_eq!(scripts(), 0);
}

#[test]
fn manifests_follow_the_folder() {
    let tree = Tree::new();
    tree.skill("r/x");
    let library = library(&tree);
    let catalog = library.look();
    let document = &catalog.get("x").unwrap().document;
    assert_eq!(library.manifest(document).files.len(), 1);
    tree.write("r/x/references/a.md", "a");
    assert_eq!(library.manifest(document).files.len(), 2);
    let before = library.digests(document).unwrap().skill;
    tree.write("r/x/references/a.md", "b");
    assert_ne!(library.digests(document).unwrap().skill, before);
    tree.write("r/x/references/b.md", "b");
    assert_eq!(library.manifest(document).files.len(), 3);
}

#[test]
fn a_change_of_files_is_counted_once_whoever_finds_it() {
    let tree = Tree::new();
    tree.skill("r/x").skill("r/y");
    let library = library(&tree);
    let catalog = library.look();
    let document = &catalog.get("x").unwrap().document;
    library.manifest(document);
    assert_eq!(
        library.refresh_files(),
        0,
        "a listing taken at once is not settled, and yet the same"
    );
    tree.write("r/x/a.md", "a");
    assert_eq!(
        (library.file_changes(), library.refresh_files(), library.refresh_files()),
        (0, 1, 1)
    );
    tree.write("r/x/b.md", "b");
    assert_eq!(library.manifest(document).files.len(), 3);
    assert_eq!((library.file_changes(), library.refresh_files()), (2, 2), "found by the listing");
    tree.write("r/y/a.md", "a");
    assert_eq!(library.refresh_files(), 2, "nobody listed the files of y");
    fs::remove_dir_all(tree.path("r/x")).unwrap();
    assert_eq!((library.refresh_files(), library.refresh_files()), (3, 3));
}

/// Fault 56: a watch of directories, not of files; what comes, changes and goes is told.
#[tokio::test]
async fn fault_56_a_watch_tells_of_skills_that_come_change_and_go() {
    let tree = Tree::new();
    tree.skill("r/x");
    for number in 0..2_000 {
        tree.write(&format!("r/x/data/{number}.txt"), "");
    }
    let library = Arc::new(library(&tree));
    let mut changes = library.changes();
    let _watch = Watch::start(&library).unwrap();
    // A change on disk can be seen half done, so what is told may pass through other states.
    let mut until = async |expected: &str| {
        let reached = changes.wait_for(|catalog| used(catalog).join(" ") == expected);
        let reached = tokio::time::timeout(Duration::from_secs(30), reached).await;
        assert!(reached.is_ok(), "`{expected}` was never told");
    };
    until("x").await;
    tree.skill("r/y");
    until("x y").await;
    fs::remove_dir_all(tree.path("r/x")).unwrap();
    until("y").await;
    fs::rename(tree.path("r/y"), tree.path("r/z")).unwrap();
    until("z").await;
    fs::remove_file(tree.path("r/z/SKILL.md")).unwrap();
    until("").await;
}

/// A host that keeps a catalogue for a run has the same one to its end, whatever happens on disk (G-7); one that asks at
/// the moment of need has what lies there then (B-3).
#[test]
fn b3_g7_a_catalogue_stays_as_it_was_and_a_new_look_is_new() {
    let tree = Tree::new();
    tree.skill("r/x");
    let library = library(&tree);
    let pinned = library.look();
    let before = (*pinned).clone();
    fs::remove_dir_all(tree.path("r/x")).unwrap();
    tree.skill("r/y");
    assert_eq!(used(&library.look()), ["y"]);
    assert_eq!(*pinned, before);
    assert_eq!(used(&pinned), ["x"]);
}

/// Decision 21: an entry that breaks the open specification is left out, since a client refuses the whole page for it.
#[test]
fn decision_21_the_extension_leaves_out_what_clients_refuse_a_whole_page_for() {
    let tree = Tree::new();
    let fitting = "é".repeat(1024);
    let skill = |name: &str, fields: &str| {
        tree.write(&format!("r/{name}/SKILL.md"), format!("---\n{fields}\n---\nbody\n"));
    };
    skill("fits", &format!("name: fits\ndescription: {fitting}"));
    skill("whole", "name: whole\ndescription: d\ncompatibility: any\nmetadata: {a: '1', b: c}");
    skill("long", &format!("name: long\ndescription: {fitting}x"));
    skill("größe", "name: größe\ndescription: d");
    skill("Upper", "name: Upper\ndescription: d");
    skill("other", "name: another\ndescription: d");
    skill("nameless", "description: d");
    skill("12306", "name: 12306\ndescription: d");
    skill("bodily", "name: bodily");
    skill("number", "name: number\ndescription: 7");
    skill("version", "name: version\ndescription: d\nmetadata: {version: 1.0}");
    skill("nested", "name: nested\ndescription: d\nmetadata: {a: {b: c}}");
    skill("needs", "name: needs\ndescription: d\ncompatibility: [a, b]");
    tree.write("r/small/skill.md", "---\nname: small\ndescription: d\n---\n");
    let catalog = library(&tree).look();
    assert_eq!(catalog.used().count(), 14, "the tools serve every one");
    let listed: Vec<&str> = catalog
        .used()
        .filter(|skill| extension_fault(&skill.document).is_none())
        .map(|skill| skill.name().as_str())
        .collect();
    assert_eq!(listed, ["fits", "whole"]);
}
