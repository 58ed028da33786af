//! `skill_list`.

use kitbag_tool::PageRequest;
use serde_json::json;

use crate::bag::{Bag, Options, each};

/// A skill with the five files that K-36 counts.
fn demo(bag: &Bag) {
    bag.write(
        "r/demo/SKILL.md",
        "---\nname: demo\ndescription: Shows what a skill is\nwhen-to-use: When asked for a demo\n---\nRead references/a.md.\n",
    )
    .write("r/demo/references/a.md", "a")
    .write("r/demo/references/b.md", "bb")
    .write("r/demo/scripts/run.py", "")
    .write("r/demo/LICENSE.txt", "yes");
}

/// K-36, as far as it goes without scripts that run.
#[tokio::test]
async fn k36_a_skill_is_listed_with_its_description_and_its_files() {
    let bag = Bag::new();
    demo(&bag);
    let listed = bag.call("skill_list", json!({})).await;
    insta::assert_snapshot!(bag.anywhere(&listed), @r#"{"roots":["/r"],"rootsFrom":"--skills","total":1,"skills":[{"name":"demo","description":"Shows what a skill is","whenToUse":"When asked for a demo","source":"/r","files":5,"bytes":117}],"problems":[]}"#);
}

#[tokio::test]
async fn k36_every_root_is_named_and_every_skill_has_its_own() {
    let bag = Bag::with(Options::USUAL, &["b", "a", "gone/"]);
    bag.skill("b/two").skill("b/one").skill("a/three");
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(
        each(&listed["skills"], "name"),
        ["one", "two", "three"],
        "in the order of the roots"
    );
    assert_eq!(bag.anywhere(&listed["roots"]), r#"["/b","/a","/gone"]"#);
    let sources = each(&listed["skills"], "source").join(" ");
    assert_eq!(bag.anywhere(&sources), "/b /b /a");
    assert_eq!(each(&listed["problems"], "reason"), ["root-unreadable"]);
}

/// Section 10, weakness 18: nothing is quiet about skills that are not there.
#[tokio::test]
async fn weakness_18_a_skill_that_cannot_be_served_has_a_problem() {
    let bag = Bag::new();
    bag.skill("r/good")
        .write("r/broken/SKILL.md", "---\n- a list\n---\nx")
        .write("r/nothing/readme.md", "")
        .write("r/other/SKILL.md", "---\nname: good\ndescription: x\n---\n")
        .link("r/away", "/nowhere");
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["skills"], "name"), ["good", "other"]);
    let told: Vec<String> = listed["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| {
            let path = bag.anywhere(&problem["path"].as_str().unwrap());
            format!("{path} {}", problem["reason"].as_str().unwrap())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    /r/away symlink-escape
    /r/nothing no-skill-md
    /r/other alias-taken
    /r/broken/SKILL.md malformed-frontmatter
    /r/other/SKILL.md name-mismatch
    /r/other extension-skipped
    ");
}

#[tokio::test]
async fn weakness_18_an_empty_root_is_told() {
    let bag = Bag::with(Options::USUAL, &["r", "again/", "empty"]);
    bag.skill("r/x").link("again", "r").write("empty/readme.txt", "");
    let problems = bag.call("skill_list", json!({})).await["problems"].take();
    insta::assert_snapshot!(bag.anywhere(&problems), @r#"[{"path":"/empty","reason":"no-skill-md","detail":"no skill lies in this root"}]"#);
    bag.skill("empty/y");
    assert_eq!(bag.call("skill_list", json!({})).await["problems"], json!([]));
}

#[tokio::test]
async fn k25_declared_scripts_are_told_and_one_that_is_missing_is_named() {
    let bag = Bag::new();
    bag.skill("r/demo")
        .write(
            "r/demo/kitbag.toml",
            "version = 1\n[[script]]\npath = \"run.py\"\ninterpreter = \"python3\"\n[[script]]\npath = \"gone.py\"\ninterpreter = \"python3\"\n",
        )
        .write("r/demo/lib/real.py", "")
        .link("r/demo/run.py", "lib/real.py");
    let listed = bag.call("skill_list", json!({})).await;
    let problem = &listed["problems"][0];
    assert_eq!(listed["problems"].as_array().unwrap().len(), 1);
    assert_eq!(problem["reason"], "declared-script-missing");
    assert!(problem["detail"].as_str().unwrap().contains("`gone.py`"));
    let loaded = bag.call("skill_load", json!({ "name": "demo" })).await;
    assert_eq!(
        loaded["scripts"],
        json!([
            { "script": "run.py", "interpreter": "python3", "runnableHere": false },
            { "script": "gone.py", "interpreter": "python3", "runnableHere": false },
        ])
    );
}

#[tokio::test]
async fn decision_21_the_extension_leaves_out_what_it_cannot_list_and_the_tools_serve_it() {
    let bag = Bag::new();
    bag.write("r/plain/SKILL.md", "Just do it.\n");
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(listed["skills"][0]["description"], "Just do it.");
    assert_eq!(each(&listed["problems"], "reason"), ["extension-skipped"]);
}

#[tokio::test]
async fn k22_skills_past_the_limit_are_left_out_aloud() {
    let bag = Bag::with(Options { skills: 2, ..Options::USUAL }, &["r"]);
    bag.skill("r/a").skill("r/b").skill("r/c");
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["skills"], "name"), ["a", "b"]);
    assert_eq!(each(&listed["problems"], "reason"), ["skill-limit"]);
    assert!(listed["problems"][0]["detail"].as_str().unwrap().starts_with("2 skills"));
    assert_eq!(bag.all_resources(10).await, ["skill://a/SKILL.md", "skill://b/SKILL.md"]);
}

