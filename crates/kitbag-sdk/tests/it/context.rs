//! T-55 to T-64: what a handler knows of its call.

use std::convert::Infallible;
use std::sync::Arc;

use kitbag_sdk::{
    BoxError, Generate, GenerateError, GenerateRequest, Generated, RunContext, SkillError,
};
use kitbag_tool::{
    BoxFuture, CallContext, Gate, Progress, ProgressUpdate, ToolCall, ToolOutput, Toolbox,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::{asking, call, named, raw, reading, registry, text};

type Arguments = Map<String, Value>;

#[tokio::test]
async fn t56_t57_t58_t59_name_and_body_are_those_of_the_definition() {
    let know = |context: RunContext, _: Arguments| async move {
        // Nothing of this asks the registry: the skill is gone from it.
        context.registry().remove(context.skill_name());
        let text = format!("{}:{}", context.skill_name(), context.skill_body());
        Ok::<_, Infallible>(ToolOutput::text(text))
    };
    let with = named("with").body("Do it well.\n").raw(json!({}), know).unwrap();
    let registry = registry([with, raw("without", know)]);
    assert_eq!(text(&call(&registry, "with", json!({})).await.unwrap()), "with:Do it well.\n");
    assert_eq!(text(&call(&registry, "without", json!({})).await.unwrap()), "without:");
}

#[test]
fn t56_the_body_of_a_skill_md_is_what_follows_the_frontmatter() {
    for (whole, body) in [
        ("---\nname: a\n---\n# A\n---\nb", "# A\n---\nb"),
        ("\u{feff}---\r\nname: a\r\n---\r\nbody", "body"),
        ("---  \nname: a\n...\nbody", "body"),
        ("---\nname: a\n---", ""),
        ("---\nnever closed", "---\nnever closed"),
        ("\n---\nname: a\n---\nbody", "\n---\nname: a\n---\nbody"),
        ("no frontmatter", "no frontmatter"),
        ("", ""),
    ] {
        let definition = named("a").skill_md(whole).typed(crate::support::echo).unwrap();
        assert_eq!(definition.body(), body, "{whole:?}");
    }
}

/// A typed skill beside a SKILL.md: one name for both.
#[test]
fn t56_ours_a_skill_md_of_another_name_is_refused() {
    let beside = |line: &str| {
        let text = format!("---\ndescription: d\n{line}\n---\nbody");
        named("a").skill_md(&text).typed(crate::support::echo)
    };
    for same in [
        "name: a",
        "name:   a  # it",
        "name: 'a'",
        "name: \"a\" # it",
        "title: b",
        "name:",
        " name: b",
    ] {
        assert!(beside(same).is_ok(), "{same:?}");
    }
    for other in ["name: b", "name: 'b'", "name: a b", "name: a#"] {
        let error = beside(other).unwrap_err();
        assert!(matches!(error, kitbag_sdk::DefineError::Beside { .. }), "{other:?}: {error}");
    }
}

#[tokio::test]
async fn t60_t61_t63_a_body_given_with_the_call_wins_for_that_call() {
    let registry = registry([reading("a", "captured")]);
    let parent = asking("a", json!({}));
    let outer = parent.clone().body("a", "outer");
    let hidden = outer.clone().body("a", "");
    let inner = outer.clone().body("a", "inner");
    for (asked, body) in [(inner, "inner"), (hidden, ""), (outer, "outer"), (parent, "captured")] {
        assert_eq!(text(&registry.call(asked).await.unwrap()), body);
    }
}

#[tokio::test]
async fn t62_two_hundred_calls_at_once_see_their_own_bodies() {
    let registry = registry([reading("a", "captured")]);
    let mut calls = JoinSet::new();
    for number in 0..200 {
        let registry = registry.clone();
        calls.spawn(async move {
            let body = format!("body {number}");
            let asked = asking("a", json!({})).body("a", body.as_str());
            (text(&registry.call(asked).await.unwrap()), body)
        });
    }
    let answers = calls.join_all().await;
    assert_eq!(answers.len(), 200);
    assert!(answers.into_iter().all(|(seen, given)| seen == given));
}

#[tokio::test]
async fn t64_a_nested_skill_sees_its_own_body() {
    let outer = |context: RunContext, _: Arguments| async move {
        let inner = context.call("inner", Map::new()).await?;
        let own = context.nested("inner", Map::new()).body("inner", "from outer");
        let given = context.registry().call(own).await?;
        let text = format!("{} | {} | {}", context.skill_body(), text(&inner), text(&given));
        Ok::<_, SkillError>(ToolOutput::text(text))
    };
    let outer = named("outer").body("outer's").raw(json!({}), outer).unwrap();
    let registry = registry([outer, reading("inner", "inner's")]);
    let asked = asking("outer", json!({})).body("outer", "put in");
    let seen = text(&registry.call(asked).await.unwrap());
    assert_eq!(seen, "put in | inner's | from outer");
    let asked = asking("outer", json!({})).body("inner", "for inner");
    let seen = text(&registry.call(asked).await.unwrap());
    assert_eq!(seen, "outer's | for inner | from outer");
}

#[tokio::test]
async fn t55_progress_reaches_the_caller_through_the_toolbox() {
    let steps = raw("steps", |context: RunContext, _: Arguments| async move {
        for step in 1..=3_u8 {
            let update = ProgressUpdate { done: step.into(), total: Some(3.0), message: None };
            context.progress(update);
        }
        // What a nested call reports is not mixed in.
        context.call("inner", Map::new()).await
    });
    let inner = raw("inner", |context: RunContext, _: Arguments| async move {
        context.progress(ProgressUpdate { done: 0.5, total: None, message: None });
        Ok::<_, Infallible>(ToolOutput::text("done"))
    });
    let toolbox = Toolbox::new(vec![Arc::new(registry([steps, inner]))], Gate::open(), None);
    let (queue, mut reports) = mpsc::channel(8);
    let context = CallContext { progress: Progress::to(queue), ..CallContext::default() };
    let asked = ToolCall { name: "steps".parse().unwrap(), arguments: Map::new() };
    toolbox.call(asked, &context).await.unwrap();
    drop(context);
    let mut seen = Vec::new();
    while let Some(update) = reports.recv().await {
        seen.push(update.done);
    }
    assert_eq!(seen, [1.0, 2.0, 3.0]);
}

struct Parrot;

impl Generate for Parrot {
    fn generate<'a>(
        &'a self,
        request: GenerateRequest,
        context: &'a RunContext,
    ) -> BoxFuture<'a, Result<Generated, GenerateError>> {
        Box::pin(async move {
            let text = format!("{}: {} {}", context.skill_name(), request.system, request.prompt);
            Ok(Generated { text })
        })
    }
}

/// The prose drives a model, the code drives the steps; where no model is at hand the error says so.
#[tokio::test]
async fn t56_a_skill_feeds_its_body_to_a_model() {
    let hybrid = |context: RunContext, _: Arguments| async move {
        let system = context.skill_body().to_owned();
        let request = GenerateRequest { system, prompt: "hello".into(), max_tokens: None };
        Ok::<_, BoxError>(ToolOutput::text(context.generate(request).await?.text))
    };
    let registry = registry([named("hybrid").body("Be kind.").raw(json!({}), hybrid).unwrap()]);
    let error = call(&registry, "hybrid", json!({})).await.unwrap_err();
    let SkillError::Handler { source, .. } = error else { panic!("{error}") };
    assert!(matches!(source.downcast_ref(), Some(GenerateError::NoModel)));
    let connected = registry.generating(Arc::new(Parrot));
    let output = call(&connected, "hybrid", json!({})).await.unwrap();
    assert_eq!(text(&output), "hybrid: Be kind. hello");
}
