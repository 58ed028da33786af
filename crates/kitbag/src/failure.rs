//! How a command that failed says so, and the exit code it ends with.

use std::fmt;

/// A failure, with what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: anyhow::Error,
    hints: Vec<String>,
}

/// What kind of failure it is; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer is no: a skill is not valid, or not there.
    Negative,
    /// The command line asks for something that cannot be.
    Usage,
    /// A file or directory that kitbag depends on is not as it must be.
    Configuration,
    /// A rule, or the want of somebody who may say yes, stands against it.
    Denied,
    /// Kitbag, or the machine, failed.
    Internal,
    /// Somebody ended it before it was done.
    Interrupted,
}

impl Kind {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Negative => 1,
            Self::Usage => 2,
            Self::Configuration => 3,
            Self::Denied => 4,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }
}

impl Failure {
    /// A failure of `kind`.
    pub(crate) fn new(kind: Kind, error: impl Into<anyhow::Error>) -> Self {
        Self { kind, error: error.into(), hints: Vec::new() }
    }

    /// A failure of `kind` that is told in a sentence.
    pub(crate) fn say(kind: Kind, message: impl fmt::Display) -> Self {
        Self::new(kind, anyhow::anyhow!("{message}"))
    }

    /// The same failure with a remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What to do about it.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.kind.code()
    }

    /// Whether nobody is there any more to read what is written: `kitbag skills list | head`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

impl fmt::Display for Failure {
    /// Writes what failed and why, without the remedies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Kind::Internal, error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Kind::Internal, error)
    }
}
