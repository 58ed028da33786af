use std::time::Duration;

use kitbag_testkit::Era;
use serde_json::{Value, json};

use crate::{Connected, open};

fn methods(notifications: &[Value]) -> Vec<&str> {
    notifications.iter().map(|notification| notification["method"].as_str().unwrap()).collect()
}

const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test(start_paused = true)]
async fn a_burst_of_changes_is_told_once() {
    let Connected { mut client, source, .. } = open(Era::Handshake).await;
    assert_eq!(methods(&client.notifications_within(MINUTE).await), [""; 0]);
    for n in 0..20 {
        source.put(&format!("skill-{n}"), "text");
        assert!(client.notifications_within(Duration::from_millis(20)).await.is_empty());
    }
    assert_eq!(
        methods(&client.notifications_within(MINUTE).await),
        ["notifications/prompts/list_changed", "notifications/resources/list_changed"],
    );
    source.add_tool("later");
    assert_eq!(
        methods(&client.notifications_within(MINUTE).await),
        ["notifications/tools/list_changed"],
    );
    source.touch();
    assert_eq!(methods(&client.notifications_within(MINUTE).await), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn changes_without_end_are_told_all_the_same() {
    let Connected { mut client, source, .. } = open(Era::Handshake).await;
    let mut told = 0;
    for n in 0..100 {
        source.put(&format!("skill-{n}"), "text");
        told += client.notifications_within(Duration::from_millis(100)).await.len();
    }
    // Ten seconds of changes, told at most once a second, of prompts and of resources.
    assert!((16..=20).contains(&told), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_twice_that_it_is_ready_hears_once() {
    let Connected { mut client, source, .. } = open(Era::Handshake).await;
    client.notify("notifications/initialized", json!({})).await;
    assert!(client.notifications_within(MINUTE).await.is_empty());
    source.add_tool("later");
    assert_eq!(
        methods(&client.notifications_within(MINUTE).await),
        ["notifications/tools/list_changed"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_stateless_client_hears_what_it_listens_for() {
    let Connected { mut client, source, stop, server } = open(Era::Stateless).await;
    source.add_tool("before");
    assert!(client.notifications_within(MINUTE).await.is_empty(), "nobody listens yet");
    let wanted =
        json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let listening = client.start("subscriptions/listen", wanted).await;
    let acknowledged = client.notification().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true, "promptsListChanged": true }),
    );
    for n in 0..5 {
        source.put(&format!("skill-{n}"), "text");
        source.add_tool(&format!("tool-{n}"));
        assert!(client.notifications_within(Duration::from_millis(20)).await.is_empty());
    }
    let told = client.notifications_within(MINUTE).await;
    assert_eq!(
        methods(&told),
        ["notifications/tools/list_changed", "notifications/prompts/list_changed"],
    );
    for notification in &told {
        let id = &notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*id, json!(listening));
    }
    client.cancel(listening).await;
    source.add_tool("after");
    assert!(client.notifications_within(MINUTE).await.is_empty(), "nobody listens any more");
    stop.cancel();
    server.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_next_answer_has_what_changed() {
    for era in crate::ERAS {
        let Connected { mut client, source, .. } = open(era).await;
        let names = async |client: &mut crate::Client| {
            let result = client.request("prompts/list", json!({})).await;
            let prompts = result["prompts"].as_array().unwrap().clone();
            prompts.iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        source.put("a", "1");
        assert_eq!(names(&mut client).await, ["a"]);
        source.put("b", "2");
        assert_eq!(names(&mut client).await, ["a", "b"]);
        source.remove("a");
        assert_eq!(names(&mut client).await, ["b"]);
    }
}
