//! `disable-model-invocation` blocks a model, never a person (decision 7; fault C-39).

use kitbag_builtin::MAX_SKILL_MD_BYTES;
use kitbag_tool::ResourceBody;
use serde_json::json;

use crate::bag::{Bag, each};

fn bag() -> Bag {
    let bag = Bag::new();
    bag.skill("r/open")
        .write(
            "r/deploy/SKILL.md",
            "---\nname: deploy\ndescription: D\ndisable-model-invocation: true\n---\nDeploy by steps.md.\n",
        )
        .write("r/deploy/steps.md", "one, two");
    bag
}

#[tokio::test]
async fn decision_7_no_tool_names_the_skill_or_gives_its_instructions() {
    let bag = bag();
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["skills"], "name"), ["open"]);
    assert_eq!((&listed["total"], &listed["userOnly"]), (&json!(1), &json!(1)));
    let found = bag.call("skill_list", json!({ "query": "deploy" })).await;
    assert_eq!(found["total"], 0);
    insta::assert_snapshot!(bag.refused("skill_load", json!({ "name": "deploy" })).await, @r"
    Skill `deploy` can be started by a person only.

    Hint: Ask the user to pick the prompt `deploy`, and do not do its work in another way.
    ");
    let unknown = bag.refused("skill_load", json!({ "name": "deplo" })).await;
    assert!(unknown.ends_with("The skills are: open."), "{unknown}");
    let arguments = json!({ "name": "deploy", "paths": ["SKILL.md", "steps.md"] });
    let files = bag.call("skill_file", arguments).await["files"].take();
    insta::assert_json_snapshot!(files, @r#"
    [
      {
        "path": "SKILL.md",
        "error": "Skill `deploy` can be started by a person only.\n\nHint: Ask the user to pick the prompt `deploy`, and do not do its work in another way."
      },
      {
        "path": "steps.md",
        "size": 8,
        "mediaType": "text/markdown",
        "encoding": "utf-8",
        "truncated": false,
        "content": "one, two"
      }
    ]
    "#);
}

#[tokio::test]
async fn decision_7_a_person_has_it_whole() {
    let bag = bag();
    assert_eq!(bag.prompt("deploy", &[]).await.unwrap(), "Deploy by steps.md.\n");
    let uris = bag.all_resources(10).await;
    assert!(uris.contains(&"skill://deploy/SKILL.md".to_owned()));
    let body = bag.read("skill://deploy/SKILL.md").await.unwrap();
    assert!(matches!(body, ResourceBody::Text(text) if text.ends_with("Deploy by steps.md.\n")));
}

/// A prompt that was cut says to read on with a tool, so what it left out is given.
#[tokio::test]
async fn decision_7_a_prompt_that_was_cut_can_be_read_on() {
    let bag = bag();
    let head = "---\nname: deploy\ndescription: D\ndisable-model-invocation: true\n---\n";
    let text = format!("{head}{}", "€".repeat(100_000));
    bag.write("r/deploy/SKILL.md", &text);
    let prompt = bag.prompt("deploy", &[]).await.unwrap();
    let (body, note) = prompt.split_once("\n\n[").unwrap();
    let offset = note.rsplit_once("offset ").unwrap().1.trim_end_matches(".]");
    let offset: usize = offset.parse().unwrap();
    let read = async |offset: usize| {
        let arguments = json!({ "name": "deploy", "paths": ["SKILL.md"], "offset": offset });
        bag.call("skill_file", arguments).await["files"][0].take()
    };
    let rest = read(offset).await;
    assert_eq!(format!("{head}{body}{}", rest["content"].as_str().unwrap()), text);
    let refused = read(MAX_SKILL_MD_BYTES / 2).await;
    assert!(refused["error"].as_str().unwrap().contains("by a person only"));
}

/// Decision 3: a restrictive key that cannot be read restricts.
#[tokio::test]
async fn decision_3_a_key_that_cannot_be_read_keeps_the_model_out() {
    let bag = Bag::new();
    bag.write(
        "r/x/SKILL.md",
        "---\nname: x\ndescription: D\ndisable-model-invocation: [yes\n---\nDo x.\n",
    );
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!((&listed["total"], &listed["userOnly"]), (&json!(0), &json!(1)));
    assert_ne!(listed["problems"], json!([]), "and it is told");
    assert!(bag.refused("skill_load", json!({ "name": "x" })).await.contains("a person only"));
}

#[tokio::test]
async fn a_skill_that_nobody_may_start_says_whom_to_ask() {
    let bag = Bag::new();
    bag.write(
        "r/x/SKILL.md",
        "---\nname: x\ndescription: D\ndisable-model-invocation: true\nuser-invocable: false\n---\nDo x.\n",
    );
    insta::assert_snapshot!(bag.refused("skill_load", json!({ "name": "x" })).await, @r"
    Skill `x` can be started by a person only.

    Hint: Its author keeps it from people's menus too: ask the user what to do.
    ");
    assert!(bag.prompt("x", &[]).await.is_err());
}
