//! What changes on disk is in the next answer, and clients are told of it once (section 10, weakness 13).

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use kitbag_tool::{Changed, Offer, ResourceBody, Source as _};
use serde_json::json;
use tokio::sync::watch;

use crate::bag::{Bag, Options, Watched, each};

/// How long a change may take to be told before the test counts as stuck.
const PATIENCE: Duration = Duration::from_mins(1);

async fn names(bag: &Bag) -> String {
    each(&bag.call("skill_list", json!({})).await["skills"], "name").join(" ")
}

async fn body(bag: &Bag, name: &str) -> String {
    let loaded = bag.call("skill_load", json!({ "name": name })).await;
    loaded["body"].as_str().unwrap().to_owned()
}

fn skill_md(description: &str, body: &str) -> String {
    format!("---\nname: x\ndescription: {description}\n---\n{body}\n")
}

#[tokio::test]
async fn weakness_13_an_edit_is_in_every_next_answer() {
    let bag = Bag::new();
    bag.write("r/x/SKILL.md", skill_md("one", "first"));
    for (description, text) in [("one", "first"), ("two", "later"), ("333", "three")] {
        bag.write("r/x/SKILL.md", skill_md(description, text));
        assert_eq!(body(&bag, "x").await, format!("{text}\n"));
        assert_eq!(bag.prompt("x", &[]).await.unwrap(), format!("{text}\n"));
        let listed = bag.call("skill_list", json!({})).await;
        assert_eq!(listed["skills"][0]["description"], description);
        let file = bag.call("skill_file", json!({ "name": "x", "paths": ["SKILL.md"] })).await;
        assert_eq!(file["files"][0]["content"], skill_md(description, text));
        let read = bag.read("skill://x/SKILL.md").await.unwrap();
        assert_eq!(read, ResourceBody::Text(skill_md(description, text)));
    }
}

#[tokio::test]
async fn weakness_13_skills_that_come_move_and_go() {
    let bag = Bag::new();
    assert_eq!(names(&bag).await, "");
    bag.skill("r/x");
    assert_eq!(names(&bag).await, "x");
    bag.write("r/x/more.md", "");
    assert_eq!(bag.all_resources(9).await, ["skill://x/SKILL.md", "skill://x/more.md"]);
    fs::rename(bag.path("r/x"), bag.path("r/y")).unwrap();
    assert_eq!(names(&bag).await, "y");
    assert_eq!(bag.all_resources(9).await, ["skill://y/SKILL.md", "skill://y/more.md"]);
    assert!(bag.refused("skill_load", json!({ "name": "x" })).await.contains("The skills are: y."));
    fs::remove_file(bag.path("r/y/more.md")).unwrap();
    assert_eq!(bag.all_resources(9).await, ["skill://y/SKILL.md"]);
    assert!(bag.read("skill://y/more.md").await.is_err());
    fs::remove_dir_all(bag.path("r/y")).unwrap();
    assert_eq!(names(&bag).await, "");
    assert!(bag.prompt("y", &[]).await.is_err());
    fs::remove_dir_all(bag.path("r")).unwrap();
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(each(&listed["problems"], "reason"), ["root-unreadable"]);
    bag.skill("r/back");
    assert_eq!(names(&bag).await, "back");
}

#[tokio::test]
async fn weakness_13_a_skill_that_becomes_a_link() {
    let bag = Bag::new();
    bag.skill("r/x").write("elsewhere/x/SKILL.md", skill_md("other", "other"));
    assert_eq!(body(&bag, "x").await, "Do x.\n");
    let told = async || {
        let listed = bag.call("skill_list", json!({})).await;
        format!("{} {}", listed["total"], each(&listed["problems"], "reason").join(" "))
    };
    fs::remove_dir_all(bag.path("r/x")).unwrap();
    bag.link("r/x", "../elsewhere/x");
    assert_eq!(told().await, "0 symlink-escape", "it leads out of the root");
    fs::remove_file(bag.path("r/x")).unwrap();
    bag.write("r/group/x/SKILL.md", skill_md("inside", "inside")).link("r/x", "group/x");
    assert_eq!(told().await, "1 ");
    assert_eq!(body(&bag, "x").await, "inside\n");
    fs::remove_dir_all(bag.path("r/group")).unwrap();
    assert_eq!(told().await, "0 symlink-escape", "it leads nowhere");
}

