//! What a model is shown of 4,000 skills, and a long body with its arguments put in.

use divan::{Bencher, black_box};
use kitbag_skills::budget::Budget;
use kitbag_skills::catalogue::{Guidance, Listing, catalogue, nearest, search};
use kitbag_skills::estimate_tokens;
use kitbag_skills::substitute::{Arguments, Dialect, substitute};

/// About what the median of real collections is: 185 characters.
const DESCRIPTION: &str = "Ship a branch to an environment, with the checks that must pass first. Use when the user \
    asks to deploy, release or roll back, or mentions staging or production. Not for local runs of it.";

fn main() {
    divan::main();
}

fn names() -> Vec<String> {
    (0..4_000).map(|at| format!("deploy-service-{at:04}")).collect()
}

fn listings(names: &[String]) -> Vec<Listing<'_>> {
    names
        .iter()
        .enumerate()
        .map(|(at, name)| Listing {
            name,
            description: DESCRIPTION,
            when_to_use: None,
            hint: Some("[environment]"),
            attached: at % 97 == 0,
            bundled: false,
            guidance: if at % 3 == 0 { Guidance::Project } else { Guidance::User },
        })
        .collect()
}

#[divan::bench(args = [32_768, 200_000, 1_000_000, 20_000_000])]
fn catalogue_of_4000(bencher: Bencher<'_, '_>, window: u64) {
    let names = names();
    let listings = listings(&names);
    let budget = Budget::for_window(window);
    bencher.bench(|| catalogue(black_box(&listings), &budget));
}

#[divan::bench]
fn search_of_4000(bencher: Bencher<'_, '_>) {
    let names = names();
    let listings = listings(&names);
    bencher.bench(|| search(black_box(&listings), "roll back service"));
}

#[divan::bench]
fn nearest_of_4000(bencher: Bencher<'_, '_>) {
    let names = names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bencher.bench(|| nearest(black_box("deploy-servcie-0420"), &names, 20));
}

fn body() -> String {
    let paragraph = "Deploy $1 to $environment. Run `awk '{print $2}'`, which costs $1.42, from ${KITBAG_SKILL_DIR}.\n";
    paragraph.repeat(20_480 / paragraph.len())
}

#[divan::bench(args = ["kitbag", "claude"])]
fn substitute_20_kb(bencher: Bencher<'_, '_>, dialect: &str) {
    let body = body();
    let names = ["environment".to_owned(), "branch".to_owned()];
    let arguments = Arguments { text: "staging main and nothing else", names: &names };
    let dialect = if dialect == "kitbag" { Dialect::Kitbag } else { Dialect::Claude };
    bencher.bench(|| {
        substitute(black_box(&body), dialect, &arguments, Some("/home/a/.kitbag/skills/deploy"))
    });
}

#[divan::bench]
fn estimate_20_kb(bencher: Bencher<'_, '_>) {
    let body = body();
    bencher.bench(|| estimate_tokens(black_box(&body)));
}
