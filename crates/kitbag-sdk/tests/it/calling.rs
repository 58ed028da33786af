//! T-25 to T-35: calling a skill, and how that fails.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use kitbag_sdk::{BoxError, MAX_DEPTH, Registry, RunContext, SkillCall, SkillError};
use kitbag_tool::{CallContext, CallError, Gate, ToolCall, ToolOutput, Toolbox};
use serde_json::{Map, Value, json};

use crate::support::{Text, asking, call, echoing, named, object, raw, registry, shown, text};

type Arguments = Map<String, Value>;

async fn through_toolbox(
    registry: &Registry,
    skill: &str,
    arguments: Value,
) -> Result<ToolOutput, CallError> {
    let toolbox = Toolbox::new(vec![Arc::new(registry.clone())], Gate::open(), None);
    let call = ToolCall { name: skill.parse().unwrap(), arguments: object(arguments) };
    toolbox.call(call, &CallContext::default()).await
}

#[tokio::test]
async fn t25_a_call_names_the_skill() {
    let registry = registry([echoing("a"), echoing("a.b")]);
    assert_eq!(text(&call(&registry, "a.b", json!({})).await.unwrap()), r#"{"text":""}"#);
}

#[tokio::test]
async fn t26_t27_an_unknown_name_is_an_error_of_its_own() {
    let registry = registry([echoing("a")]);
    let error = call(&registry, "nope", json!({})).await.unwrap_err();
    assert!(matches!(&error, SkillError::NotRegistered { name } if name == "nope"));
    assert_eq!(error.to_string(), "skill `nope` is not registered");
    let error = through_toolbox(&registry, "nope", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::UnknownTool { name: "nope".parse().unwrap() });
}

#[tokio::test]
async fn t28_no_arguments_are_an_empty_object() {
    let given = raw("given", |_: RunContext, arguments: Arguments| async move {
        Ok::<_, Infallible>(ToolOutput::structured(&arguments).unwrap())
    });
    let registry = registry([given]);
    let none = call(&registry, "given", Value::Null).await.unwrap();
    assert_eq!(none, call(&registry, "given", json!({})).await.unwrap());
    for (wrong, found) in
        [(json!([]), "an array"), (json!("{}"), "a string"), (json!(1), "a number")]
    {
        let error = SkillCall::new("given", wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("arguments of skill `given` must be a JSON object, not {found}")
        );
    }
}

#[tokio::test]
async fn t30_a_result_that_says_it_failed_is_a_result() {
    let failing = raw("failing", |_: RunContext, _: Arguments| async {
        Ok::<_, Infallible>(ToolOutput::error("it did not work"))
    });
    let registry = registry([failing]);
    let output = call(&registry, "failing", json!({})).await.unwrap();
    assert_eq!(output, ToolOutput::error("it did not work"));
    assert_eq!(through_toolbox(&registry, "failing", json!({})).await.unwrap(), output);
}

#[derive(Debug, PartialEq)]
struct Broken(u8);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl std::error::Error for Broken {}

/// The handler's error is untouched; who failed is said around it.
#[tokio::test]
async fn t31_t49_an_error_of_the_handler_keeps_its_type() {
    let by_hand = raw("x", |_: RunContext, _: Arguments| async { Err(Broken(7)) });
    let typed =
        named("x").typed(|_: RunContext, _: Text| async { Err::<String, _>(Broken(7)) }).unwrap();
    for definition in [by_hand, typed] {
        let registry = registry([definition]);
        let error = call(&registry, "x", json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), "skill `x` failed: broken 7");
        let SkillError::Handler { skill, source } = error else { panic!("{error}") };
        assert_eq!((skill.as_str(), source.downcast_ref()), ("x", Some(&Broken(7))));
        let output = through_toolbox(&registry, "x", json!({})).await.unwrap();
        assert_eq!(output, ToolOutput::error("skill `x` failed: broken 7"));
    }
}

