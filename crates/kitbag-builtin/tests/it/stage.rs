//! A bag whose scripts run, unconfined, by a runner that remembers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, path::PathBuf};

use kitbag_builtin::skill_run::{
    Captured, ConfirmValues, Confirmation, DEFAULT_RUNS, DEFAULT_WAITING, Ended, Finished, Grant,
    Hosting, PreparedRun, ProgressLines, RunFailure, RunPlaces, ScriptRunner, ScriptSettings,
    Scrub, Unscrubbed,
};
use kitbag_builtin::{Running, ServeLimits, SkillServer};
use kitbag_skills::{GivenBy, Library, Places, RootChoice, RootOrder, SkillLimit};
use kitbag_tool::{
    Answer, Approver, BoxFuture, CallContext, CallError, Gate, Mode, Question, RuleSet, ToolCall,
    ToolOutput, Toolbox,
};
use serde_json::Value;
use tokio::sync::Semaphore;

/// What a stage may be set up with.
pub(crate) struct Setting {
    pub(crate) grant: Option<&'static str>,
    pub(crate) hosting: Hosting,
    pub(crate) scrub: Scrub,
    pub(crate) unscrubbed: Unscrubbed,
    pub(crate) mode: Option<&'static str>,
    pub(crate) elicitation: Option<&'static str>,
    pub(crate) ttl: Option<&'static str>,
    /// Variables of the server besides `PATH`.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Interpreters that are there; each is the shell.
    pub(crate) interpreters: &'static [&'static str],
    pub(crate) data: bool,
    pub(crate) workspace: bool,
    pub(crate) slots: (usize, usize),
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            grant: None,
            hosting: Hosting::Standalone,
            scrub: Scrub::Scrubbed,
            unscrubbed: Unscrubbed::Refuse,
            mode: None,
            elicitation: None,
            ttl: None,
            variables: &[],
            interpreters: &["sh"],
            data: false,
            workspace: false,
            slots: (DEFAULT_RUNS, DEFAULT_WAITING),
        }
    }
}

pub(crate) struct Stage {
    root: PathBuf,
    pub(crate) runner: Arc<Remembering>,
    pub(crate) toolbox: Toolbox,
    _keep: tempfile::TempDir,
}

/// A skill `demo` with one script, `scripts/echo.sh`, that prints what it gets.
pub(crate) const DEMO: &str = "---\nname: demo\ndescription: Shows what a skill is\nmcp-host:\n  version: 1\n  run:\n    - script: scripts/echo.sh\n      interpreter: sh\n---\nRun it.\n";

impl Stage {
    pub(crate) fn new(setting: Setting) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let root = keep.path().canonicalize().unwrap();
        for folder in ["r", "bin", "runs", "state", "work"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        for name in setting.interpreters {
            symlink("/bin/sh", root.join("bin").join(name)).unwrap();
        }
        let data = setting.data.then(|| root.join("data"));
        let mut environment: BTreeMap<String, OsString> = setting
            .variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        environment.insert("PATH".to_owned(), root.join("bin").into());
        let values = ConfirmValues {
            mode: setting.mode,
            elicitation: setting.elicitation,
            ttl_seconds: setting.ttl,
            secret: setting.data.then_some("a secret"),
            host_secret: None,
            data: data.as_deref(),
        };
        let (confirmation, _warnings) = Confirmation::read(&values).unwrap();
        let runner = Arc::new(Remembering::default());
        let settings = ScriptSettings {
            runner: runner.clone(),
            grant: Grant::read(setting.grant, setting.hosting),
            hosting: setting.hosting,
            scrub: setting.scrub,
            unscrubbed: setting.unscrubbed,
            confirmation,
            environment,
            places: RunPlaces {
                workspace: setting.workspace.then(|| root.join("work")),
                home: Some(root.clone()),
                data,
                scratch: root.join("runs"),
                state: vec![root.join("state")],
            },
            runs: setting.slots.0,
            waiting: setting.slots.1,
        };
        let places = Places {
            home: None,
            kitbag_home: None,
            cwd: root.clone(),
            choice: RootChoice::Only { by: GivenBy::CommandLine, roots: vec![root.join("r")] },
            order: RootOrder::UserFirst,
        };
        let library = Arc::new(Library::new(places, SkillLimit(1000)));
        let limits = ServeLimits { resources: 100 };
        let server = SkillServer::with_scripts(
            library,
            "--skills",
            limits,
            Running::ForPerson,
            None,
            settings,
        );
        let gate = Gate::new(RuleSet::empty(), Mode::Ask);
        let toolbox = Toolbox::new(vec![Arc::new(server)], gate, None);
        Self { root, runner, toolbox, _keep: keep }
    }

    /// A stage with the skill `demo`.
    pub(crate) fn with_demo(setting: Setting) -> Self {
        let stage = Self::new(setting);
        stage
            .write("r/demo/SKILL.md", DEMO)
            .write("r/demo/scripts/echo.sh", "for a in \"$@\"; do printf '%s\\n' \"$a\"; done\n");
        stage
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A skill with a `kitbag.toml` of these rows and a script `run.sh` of these lines.
    pub(crate) fn sidecar(&self, name: &str, rows: &str, script: &str) -> &Self {
        let skill = format!("---\nname: {name}\ndescription: x\n---\nx\n");
        self.write(&format!("r/{name}/SKILL.md"), &skill)
            .write(&format!("r/{name}/kitbag.toml"), &format!("version = 1\n{rows}"))
            .write(&format!("r/{name}/run.sh"), script)
    }

    pub(crate) async fn output(
        &self,
        tool: &str,
        arguments: Value,
        context: &CallContext,
    ) -> Result<ToolOutput, CallError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { name: tool.parse().unwrap(), arguments };
        self.toolbox.call(call, context).await
    }

