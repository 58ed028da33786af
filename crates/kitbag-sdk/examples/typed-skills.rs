//! A typed skill from its types to its answer: prose from a SKILL.md, an input that is checked, an output with a schema.
//!
//! `cargo run -p kitbag-sdk --example typed-skills -- '{"severity": 4}'`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use kitbag_sdk::{Json, Registry, RunContext, SkillCall, define};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Incident {
    /// From 1 (a scratch) to 5 (on fire).
    #[schemars(range(min = 1, max = 5))]
    severity: u8,
    /// Whether customers notice.
    #[serde(default)]
    customers_hit: bool,
}

#[derive(Serialize, JsonSchema)]
struct Verdict {
    wake_somebody: bool,
    rule: String,
}

async fn triage(context: RunContext, incident: Incident) -> Result<Json<Verdict>, &'static str> {
    let wake_somebody = incident.severity >= 3 || incident.customers_hit;
    let rule = context.skill_body().lines().next().ok_or("the skill has no prose")?.to_owned();
    Ok(Json(Verdict { wake_somebody, rule }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    let skill = define("incident-triage")
        .description("Decides who is woken by an incident.")
        .skill_md(include_str!("incident-triage.md"))
        .typed(triage)?;
    println!("{}", serde_json::to_string_pretty(&**skill.spec())?);
    registry.register(skill)?;

    let arguments = std::env::args().nth(1).unwrap_or_else(|| r#"{"severity": 4}"#.to_owned());
    let call = SkillCall::new("incident-triage", serde_json::from_str(&arguments)?)?;
    println!("{}", serde_json::to_string_pretty(&registry.call(call).await?)?);
    Ok(())
}