/// The two ways to pass an inner failure on: as a boxed error, and as the very type.
#[tokio::test]
async fn t26_t33_an_inner_unknown_name_is_not_the_outer_one() {
    let boxed = raw("boxed", |context: RunContext, _: Arguments| async move {
        Ok::<_, BoxError>(context.call("absent", Map::new()).await?)
    });
    let plain = raw("plain", |context: RunContext, _: Arguments| async move {
        context.call("absent", Map::new()).await
    });
    let registry = registry([boxed, plain]);
    for name in ["boxed", "plain"] {
        let error = call(&registry, name, json!({})).await.unwrap_err();
        assert!(!error.is_unknown(name) && error.skill() == name, "{error}");
        let SkillError::Handler { source, .. } = &error else { panic!("{error}") };
        let inner: &SkillError = source.downcast_ref().unwrap();
        assert!(inner.is_unknown("absent") && !inner.is_unknown(name));
        let output = through_toolbox(&registry, name, json!({})).await.unwrap();
        assert_eq!(
            text(&output),
            format!("skill `{name}` failed: skill `absent` is not registered")
        );
    }
}

/// Statement T-34 holds by type: a handler returns an output or an error.
#[tokio::test]
async fn t34_t35_a_panic_fails_one_call() {
    let panicking = raw("panicking", |_: RunContext, arguments: Arguments| async move {
        assert!(arguments.is_empty(), "there are {}", arguments.len());
        Ok::<_, Infallible>(ToolOutput::text("fine"))
    });
    let blocking = named("blocking")
        .blocking(|_: RunContext, _: Text| -> Result<String, Infallible> { panic!("in a thread") })
        .unwrap();
    let before_the_future = raw("early", |_: RunContext, arguments: Arguments| {
        assert!(arguments.is_empty(), "before there is a future");
        async { Ok::<_, Infallible>(ToolOutput::text("fine")) }
    });
    let registry = registry([panicking, blocking, before_the_future]);
    for (skill, arguments, message) in [
        ("panicking", json!({ "a": 1 }), "there are 1"),
        ("blocking", json!({}), "in a thread"),
        ("early", json!({ "a": 1 }), "before there is a future"),
    ] {
        let error = call(&registry, skill, arguments.clone()).await.unwrap_err();
        assert!(matches!(&error, SkillError::Panicked { .. }), "{error}");
        assert_eq!(error.to_string(), format!("skill `{skill}` panicked: {message}"));
        let error = through_toolbox(&registry, skill, arguments).await.unwrap_err();
        assert!(matches!(error, CallError::Interrupted(_)), "{error}");
    }
    assert_eq!(
        shown(&call(&registry, "panicking", json!({})).await),
        shown(&call(&registry, "early", json!({})).await)
    );
}

#[tokio::test]
async fn t32_ours_skills_call_skills_sixteen_deep() {
    let down = raw("down", |context: RunContext, _: Arguments| async move {
        match context.call("down", Map::new()).await {
            Err(SkillError::Depth { skill, limit }) => {
                let text = format!("{skill} stopped below {} of {limit}", context.depth());
                Ok(ToolOutput::text(text))
            }
            other => other,
        }
    });
    let registry = registry([down]);
    let output = call(&registry, "down", json!({})).await.unwrap();
    assert_eq!(text(&output), format!("down stopped below {MAX_DEPTH} of 16"));
    let output = through_toolbox(&registry, "down", json!({})).await.unwrap();
    assert_eq!(text(&output), format!("down stopped below {MAX_DEPTH} of 16"));
}

#[derive(Debug, PartialEq)]
struct Caller(&'static str);

#[tokio::test]
async fn t29_t55_the_callers_values_reach_the_handler_and_those_it_calls() {
    let who = raw("who", |context: RunContext, _: Arguments| async move {
        let caller = context.extensions().get::<Caller>().map_or("nobody", |caller| caller.0);
        Ok::<_, Infallible>(ToolOutput::text(caller))
    });
    let outer = raw("outer", |context: RunContext, _: Arguments| async move {
        context.call("who", Map::new()).await
    });
    let registry = registry([who, outer]);
    for skill in ["who", "outer"] {
        let asked = asking(skill, json!({})).extension(Caller("first")).extension(Caller("me"));
        assert_eq!(text(&registry.call(asked).await.unwrap()), "me");
        assert_eq!(text(&call(&registry, skill, json!({})).await.unwrap()), "nobody");
    }
}
