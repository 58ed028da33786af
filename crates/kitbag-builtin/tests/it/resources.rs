//! One resource a file (K-56; section 8 of the skill server's promises; decision 21).

use std::fs;

use kitbag_builtin::MAX_RESOURCE_BYTES;
use kitbag_tool::{CallContext, ListError, PageRequest, ReadError, ResourceBody};
use serde_json::json;

use crate::bag::{Bag, Options};

#[tokio::test]
async fn k56_every_file_is_a_resource() {
    let bag = Bag::new();
    bag.skill("r/demo")
        .write("r/demo/a b/ä.png", b"\xff\xfeA")
        .write("r/demo/references/a.md", "a");
    let page = bag.resources(None, 10).await;
    let told: Vec<_> =
        page.items.iter().map(|resource| serde_json::to_string(resource).unwrap()).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"uri":"skill://demo/SKILL.md","name":"demo","title":"demo: SKILL.md","description":"The demo skill","mimeType":"text/markdown","size":56}
    {"uri":"skill://demo/a%20b/%C3%A4.png","name":"skill://demo/a%20b/%C3%A4.png","title":"demo: a b/ä.png","mimeType":"image/png","size":3}
    {"uri":"skill://demo/references/a.md","name":"skill://demo/references/a.md","title":"demo: references/a.md","mimeType":"text/markdown","size":1}
    "#);
    for resource in &page.items {
        bag.read(&resource.uri).await.unwrap();
    }
    assert_eq!(
        bag.read("skill://demo/a%20b/%C3%A4.png").await.unwrap(),
        ResourceBody::Blob(b"\xff\xfeA".to_vec())
    );
    assert_eq!(
        bag.read("skill://demo/references/a.md").await.unwrap(),
        ResourceBody::Text("a".to_owned())
    );
}

#[tokio::test]
async fn k56_nothing_is_read_from_outside() {
    let bag = Bag::new();
    bag.skill("r/demo")
        .write("r/outside.txt", "secret")
        .write("r/demo/.env", "KEY=1")
        .link("r/demo/out.txt", "../outside.txt");
    fs::create_dir(bag.path("r/demo/dir")).unwrap();
    for uri in [
        "skill://demo/../outside.txt",
        "skill://demo/%2e%2e/outside.txt",
        "skill://demo/out.txt",
        "skill://demo/.env",
        "skill://demo/dir",
        "skill://demo/gone.md",
        "skill://demo/",
        "skill://demo",
        "skill://gone/SKILL.md",
        "skill://demo/SKILL.md?x",
        "file:///etc/passwd",
        "",
    ] {
        let error = bag.read(uri).await.unwrap_err();
        assert_eq!(error, ReadError::NotFound { uri: uri.to_owned() });
    }
}

#[tokio::test]
async fn decision_21_a_resource_is_whole_or_refused() {
    let bag = Bag::new();
    let whole = usize::try_from(MAX_RESOURCE_BYTES).unwrap();
    bag.skill("r/x")
        .sparse("r/x/most.bin", "head", MAX_RESOURCE_BYTES)
        .sparse("r/x/more.bin", "head", MAX_RESOURCE_BYTES + 1)
        .write("r/x/text.md", "é".repeat(2 << 20));
    let ResourceBody::Blob(bytes) = bag.read("skill://x/most.bin").await.unwrap() else {
        panic!("zeros are no text")
    };
    assert_eq!((bytes.len(), &bytes[..5]), (whole, b"head\0".as_slice()));
    let ResourceBody::Text(text) = bag.read("skill://x/text.md").await.unwrap() else {
        panic!("it is text")
    };
    assert_eq!(text.len(), 4 << 20);
    let Err(ReadError::Refused(refusal)) = bag.read("skill://x/more.bin").await else {
        panic!("it is over the bound")
    };
    insta::assert_snapshot!(refusal.to_text(), @r"
    The file has 16777217 bytes; a resource is read whole, up to 16777216 bytes.

    Hint: Read it in pieces with skill_file.
    ");
}

#[tokio::test]
async fn decision_21_each_skill_md_comes_first() {
    let bag = Bag::new();
    bag.skill("r/b")
        .skill("r/a")
        .write("r/a/z.md", "")
        .write("r/a/A.md", "")
        .write("r/b/c/d.md", "");
    let expected = [
        "skill://a/SKILL.md",
        "skill://b/SKILL.md",
        "skill://a/A.md",
        "skill://a/z.md",
        "skill://b/c/d.md",
    ];
    for limit in 1..7 {
        assert_eq!(bag.all_resources(limit).await, expected, "{limit} a page");
    }
}

#[tokio::test]
async fn decision_21_the_limit_holds_over_all_pages() {
    for limit in 1..8 {
        for resources in 0..7 {
            let bag = Bag::with(Options { resources, ..Options::USUAL }, &["r"]);
            bag.skill("r/a")
                .skill("r/b")
                .write("r/a/1.md", "")
                .write("r/a/2.md", "")
                .write("r/b/1.md", "");
            let listed = bag.all_resources(limit).await;
            assert_eq!(listed.len(), resources.min(5), "{limit} a page");
            let problems = bag.call("skill_list", json!({})).await["problems"].take();
            assert_eq!(problems.as_array().unwrap().len(), usize::from(resources < 5));
        }
    }
}

/// What stays from the first page to the last is given exactly once, whatever comes and goes.
#[tokio::test]
async fn decision_21_pages_survive_skills_that_come_and_go() {
    for limit in 1..9 {
        let bag = Bag::new();
        for name in ["b", "d", "f"] {
            bag.skill(&format!("r/{name}")).write(&format!("r/{name}/more.md"), "");
        }
        let mut seen = Vec::new();
        let mut after = None;
        for turn in 0.. {
            let page = bag.resources(after.as_deref(), limit).await;
            seen.extend(page.items.into_iter().map(|resource| resource.uri));
            after = page.next;
            if after.is_none() {
                break;
            }
            match turn {
                0 => {
                    bag.skill("r/a");
                }
                1 => {
                    bag.skill("r/c").write("r/b/extra.md", "");
                }
                2 => fs::remove_dir_all(bag.path("r/d")).unwrap(),
                3 => {
                    bag.write("r/f/aaa.md", "");
                }
                _ => {}
            }
        }
        for stays in ["b/SKILL.md", "f/SKILL.md", "b/more.md", "f/more.md"] {
            let uri = format!("skill://{stays}");
            assert_eq!(seen.iter().filter(|seen| **seen == uri).count(), 1, "{uri} of {seen:?}");
        }
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "nothing is given twice");
    }
}

#[tokio::test]
async fn a_cursor_from_elsewhere_is_refused() {
    use base64::Engine as _;

    let bag = Bag::new();
    bag.skill("r/a");
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    for cursor in [
        "x".to_owned(),
        encode("skills\0nonsense"),
        encode("skills\x001/skill/../x"),
        encode("other\x000/skill/a"),
    ] {
        let limit = std::num::NonZeroUsize::MIN;
        let request = PageRequest { after: Some(&cursor), limit };
        let error = bag.toolbox.resources(request, &CallContext::default()).await.unwrap_err();
        assert_eq!(error, ListError::BadCursor, "{cursor}");
    }
}
