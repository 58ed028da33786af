//! What an audit line, a consent and a look-up cost, flushes of the disk included.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has no result")]

use std::path::Path;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use kitbag_store::{
    AuditRecord, AuditWriter, Decision, Digest, Outcome, Recorded, Reviewed, SkillKey, Store,
    StoreOptions, Timestamp,
};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp::from_unix_millis(0);

fn main() {
    divan::main();
}

fn store() -> (TempDir, Store) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().canonicalize().unwrap().join("data/kitbag.db");
    let store = Store::open(&path, NOW, StoreOptions::STANDARD).unwrap().store;
    (temp, store)
}

fn record() -> AuditRecord {
    AuditRecord {
        at: NOW,
        principal: "client:editor".to_owned(),
        source: "files".to_owned(),
        tool: "read_file".to_owned(),
        arguments: Digest::from([7; 32]),
        decision: Decision::Allowed,
        rule: "mcp__files in /home/me/.kitbag/settings.json:12".to_owned(),
        duration: Duration::from_micros(812),
        size: 4_096,
        outcome: Outcome::Ok,
    }
}

fn skill(directory: &str) -> SkillKey<'_> {
    SkillKey {
        workspace: Path::new("/home/me/work"),
        root: Path::new("/home/me/work/.agents/skills"),
        directory,
    }
}

/// One transaction, and one flush, for so many records.
#[divan::bench(args = [1, 16, 256, 1_024], sample_count = 50, sample_size = 1)]
fn append_audit(bencher: Bencher<'_, '_>, count: usize) {
    let (_temp, store) = store();
    let records = vec![record(); count];
    bencher.counter(ItemsCount::new(count)).bench_local(|| store.append_audit(&records).unwrap());
}

/// What a call pays to have its line queued.
#[divan::bench(sample_count = 50, sample_size = 100)]
fn queue_a_call(bencher: Bencher<'_, '_>) {
    let (_temp, store) = store();
    let writer = AuditWriter::start(&store).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    bencher.with_inputs(record).bench_local_values(|record| match writer.record(record) {
        Recorded::Queued => {}
        Recorded::Lost => runtime.block_on(writer.flush()).unwrap(),
    });
}

/// A denial by way of the writer, to the disk and back.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn record_a_denial(bencher: Bencher<'_, '_>) {
    let (_temp, store) = store();
    let writer = AuditWriter::start(&store).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    bencher
        .with_inputs(|| AuditRecord { decision: Decision::Denied, ..record() })
        .bench_local_values(|record| runtime.block_on(writer.record_at_once(record)).unwrap());
}

#[divan::bench(args = [10, 1_000])]
fn is_skill_approved(bencher: Bencher<'_, '_>, approvals: u32) {
    let (_temp, store) = store();
    let digest = Digest::from([1; 32]);
    let reviewed = Reviewed { digest, shown: "what it says", at: NOW };
    for number in 0..approvals {
        store.approve_skill(&skill(&format!("skill-{number}")), &reviewed).unwrap();
    }
    bencher.bench_local(|| assert!(store.is_skill_approved(&skill("skill-7"), &digest).unwrap()));
}

/// A start of a process, with a log of so many records.
#[divan::bench(args = [0, 1_000, 100_000], sample_count = 20, sample_size = 1)]
fn open(bencher: Bencher<'_, '_>, records: usize) {
    let (_temp, store) = store();
    store.append_audit(&vec![record(); records]).unwrap();
    let path = store.path().to_owned();
    drop(store);
    bencher.bench_local(|| Store::open(&path, NOW, StoreOptions::STANDARD).unwrap());
}
