//! One prompt a skill (K-56; section 8 of the skill server's promises; decision 8).

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use kitbag_tool::{CallContext, PageRequest, PromptError, PromptSpec};
use serde_json::json;

use crate::bag::Bag;

async fn prompts(bag: &Bag) -> Vec<PromptSpec> {
    let mut prompts = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let request = PageRequest { after: after.as_deref(), limit: NonZeroUsize::new(2).unwrap() };
        let page = bag.toolbox.prompts(request, &CallContext::default()).await.unwrap();
        assert!(page.items.len() <= 2);
        prompts.extend(page.items);
        after = page.next;
        if after.is_none() {
            return prompts;
        }
    }
}

async fn names(bag: &Bag) -> String {
    let names: Vec<_> = prompts(bag).await.into_iter().map(|prompt| prompt.name).collect();
    names.join(" ")
}

#[tokio::test]
async fn k56_a_skill_is_a_prompt_that_gives_its_body() {
    let bag = Bag::new();
    bag.write(
        "r/demo/SKILL.md",
        "---\nname: demo\ndescription: Shows it.\nwhen-to-use: When asked.\n---\nDo it.\n",
    )
    .write("r/plain/SKILL.md", "No frontmatter.\n");
    let told: Vec<_> =
        prompts(&bag).await.iter().map(|spec| serde_json::to_string(spec).unwrap()).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"name":"demo","title":"demo","description":"Shows it. When asked."}
    {"name":"plain","title":"plain","description":"No frontmatter."}
    "#);
    let loaded = bag.call("skill_load", json!({ "name": "demo" })).await;
    assert_eq!(bag.prompt("demo", &[]).await.unwrap(), loaded["body"].as_str().unwrap());
    assert_eq!(bag.prompt("plain", &[]).await.unwrap(), "No frontmatter.\n");
}

#[tokio::test]
async fn k56_an_unknown_prompt_is_unknown() {
    let bag = Bag::new();
    bag.skill("r/demo");
    for name in ["dem", "demo/SKILL.md", "", "given:demo"] {
        let error = bag.prompt(name, &[]).await.unwrap_err();
        assert_eq!(error, PromptError::Unknown { name: name.to_owned() });
    }
}

#[tokio::test]
async fn k56_prompts_come_by_the_page() {
    let bag = Bag::new();
    for name in ["c", "a", "e", "b", "d"] {
        bag.skill(&format!("r/{name}"));
    }
    assert_eq!(names(&bag).await, "a b c d e");
}

#[tokio::test]
async fn a_skill_that_is_not_for_people_is_no_prompt_and_loads() {
    let bag = Bag::new();
    bag.skill("r/a")
        .write("r/b/SKILL.md", "---\nname: b\ndescription: B\nuser-invocable: false\n---\nDo b.\n");
    assert_eq!(names(&bag).await, "a");
    let error = bag.prompt("b", &[]).await.unwrap_err();
    assert_eq!(error, PromptError::Unknown { name: "b".to_owned() });
    assert_eq!(bag.call("skill_load", json!({ "name": "b" })).await["body"], "Do b.\n");
}

fn with_arguments(bag: &Bag, root: &str, fields: &str, body: &str) {
    bag.write(
        &format!("{root}/deploy/SKILL.md"),
        format!("---\nname: deploy\ndescription: D\n{fields}\n---\n{body}"),
    );
}

