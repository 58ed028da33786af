//! `skill_load`.

use std::fs;

use kitbag_builtin::MAX_SKILL_MD_BYTES;
use serde_json::json;

use crate::bag::{Bag, each};

const HEAD: &str = "---\nname: big\ndescription: Big\n---\n";

#[tokio::test]
async fn k34_the_body_is_word_for_word_and_nothing_is_inlined() {
    let bag = Bag::new();
    bag.write(
        "r/demo/SKILL.md",
        "---\nname: demo\ndescription: D\nwhen-to-use: W\n---\n\r\n# T\n\nSee references/a.md, $1 and ${KITBAG_SKILL_DIR}.\n---\n",
    )
    .write("r/demo/references/a.md", "the secret sauce");
    let loaded = bag.call("skill_load", json!({ "name": "demo" })).await;
    insta::assert_snapshot!(bag.anywhere(&loaded), @r#"{"name":"demo","description":"D","whenToUse":"W","source":"/r","body":"\r\n# T\n\nSee references/a.md, $1 and ${KITBAG_SKILL_DIR}.\n---\n","truncated":false,"files":[{"path":"SKILL.md","size":109},{"path":"references/a.md","size":16}],"scripts":[]}"#);
}

#[tokio::test]
async fn k34_an_unknown_skill_is_refused_with_the_known_ones() {
    let bag = Bag::new();
    let unknown = async |name: &str| bag.refused("skill_load", json!({ "name": name })).await;
    insta::assert_snapshot!(unknown("demo").await, @r"
    No skill is called `demo`.

    Hint: No skill is served; `roots` and `problems` of skill_list say where was looked and what was found.
    ");
    bag.skill("r/one").skill("r/two");
    insta::assert_snapshot!(unknown("demo\n").await, @r"
    No skill is called `demo\n`.

    Hint: The skills are: one, two.
    ");
    assert!(unknown(&"x".repeat(1_000_000)).await.len() < 300);
    for number in 0..100 {
        bag.skill(&format!("r/n{number:02}"));
    }
    let hint = unknown("tow").await;
    assert!(hint.contains("102 skills are served; the nearest are: two, "), "{hint}");
    assert!(hint.contains("skill_list with `query`"));
    assert_eq!(hint.matches(", ").count(), 39);
}

/// K-34: a secret in a name goes no further.
#[tokio::test]
async fn a_refusal_repeats_no_secret() {
    let bag = Bag::new();
    let name = "sk-0123456789abcdefghij0123";
    let refused = bag.refused("skill_load", json!({ "name": name })).await;
    assert!(refused.starts_with("No skill is called `[redacted]`."), "{refused}");
}

#[tokio::test]
async fn k34_a_body_that_is_too_long_is_cut_aloud() {
    let bag = Bag::new();
    let size = 300 * 1024;
    bag.write("r/big/SKILL.md", format!("{HEAD}{}", "x".repeat(size - HEAD.len())));
    let loaded = bag.call("skill_load", json!({ "name": "big" })).await;
    assert_eq!(loaded["truncated"], true);
    let body = loaded["body"].as_str().unwrap();
    assert_eq!(body.len(), MAX_SKILL_MD_BYTES - HEAD.len());
    insta::assert_snapshot!(loaded["truncationNote"].as_str().unwrap(), @"SKILL.md has 307200 bytes and is read up to 262144. Read on with skill_file, path `SKILL.md`, offset 262144.");
    bag.write("r/big/SKILL.md", format!("{HEAD}{}", "x".repeat(MAX_SKILL_MD_BYTES - HEAD.len())));
    let loaded = bag.call("skill_load", json!({ "name": "big" })).await;
    assert_eq!((&loaded["truncated"], &loaded["truncationNote"]), (&json!(false), &json!(null)));
}

/// Section 10, weakness 15: nothing is out of reach, and no character is lost at the cut.
#[tokio::test]
async fn a_body_that_was_cut_goes_on_where_it_says() {
    let bag = Bag::new();
    for padding in 0..4 {
        let text = format!("{HEAD}{}{}", "x".repeat(padding), "€𝄞".repeat(50_000));
        bag.write("r/big/SKILL.md", &text);
        let loaded = bag.call("skill_load", json!({ "name": "big" })).await;
        let body = loaded["body"].as_str().unwrap();
        assert_eq!(loaded["bodyNote"], json!(null));
        let note = loaded["truncationNote"].as_str().unwrap();
        let offset = note.rsplit_once("offset ").unwrap().1.trim_end_matches('.');
        let offset: u64 = offset.parse().unwrap();
        let arguments = json!({ "name": "big", "paths": ["SKILL.md"], "offset": offset });
        let rest = bag.call("skill_file", arguments).await;
        let rest = &rest["files"][0];
        assert_eq!((&rest["encoding"], &rest["truncated"]), (&json!("utf-8"), &json!(false)));
        assert_eq!(format!("{HEAD}{body}{}", rest["content"].as_str().unwrap()), text);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_told() {
    let bag = Bag::new();
    bag.write("r/x/SKILL.md", b"---\ndescription: D\n---\na\xffb\n");
    let loaded = bag.call("skill_load", json!({ "name": "x" })).await;
    assert_eq!(loaded["body"], "a\u{fffd}b\n");
    assert!(loaded["bodyNote"].as_str().unwrap().contains("not valid UTF-8"));
    assert_eq!(loaded["truncated"], false);
}

#[tokio::test]
async fn a_skill_md_of_another_spelling_is_the_skills_own() {
    let bag = Bag::new();
    bag.write("r/x/skill.md", "---\nname: x\ndescription: D\n---\nbody\n");
    let loaded = bag.call("skill_load", json!({ "name": "x" })).await;
    assert_eq!(
        (&loaded["body"], &loaded["files"][0]["path"]),
        (&json!("body\n"), &json!("skill.md"))
    );
    for path in ["SKILL.md", "skill.md"] {
        let read = bag.call("skill_file", json!({ "name": "x", "paths": [path] })).await;
        assert_eq!(read["files"][0]["size"], 36, "{path}");
    }
    assert_eq!(bag.all_resources(9).await, ["skill://x/SKILL.md"]);
    bag.read("skill://x/SKILL.md").await.unwrap();
}

/// Section 10, weaknesses 16 and 19.
#[tokio::test]
async fn files_come_in_byte_order_and_without_what_is_private() {
    let bag = Bag::new();
    bag.skill("r/x")
        .write("r/x/b.md", "")
        .write("r/x/a/z.md", "")
        .write("r/x/.env", "KEY=1")
        .write("r/x/.git/config", "")
        .write("r/x/build/out", "")
        .write("r/x/.gitignore", "build/\n");
    let loaded = bag.call("skill_load", json!({ "name": "x" })).await;
    assert_eq!(each(&loaded["files"], "path"), [".gitignore", "SKILL.md", "a/z.md", "b.md"]);
    assert_eq!(loaded["filesNote"], json!(null));
    let arguments = json!({ "name": "x", "paths": [".env", ".git/config", "build/out"] });
    for file in bag.call("skill_file", arguments).await["files"].as_array().unwrap() {
        assert!(file["error"].as_str().unwrap().contains("left out"), "{file}");
    }
}

#[tokio::test]
async fn a_list_of_files_that_is_not_whole_says_so() {
    let bag = Bag::new();
    bag.skill("r/x");
    fs::create_dir(bag.path("r/x/data")).unwrap();
    for number in 0..2_010 {
        fs::write(bag.path(&format!("r/x/data/{number:04}")), "").unwrap();
    }
    let loaded = bag.call("skill_load", json!({ "name": "x" })).await;
    assert_eq!(loaded["files"].as_array().unwrap().len(), 2_000);
    assert!(loaded["filesNote"].as_str().unwrap().contains("not complete"));
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["problems"], "reason"), ["file-limit"]);
}
