//! The skills that the statements call.

use std::convert::Infallible;
use std::thread;
use std::time::Duration;

use kitbag_sdk::{Define, Json, Registry, RunContext, SkillError, define};
use kitbag_tool::{Content, ProgressUpdate, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

/// The body of `prose`.
pub const PROSE: &str = "Be kind.\nBe brief.\n";

/// How much time `slow` and `blocking` have.
const SHORT: Duration = Duration::from_millis(50);

#[derive(Deserialize, Serialize, JsonSchema)]
struct Text {
    /// What to give back.
    #[serde(default)]
    text: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    count: u32,
    #[serde(default)]
    notes: Vec<String>,
    address: Option<Address>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Address {
    street: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Moment {
    #[serde(default)]
    now: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Patience {
    #[serde(default)]
    wait: bool,
}

#[derive(Serialize, JsonSchema)]
struct Floats {
    list: Vec<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Errand {
    skill: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

type Arguments = Map<String, Value>;

/// The cast in Rust.
///
/// # Panics
///
/// A definition is not one.
pub fn cast() -> Registry {
    let registry = Registry::new();
    let definitions = [
        about("echo").typed(|_: RunContext, input: Text| async { fine(Json(input)) }),
        about("echo.loud").typed(|_: RunContext, input: Text| async move {
            fine(Json(Text { text: input.text.to_uppercase() }))
        }),
        about("order").typed(|_: RunContext, order: Order| async { fine(Json(order)) }),
        about("given").raw(json!({}), |_: RunContext, given: Arguments| async move {
            ToolOutput::structured(&given)
        }),
        about("numbers").typed(|_: RunContext, _: Nothing| async {
            fine(Json(json!({ "z": u64::MAX, "a": [0.1, null, "é"] })))
        }),
        about("list").typed(|_: RunContext, _: Nothing| async { fine(Json([1, 2])) }),
        about("nan").typed(|_: RunContext, _: Nothing| async {
            fine(Json(Floats { list: vec![0.0, f64::NAN] }))
        }),
        about("rich").typed(|_: RunContext, _: Nothing| async { rich() }),
        about("failing").typed(|_: RunContext, _: Nothing| async {
            fine(ToolOutput::error("it did not work"))
        }),
        about("broken").typed(|_: RunContext, _: Nothing| async { Err::<String, _>("broken 7") }),
        about("panicking").typed(|_: RunContext, moment: Moment| async move {
            assert!(!moment.now, "as was asked");
            fine("fine")
        }),
        about("slow").timeout(SHORT).typed(|_: RunContext, _: Nothing| {
            std::future::pending::<Result<String, Infallible>>()
        }),
        about("blocking").timeout(SHORT).blocking(|context: RunContext, _: Nothing| {
            while !context.is_cancelled() {
                thread::sleep(Duration::from_millis(1));
            }
            fine("too late")
        }),
        about("prose").body(PROSE).typed(|context: RunContext, _: Nothing| async move {
            fine(format!("{}: {}", context.skill_name(), context.skill_body()))
        }),
        about("steps").typed(steps),
        about("outer").typed(|context: RunContext, errand: Errand| async move {
            context.call(&errand.skill, errand.arguments).await
        }),
        about("down").typed(down),
    ];
    for definition in definitions {
        registry.register(definition.unwrap()).unwrap();
    }
    registry
}

fn about(name: &str) -> Define {
    define(name).description("Does what the statements need.")
}

#[expect(clippy::unnecessary_wraps, reason = "a handler returns a result")]
fn fine<T>(output: T) -> Result<T, Infallible> {
    Ok(output)
}

fn rich() -> Result<Vec<Content>, serde_json::Error> {
    let image = json!({ "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" });
    Ok(vec![Content::Text("a".to_owned()), Content::Raw(to_raw_value(&image)?)])
}

async fn steps(context: RunContext, patience: Patience) -> Result<&'static str, Infallible> {
    for step in 1..=3_u8 {
        let message = (step == 3).then(|| "three".to_owned());
        context.progress(ProgressUpdate { done: step.into(), total: Some(3.0), message });
    }
    if patience.wait {
        std::future::pending::<()>().await;
    }
    Ok("done")
}

async fn down(context: RunContext, _: Nothing) -> Result<ToolOutput, SkillError> {
    match context.call("down", Map::new()).await {
        Err(SkillError::Depth { limit, .. }) => {
            Ok(ToolOutput::text(format!("stopped below {} of {limit}", context.depth())))
        }
        other => other,
    }
}