#[tokio::test]
async fn arguments_come_from_the_frontmatter() {
    let bag = Bag::new();
    let declared = async |fields: &str| {
        with_arguments(&bag, "r", fields, "x");
        let mut told = String::new();
        for argument in prompts(&bag).await.remove(0).arguments.unwrap_or_default() {
            writeln!(told, "{}", serde_json::to_string(&argument).unwrap()).unwrap();
        }
        told
    };
    insta::assert_snapshot!(declared("arguments: what where what").await, @r#"
    {"name":"what","required":false}
    {"name":"where","required":false}
    "#);
    insta::assert_snapshot!(declared("argument-hint: '[file] [level]'").await, @r#"{"name":"arguments","description":"[file] [level]","required":false}"#);
    insta::assert_snapshot!(declared("license: x").await, @"");
}

/// Decision 8: in both dialects each placeholder has the whole of what the client sent for its argument.
#[tokio::test]
async fn decision_8_a_value_is_whole_in_both_dialects() {
    for root in ["r", "r/.claude/skills"] {
        let bag = Bag::new();
        with_arguments(&bag, root, "arguments: what where", "<$what> <$where> <$ARGUMENTS>");
        let fill =
            async |arguments: &[(&str, &str)]| bag.prompt("deploy", arguments).await.unwrap();
        let odd = "Bob's \"big\"  \\ $where";
        assert_eq!(
            fill(&[("what", odd), ("where", "x y")]).await,
            format!("<{odd}> <x y> <{odd} x y>"),
            "{root}"
        );
        assert_eq!(fill(&[("where", "there")]).await, "<> <there> <there>");
        assert_eq!(fill(&[("what", "it")]).await, "<it> <> <it>");
        assert_eq!(fill(&[]).await, "<> <> <>");
        with_arguments(&bag, root, "arguments: what where", "Only $where.");
        assert_eq!(
            fill(&[("what", "a b"), ("where", "c")]).await,
            "Only c.\n\nARGUMENTS: a b",
            "B-50: nothing that was sent is lost"
        );
    }
}

#[tokio::test]
async fn decision_8_the_one_argument_is_what_a_person_would_type() {
    for (root, expected) in [("r", "<a> <b \"c> <$0>"), ("r/.claude/skills", "<b c> <d> <a>")] {
        let bag = Bag::new();
        with_arguments(&bag, root, "argument-hint: words", "<$1> <$2> <$0>");
        let text = bag.prompt("deploy", &[("arguments", "a \"b c\" d")]).await.unwrap();
        let expected = match root {
            "r" => "<a> <\"b> <$0>\n\nARGUMENTS: c\" d",
            _ => expected,
        };
        assert_eq!(text, expected, "{root}");
    }
}

#[tokio::test]
async fn an_argument_that_the_prompt_does_not_have_is_refused_not_lost() {
    let bag = Bag::new();
    with_arguments(&bag, "r", "arguments: what", "x");
    let error = bag.prompt("deploy", &[("whit", "a")]).await.unwrap_err();
    insta::assert_snapshot!(error, @"argument `whit` of prompt `deploy`: the prompt has no such argument");
    with_arguments(&bag, "r", "license: x", "$ARGUMENTS");
    assert_eq!(bag.prompt("deploy", &[("arguments", "a b")]).await.unwrap(), "a b");
    assert!(bag.prompt("deploy", &[("what", "a")]).await.is_err());
}

/// Section 10, weakness 14: a cut is told where there is no field for it.
#[tokio::test]
async fn weakness_14_a_prompt_that_was_cut_says_so() {
    let bag = Bag::new();
    with_arguments(&bag, "r", "arguments: what", &"x".repeat(300 * 1024));
    let text = bag.prompt("deploy", &[]).await.unwrap();
    let (body, note) = text.split_once("\n\n[").unwrap();
    assert!(body.len() < 256 * 1024);
    insta::assert_snapshot!(note, @"SKILL.md has 307252 bytes and is read up to 262144. Read on with skill_file, path `SKILL.md`, offset 262144.]");
    with_arguments(&bag, "r", "arguments: what", "$what");
    let text = bag.prompt("deploy", &[("what", &"y".repeat((256 << 10) + 7))]).await.unwrap();
    insta::assert_snapshot!(text.trim_start_matches('y'), @"[The last 7 bytes of the arguments were not read.]");
}

/// C-44: what the body says of its own directory holds on this machine.
#[tokio::test]
async fn the_skills_directory_is_named() {
    let bag = Bag::new();
    with_arguments(&bag, "r", "license: x", "Run ${KITBAG_SKILL_DIR}/run.sh");
    let text = bag.prompt("deploy", &[]).await.unwrap();
    assert_eq!(bag.anywhere(&text), "Run /r/deploy/run.sh");
}
