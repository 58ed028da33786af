//! `skill_file`.

use std::fs;

use kitbag_builtin::{MAX_BATCH_BYTES, MAX_FILE_BYTES};
use serde_json::{Value, json};

use crate::bag::{Bag, each};

const CAP: u64 = MAX_FILE_BYTES as u64;

async fn read(bag: &Bag, paths: &[&str]) -> Value {
    bag.call("skill_file", json!({ "name": "x", "paths": paths })).await["files"].take()
}

#[tokio::test]
async fn k31_a_file_is_whole_up_to_exactly_the_cap() {
    let bag = Bag::new();
    bag.skill("r/x")
        .write("r/x/small.txt", "small")
        .write("r/x/empty.txt", "")
        .write("r/x/exact.txt", "a".repeat(MAX_FILE_BYTES))
        .write("r/x/over.txt", "a".repeat(MAX_FILE_BYTES + 1));
    let files = read(&bag, &["small.txt", "empty.txt", "exact.txt", "over.txt"]).await;
    let told: Vec<_> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (&file["size"], &file["truncated"], file["content"].as_str().unwrap().len()))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(5), &json!(false), 5),
            (&json!(0), &json!(false), 0),
            (&json!(CAP), &json!(false), MAX_FILE_BYTES),
            (&json!(CAP + 1), &json!(true), MAX_FILE_BYTES),
        ]
    );
}

