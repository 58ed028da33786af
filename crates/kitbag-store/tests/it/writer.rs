//! The thread that writes the log.

use std::sync::Arc;

use kitbag_store::{AuditError, AuditWriter, Decision, MAX_QUEUED_CALLS, Recorded};

use crate::{Scene, log, record, tools};

fn denial(tool: &str) -> kitbag_store::AuditRecord {
    kitbag_store::AuditRecord { decision: Decision::Denied, ..record(tool) }
}

/// Keeps the store locked for writing until it is dropped.
struct Blockade(rusqlite::Connection);

impl Blockade {
    fn new(scene: &Scene) -> Self {
        let connection = rusqlite::Connection::open(scene.path()).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self(connection)
    }

    fn lift(self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

/// A denial is on the disk when it is acknowledged, and so is what was queued before it.
#[tokio::test]
async fn a_denial_is_written_at_once_with_what_came_before() {
    let scene = Scene::new();
    let (store, reader) = (scene.open(), scene.open());
    let writer = AuditWriter::start(&store).unwrap();
    assert_eq!(writer.record(record("a")), Recorded::Queued);
    writer.record_at_once(denial("b")).await.unwrap();
    assert_eq!(tools(&reader), ["a", "b"]);
    assert_eq!(writer.record(record("c")), Recorded::Queued);
    writer.flush().await.unwrap();
    assert_eq!(tools(&reader), ["a", "b", "c"]);
    assert!(writer.health().failure.is_none());
}

#[test]
fn what_is_queued_is_written_when_the_writer_goes() {
    let scene = Scene::new();
    let store = scene.open();
    let writer = AuditWriter::start(&store).unwrap();
    for number in 0..5_000 {
        assert_eq!(writer.record(record(&number.to_string())), Recorded::Queued);
    }
    drop(writer);
    assert_eq!(tools(&store), (0..5_000).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// Where the disk does not keep up, calls are dropped and counted, in the log too; a denial never is.
#[tokio::test]
async fn a_full_queue_drops_calls_and_never_a_denial() {
    let scene = Scene::new();
    let store = scene.open();
    let writer = Arc::new(AuditWriter::start(&store).unwrap());
    let blockade = Blockade::new(&scene);
    let (mut queued, mut lost) = (0_u64, 0_u64);
    while lost < 100 {
        match writer.record(record("call")) {
            Recorded::Queued => queued += 1,
            Recorded::Lost => lost += 1,
        }
    }
    assert!(queued >= MAX_QUEUED_CALLS as u64);
    assert_eq!(writer.health().lost, lost);
    let denials: Vec<_> = (0..20)
        .map(|number| {
            let writer = Arc::clone(&writer);
            tokio::spawn(async move { writer.record_at_once(denial(&number.to_string())).await })
        })
        .collect();
    tokio::task::yield_now().await;
    blockade.lift();
    for denial in denials {
        denial.await.unwrap().unwrap();
    }
    let entries = log(&store);
    assert_eq!(entries.len() as u64, queued + 20);
    assert_eq!(entries.iter().map(|entry| entry.lost).sum::<u64>(), lost);
}

/// A store that fails says so to whoever waits, and its calls are counted in the next record that is written.
#[tokio::test]
async fn a_failure_reaches_whoever_waits() {
    let scene = Scene::new();
    let options = kitbag_store::StoreOptions {
        patience: std::time::Duration::from_millis(20),
        ..kitbag_store::StoreOptions::STANDARD
    };
    let store = kitbag_store::Store::open(&scene.path(), crate::NOW, options).unwrap().store;
    let writer = AuditWriter::start(&store).unwrap();
    let blockade = Blockade::new(&scene);
    assert_eq!(writer.record(record("a")), Recorded::Queued);
    let failed = writer.record_at_once(denial("b")).await;
    assert!(
        matches!(&failed, Err(AuditError::Store(error))
            if matches!(**error, kitbag_store::StoreError::Busy { .. })),
        "{failed:?}"
    );
    assert!(writer.flush().await.is_err());
    assert_eq!(writer.health().lost, 2);
    assert!(writer.health().failure.is_some());
    blockade.lift();
    writer.record_at_once(denial("c")).await.unwrap();
    assert!(writer.health().failure.is_none());
    let entries = log(&store);
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].record.tool.as_str(), entries[0].lost), ("c", 2));
}
