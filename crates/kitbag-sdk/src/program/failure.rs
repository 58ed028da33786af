//! How a program of skills ends.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Ok = 0,
    /// The skill says that it failed, or gave no output.
    Negative = 1,
    /// What was asked cannot be.
    Usage = 2,
    /// The program or the machine failed.
    Internal = 70,
    /// Ended by a signal: 128 and the number of the interrupt, as a shell has it.
    Interrupted = 130,
}

/// What went wrong, and what to do about it.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, message: message.to_string(), hint: None }
    }

    pub(super) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Writes it to standard error. Where nobody reads that, the exit code has to say it.
    pub(super) fn tell(self) -> ExitCode {
        let Self { exit, message, hint } = self;
        let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        writeln!(io::stderr(), "error: {message}{hint}").unwrap_or_default();
        exit.into()
    }
}

/// Writes a text and a line end to standard output. Nobody there to read it is no failure: `list | head`.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Internal, format!("standard output cannot be written: {error}")))
        }
        _written_or_nobody_reads => Ok(()),
    }
}
