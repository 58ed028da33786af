//! Changes on disk while a client is connected (decision 21).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use kitbag_testkit::{Era, Project};
use serde_json::{Value, json};

use crate::kitbag::command;
use crate::serve_stdio::Served;

const LISTS: [&str; 2] =
    ["notifications/prompts/list_changed", "notifications/resources/list_changed"];

/// Waits until both lists were said to have changed.
async fn told(served: &mut Served) {
    let mut methods = Vec::new();
    for _ in LISTS {
        let notification = served.client.notification().await;
        methods.push(notification["method"].as_str().unwrap().to_owned());
    }
    methods.sort();
    assert_eq!(methods, LISTS);
}

/// Nothing was told but what the test has waited for: what was told too often is left over.
async fn told_no_more(served: &mut Served) {
    served.client.request("ping", json!({})).await;
    assert_eq!(served.client.notifications_within(Duration::ZERO).await, Vec::<Value>::new());
}

/// Puts the text of a skill in the place of another in one step.
fn replace(skill_md: &Path, description: &str) {
    let staged = skill_md.with_extension("new");
    let text = format!("---\nname: one\ndescription: {description}\n---\nDo it.\n");
    fs::write(&staged, text).unwrap();
    fs::rename(staged, skill_md).unwrap();
}

fn description(list: &Value, name: &str) -> Value {
    let skills = list["skills"].as_array().unwrap();
    let skill = skills.iter().find(|skill| skill["name"] == name);
    skill.map_or(Value::Null, |skill| skill["description"].clone())
}

fn reasons(list: &Value) -> Vec<&str> {
    let problems = list["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["reason"].as_str().unwrap()).collect()
}

/// Each change is one step on disk, is in the next answer, and is told once.
#[tokio::test]
async fn every_change_is_in_the_next_answer_and_told_once() {
    let project = Project::new();
    let one = project.skill("skills/one", "First.", "Do it.\n");
    project.skill("staged/two", "Second.", "Do it.\n");
    project.skill("outside", "Elsewhere.", "Do it.\n");
    let command = command(&project, &["serve", "--skills", "../skills"]);
    let mut served = Served::start(Era::Handshake, command).await;
    assert_eq!(served.names().await, ["one"]);

    replace(&one, "Edited.");
    let list = served.call("skill_list", json!({})).await;
    assert_eq!(description(&list, "one"), "Edited.");
    told(&mut served).await;

    fs::rename(project.path("staged/two"), project.path("skills/two")).unwrap();
    assert_eq!(served.names().await, ["one", "two"]);
    told(&mut served).await;

    fs::rename(project.path("skills/two"), project.path("skills/three")).unwrap();
    assert_eq!(served.names().await, ["one", "three"]);
    told(&mut served).await;

    fs::rename(project.path("skills/three"), project.path("staged/three")).unwrap();
    assert_eq!(served.names().await, ["one"]);
    told(&mut served).await;

    let link = project.path("skills/one/link");
    symlink(project.path("outside/SKILL.md"), &link).unwrap();
    fs::rename(link, &one).unwrap();
    let list = served.call("skill_list", json!({})).await;
    assert!(list["total"] == 0 && reasons(&list).contains(&"symlink-escape"), "{list}");
    told(&mut served).await;

    replace(&one, "Back.");
    assert_eq!(served.names().await, ["one"]);
    told(&mut served).await;

    // A pipe cannot be read by anybody, and nobody may wait for it.
    let pipe = project.path("skills/one/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::rename(pipe, &one).unwrap();
    let list = served.call("skill_list", json!({})).await;
    assert!(list["total"] == 0 && reasons(&list).contains(&"unreadable-skill-md"), "{list}");
    told(&mut served).await;

    replace(&one, "Back again.");
    told(&mut served).await;
    assert_eq!(served.names().await, ["one"]);

    told_no_more(&mut served).await;
    assert_eq!(served.end().await, (Some(0), String::new()));
}

#[tokio::test]
async fn a_change_is_told_to_a_client_that_does_not_ask() {
    let project = Project::new();
    let one = project.skill("skills/one", "First.", "Do it.\n");
    let command = command(&project, &["serve", "--skills", "../skills"]);
    let mut served = Served::start(Era::Handshake, command).await;
    assert_eq!(served.names().await, ["one"]);
    for round in 0..10 {
        replace(&one, &format!("Round {round}."));
        told(&mut served).await;
        let list = served.call("skill_list", json!({})).await;
        assert_eq!(description(&list, "one"), format!("Round {round}."));
    }
    told_no_more(&mut served).await;
    assert_eq!(served.end().await, (Some(0), String::new()));
}

#[tokio::test]
async fn a_root_that_comes_later_is_found() {
    let project = Project::new();
    let mut served = Served::start(Era::Handshake, command(&project, &["serve"])).await;
    assert_eq!(served.names().await, ["guide"]);
    project.skill("home/.kitbag/skills/late", "Late.", "Do it.\n");
    assert_eq!(served.names().await, ["late", "guide"]);
    told(&mut served).await;
    assert_eq!(served.end().await, (Some(0), String::new()));
}

#[tokio::test]
async fn a_body_is_read_when_it_is_asked_for() {
    let project = Project::new();
    let one = project.skill("skills/one", "First.", "Do it.\n");
    let command = command(&project, &["serve", "--skills", "../skills"]);
    let mut served = Served::start(Era::Stateless, command).await;
    for body in ["Do this.\n", "Do that.\n", "Then another thing.\n"] {
        fs::write(&one, format!("---\nname: one\ndescription: First.\n---\n{body}")).unwrap();
        let loaded = served.call("skill_load", json!({ "name": "one" })).await;
        assert_eq!(loaded["body"], body);
    }
    assert_eq!(served.end().await, (Some(0), String::new()));
}
