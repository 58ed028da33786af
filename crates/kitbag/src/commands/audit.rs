//! `kitbag audit`.

mod table;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use kitbag_host::{Host, HostError};
use kitbag_skills::Severity;
use kitbag_store::{AuditEntry, AuditId, AuditPage, Store};
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use self::table::Table;
use crate::cli::AuditArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::style;

/// How many of the last calls are shown, where nobody says otherwise.
const LAST: u64 = 50;

/// How many of them before the new ones are followed.
const LAST_BEFORE_FOLLOWING: u64 = 10;

/// How often the log is asked for new calls.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) fn run(environment: &Environment, arguments: &AuditArgs) -> Result<ExitCode, Failure> {
    let host = super::host(environment.host(&[], Vec::new()))?;
    if environment.kitbag_home.is_none() {
        return Err(super::failure(HostError::NoHome));
    }
    let mut reader = Reader::new(arguments);
    if let Some(store) = host.existing_store().map_err(super::failure)? {
        super::tell_set_aside(&host);
        reader.begin(&store, arguments)?;
    } else if !arguments.follow {
        style::remark("Nothing was recorded yet.");
    }
    if arguments.follow {
        follow(&host, &mut reader)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what is new, again and again, until somebody ends it.
fn follow(host: &Host, reader: &mut Reader) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupt =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        let mut terminate =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut store: Option<Arc<Store>> = None;
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = ticks.tick() => {}
            }
            if store.is_none() {
                store = host.existing_store().map_err(super::failure)?;
            }
            // A reading takes microseconds, and nothing else runs here.
            if let Some(store) = &store {
                reader.show_new(store)?;
            }
        }
        Ok(())
    })
}

/// What was shown so far, and how.
struct Reader {
    after: AuditId,
    is_json: bool,
    table: Table,
}

impl Reader {
    fn new(arguments: &AuditArgs) -> Self {
        Self { after: AuditId::START, is_json: arguments.json, table: Table::new(style::columns()) }
    }

    /// Shows the last calls.
    fn begin(&mut self, store: &Store, arguments: &AuditArgs) -> Result<(), Failure> {
        let usual = if arguments.follow { LAST_BEFORE_FOLLOWING } else { LAST };
        self.after = store
            .audit_tail(arguments.last.unwrap_or(usual))
            .map_err(|error| super::failure(error.into()))?;
        self.show_new(store)
    }

    /// Shows all that is there by now and was not shown.
    fn show_new(&mut self, store: &Store) -> Result<(), Failure> {
        loop {
            let page =
                store.audit_after(self.after).map_err(|error| super::failure(error.into()))?;
            if page.entries.is_empty() {
                return Ok(());
            }
            self.show(&page)?;
            self.after = page.next;
        }
    }

    fn show(&mut self, page: &AuditPage) -> Result<(), Failure> {
        if page.missed > 0 {
            style::tell_problem(
                Severity::Warning,
                &format!("{} were dropped before they could be read", calls(page.missed)),
                None,
            );
        }
        let mut text = String::new();
        if self.is_json {
            for entry in &page.entries {
                text.push_str(&super::json_line(&record(entry))?);
            }
        } else {
            self.table.add(&page.entries, &mut text);
        }
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }
}

fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}

fn record(entry: &AuditEntry) -> Value {
    let record = &entry.record;
    json!({
        "id": entry.id.get(),
        "at": record.at.to_string(),
        "principal": record.principal,
        "source": record.source,
        "tool": record.tool,
        "argumentsSha256": record.arguments.to_string(),
        "decision": record.decision.as_str(),
        "because": record.rule,
        "micros": u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
        "bytes": record.size,
        "outcome": record.outcome.as_str(),
        "lostBefore": entry.lost,
    })
}
