//! Runs one process to its end, within bounds, and leaves nothing of it behind.

mod group;
mod log;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::pin::pin;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use group::Group;
pub(crate) use log::Log;

/// How long a process that was asked to end (TERM) may take before it is ended (KILL).
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How much of standard output is read at once.
const OUT_CHUNK_BYTES: usize = 64 * 1024;

/// How much of standard error is read at once; whoever listens gets a turn after each chunk.
const ERR_CHUNK_BYTES: usize = 4 * 1024;

/// What may still stand in a pipe when its writer has ended; no pipe of an unprivileged process holds more.
const MAX_DRAINED_BYTES: usize = 1024 * 1024;

/// What to run.
#[derive(Debug)]
pub(crate) struct Job {
    /// The program by its absolute path, and its arguments. Never a line for a shell.
    pub(crate) argv: Vec<OsString>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The whole environment: nothing is inherited.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// What it may read from its standard input, which ends after that.
    pub(crate) stdin: Vec<u8>,
    /// How far it may go.
    pub(crate) limits: Limits,
}

/// How far a process may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How long it may run.
    pub(crate) time: Duration,
    /// The most bytes that it may write to its standard output.
    pub(crate) stdout_bytes: usize,
}

/// A process that has ended, with all of its group.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) end: End,
    /// What it wrote to its standard output; none of it is left out where it ended by itself.
    pub(crate) stdout: Vec<u8>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal that we did not send.
    Signal(i32),
    /// Nobody knows how: the operating system was told to forget the processes of this one.
    Unknown,
    /// We ended it: its time was over.
    TimedOut,
    /// We ended it: nobody wants its answer any more.
    Cancelled,
    /// We ended it: it wrote more than it may.
    TooMuchOutput,
}

/// A process that could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The operating system refused.
    #[error("`{}` cannot be started: {source}", program.display())]
    Spawn {
        /// What was to be started.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It could not be connected to; it was ended.
    #[error("no pipe to the process: {0}")]
    Pipe(#[source] io::Error),
}

/// Runs `job` in a process group of its own and waits for its end. What it writes to standard error goes to `log`.
///
/// At its end, whoever caused it, the rest of its group is killed. When its time is over, when `cancel` says so, or when
/// it writes too much, the group gets TERM and, after [`GRACE`], KILL. Dropping the future kills the group at once. Only a
/// process that has left the group escapes all this; it holds up nothing, since nothing is read after the leader's end but
/// what already stands in the pipes.
pub(crate) async fn run(
    job: Job,
    cancel: &CancellationToken,
    log: &mut Log<'_>,
) -> Result<Finished, StartError> {
    let Job { argv, cwd, env, stdin, limits } = job;
    let mut argv = argv.into_iter();
    let program = PathBuf::from(argv.next().unwrap_or_default());
    let spawned = Command::new(&program)
        .args(argv)
        .current_dir(cwd)
        .env_clear()
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = spawned.map_err(|source| StartError::Spawn { program, source })?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // From here on the group is killed on every way out.
    let (group, mut ended) = Group::watch(child).map_err(StartError::Pipe)?;
    let (Some(sender), Some(out), Some(err)) = pipes else {
        return Err(StartError::Pipe(io::ErrorKind::BrokenPipe.into()));
    };
    let sender = pipe::Sender::from_owned_fd(OwnedFd::from(sender)).map_err(StartError::Pipe)?;
    let receiver = |fd: OwnedFd| pipe::Receiver::from_owned_fd(fd).map_err(StartError::Pipe);
    let mut out = Reader { pipe: Some(receiver(out.into())?), bytes: vec![0; OUT_CHUNK_BYTES] };
    let mut err = Reader { pipe: Some(receiver(err.into())?), bytes: vec![0; ERR_CHUNK_BYTES] };

    let mut stdout = Vec::new();
    let mut stopped = None;
    let deadline = Instant::now() + limits.time;
    let mut kill_at = None;
    let mut feeding = true;
    let mut feed = pin!(feed(sender, stdin));
    let status = loop {
        let stop = tokio::select! {
            biased;
            status = &mut ended => break status,
            () = cancel.cancelled(), if stopped.is_none() => End::Cancelled,
            () = sleep_until(deadline), if stopped.is_none() => End::TimedOut,
            () = sleep_until(kill_at.unwrap_or(deadline)), if kill_at.is_some() => {
                group.signal(Signal::KILL);
                kill_at = None;
                continue;
            }
            () = &mut feed, if feeding => {
                feeding = false;
                continue;
            }
            chunk = out.next() => {
                if let Some(chunk) = chunk {
                    if stdout.len() + chunk.len() <= limits.stdout_bytes {
                        stdout.extend_from_slice(chunk);
                        continue;
                    }
                    out.pipe = None;
                    End::TooMuchOutput
                } else {
                    continue;
                }
            }
            chunk = err.next() => {
                if let Some(chunk) = chunk {
                    log.take(chunk);
                    tokio::task::yield_now().await;
                }
                continue;
            }
        };
        if stopped.is_none() {
            stopped = Some(stop);
            kill_at = Some(Instant::now() + GRACE);
            group.signal(Signal::TERM);
        }
    };
    let mut excess = false;
    out.drain(|chunk| {
        excess |= stdout.len() + chunk.len() > limits.stdout_bytes;
        if !excess {
            stdout.extend_from_slice(chunk);
        }
    });
    err.drain(|chunk| log.take(chunk));
    log.end();
    let end = match (stopped, status) {
        (Some(end), _) => end,
        (None, _) if excess => End::TooMuchOutput,
        (None, Ok(status)) => by_itself(status),
        (None, Err(_unknown)) => End::Unknown,
    };
    Ok(Finished { end, stdout })
}

fn by_itself(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Writes what the process may read, as far as it reads it, and closes its standard input.
async fn feed(mut sender: pipe::Sender, bytes: Vec<u8>) {
    // A process need not read: one that has closed its end, or ended, is no failure of ours.
    drop(sender.write_all(&bytes).await);
}

/// The end of a pipe that a process writes to.
struct Reader {
    /// None once the other end is closed.
    pipe: Option<pipe::Receiver>,
    bytes: Vec<u8>,
}

impl Reader {
    /// Waits for more; none at the end, and after that for ever.
    async fn next(&mut self) -> Option<&[u8]> {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        if let Ok(count @ 1..) = pipe.read(&mut self.bytes).await {
            return Some(&self.bytes[..count]);
        }
        self.pipe = None;
        None
    }

    /// Takes what stands in the pipe and waits for nothing: somebody else may hold its other end for ever.
    fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        let Some(pipe) = &self.pipe else { return };
        let mut total = 0;
        // The runtime's own reads go by what it was last told of the pipe, which may be older than the last words.
        while let Ok(count @ 1..) = rustix::io::read(pipe.as_fd(), &mut self.bytes) {
            take(&self.bytes[..count]);
            total += count;
            if total >= MAX_DRAINED_BYTES {
                break;
            }
        }
    }
}
