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
    /// How many units the price is worked out for.
    #[serde(default = "hundred")]
    per: f64,
}

#[derive(Serialize, JsonSchema)]
struct UnitPrice {
    cents: f64,
}

fn hundred() -> f64 {
    100.0
}

async fn unit_price(_: RunContext, offer: Offer) -> Result<Json<UnitPrice>, &'static str> {
    let cents = f64::from(offer.cents) / offer.amount * offer.per;
    cents.is_finite().then_some(Json(UnitPrice { cents })).ok_or("there is nothing in it")
}

fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
    let prose = include_str!("../unit-price/SKILL.md");
    let about = "Works out what something costs per unit, to compare offers of different size.";
    let registry = Registry::new();
    registry
        .register(define("unit-price").description(about).skill_md(prose).typed(unit_price)?)?;
    Ok(kitbag_sdk::main(registry))
}
