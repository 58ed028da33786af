use std::collections::BTreeSet;

use kitbag_testkit::{Era, FakeSource};
use serde_json::{Value, json};

use crate::{Client, ERAS, connect_to, open, served};

async fn walk(
    client: &mut Client,
    method: &str,
    list: &str,
    mut between: impl FnMut(usize),
) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = json!({});
    for page in 0.. {
        let mut result = client.request(method, params).await;
        let Value::Array(items) = result[list].take() else { panic!("no list in {result}") };
        names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        let Value::String(cursor) = result["nextCursor"].take() else { break };
        between(page);
        params = json!({ "cursor": cursor });
    }
    names
}

#[tokio::test]
async fn thousands_of_resources_and_prompts_are_given_once_each() {
    let source = FakeSource::new("fake");
    let expected: Vec<String> = (0..2500).map(|n| format!("{n:05}")).collect();
    source.put_all(expected.iter().map(|name| (name.as_str(), "text")));
    for era in ERAS {
        let mut connected = connect_to(served(&source), source.clone(), era);
        connected.client.open().await;
        for (method, list) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
            let mut pages = 1;
            let names = walk(&mut connected.client, method, list, |_| pages += 1).await;
            assert_eq!((names, pages), (expected.clone(), 3));
        }
    }
}

#[tokio::test]
async fn what_stays_is_given_once_while_others_come_and_go() {
    let source = FakeSource::new("fake");
    let start: Vec<String> = (0..2500).map(|n| format!("{n:05}")).collect();
    source.put_all(start.iter().map(|name| (name.as_str(), "text")));
    let mut connected = connect_to(served(&source), source.clone(), Era::Stateless);
    connected.client.open().await;
    let names = walk(&mut connected.client, "resources/list", "resources", |page| {
        // The last of the page goes, and one comes before it and one after it.
        source.remove(&format!("{:05}", page * 1000 + 999));
        source.put(&format!("{:05}-new", page * 1000), "text");
        source.put(&format!("{:05}-new", page * 1000 + 1500), "text");
    })
    .await;
    let unique: BTreeSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "given twice");
    let missing: Vec<&String> = start.iter().filter(|name| !unique.contains(name)).collect();
    // What went had been given, or went before it could be.
    assert!(missing.len() <= 2, "{missing:?}");
    assert!(unique.contains(&"01500-new".to_owned()));
}

#[tokio::test]
async fn many_tools_are_paged_too() {
    for era in ERAS {
        let mut connected = open(era).await;
        for n in 0..600 {
            connected.source.add_tool(&format!("tool-{n:04}"));
        }
        let mut pages = 1;
        let names = walk(&mut connected.client, "tools/list", "tools", |_| pages += 1).await;
        let unique: BTreeSet<&String> = names.iter().collect();
        assert_eq!((names.len(), unique.len(), pages), (606, 606, 3));
    }
}
