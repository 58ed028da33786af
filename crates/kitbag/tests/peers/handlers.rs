//! Handlers under runtimes that not every machine has: the example in TypeScript answers as the one in sh does.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::{installed, root};

/// The result of a tool of the example, by a search path for programs that begins with `programs`.
fn result(tool: &str, programs: &Path, input: &str) -> String {
    let home = TempDir::new().expect("a temporary directory can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kitbag"));
    command.args(["run", "--yes", "--json", "--input", input, "--skills"]);
    command.arg(root().join("examples/handlers")).arg(format!("durations/{tool}"));
    command.env_clear().env("HOME", home.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code().is_some_and(|code| code <= 1), "{command:?}\n{stdout}\n{stderr}");
    assert!(!stderr.contains("Warning"), "{stderr}");
    stdout.replace(&format!("durations__{tool}"), "TOOL")
}

#[test]
fn node_that_strips_types_runs_the_handler_in_typescript() {
    let node = installed("bin/node");
    let programs = node.parent().expect("it lies in a folder");
    for input in [
        r#"{"text":"1h 30m"}"#,
        r#"{"text":"007d 0h 5s"}"#,
        r#"{"text":"1h 2h"}"#,
        r#"{"text":"x"}"#,
    ] {
        assert_eq!(result("typescript", programs, input), result("sh", programs, input), "{input}");
    }
}
