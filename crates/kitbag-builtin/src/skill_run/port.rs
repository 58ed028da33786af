//! What runs a script: the port that a sandbox stands behind.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kitbag_skills::{Digest, SkillName, SkillPath};
use kitbag_tool::{BoxFuture, CallContext, Progress, ProgressUpdate};

/// The most bytes of each stream that are kept; the rest is read and dropped (section 7 of the skill server's promises).
pub const MAX_STREAM_BYTES: usize = 1024 * 1024;

/// The most bytes of a line that are told while a script runs.
const MAX_LINE_BYTES: usize = 4 * 1024;

/// The most lines of one run that are told while it runs.
const MAX_LINES: usize = 10_000;

/// Runs scripts, confined.
pub trait ScriptRunner: Send + Sync {
    /// Whether a run with this access could be enforced here, so that nobody is asked about one that could not. May block
    /// the first time.
    ///
    /// # Errors
    ///
    /// It could not, and why.
    fn check(&self, access: &Access) -> Result<(), RunFailure> {
        let _ = access;
        Ok(())
    }

    /// Runs a script to its end, within its time, and gives what it wrote, at most [`MAX_STREAM_BYTES`] of each stream.
    ///
    /// Dropping the future ends the run and everything that it started. Standard input is empty. Lines of both streams
    /// go to `context.progress` as they come, through [`ProgressLines`].
    ///
    /// # Errors
    ///
    /// Nothing was started: what the run asks for cannot be enforced here, or the system refused.
    fn run<'a>(
        &'a self,
        run: PreparedRun,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Finished, RunFailure>>;
}

/// A run that was checked, shown and approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRun {
    /// The skill.
    pub skill: SkillName,
    /// The script, by its path in the skill.
    pub script: SkillPath,
    /// The interpreter by its absolute path, its own arguments, the script in the copy, the caller's arguments. Never a
    /// line for a shell.
    pub argv: Vec<OsString>,
    /// The private copy of the skill, which is the working directory: exactly the bytes that were digested. The script
    /// reads it and does not write it.
    pub folder: PathBuf,
    /// Where the skill itself lies, as the preview shows it; a sandbox with a file system of its own may put the copy
    /// there.
    pub shown_as: PathBuf,
    /// A folder for this run alone, which it may write, and which is removed afterwards. `HOME` and `TMPDIR` lie in it.
    pub scratch: PathBuf,
    /// The whole environment, by name; nothing else is inherited.
    pub env: Vec<(String, OsString)>,
    /// What it may touch besides.
    pub access: Access,
    /// How long it may run.
    pub timeout: Duration,
    /// The digest of the whole skill, which was approved and which the copy has.
    pub digest: Digest,
}

/// What a run may touch, besides its copy of the skill, its scratch folder and what its interpreter is made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// Files and folders that it may read, by real absolute paths.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may write and read.
    pub write: Vec<PathBuf>,
    /// The hosts that it may connect to; `*` stands for any run of characters. Without any it has no network.
    pub network: Vec<String>,
}

/// A run that has ended, with everything that it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// How long it ran.
    pub duration: Duration,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Its time was over.
    TimedOut,
}

/// What one stream gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// Its beginning.
    pub bytes: Vec<u8>,
    /// Whether more came.
    pub truncated: bool,
}

/// A run that was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RunFailure {
    /// Why, in a sentence without its final stop.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Captured {
    /// Takes what came, as far as there is room.
    pub fn take(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(MAX_STREAM_BYTES - self.bytes.len().min(MAX_STREAM_BYTES));
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.truncated |= kept < bytes.len();
    }
}

/// Tells the lines of one stream as they come, each as a progress report.
///
/// A line is told up to 4 KiB, a run's first 10,000 lines are told; what the reader of the reports has no room for is
/// dropped. The result has the streams whole, up to their own bound.
#[derive(Debug)]
pub struct ProgressLines<'a> {
    progress: &'a Progress,
    line: Vec<u8>,
    cut: bool,
    told: usize,
}

impl<'a> ProgressLines<'a> {
    /// Lines that go to `progress`.
    pub fn to(progress: &'a Progress) -> Self {
        Self { progress, line: Vec::new(), cut: false, told: 0 }
    }

    /// Takes what a stream gave.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while self.told < MAX_LINES {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                return self.append(bytes);
            };
            self.append(&bytes[..end]);
            self.tell();
            bytes = &bytes[end + 1..];
        }
    }

    /// Tells a last line that has no line break.
    pub fn end(&mut self) {
        if !self.line.is_empty() && self.told < MAX_LINES {
            self.tell();
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(MAX_LINE_BYTES - self.line.len());
        self.line.extend_from_slice(&bytes[..kept]);
        self.cut |= kept < bytes.len();
    }

    fn tell(&mut self) {
        let mut line = String::from_utf8_lossy(&self.line).trim_end_matches('\r').to_owned();
        if self.cut {
            line.push('…');
        }
        self.line.clear();
        self.cut = false;
        self.told += 1;
        #[expect(clippy::cast_precision_loss, reason = "there are at most ten thousand lines")]
        let done = self.told as f64;
        self.progress.report(ProgressUpdate { done, total: None, message: Some(line) });
    }
}
