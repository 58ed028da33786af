//! `kitbag audit`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use kitbag_store::{AuditRecord, Decision, Digest, Outcome, Store, StoreOptions, Timestamp};
use kitbag_testkit::Project;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::kitbag::{command, kitbag};
use crate::terminal;

fn store(project: &Project) -> Store {
    let path = project.path("home/.kitbag/data/kitbag.db");
    Store::open(&path, Timestamp::from_unix_millis(0), StoreOptions::STANDARD).unwrap().store
}

fn record(tool: &str) -> AuditRecord {
    AuditRecord {
        at: Timestamp::from_unix_millis(1_800_000_000_000),
        principal: "client \u{202e}probe".to_owned(),
        source: "files".to_owned(),
        tool: tool.to_owned(),
        arguments: Digest::from([7; 32]),
        decision: Decision::Denied,
        rule: "deny mcp__files (user, ~/.kitbag/settings.json:3)".to_owned(),
        duration: Duration::from_micros(1_234),
        size: 9,
        outcome: Outcome::NotRun,
    }
}

#[test]
fn the_table_and_the_lines_of_json_hold_every_call() {
    let project = Project::new();
    store(&project).append_audit(&[record("one"), record("two"), record("three")]).unwrap();
    let outcome = kitbag(&project, &["audit", "--last", "2"]);
    assert_snapshot!(outcome.text(), @r#"
    TIME (UTC)           DECISION  OUTCOME     TOOK      TOOL         WHO                   BECAUSE
    2027-01-15 08:00:00  denied    not-run     1.2 ms    files/two    client \u{202e}probe  deny mcp__files (user, ~/.kitbag/settings.json:3)
    2027-01-15 08:00:00  denied    not-run     1.2 ms    files/three  client \u{202e}probe  deny mcp__files (user, ~/.kitbag/settings.json:3)

    --- stderr, exit code 0
    "#);
    let outcome = kitbag(&project, &["audit", "--json", "--last", "1"]);
    assert_snapshot!(outcome.text(), @r#"
    {"id":3,"at":"2027-01-15T08:00:00.000Z","principal":"client \u202eprobe","source":"files","tool":"three","argumentsSha256":"0707070707070707070707070707070707070707070707070707070707070707","decision":"denied","because":"deny mcp__files (user, ~/.kitbag/settings.json:3)","micros":1234,"bytes":9,"outcome":"not-run","lostBefore":0}

    --- stderr, exit code 0
    "#);
    assert_eq!(kitbag(&project, &["audit", "--json"]).stdout.lines().count(), 3);
}

#[test]
fn a_narrow_terminal_gets_two_lines_a_call() {
    let project = Project::new();
    store(&project).append_audit(&[record("a-tool-with-a-long-name-that-does-not-fit")]).unwrap();
    let narrow = |columns| terminal::seen(&project, command(&project, &["audit"]), columns);
    assert_snapshot!(narrow(60), @r#"
    2027-01-15 08:00:00  denied  files/a-tool-with-a-long-name-…
      client \u{202e}probe, not-run, 1.2 ms: deny mcp__files (u…
    "#);
    assert_snapshot!(narrow(120), @r#"
    TIME (UTC)           DECISION  OUTCOME     TOOK      TOOL                              WHO                   BECAUSE
    2027-01-15 08:00:00  denied    not-run     1.2 ms    files/a-tool-with-a-long-name-t…  client \u{202e}probe  deny mcp__…
    "#);
}

#[test]
fn nothing_recorded_is_an_answer() {
    assert_snapshot!(kitbag(&Project::new(), &["audit"]).text(), @"

    --- stderr, exit code 0
    Nothing was recorded yet.
    ");
    let project = Project::new();
    let mut audit = command(&project, &["audit"]);
    audit.env_remove("HOME");
    assert_eq!(crate::kitbag::run(&project, audit).code, 3);
}

#[test]
fn a_call_leaves_a_line_and_a_rule_that_denies_is_in_it() {
    let project = Project::new();
    project.write(
        "home/.kitbag/settings.json",
        "{\"permissions\": {\"deny\": [\"skill_load(guide)\"]}}",
    );
    assert_eq!(kitbag(&project, &["run", "skill_list"]).code, 0);
    let refused = kitbag(&project, &["run", "skill_load", "--input", "{\"name\": \"guide\"}"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    let lines = kitbag(&project, &["audit", "--json"]).stdout;
    let said: Vec<String> = lines
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            format!(
                "{} {} {}: {}",
                text("principal"),
                text("tool"),
                text("decision"),
                text("because")
            )
        })
        .collect();
    assert_snapshot!(said.join("\n"), @"
    person skill_list allowed: the tool only reads and is trusted
    person skill_load denied: denied by the rule deny skill_load(guide) (user, ~/.kitbag/settings.json:1)
    ");
}

/// It follows what another process writes, from before there is a log, and ends well when it is told to.
#[test]
fn following_sees_other_processes_and_ends_on_an_interrupt() {
    let project = Project::new();
    let mut child =
        command(&project, &["audit", "--follow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let store = store(&project);
    store.append_audit(&[record("one")]).unwrap();
    assert_eq!(next()["tool"], "one");
    store.append_audit(&[record("two"), record("three")]).unwrap();
    assert_eq!((next()["tool"].clone(), next()["id"].clone()), ("two".into(), 3.into()));
    let id = Pid::from_child(&child);
    kill_process(id, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
