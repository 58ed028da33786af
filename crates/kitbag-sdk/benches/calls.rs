//! What a typed call costs over its handler: through the registry, through a toolbox, and through one with rules and
//! a log.
//!
//! Each round makes [`CALLS`] calls; divide by that.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has no result")]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::SystemTime;

use divan::Bencher;
use kitbag_permission::{Effect, Entry, Layer, Mode, Origin, RuleSet, WorkspaceTrust};
use kitbag_sdk::{Change, Json, Registry, RunContext, SkillCall, define};
use kitbag_store::{AuditRecord, AuditWriter, Store, StoreOptions, Timestamp};
use kitbag_tool::{
    Audit, AuditEntry, AuditFailed, BoxFuture, CallContext, Gate, ToolCall, Toolbox,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// How many calls make one round.
const CALLS: u32 = 200_000;

fn main() {
    divan::main();
}

#[derive(Deserialize, JsonSchema)]
struct Triage {
    title: String,
    severity: u8,
    tags: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Verdict {
    page: bool,
    summary: String,
}

async fn triage(_: RunContext, input: Triage) -> Result<Json<Verdict>, Infallible> {
    Ok(Json(verdict(&input)))
}

fn verdict(input: &Triage) -> Verdict {
    let summary = format!("{} ({})", input.title, input.tags.join(", "));
    Verdict { page: input.severity > 2, summary }
}

fn arguments() -> Map<String, Value> {
    let arguments = json!({ "title": "disk full", "severity": 3, "tags": ["db", "eu"] });
    let Value::Object(arguments) = arguments else { unreachable!() };
    arguments
}

fn registry(skills: usize) -> Registry {
    let registry = Registry::new();
    let define = |name: &str| define(name).description("Triages.").typed(triage).unwrap();
    let mut changes = vec![Change::Register(Arc::new(define("triage")))];
    for number in 1..skills {
        changes.push(Change::Register(Arc::new(define(&format!("skill-{number}")))));
    }
    registry.apply(changes).unwrap();
    registry
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// Decoding, the handler, and encoding, with nothing around them.
#[divan::bench(sample_count = 5)]
fn bare_handler(bencher: Bencher<'_, '_>) {
    let arguments = arguments();
    bencher.bench_local(|| {
        for _ in 0..CALLS {
            let arguments = Value::Object(divan::black_box(&arguments).clone());
            let input: Triage = serde_json::from_value(arguments).unwrap();
            divan::black_box(serde_json::to_string(&verdict(&input)).unwrap());
        }
    });
}

#[divan::bench(args = [1, 10_000], sample_count = 5)]
fn registry_call(bencher: Bencher<'_, '_>, skills: usize) {
    let (registry, arguments, runtime) = (registry(skills), arguments(), runtime());
    bencher.bench_local(|| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                let call = SkillCall::with("triage", arguments.clone());
                divan::black_box(registry.call(call).await.unwrap());
            }
        });
    });
}

#[divan::bench(args = [1, 10_000], sample_count = 5)]
fn toolbox_call(bencher: Bencher<'_, '_>, skills: usize) {
    let (arguments, runtime) = (arguments(), runtime());
    let toolbox = Toolbox::new(vec![Arc::new(registry(skills))], Gate::open(), None);
    let context = CallContext::default();
    let call = ToolCall { name: "triage".parse().unwrap(), arguments };
    bencher.bench_local(|| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                divan::black_box(toolbox.call(call.clone(), &context).await.unwrap());
            }
        });
    });
}

/// The whole pipeline: the gate decides by a rule, and the audit writer of a store takes each line on its thread.
/// What finds its queue full is counted as lost; `record` never waits.
#[divan::bench(args = [1, 10_000], sample_count = 5)]
fn audited_toolbox_call(bencher: Bencher<'_, '_>, skills: usize) {
    let (arguments, runtime) = (arguments(), runtime());
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().canonicalize().unwrap().join("data/kitbag.db");
    let begun = Timestamp::from_unix_millis(0);
    let store = Store::open(&path, begun, StoreOptions::STANDARD).unwrap().store;
    let rule = Entry {
        layer: Layer::User,
        origin: Origin::File { path: "settings.json".to_owned(), line: 3 },
        effect: Effect::Allow,
        rule: "skill(triage, triage)".parse().unwrap(),
    };
    let (rules, _problems) = RuleSet::build(vec![rule], &[], WorkspaceTrust::Trusted);
    let audit = Arc::new(Log(AuditWriter::start(&store).unwrap()));
    let gate = Gate::new(rules, Mode::Ask);
    let toolbox = Toolbox::new(vec![Arc::new(registry(skills))], gate, Some(audit));
    let context = CallContext::default();
    let call = ToolCall { name: "triage".parse().unwrap(), arguments };
    bencher.bench_local(|| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                divan::black_box(toolbox.call(call.clone(), &context).await.unwrap());
            }
        });
    });
}

/// The log of a store, as a host adapts it.
struct Log(AuditWriter);

impl Audit for Log {
    fn record(&self, entry: AuditEntry) {
        let at = entry.at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let _counted = self.0.record(AuditRecord {
            at: Timestamp::from_unix_millis(at.try_into().unwrap()),
            principal: entry.principal.to_string(),
            source: entry.source,
            tool: entry.tool,
            arguments: entry.arguments.into(),
            decision: kitbag_store::Decision::Allowed,
            rule: entry.because,
            duration: entry.duration,
            size: entry.size,
            outcome: kitbag_store::Outcome::Ok,
        });
    }

    fn record_at_once(&self, _entry: AuditEntry) -> BoxFuture<'_, Result<(), AuditFailed>> {
        unreachable!("the rule allows every call")
    }
}

/// The same with a second thread, which the handler's task may be woken on.
#[divan::bench(args = [1, 10_000], sample_count = 5)]
fn toolbox_call_on_two_threads(bencher: Bencher<'_, '_>, skills: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let toolbox = Arc::new(Toolbox::new(vec![Arc::new(registry(skills))], Gate::open(), None));
    let call = ToolCall { name: "triage".parse().unwrap(), arguments: arguments() };
    bencher.bench_local(|| {
        let (toolbox, call) = (toolbox.clone(), call.clone());
        let calls = runtime.spawn(async move {
            let context = CallContext::default();
            for _ in 0..CALLS {
                divan::black_box(toolbox.call(call.clone(), &context).await.unwrap());
            }
        });
        runtime.block_on(calls).unwrap();
    });
}
