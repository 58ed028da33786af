//! A whole skill server: a typed skill, with its prose beside it.

use kitbag_sdk::{Json, Registry, RunContext, define};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Offer {
    /// The price of the whole, in cents.
    cents: u32,
    /// How much is in it: grams, sheets, washes.
    amount: f64,
}

#[derive(Serialize, JsonSchema)]
struct UnitPrice {
    cents_per_hundred: f64,
}

async fn unit_price(_: RunContext, offer: Offer) -> Result<Json<UnitPrice>, &'static str> {
    let cents = f64::from(offer.cents) * 100.0 / offer.amount;
    let price = UnitPrice { cents_per_hundred: cents };
    cents.is_finite().then_some(Json(price)).ok_or("there is nothing in it")
}

fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
    let registry = Registry::new();
    let skill = define("unit-price")
        .description("Works out what something costs per hundred units, to compare offers.")
        .skill_md(include_str!("../unit-price/SKILL.md"));
    registry.register(skill.typed(unit_price)?)?;
    Ok(kitbag_sdk::main(registry))
}
