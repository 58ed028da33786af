//! Handlers that a test writes, and a toolbox that runs them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use kitbag_builtin::{Machine, Running, SkillTools};
use kitbag_tool::{CallContext, CallError, Gate, Progress, ToolCall, ToolOutput, Toolbox};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::bag::Bag;

/// How long a test waits before it counts as stuck.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Where the machine's own programs are.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct Workshop {
    pub(crate) bag: Bag,
    pub(crate) tools: Arc<SkillTools>,
    pub(crate) toolbox: Arc<Toolbox>,
}

impl Workshop {
    /// The skill `s`, which declares what `sidecar` says behind its version; its files are written by `write`.
    pub(crate) fn new(sidecar: &str, write: impl Fn(&Bag)) -> Self {
        Self::with(sidecar, Running::ForPerson, &[], write)
    }

    pub(crate) fn with(
        sidecar: &str,
        running: Running,
        variables: &[(&str, &str)],
        write: impl Fn(&Bag),
    ) -> Self {
        let bag = Bag::new();
        bag.skill("r/s").write("r/s/kitbag.toml", format!("version = 1\n{sidecar}"));
        bag.write("scratch/.keep", "");
        write(&bag);
        bag.library.look();
        let mut known: HashMap<String, OsString> =
            HashMap::from([("PATH".to_owned(), SYSTEM.into()), ("SECRET".to_owned(), "s".into())]);
        known.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())));
        let machine = Machine {
            variable: Arc::new(move |name| known.get(name).cloned()),
            scratch: bag.path("scratch"),
        };
        let tools = Arc::new(SkillTools::new(Arc::clone(&bag.library), running, machine));
        let toolbox = Arc::new(Toolbox::new(vec![tools.clone()], Gate::open(), None));
        Self { bag, tools, toolbox }
    }

    /// The skill `s` with the one tool `t`, a shell script.
    pub(crate) fn sh(script: &str) -> Self {
        Self::sh_with(script, "")
    }

    /// The same with more lines in the tool's declaration.
    pub(crate) fn sh_with(script: &str, declaration: &str) -> Self {
        let sidecar = format!(
            "[[tool]]\nname = \"t\"\ndescription = \"Does it\"\ncommand = [\"sh\", \"t.sh\"]\n{declaration}"
        );
        Self::new(&sidecar, |bag| {
            bag.write("r/s/t.sh", script);
        })
    }

    pub(crate) async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        context: &CallContext,
    ) -> Result<ToolOutput, CallError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { name: tool.parse().unwrap(), arguments };
        let answer = self.toolbox.call(call, context);
        tokio::time::timeout(PATIENCE, answer).await.expect("the call ends")
    }

    /// The answer of `s__t` to no arguments.
    pub(crate) async fn answer(&self) -> Result<ToolOutput, CallError> {
        self.call_with("s__t", serde_json::json!({}), &CallContext::default()).await
    }

    /// What a client reads of it, as JSON.
    pub(crate) async fn json(&self) -> String {
        let output = self.answer().await.unwrap_or_else(|error| error.to_output());
        self.bag.anywhere(&serde_json::to_string(&output).unwrap())
    }

    /// The text of it, which must say that it failed.
    pub(crate) async fn failure(&self) -> String {
        let output = self.answer().await.unwrap_or_else(|error| error.to_output());
        assert!(output.is_error, "{output:?}");
        self.bag.anywhere(&output.content[0].as_text().unwrap())
    }

    /// The answer, and what was reported on the way.
    pub(crate) async fn reported(&self) -> (ToolOutput, Vec<String>) {
        let (queue, mut reports) = mpsc::channel(100_000);
        let context = CallContext { progress: Progress::to(queue), ..CallContext::default() };
        let output = self.call_with("s__t", serde_json::json!({}), &context).await.unwrap();
        let mut lines = Vec::new();
        while let Ok(report) = reports.try_recv() {
            lines.push(report.message.unwrap());
        }
        (output, lines)
    }

    /// Whether nothing of any call is left in the scratch directory.
    pub(crate) fn is_tidy(&self) -> bool {
        std::fs::read_dir(self.bag.path("scratch")).unwrap().count() == 1
    }
}

/// A pipe by name that handlers hold open: its end is the end of the last of them.
pub(crate) struct Alive(File);

impl Alive {
    /// What a script begins with that opens it, as descriptor 9, and says so.
    pub(crate) const OPEN: &'static str = "exec 9>\"$SKILL_DIR/../../alive\"\necho up >&9\n";

    pub(crate) fn watch(bag: &Bag) -> Self {
        let path = bag.path("alive");
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(open(&path))
    }

    /// Waits until a handler runs.
    pub(crate) async fn up(&self) {
        let mut pipe = self.0.try_clone().unwrap();
        let wait = tokio::task::spawn_blocking(move || {
            let flags = OFlags::empty();
            let mut word = [0; 3];
            rustix::event::poll(
                &mut [rustix::event::PollFd::new(&pipe, rustix::event::PollFlags::IN)],
                None,
            )
            .unwrap();
            fcntl_setfl(&pipe, fcntl_getfl(&pipe).unwrap() & !OFlags::NONBLOCK | flags).unwrap();
            pipe.read_exact(&mut word).unwrap();
            assert_eq!(&word, b"up\n");
        });
        tokio::time::timeout(PATIENCE, wait).await.expect("it starts").unwrap();
    }

    /// Waits until no handler runs any more.
    pub(crate) async fn gone(self) {
        let mut pipe = self.0;
        let wait = tokio::task::spawn_blocking(move || {
            fcntl_setfl(&pipe, fcntl_getfl(&pipe).unwrap() & !OFlags::NONBLOCK).unwrap();
            pipe.read_to_end(&mut Vec::new()).unwrap();
        });
        tokio::time::timeout(PATIENCE, wait).await.expect("they all end").unwrap();
    }
}

/// Opens the reading end without waiting for the other.
fn open(path: &Path) -> File {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path).unwrap()
}