    /// The answer of a call whose caller cannot be asked; it must fit the published schema.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_as(&CallContext::default(), tool, arguments).await
    }

    pub(crate) async fn call_as(
        &self,
        context: &CallContext,
        tool: &str,
        arguments: Value,
    ) -> Value {
        let output = self.output(tool, arguments, context).await.unwrap();
        let answer: Value =
            serde_json::from_str(output.structured.as_ref().unwrap().get()).unwrap();
        for block in &output.content {
            let text: Value = serde_json::from_str(&block.as_text().unwrap()).unwrap();
            assert_eq!(text, answer, "text and data say the same");
        }
        let rejected = answer["status"] == "confirmation-rejected";
        assert_eq!(output.is_error, rejected);
        let spec = self.toolbox.snapshot().tool(tool).unwrap().clone();
        let schema = Value::Object((**spec.output_schema.as_ref().unwrap()).clone());
        jsonschema::draft202012::new(&schema).unwrap().validate(&answer).unwrap();
        crate::bag::only_known_members(&answer, &schema, tool);
        answer
    }

    /// What a model reads of a call that was refused.
    pub(crate) async fn refused(&self, arguments: Value) -> String {
        self.refused_as(&CallContext::default(), arguments).await
    }

    pub(crate) async fn refused_as(&self, context: &CallContext, arguments: Value) -> String {
        let output = self.output("skill_run", arguments, context).await;
        let output = output.unwrap_err().to_output();
        assert!(output.is_error);
        self.anywhere(&output.content[0].as_text().unwrap())
    }

    /// Runs a script with the preview and its token.
    pub(crate) async fn confirmed(&self, mut arguments: Value) -> Value {
        let shown = self.call("skill_run", arguments.clone()).await;
        arguments["confirmToken"] = shown["confirmToken"].clone();
        self.call("skill_run", arguments).await
    }

    /// How many scripts were started.
    pub(crate) fn started(&self) -> usize {
        self.runner.runs.lock().unwrap().len()
    }

    /// A text without what differs from place to place.
    pub(crate) fn anywhere(&self, text: &impl ToString) -> String {
        text.to_string().replace(self.root.to_str().unwrap(), "")
    }
}

/// What the runner does with a run.
pub(crate) enum Act {
    /// Spawns it, without any confinement.
    Spawn,
    /// Waits until there is a permit, and then gives this.
    Wait(Arc<Semaphore>),
    Give(Finished),
    Fail(RunFailure),
}

/// A runner that remembers what it was given, and whether the copy held what it should when it ran.
pub(crate) struct Remembering {
    pub(crate) runs: Mutex<Vec<PreparedRun>>,
    pub(crate) act: Mutex<Act>,
    /// What it says of every access.
    pub(crate) check: Mutex<Option<RunFailure>>,
}

impl Default for Remembering {
    fn default() -> Self {
        Self { runs: Mutex::default(), act: Mutex::new(Act::Spawn), check: Mutex::default() }
    }
}

pub(crate) fn finished(ended: Ended, stdout: &[u8], stderr: &[u8]) -> Finished {
    let captured = |bytes: &[u8]| {
        let mut captured = Captured::default();
        captured.take(bytes);
        captured
    };
    Finished {
        ended,
        stdout: captured(stdout),
        stderr: captured(stderr),
        duration: Duration::from_millis(7),
    }
}

impl ScriptRunner for Remembering {
    fn check(&self, _access: &kitbag_builtin::skill_run::Access) -> Result<(), RunFailure> {
        self.check.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn run<'a>(
        &'a self,
        run: PreparedRun,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Finished, RunFailure>> {
        self.runs.lock().unwrap().push(run.clone());
        let wait = match &*self.act.lock().unwrap() {
            Act::Spawn => None,
            Act::Wait(semaphore) => Some(semaphore.clone()),
            Act::Give(finished) => {
                let finished = finished.clone();
                return Box::pin(async { Ok(finished) });
            }
            Act::Fail(failure) => {
                let failure = failure.clone();
                return Box::pin(async { Err(failure) });
            }
        };
        Box::pin(async move {
            if let Some(semaphore) = wait {
                semaphore.acquire().await.unwrap().forget();
                return Ok(finished(Ended::Code(0), b"", b""));
            }
            let spawned = tokio::task::spawn_blocking(move || {
                Command::new(&run.argv[0])
                    .args(&run.argv[1..])
                    .current_dir(&run.folder)
                    .env_clear()
                    .envs(run.env)
                    .stdin(Stdio::null())
                    .output()
            });
            let output = spawned.await.unwrap().unwrap();
            let mut lines = ProgressLines::to(&context.progress);
            lines.take(&output.stdout);
            lines.end();
            let ended = output
                .status
                .code()
                .map_or_else(|| Ended::Signal(output.status.signal().unwrap()), Ended::Code);
            Ok(finished(ended, &output.stdout, &output.stderr))
        })
    }
}

/// Somebody who always gives the same answer, and remembers what was asked.
pub(crate) struct Somebody {
    answer: Answer,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Somebody {
    pub(crate) fn who_says(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    pub(crate) fn context(self: &Arc<Self>) -> CallContext {
        CallContext { approver: self.clone(), ..CallContext::default() }
    }

    pub(crate) fn times(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Somebody {
    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Answer> {
        let shown = serde_json::to_string(question.arguments).unwrap();
        self.asked.lock().unwrap().push(format!("{} {shown}", question.because));
        Box::pin(async { self.answer.clone() })
    }
}

/// Makes a file executable by all.
pub(crate) fn executable(path: &std::path::Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
