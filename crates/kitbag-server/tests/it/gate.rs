//! Clients come through a view: what they may never call is not there, and their name is on what they do.

use kitbag_server::Served;
use kitbag_testkit::{FakeAudit, FakeSource, rules};
use kitbag_tool::{Gate, Mode, Toolbox};
use serde_json::json;

use crate::{Connected, ERAS, connect_to, served};

/// A server whose toolbox has these rules, and a client that has opened the conversation.
async fn gated(era: kitbag_testkit::Era, gate: Gate) -> (Connected, std::sync::Arc<FakeAudit>) {
    let source = FakeSource::new("fake");
    let audit = FakeAudit::new();
    let toolbox = Toolbox::new(vec![source.clone()], gate, Some(audit.clone()));
    let served = Served { view: toolbox.view(), ..served(&source) };
    let mut connected = connect_to(served, source, era);
    connected.client.open().await;
    (connected, audit)
}

#[tokio::test]
async fn fault_38_a_client_is_not_told_of_what_it_may_never_call() {
    for era in ERAS {
        let written = &["allow mcp__fake", "deny mcp__fake__hang", "deny mcp__fake__panic"];
        let (mut connected, _) = gated(era, Gate::new(rules(written), Mode::Ask)).await;
        let listed = connected.client.request("tools/list", json!({})).await;
        let names: Vec<&str> = listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["data", "echo", "refuse", "steps"]);
        let denied = connected.client.request("tools/call", json!({ "name": "hang" })).await;
        assert_eq!(denied["isError"], true);
        insta::allow_duplicates! {
            insta::assert_snapshot!(denied["content"][0]["text"].as_str().unwrap(), @"
            tool `hang` was not called: denied by the rule deny mcp__fake__hang (user, settings.json:2)

            Hint: nothing goes before a rule that denies; this one stands in settings.json:2
            ");
        }
    }
}

#[tokio::test]
async fn the_log_has_the_name_that_the_client_gave() {
    for era in ERAS {
        let (mut connected, audit) =
            gated(era, Gate::new(rules(&["allow mcp__fake__echo"]), Mode::Ask)).await;
        let echo = json!({ "name": "echo", "arguments": { "text": "hi" } });
        connected.client.request("tools/call", echo).await;
        let asked = connected.client.request("tools/call", json!({ "name": "data" })).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(asked["content"][0]["text"].as_str().unwrap(), @"tool `data` was not called: it would have to be asked about, and nobody can be asked here; to allow it, add the rule `mcp__fake__data` to `permissions.allow`");
            insta::assert_snapshot!(audit.lines().join("\n"), @"
            client testkit: fake/echo: Allowed, Ok, 2 bytes: the rule allow mcp__fake__echo (user, settings.json:1)
            client testkit: fake/data: Refused, NotRun, 0 bytes, at once: it would have to be asked about, and nobody can be asked here; to allow it, add the rule `mcp__fake__data` to `permissions.allow`
            ");
        }
    }
}

/// A name is text of a stranger: it is cut, and nothing in it hides.
#[tokio::test]
async fn a_clients_name_can_hide_nothing() {
    let (mut connected, audit) = gated(kitbag_testkit::Era::Stateless, Gate::open()).await;
    for (name, shown) in [
        ("person\nmodel\u{202e}", "client person\\u{a}model\\u{202e}".to_owned()),
        ("", "client without a name".to_owned()),
        (&"n".repeat(1_000), format!("client {}", "n".repeat(64))),
    ] {
        let meta =
            json!({ "io.modelcontextprotocol/clientInfo": { "name": name, "version": "0" } });
        let call = json!({ "name": "data", "_meta": meta });
        connected.client.request("tools/call", call).await;
        let (_, entry) = audit.entries().pop().unwrap();
        assert_eq!(entry.principal.to_string(), shown);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_hears_when_the_rules_hide_a_tool() {
    let gate = Gate::open();
    let (mut connected, _) = gated(kitbag_testkit::Era::Handshake, gate.clone()).await;
    connected.client.request("tools/list", json!({})).await;
    gate.replace(rules(&["deny mcp__fake"]), Mode::FullAuto);
    let heard = connected.client.notification().await;
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    let listed = connected.client.request("tools/list", json!({})).await;
    assert_eq!(listed["tools"], json!([]));
}