#[tokio::test]
async fn k32_text_is_text_and_anything_else_is_base64_in_the_order_asked_for() {
    let bag = Bag::new();
    bag.skill("r/x")
        .write("r/x/a.md", "# Ä\n")
        .write("r/x/b.png", b"\x89PNG\r\n\x1a\n\0")
        .write("r/x/nul.txt", "a\0b")
        .write("r/x/latin.txt", b"\xff\xfea");
    let files = read(&bag, &["b.png", "a.md", "nul.txt", "latin.txt", "a.md"]).await;
    insta::assert_json_snapshot!(files, @r##"
    [
      {
        "path": "b.png",
        "size": 9,
        "mediaType": "image/png",
        "encoding": "base64",
        "truncated": false,
        "content": "iVBORw0KGgoA"
      },
      {
        "path": "a.md",
        "size": 5,
        "mediaType": "text/markdown",
        "encoding": "utf-8",
        "truncated": false,
        "content": "# Ä\n"
      },
      {
        "path": "nul.txt",
        "size": 3,
        "mediaType": "text/plain",
        "encoding": "base64",
        "truncated": false,
        "content": "YQBi"
      },
      {
        "path": "latin.txt",
        "size": 3,
        "mediaType": "text/plain",
        "encoding": "base64",
        "truncated": false,
        "content": "//5h"
      },
      {
        "path": "a.md",
        "size": 5,
        "mediaType": "text/markdown",
        "encoding": "utf-8",
        "truncated": false,
        "content": "# Ä\n"
      }
    ]
    "##);
}

#[tokio::test]
async fn k32_a_bad_path_costs_its_own_entry_alone() {
    let bag = Bag::new();
    bag.skill("r/x").skill("r/y").write("r/x/a.md", "a").link("r/x/out.md", "../y/SKILL.md");
    fs::create_dir(bag.path("r/x/dir")).unwrap();
    let files = read(
        &bag,
        &[
            "../y/SKILL.md",
            "a.md",
            "gone.md",
            "dir",
            "out.md",
            "/etc/passwd",
            "a%2emd",
            "dir/../a.md",
        ],
    )
    .await;
    insta::assert_json_snapshot!(files, @r#"
    [
      {
        "path": "../y/SKILL.md",
        "error": "`../y/SKILL.md` is not a path inside a skill: it has a `..` segment; write the path relative to the skill's directory, such as `references/guide.md`"
      },
      {
        "path": "a.md",
        "size": 1,
        "mediaType": "text/markdown",
        "encoding": "utf-8",
        "truncated": false,
        "content": "a"
      },
      {
        "path": "gone.md",
        "error": "`gone.md` is not a file in this skill"
      },
      {
        "path": "dir",
        "error": "`dir` is not a regular file"
      },
      {
        "path": "out.md",
        "error": "`out.md` leads out of this skill"
      },
      {
        "path": "/etc/passwd",
        "error": "`/etc/passwd` is not a path inside a skill: it has an empty segment; write the path relative to the skill's directory, such as `references/guide.md`"
      },
      {
        "path": "a%2emd",
        "error": "`a%2emd` is not a path inside a skill: it holds a `%`; write the path relative to the skill's directory, such as `references/guide.md`"
      },
      {
        "path": "dir/../a.md",
        "error": "`dir/../a.md` is not a path inside a skill: it has a `..` segment; write the path relative to the skill's directory, such as `references/guide.md`"
      }
    ]
    "#);
}

#[tokio::test]
async fn k32_a_batch_is_bounded_by_what_it_would_give() {
    let bag = Bag::new();
    bag.skill("r/x").sparse("r/x/huge.bin", "", 256 * 1024 * 1024);
    let nine = json!({ "name": "x", "paths": vec!["SKILL.md"; 9] });
    let refused = bag.refused("skill_file", nine).await;
    assert!(refused.starts_with("Input validation error: "), "{refused}");
    let files = read(&bag, &["huge.bin"; 4]).await;
    assert_eq!(files.as_array().unwrap().len(), 4);
    for file in files.as_array().unwrap() {
        assert_eq!((&file["truncated"], &file["size"]), (&json!(true), &json!(256 * 1024 * 1024)));
    }
    let five = json!({ "name": "x", "paths": vec!["huge.bin"; 5] });
    let refused = bag.refused("skill_file", five.clone()).await;
    assert!(
        refused.contains(&format!("over this call's {MAX_BATCH_BYTES}-byte limit")),
        "{refused}"
    );
    let mut near_the_end = five;
    near_the_end["offset"] = json!(256 * 1024 * 1024 - 10);
    let files = &bag.call("skill_file", near_the_end).await["files"];
    assert_eq!(each(files, "content"), ["AAAAAAAAAAAAAA=="; 5], "what is given counts");
}

#[tokio::test]
async fn k33_a_cut_names_the_cap_and_where_to_read_on() {
    let bag = Bag::new();
    bag.skill("r/x").write("r/x/long.txt", "a".repeat(MAX_FILE_BYTES + 10));
    let files = read(&bag, &["long.txt", "SKILL.md"]).await;
    insta::assert_snapshot!(files[0]["truncationNote"].as_str().unwrap(), @"The file has 1048586 bytes and is given 1048576 at a time; read on with offset 1048576.");
    assert_eq!(files[0]["nextOffset"], CAP);
    assert_eq!(
        (&files[1]["truncated"], &files[1]["truncationNote"], &files[1]["nextOffset"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
}

/// Decision 21, and section 10, weakness 15: the pieces are the file, and a character across a cut stays text.
#[tokio::test]
async fn decision_21_offsets_read_a_file_to_its_end() {
    let bag = Bag::new();
    let text = format!("a{}", "é€".repeat(500_000));
    bag.skill("r/x").write("r/x/long.txt", &text);
    let mut pieces = String::new();
    let mut offset = json!(0);
    while offset != Value::Null {
        let arguments = json!({ "name": "x", "paths": ["long.txt"], "offset": offset });
        let file = bag.call("skill_file", arguments).await["files"][0].take();
        assert_eq!(file["encoding"], "utf-8");
        assert_eq!(file["offset"].as_u64().unwrap_or(0), offset);
        pieces.push_str(file["content"].as_str().unwrap());
        offset = file["nextOffset"].clone();
    }
    assert_eq!(pieces, text);
}

#[tokio::test]
async fn an_offset_past_the_end_is_nothing_and_no_failure() {
    let bag = Bag::new();
    bag.skill("r/x").write("r/x/a.md", "abc");
    for offset in [3, 4, u64::MAX] {
        let arguments = json!({ "name": "x", "paths": ["a.md"], "offset": offset });
        let file = bag.call("skill_file", arguments).await["files"][0].take();
        assert_eq!(
            (&file["content"], &file["size"], &file["truncated"]),
            (&json!(""), &json!(3), &json!(false))
        );
    }
}

#[tokio::test]
async fn k35_a_media_type_is_never_inherited() {
    let bag = Bag::new();
    bag.skill("r/x")
        .write("r/x/x.constructor", "")
        .write("r/x/x.toString", "")
        .write("r/x/x.MD", "")
        .write("r/x/LICENSE", "");
    let files = read(&bag, &["x.constructor", "x.toString", "x.MD", "LICENSE"]).await;
    let other = "application/octet-stream";
    assert_eq!(each(&files, "mediaType"), [other, other, "text/markdown", other]);
}

/// Section 1: what is thrown passes the redactor; the path itself is the caller's own, and it is found by it.
#[tokio::test]
async fn an_entrys_error_repeats_no_secret() {
    let bag = Bag::new();
    bag.skill("r/x");
    let path = "ghp_0123456789abcdefghijklmnopqrstuvwxyz.txt";
    let files = read(&bag, &[path, "../ghp_0123456789abcdefghijklmnopqrstuvwxyz"]).await;
    assert_eq!(files[0]["path"], path);
    for error in each(&files, "error") {
        assert!(error.contains("[redacted]") && !error.contains("ghp_"), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_skill_fails_the_whole_call() {
    let bag = Bag::new();
    bag.skill("r/one");
    let refused = bag.refused("skill_file", json!({ "name": "x", "paths": ["a"] })).await;
    insta::assert_snapshot!(refused, @r"
    No skill is called `x`.

    Hint: The skills are: one.
    ");
}
