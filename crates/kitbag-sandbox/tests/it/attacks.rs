//! Every attack, without a sandbox and in each tier. The table of verdicts is the one in the documentation.

use std::collections::BTreeMap;

use crate::host::{Host, User};

const PAGE: &str = include_str!("../../../../docs/reference/sandbox.md");
const TIERS: [&str; 3] = ["lsm", "namespaces", "full"];

/// One row of the table: the attack, who succeeds without a sandbox, and the verdict of each tier.
struct Row {
    attack: &'static str,
    without: &'static str,
    verdicts: [&'static str; 3],
}

fn table() -> Vec<Row> {
    let (_, table) = PAGE.split_once("| attack |").expect("the page has the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[attack, without, lsm, namespaces, full] = cells.as_slice() else { panic!("{line}") };
        Row { attack: attack.trim_matches('`'), without, verdicts: [lsm, namespaces, full] }
    };
    rows.map(row).collect()
}

/// What came of each attack.
fn outcomes(text: &str) -> BTreeMap<&str, &str> {
    let names: Vec<&str> = table().iter().map(|row| row.attack).collect();
    text.lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (name, outcome) = (words.next()?, words.next()?);
            let known = names.contains(&name) || ["open", "denied", "broken"].contains(&outcome);
            known.then_some((name, outcome))
        })
        .collect()
}

#[test]
fn the_table_is_long_enough_and_denies_all_at_the_strongest_tier() {
    let table = table();
    assert!(table.len() >= 70, "{}", table.len());
    for row in &table {
        assert_eq!(row.verdicts[2], "denied", "{}", row.attack);
        assert!(["anybody", "root", "varies"].contains(&row.without), "{}", row.attack);
    }
}

/// Without this, a test that finds an attack denied would prove nothing.
#[test]
fn attacks_succeed_without_a_sandbox() {
    for user in User::all() {
        let said = Host::of(user, "none", &[], &["attack"]).run();
        let outcomes = outcomes(&said.text);
        let powerful = said.text.lines().any(|line| line == "all-powerful");
        let mut wrong = Vec::new();
        for row in table() {
            let outcome = outcomes.get(row.attack).copied().unwrap_or("missing");
            let must = row.without == "anybody" || (row.without == "root" && powerful);
            if must && outcome != "open" {
                wrong.push(format!("{} is {outcome}", row.attack));
            }
            if row.without == "varies" {
                println!("{user:?}: {} is {outcome} without a sandbox", row.attack);
            }
        }
        assert!(wrong.is_empty(), "{user:?}: {wrong:?}\n{}", said.text);
    }
}

#[test]
fn each_tier_holds_what_the_table_says() {
    let table = table();
    for user in User::all() {
        for (column, tier) in TIERS.into_iter().enumerate() {
            let least = format!("least={tier}");
            let said = Host::of(user, tier, &[&least], &["attack"]).run();
            if !said.is_held(tier) {
                continue;
            }
            let outcomes = outcomes(&said.text);
            let expected: BTreeMap<&str, &str> =
                table.iter().map(|row| (row.attack, row.verdicts[column])).collect();
            let wrong: Vec<String> = expected
                .iter()
                .map(|(attack, verdict)| (attack, verdict, outcomes.get(attack)))
                .filter(|(_, verdict, outcome)| *outcome != Some(verdict))
                .map(|(attack, verdict, outcome)| format!("{attack}: {verdict}, not {outcome:?}"))
                .collect();
            assert!(wrong.is_empty(), "{user:?} {tier}: {wrong:#?}\n{}", said.text);
            let unknown: Vec<&&str> =
                outcomes.keys().filter(|name| !expected.contains_key(*name)).collect();
            assert!(unknown.is_empty(), "not in the table: {unknown:?}");
            println!("{user:?} {tier}: {} attacks judged", expected.len());
        }
    }
}

/// With its layers taken away one by one, the machine names them, and a policy that needs them starts nothing.
#[test]
fn a_missing_layer_is_named_and_refused() {
    let cases = [
        ("namespaces", "full", "namespaces: "),
        ("mounts", "full", "namespaces: "),
        ("landlock", "full", "landlock: "),
        ("landlock-disabled", "full", "landlock: "),
        ("seccomp", "lsm", "seccomp: "),
        ("namespaces,landlock", "lsm", "namespaces: "),
    ];
    for user in User::all() {
        for (without, least, named) in cases {
            let least = format!("least={least}");
            let host =
                Host { without, ..Host::of(user, "full", &[&least], &["attack", "only=tcp"]) };
            let said = host.run();
            assert!(said.of("refused").contains(named), "{without}: {}", said.text);
            assert!(!outcomes(&said.text).contains_key("tcp"), "{without}: {}", said.text);
        }
    }
}
