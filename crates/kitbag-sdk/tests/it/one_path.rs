//! T-66 and T-71: every way to a skill is the same way, and the service can be wrapped.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kitbag_sdk::{Json, RunContext, SkillCall, SkillError};
use kitbag_tool::{CallContext, Gate, Source, ToolCall, ToolOutput, Toolbox};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::support::{Text, asking, call, echoing, named, object, raw, registry, text};

#[tokio::test]
async fn t66_local_nested_toolbox_and_service_calls_give_the_same_bytes() {
    let numbers = named("numbers")
        .typed(|_: RunContext, _: Text| async {
            let big = 18_446_744_073_709_551_615_u64;
            Ok::<_, Infallible>(Json(json!({ "z": big, "a": [0.1, null, "é"] })))
        })
        .unwrap();
    let failing = raw("failing", |_: RunContext, _: Map<String, Value>| async {
        Ok::<_, Infallible>(ToolOutput::error("no"))
    });
    let outer = raw("outer", |context: RunContext, arguments: Map<String, Value>| async move {
        let skill = arguments["skill"].as_str().unwrap_or_default().to_owned();
        context.call(&skill, object(arguments["arguments"].clone())).await
    });
    let mut registry = registry([numbers, failing, echoing("echo"), outer]);
    let toolbox = Toolbox::new(vec![Arc::new(registry.clone())], Gate::open(), None);
    let bytes = |output: ToolOutput| serde_json::to_string(&output).unwrap();
    for (skill, arguments) in
        [("numbers", json!({})), ("failing", json!({})), ("echo", json!({ "text": "a\u{2028}b" }))]
    {
        let local = bytes(call(&registry, skill, arguments.clone()).await.unwrap());
        let nesting = json!({ "skill": skill, "arguments": arguments });
        let nested = bytes(call(&registry, "outer", nesting).await.unwrap());
        let asked = ToolCall { name: skill.parse().unwrap(), arguments: object(arguments.clone()) };
        let context = CallContext::default();
        let gateway = bytes(toolbox.call(asked, &context).await.unwrap());
        let service = registry.ready().await.unwrap();
        let service = bytes(service.call(asking(skill, arguments)).await.unwrap());
        assert_eq!([&nested, &gateway, &service], [&local; 3]);
    }
}

/// A skill of prose alone has no handler, so it cannot be written as a definition: only those become tools.
#[test]
fn t71_only_what_has_a_handler_is_offered_and_nothing_is_a_prompt() {
    let registry = registry([echoing("a")]);
    let offer = registry.offer().borrow().clone();
    assert_eq!((offer.tools.len(), offer.prompts, offer.resources), (1, None, None));
}

#[tokio::test(start_paused = true)]
async fn t65_the_service_takes_layers() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = gate.clone();
    let wait = raw("wait", move |_: RunContext, _: Map<String, Value>| {
        let gate = gate.clone();
        async move {
            drop(gate.acquire().await.unwrap());
            Ok::<_, Infallible>(ToolOutput::text("through"))
        }
    });
    let mut service = ServiceBuilder::new()
        .timeout(Duration::from_millis(50))
        .concurrency_limit(1)
        .service(registry([wait]));
    let asked: SkillCall = asking("wait", json!({}));
    let late = service.ready().await.unwrap().call(asked.clone()).await.unwrap_err();
    assert!(late.is::<tower::timeout::error::Elapsed>(), "{late}");
    opened.add_permits(1);
    let output = service.ready().await.unwrap().call(asked).await.unwrap();
    assert_eq!(text(&output), "through");
    let unknown = service.ready().await.unwrap().call(asking("nope", json!({}))).await.unwrap_err();
    assert!(unknown.downcast_ref::<SkillError>().unwrap().is_unknown("nope"));
}
