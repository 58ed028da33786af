//! What an answer costs when nothing changed on disk.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has no result")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use divan::Bencher;
use kitbag_builtin::{Running, ServeLimits, SkillServer};
use kitbag_skills::{GivenBy, Library, Places, RootChoice, RootOrder, SkillLimit};
use kitbag_tool::{CallContext, Gate, PageRequest, ToolCall, ToolOutput, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// A server over so many skills of four files each.
struct Served {
    runtime: Runtime,
    toolbox: Toolbox,
    _keep: TempDir,
}

impl Served {
    fn new(skills: usize) -> Self {
        let keep = tempfile::tempdir().unwrap();
        for number in 0..skills {
            skill(keep.path(), number);
        }
        let places = Places {
            home: None,
            kitbag_home: None,
            cwd: keep.path().to_owned(),
            choice: RootChoice::Only {
                by: GivenBy::CommandLine,
                roots: vec![keep.path().to_owned()],
            },
            order: RootOrder::UserFirst,
        };
        let library = Arc::new(Library::new(places, SkillLimit(10_000)));
        let limits = ServeLimits { resources: 10_000 };
        let server =
            SkillServer::new(library, "--skills", limits, Running::without_sandbox(), None);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self {
            runtime,
            toolbox: Toolbox::new(vec![Arc::new(server)], Gate::open(), None),
            _keep: keep,
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> ToolOutput {
        let Value::Object(arguments) = arguments.clone() else { unreachable!() };
        let call = ToolCall { name: tool.parse().unwrap(), arguments };
        self.runtime.block_on(self.toolbox.call(call, &CallContext::default())).unwrap()
    }

    fn resources(&self, after: Option<&str>, limit: usize) -> Option<String> {
        let request = PageRequest { after, limit: NonZeroUsize::new(limit).unwrap() };
        let context = CallContext::default();
        self.runtime.block_on(self.toolbox.resources(request, &context)).unwrap().next
    }
}

fn skill(root: &Path, number: usize) {
    let directory = root.join(format!("skill-{number:04}"));
    fs::create_dir_all(directory.join("references")).unwrap();
    let text = format!(
        "---\nname: skill-{number:04}\ndescription: Does what number {number} calls for. Use when it comes up.\n---\n{}",
        "Go on with the next step, and read references/a.md when in doubt.\n".repeat(100)
    );
    fs::write(directory.join("SKILL.md"), text).unwrap();
    for path in ["references/a.md", "references/b.md", "LICENSE.txt"] {
        fs::write(directory.join(path), "text").unwrap();
    }
}

#[divan::bench(args = [100, 1_000])]
fn skill_list(bencher: Bencher<'_, '_>, skills: usize) {
    let served = Served::new(skills);
    bencher.bench_local(|| served.call("skill_list", &json!({})));
}

#[divan::bench(args = [100, 1_000])]
fn skill_load(bencher: Bencher<'_, '_>, skills: usize) {
    let served = Served::new(skills);
    bencher.bench_local(|| served.call("skill_load", &json!({ "name": "skill-0042" })));
}

#[divan::bench(args = [100, 1_000])]
fn first_page_of_100_resources(bencher: Bencher<'_, '_>, skills: usize) {
    let served = Served::new(skills);
    bencher.bench_local(|| served.resources(None, 100));
}

/// The page lies among the files, behind every SKILL.md.
#[divan::bench(args = [100, 1_000])]
fn a_late_page_of_100_resources(bencher: Bencher<'_, '_>, skills: usize) {
    let served = Served::new(skills);
    let late = served.resources(None, 3 * skills).unwrap();
    bencher.bench_local(|| served.resources(Some(&late), 100));
}
