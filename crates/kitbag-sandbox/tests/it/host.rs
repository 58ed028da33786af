//! The host program, started as whoever runs the tests and, where that is root, as an ordinary user too.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on must fail, and says which branch it took"
)]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::ATTACKER;

/// A user who owns nothing.
const NOBODY: u32 = 65534;

/// Who runs the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Current,
    /// Somebody without rights.
    Nobody,
}

impl User {
    /// Whom this machine lets us be.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Current, Self::Nobody] } else { vec![Self::Current] }
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What is taken from the kernel before the host starts, so that this tier is the strongest left.
pub(crate) fn without(tier: &str) -> &'static str {
    match tier {
        "full" => "",
        "namespaces" => "landlock",
        "lsm" => "namespaces",
        other => panic!("no tier `{other}`"),
    }
}

/// One start of the host.
pub(crate) struct Host {
    pub(crate) user: User,
    /// Layers that it has to do without, after commas.
    pub(crate) without: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) wishes: Vec<String>,
    pub(crate) command: Vec<String>,
}

impl Host {
    /// Makes a host for one of the tiers.
    pub(crate) fn of(user: User, tier: &str, wishes: &[&str], command: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let kind = if tier == "none" { "plain" } else { "confined" };
        let without = if tier == "none" { "" } else { without(tier) };
        Self { user, without, kind, wishes: owned(wishes), command: owned(command) }
    }

    pub(crate) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(ATTACKER);
        if !self.without.is_empty() {
            command.args(["without", self.without, ATTACKER]);
        }
        command.args(["host", self.kind]).arg(format!("in={}", directory.display()));
        command.args(&self.wishes).arg("--").args(&self.command);
        command.env("SECRET_TOKEN", "hunter2").current_dir(directory);
        if self.user == User::Nobody {
            std::os::unix::fs::chown(directory, Some(NOBODY), Some(NOBODY)).unwrap();
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Runs it to its end and answers what it said.
    pub(crate) fn run(&self) -> Said {
        let directory = tempfile::tempdir().unwrap();
        let output = self.command(directory.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{text}\n{errors}", output.status);
        Said { text, _directory: directory }
    }
}

/// What a host said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    _directory: TempDir,
}

impl Said {
    /// The rest of the first line that begins with a word.
    pub(crate) fn after(&self, word: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
    }

    /// What it said after a word that must be there.
    pub(crate) fn of(&self, word: &str) -> &str {
        self.after(word).unwrap_or_else(|| panic!("no `{word}` in {}", self.text))
    }

    /// Says whether the machine gave the tier that the policy asked for. Where it didn't, the run must have been
    /// refused, and must have named what is missing.
    pub(crate) fn is_held(&self, tier: &str) -> bool {
        let Some(why) = self.after("refused") else {
            assert_eq!(self.of("tier"), tier, "{}", self.text);
            return true;
        };
        assert!(self.after("ended").is_none(), "{}", self.text);
        assert!(names_a_layer(why), "the refusal names no layer: {why}");
        // Where the machine is known to give all tiers, being refused is a failure.
        assert!(std::env::var_os("KITBAG_TEST_ALL_TIERS").is_none(), "{why}");
        println!("tier {tier} is not given here, and was refused: {why}");
        false
    }
}

/// Says whether a refusal tells which layer is missing.
pub(crate) fn names_a_layer(why: &str) -> bool {
    ["namespaces: ", "landlock: ", "seccomp: "].iter().any(|layer| why.contains(layer))
}
