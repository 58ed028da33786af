//! What is run, and what came of it.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::capture::Captured;
use crate::policy::{MAX_COMMAND_BYTES, Policy, PolicyError};
use crate::tier::{Guarantee, Tier};

/// A program to run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The absolute path of the program, and its arguments.
    pub argv: Vec<OsString>,
    /// The working directory, which the policy must grant.
    pub cwd: PathBuf,
    /// What it reads from its standard input.
    pub stdin: Vec<u8>,
    /// What it may do.
    pub policy: Policy,
}

impl Job {
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        self.policy.check()?;
        let absolute = |program: &OsString| PathBuf::from(program).is_absolute();
        let clean = |argument: &OsString| !argument.as_encoded_bytes().contains(&0);
        if !self.argv.first().is_some_and(absolute) || !self.argv.iter().all(clean) {
            return Err(PolicyError::Command);
        }
        let of_argv: usize = self.argv.iter().map(|argument| argument.len() + 1).sum();
        let environment = self.policy.environment.iter();
        let of_environment: usize =
            environment.map(|(name, value)| name.len() + value.len() + 2).sum();
        if of_argv + of_environment > MAX_COMMAND_BYTES {
            return Err(PolicyError::CommandTooLong);
        }
        Ok(())
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The program ended with this code.
    Exited(i32),
    /// This signal ended the program.
    Signaled(i32),
    /// Its time was up.
    TimedOut,
    /// The caller cancelled it.
    Cancelled,
}

/// What came of a run. No process of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// The tier that held it.
    pub tier: Tier,
    /// What was not held, or not wholly, and why.
    pub gaps: Vec<(Guarantee, String)>,
    /// The kernel killed one of its processes because all together used too much memory.
    pub out_of_memory: bool,
    /// How long it took.
    pub timings: Timings,
}

/// How long the parts of a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// From the call to the moment before the program was executed; zero if it was ended before that.
    pub launch: Duration,
    /// From the call to the end of the last process.
    pub total: Duration,
}

/// A run that did not take place. Nothing of the job was executed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The policy or the job means nothing that can be enforced.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// This machine has no boundary for files.
    #[error("no sandbox on this machine: {missing}")]
    Unavailable {
        /// What is missing, by layer.
        missing: String,
    },
    /// The tier of this machine is weaker than the policy asks.
    #[error("the policy asks for the tier `{least}`, and this machine gives `{tier}`: {missing}")]
    TooWeak {
        /// What the policy asks for.
        least: Tier,
        /// What there is.
        tier: Tier,
        /// What is missing, by layer.
        missing: String,
    },
    /// The policy asks for something that can't be held here.
    #[error("can't be held on this machine: {}", list(missing))]
    Refused {
        /// What, and why.
        missing: Vec<(Guarantee, String)>,
    },
    /// A step before the program failed.
    #[error("{stage}{}: {source}", of(path.as_ref()))]
    #[cfg(target_os = "linux")]
    Start {
        /// The step.
        stage: crate::plan::Stage,
        /// What it was about.
        path: Option<PathBuf>,
        /// What the kernel said.
        source: io::Error,
    },
    /// The launcher could not be started or talked to.
    #[error("{action}: {source}")]
    Launcher {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

fn list(missing: &[(Guarantee, String)]) -> String {
    let items = missing.iter().map(|(guarantee, why)| format!("`{guarantee}` ({why})"));
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(target_os = "linux")]
fn of(path: Option<&PathBuf>) -> String {
    path.map(|path| format!(" `{}`", path.display())).unwrap_or_default()
}
