//! The audit log.

use std::time::Duration;

use kitbag_store::{
    AuditId, Decision, MAX_AUDIT_PAGE, MAX_AUDIT_TEXT_BYTES, Outcome, Store, StoreOptions,
};

use crate::{NOW, Scene, log, record, tools};

#[test]
fn a_record_comes_back_as_it_was() {
    let scene = Scene::new();
    let store = scene.open();
    let mut records = vec![record("read"), record("write")];
    records[1].decision = Decision::Denied;
    records[1].outcome = Outcome::NotRun;
    records[1].size = u64::from(u32::MAX) + 1;
    records[1].duration = Duration::ZERO;
    let last = store.append_audit(&records).unwrap().unwrap();
    let entries = log(&store);
    assert_eq!(last, entries[1].id);
    assert_eq!(entries.iter().map(|entry| entry.lost).sum::<u64>(), 0);
    assert_eq!(entries.into_iter().map(|entry| entry.record).collect::<Vec<_>>(), records);
    assert_eq!(store.append_audit(&[]).unwrap(), None);
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let scene = Scene::new();
    let store = scene.open();
    store.append_audit(&[record(&"é".repeat(MAX_AUDIT_TEXT_BYTES))]).unwrap();
    let tool = tools(&store).remove(0);
    assert_eq!(tool, format!("{}… (1064 more bytes)", "é".repeat(492)));
    assert!(tool.len() <= MAX_AUDIT_TEXT_BYTES);
}

/// What `kitbag audit --follow` does: read on from where it was.
#[test]
fn the_log_is_followed_from_a_row() {
    let scene = Scene::new();
    let (store, other) = (scene.open(), scene.open());
    store.append_audit(&[record("a"), record("b"), record("c")]).unwrap();
    let from = store.audit_tail(2).unwrap();
    let page = store.audit_after(from).unwrap();
    let names = |entries: &[kitbag_store::AuditEntry]| -> Vec<String> {
        entries.iter().map(|entry| entry.record.tool.clone()).collect()
    };
    assert_eq!((names(&page.entries), page.missed), (vec!["b".to_owned(), "c".to_owned()], 0));
    assert_eq!(store.audit_after(page.next).unwrap().entries, []);
    other.append_audit(&[record("d")]).unwrap();
    let page = store.audit_after(page.next).unwrap();
    assert_eq!(names(&page.entries), ["d"]);
    assert_eq!(store.audit_after(page.next).unwrap().next, page.next);
}

#[test]
fn the_log_is_read_in_pages() {
    let scene = Scene::new();
    let store = scene.open();
    let records: Vec<_> =
        (0..MAX_AUDIT_PAGE + 3).map(|number| record(&number.to_string())).collect();
    store.append_audit(&records).unwrap();
    let first = store.audit_after(AuditId::START).unwrap();
    assert_eq!(first.entries.len(), MAX_AUDIT_PAGE);
    assert_eq!(store.audit_after(first.next).unwrap().entries.len(), 3);
    assert_eq!(store.audit_tail(u64::MAX).unwrap(), AuditId::START);
}

/// The log keeps to its size by dropping the oldest, and says how many a reader missed.
#[test]
fn the_oldest_give_way() {
    let scene = Scene::new();
    let bound = 256 * 1024;
    let options = StoreOptions { audit_bytes: bound, ..StoreOptions::STANDARD };
    let store = Store::open(&scene.path(), NOW, options).unwrap().store;
    for batch in 0..100 {
        let records: Vec<_> = (0..100).map(|at| record(&format!("{batch}-{at}"))).collect();
        store.append_audit(&records).unwrap();
    }
    let entries = log(&store);
    assert_eq!(entries.last().unwrap().record.tool, "99-99");
    assert_eq!(entries.last().unwrap().id.get(), 10_000);
    let oldest = entries.first().unwrap().id.get();
    assert_eq!(entries.len() as u64, 10_000 - oldest + 1);
    assert!(entries.len() > 1_000, "{}", entries.len());
    assert_eq!(store.audit_after(AuditId::START).unwrap().missed, oldest - 1);
    drop(store);
    let size = std::fs::metadata(scene.path()).unwrap().len();
    assert!(size < bound * 3 / 2, "{size} bytes");
}

#[test]
fn one_record_that_is_over_the_bound_stays() {
    let scene = Scene::new();
    let options = StoreOptions { audit_bytes: 0, ..StoreOptions::STANDARD };
    let store = Store::open(&scene.path(), NOW, options).unwrap().store;
    store.append_audit(&[record("a"), record("b")]).unwrap();
    store.append_audit(&[record("c")]).unwrap();
    assert_eq!(tools(&store), ["c"]);
}
