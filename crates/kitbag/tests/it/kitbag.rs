//! Starting the binary that the tests are about.

use std::process::Command;
use std::time::Duration;

use kitbag_testkit::Project;

/// How long a command may take on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a command ended, with the project's place filtered out of what it wrote.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Everything of it as one text, for snapshots.
    pub(crate) fn text(&self) -> String {
        format!("{}\n--- stderr, exit code {}\n{}", self.stdout, self.code, self.stderr)
    }

    /// What it wrote as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The binary in a project, with nothing of the machine's environment.
pub(crate) fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(env!("CARGO_BIN_EXE_kitbag"));
    command.args(arguments);
    command
}

/// Runs the binary to its end.
pub(crate) fn kitbag(project: &Project, arguments: &[&str]) -> Outcome {
    run(project, command(project, arguments))
}

/// Runs a command to its end.
pub(crate) fn run(project: &Project, command: Command) -> Outcome {
    let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
    let text = |bytes: &[u8]| {
        project.filtered(std::str::from_utf8(bytes).expect("the binary writes UTF-8"))
    };
    Outcome {
        code: output.status.code().expect("no signal ended it"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// `text` with its last line, what a shown text costs, made independent of how the project's place is called.
pub(crate) fn uncounted(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_suffix(" tokens") {
        Some(count) if count.starts_with('~') => "~[COUNT] tokens",
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}