#[tokio::test]
async fn weakness_13_a_skill_md_that_can_no_longer_be_read() {
    let bag = Bag::new();
    bag.skill("r/x").skill("r/y");
    assert_eq!(names(&bag).await, "x y");
    fs::remove_file(bag.path("r/x/SKILL.md")).unwrap();
    fs::create_dir(bag.path("r/x/SKILL.md")).unwrap();
    fs::remove_file(bag.path("r/y/SKILL.md")).unwrap();
    bag.link("r/y/SKILL.md", "nothing");
    let listed = bag.call("skill_list", json!({})).await;
    assert_eq!(
        (&listed["total"], each(&listed["problems"], "reason")),
        (&json!(0), vec!["unreadable-skill-md", "symlink-escape"])
    );
    assert!(bag.refused("skill_load", json!({ "name": "x" })).await.contains("No skill is served"));
    fs::remove_dir(bag.path("r/x/SKILL.md")).unwrap();
    bag.skill("r/x");
    assert_eq!(names(&bag).await, "x");
}

/// The revisions that are published one after the other.
struct Told {
    offer: watch::Receiver<Arc<Offer>>,
    count: u64,
}

impl Told {
    fn of(bag: &Bag) -> Self {
        Self { offer: bag.server.offer(), count: 0 }
    }

    /// Waits until the change that was just made is told. One that was told twice shows at the next one.
    async fn once_more(&mut self) {
        self.count += 1;
        let revision = |offer: &Arc<Offer>| {
            assert_eq!(offer.prompts, offer.resources);
            offer.prompts.unwrap().0
        };
        let wait = self.offer.wait_for(|offer| revision(offer) >= self.count);
        let offer = tokio::time::timeout(PATIENCE, wait).await.expect("nothing was told").unwrap();
        assert_eq!(revision(&offer), self.count);
    }
}

/// Makes `path` in one step that a look sees whole or not at all.
fn put(bag: &Bag, path: &str, make: impl Fn(&str)) {
    let aside = format!("aside/{path}");
    make(&aside);
    fs::rename(bag.path(&aside), bag.path(path)).unwrap();
}

#[tokio::test]
async fn weakness_13_each_change_is_told_once() {
    let bag = Bag::with(Options { watched: Watched::Yes, ..Options::USUAL }, &["r"]);
    let mut changes = bag.toolbox.changes();
    let mut told = Told::of(&bag);
    assert_eq!(names(&bag).await, "");
    for name in ["x", "y", "z"] {
        put(&bag, &format!("r/{name}"), |path| {
            bag.skill(path);
        });
        told.once_more().await;
        bag.all_resources(9).await;
    }
    for text in ["one", "another"] {
        put(&bag, "r/x/SKILL.md", |path| {
            bag.write(path, skill_md("new", text));
        });
        told.once_more().await;
        assert_eq!(body(&bag, "x").await, format!("{text}\n"));
    }
    put(&bag, "r/y/more.md", |path| {
        bag.write(path, "more");
    });
    told.once_more().await;
    fs::rename(bag.path("r/y"), bag.path("r/w")).unwrap();
    told.once_more().await;
    fs::rename(bag.path("r/z"), bag.path("aside/z")).unwrap();
    told.once_more().await;
    let lists = Changed { tools: false, prompts: true, resources: true };
    assert_eq!(changes.take(), lists);
}

/// Whoever asks first sees a change first; the others must hear of it all the same.
#[tokio::test]
async fn weakness_13_a_change_that_an_answer_has_shown_is_told_to_the_others() {
    let bag = Bag::with(Options { watched: Watched::Yes, ..Options::USUAL }, &["r"]);
    bag.skill("r/x").write("r/x/deep/er/a.md", "");
    bag.all_resources(9).await;
    let mut changes = bag.toolbox.changes();
    bag.write("r/x/deep/er/b.md", "");
    assert_eq!(bag.all_resources(9).await.len(), 3);
    let changed = tokio::time::timeout(PATIENCE, changes.next()).await.expect("nothing was told");
    assert!(changed.resources);
}

/// Without a watch nothing is told, and every answer is new all the same.
#[tokio::test]
async fn a_server_without_a_watch_never_tells() {
    let bag = Bag::new();
    let mut changes = bag.toolbox.changes();
    bag.skill("r/x");
    assert_eq!(names(&bag).await, "x");
    assert!(!changes.take().any());
}