#[tokio::test]
async fn a_query_keeps_the_skills_that_every_word_fits() {
    let bag = Bag::new();
    demo(&bag);
    bag.skill("r/deploy");
    let names = async |query: &str| {
        let listed = bag.call("skill_list", json!({ "query": query })).await;
        assert_eq!(listed["total"], listed["skills"].as_array().unwrap().len());
        each(&listed["skills"], "name").join(" ")
    };
    assert_eq!(names("").await, "demo deploy");
    assert_eq!(names("SKILL").await, "demo deploy");
    assert_eq!(names("skill asked").await, "demo");
    assert_eq!(names("the deploy").await, "deploy");
    assert_eq!(names("nobody").await, "");
}

#[tokio::test]
async fn decision_21_a_long_list_comes_by_the_page() {
    let bag = Bag::new();
    for number in 0..250 {
        bag.skill(&format!("r/s{number:03}"));
    }
    let mut names = Vec::new();
    let mut arguments = json!({});
    for length in [100, 100, 50] {
        let listed = bag.call("skill_list", arguments).await;
        assert_eq!(listed["total"], 250);
        assert_eq!(listed["skills"].as_array().unwrap().len(), length);
        names.extend(each(&listed["skills"], "name").into_iter().map(str::to_owned));
        arguments = json!({ "cursor": listed["nextCursor"] });
    }
    assert_eq!(arguments, json!({ "cursor": null }), "the last page has no cursor");
    let expected: Vec<String> = (0..250).map(|number| format!("s{number:03}")).collect();
    assert_eq!(names, expected);
    let refused = bag.refused("skill_list", json!({ "cursor": "nobody" })).await;
    insta::assert_snapshot!(refused, @r"
    The cursor does not fit this list any more.

    Hint: Call skill_list without `cursor` to start again.
    ");
}

/// A problem of each of many skills does not make the answer endless.
#[tokio::test]
async fn problems_past_the_bound_are_counted() {
    let bag = Bag::new();
    for number in 0..230 {
        bag.write(&format!("r/n{number}/readme.txt"), "");
    }
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(listed["problems"].as_array().unwrap().len(), 200);
    assert_eq!(listed["problemsLeftOut"], 30);
}

#[tokio::test]
async fn resources_past_the_limit_are_told() {
    let bag = Bag::with(Options { resources: 2, ..Options::USUAL }, &["r"]);
    bag.skill("r/a").skill("r/b").write("r/a/more.md", "");
    assert_eq!(bag.call("skill_list", json!({})).await["problems"], json!([]));
    assert_eq!(bag.all_resources(10).await, ["skill://a/SKILL.md", "skill://b/SKILL.md"]);
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["problems"], "reason"), ["file-limit"]);
    assert!(listed["problems"][0]["detail"].as_str().unwrap().starts_with("2 files"));
    let limit = std::num::NonZeroUsize::MIN;
    let first = PageRequest { after: None, limit };
    bag.toolbox.resources(first, &kitbag_tool::CallContext::default()).await.unwrap();
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(
        each(&listed["problems"], "reason"),
        ["file-limit"],
        "one page says nothing of the whole"
    );
}
