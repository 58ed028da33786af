//! The store at the crate's boundary: files in, rows and errors out, and processes that are killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod audit;
mod consents;
mod damage;
mod files;
mod migration;
mod pins;
mod processes;
mod values;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kitbag_store::{
    AuditEntry, AuditId, AuditRecord, Decision, Digest, Opened, Outcome, Store, StoreOptions,
    Timestamp,
};
use tempfile::TempDir;

/// 2026-11-30T23:45:28.120Z.
const NOW: Timestamp = Timestamp::from_unix_millis(1_796_082_328_120);

/// A store in a directory that goes with it.
struct Scene {
    temp: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn directory(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("data")
    }

    fn path(&self) -> PathBuf {
        self.directory().join("kitbag.db")
    }

    fn open(&self) -> Store {
        let opened = open(&self.path());
        assert!(opened.set_aside.is_none(), "{:?}", opened.set_aside);
        opened.store
    }

    /// The names in the directory, sorted.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.directory())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn open(path: &Path) -> Opened {
    Store::open(path, NOW, StoreOptions::STANDARD).unwrap()
}

fn digest(byte: u8) -> Digest {
    Digest::from([byte; 32])
}

/// A record that is told from others by its tool's name.
fn record(tool: &str) -> AuditRecord {
    AuditRecord {
        at: NOW,
        principal: "model".to_owned(),
        source: "files".to_owned(),
        tool: tool.to_owned(),
        arguments: digest(7),
        decision: Decision::Allowed,
        rule: "mcp__files in settings.json:3".to_owned(),
        duration: Duration::from_micros(1_234),
        size: 5,
        outcome: Outcome::Ok,
    }
}

/// Everything in the log.
fn log(store: &Store) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    let mut after = AuditId::START;
    loop {
        let page = store.audit_after(after).unwrap();
        if page.entries.is_empty() {
            return entries;
        }
        after = page.next;
        entries.extend(page.entries);
    }
}

fn tools(store: &Store) -> Vec<String> {
    log(store).into_iter().map(|entry| entry.record.tool).collect()
}
