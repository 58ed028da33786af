//! The log of a toolbox in the store.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kitbag_store::AuditId;
use kitbag_tool::{Audit as _, AuditEntry, Decision, Outcome, Principal};

use crate::place::Place;

fn entry(tool: &str, decision: Decision) -> AuditEntry {
    AuditEntry {
        at: SystemTime::UNIX_EPOCH,
        principal: Principal::Skill { name: "deploy".into(), for_: Arc::new(Principal::Model) },
        source: "files".to_owned(),
        tool: tool.to_owned(),
        arguments: [1; 32],
        decision,
        because: "the mode full-auto".to_owned(),
        duration: Duration::from_micros(5),
        size: 7,
        outcome: Outcome::Ok,
    }
}

fn recorded(place: &Place) -> Vec<String> {
    let host = place.open().unwrap();
    let store = host.existing_store().unwrap().unwrap();
    let page = store.audit_after(AuditId::START).unwrap();
    let line = |record: kitbag_store::AuditRecord| {
        format!("{} {} {}", record.principal, record.tool, record.decision.as_str())
    };
    page.entries.into_iter().map(|entry| line(entry.record)).collect()
}

#[tokio::test]
async fn what_is_recorded_is_on_the_disk_when_the_log_is_finished() {
    let place = Place::new();
    let host = place.open().unwrap();
    let log = host.audit().unwrap();
    log.finish().await.unwrap();
    assert!(!place.path("home/.kitbag").exists());
    log.record(entry("one", Decision::Allowed));
    log.record(entry("two", Decision::Unjudged));
    log.finish().await.unwrap();
    let first = "skill deploy for model one allowed";
    assert_eq!(recorded(&place), [first, "skill deploy for model two unjudged"]);
    assert_eq!(log.health().unwrap().lost, 0);
}

#[tokio::test]
async fn a_denial_is_on_the_disk_before_its_answer() {
    let place = Place::new();
    let log = place.open().unwrap().audit().unwrap();
    // The first one finds the store closed, the second finds it open.
    for (count, tool) in [(1, "one"), (2, "two")] {
        log.record_at_once(entry(tool, Decision::Denied)).await.unwrap();
        assert_eq!(recorded(&place).len(), count);
    }
}

#[tokio::test]
async fn a_consent_that_cannot_be_recorded_is_an_error() {
    let place = Place::new();
    place.user("{}");
    fs::write(place.path("home/.kitbag/data"), "in the way").unwrap();
    let log = place.open().unwrap().audit().unwrap();
    log.record(entry("one", Decision::Allowed));
    let failed = log.record_at_once(entry("two", Decision::Approved)).await.unwrap_err();
    assert!(failed.reason.contains("data"), "{failed}");
    assert!(log.finish().await.is_err());
}

#[test]
fn without_a_home_there_is_no_log() {
    let place = Place::new();
    let bare = kitbag_host::Where { kitbag_home: None, ..place.place() };
    assert!(kitbag_host::Host::open(bare).unwrap().audit().is_none());
}
