//! One run, seen from the server.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::channel::{Channel, ask_to_end, failed, receive};
use crate::capture::{Captured, Lines, Stream};
use crate::job::{Ended, Finished, Job, RunError, Timings};
use crate::plan::{Layers, Message, Plan, Purpose, Stage};
use crate::policy::Network;
use crate::sandbox::{Inner, Sandbox};
use crate::tier::{Guarantee, Layer, Tier};

/// How many bytes are taken from a stream at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// How long after its last duty the launcher may live.
const LAUNCHER_PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait for the end of a stream when all processes are gone.
const DRAIN_PATIENCE: Duration = Duration::from_millis(250);

/// Runs a job that was judged.
pub(crate) async fn run(
    inner: &Inner,
    job: Job,
    gaps: Vec<(Guarantee, String)>,
    cancel: &CancellationToken,
    mut on_line: impl FnMut(Stream, &str) + Send,
) -> Result<Finished, RunError> {
    let started = Instant::now();
    let started_at = monotonic();
    let findings = &inner.findings;
    let tier = findings.tier();
    let plan = plan(inner, tier, &job);
    let (channel, mut command) = Channel::open(&inner.launcher)?;
    let (stdout, for_stdout) = output()?;
    let (stderr, for_stderr) = output()?;
    let (stdin, for_stdin) = input(&job.stdin)?;
    command.stdout(Stdio::from(for_stdout)).stderr(Stdio::from(for_stderr));
    let mut command = tokio::process::Command::from(command);
    let mut launcher = command.spawn().map_err(failed("starting the launcher"))?;
    // It holds the other ends of the socket and the pipes.
    drop(command);
    channel.send_plan(&plan, &for_stdin)?;
    drop(for_stdin);

    let limit = job.policy.limits.output;
    let channel = channel.into_waitable().map_err(failed("listening to the launcher"))?;
    let mut talk = Talk::default();
    let mut stdout = Tap::new(stdout, Stream::Stdout, limit);
    let mut stderr = Tap::new(stderr, Stream::Stderr, limit);
    let feed = feed(stdin, job.stdin);
    tokio::pin!(feed);
    let (mut feeding, mut asked) = (true, false);
    let patience = job.policy.limits.grace + LAUNCHER_PATIENCE;
    let overdue = tokio::time::sleep(job.policy.limits.wall.map_or(NEVER, |wall| wall + patience));
    tokio::pin!(overdue);
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled(), if !asked => {
                asked = true;
                ask_to_end(&channel);
                overdue.as_mut().reset(tokio::time::Instant::now() + patience);
            }
            ready = channel.readable() => {
                ready.map_err(failed("listening to the launcher"))?;
                match channel.try_io(Interest::READABLE, || receive(&channel)) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    received => match received.map_err(failed("listening to the launcher"))? {
                        Some((message, _)) => talk.hear(message),
                        None => break,
                    },
                }
            }
            read = stdout.read(), if stdout.open => stdout.took(&read, &mut on_line),
            read = stderr.read(), if stderr.open => stderr.took(&read, &mut on_line),
            () = &mut feed, if feeding => feeding = false,
            () = &mut overdue => {
                // It should have ended long ago. What it left is killed with it, where there are namespaces.
                drop(launcher.start_kill());
                overdue.as_mut().reset(tokio::time::Instant::now() + NEVER);
            }
        }
    }
    let drain = async {
        while stdout.open || stderr.open {
            tokio::select! {
                read = stdout.read(), if stdout.open => stdout.took(&read, &mut on_line),
                read = stderr.read(), if stderr.open => stderr.took(&read, &mut on_line),
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN_PATIENCE, drain).await;
    stdout.finish(&mut on_line);
    stderr.finish(&mut on_line);
    drop(tokio::time::timeout(LAUNCHER_PATIENCE, launcher.wait()).await);

    let total = started.elapsed();
    let ready_at = talk.outcome(asked)?;
    let launch = Duration::from_nanos(ready_at.saturating_sub(started_at));
    let ended = if talk.timed_out {
        Ended::TimedOut
    } else if asked {
        Ended::Cancelled
    } else {
        talk.ended()
    };
    Ok(Finished {
        ended,
        stdout: stdout.captured,
        stderr: stderr.captured,
        tier,
        gaps,
        out_of_memory: talk.out_of_memory,
        timings: Timings { launch, total },
    })
}

/// Longer than any run; timers don't take the whole range of a duration.
const NEVER: Duration = Duration::from_hours(24 * 365);

fn plan(inner: &Inner, tier: Tier, job: &Job) -> Plan {
    let (findings, policy) = (&inner.findings, &job.policy);
    let limits = &policy.limits;
    // Then its first process, which is ours, is counted too.
    let use_namespaces = tier >= Tier::Namespaces;
    let groups = [Layer::ProcessGroup, Layer::MemoryGroup];
    let groups: Vec<Layer> =
        groups.into_iter().filter(|layer| Sandbox::needs_group(findings, policy, *layer)).collect();
    Plan {
        purpose: Purpose::Run,
        layers: Layers {
            use_namespaces,
            use_landlock: findings.has(Layer::Landlock),
            use_seccomp: true,
        },
        argv: job.argv.clone(),
        cwd: job.cwd.clone(),
        environment: policy.environment.clone(),
        read: policy.read.clone(),
        execute: policy.execute.clone(),
        write: policy.write.clone(),
        scratch: policy.scratch.as_ref().map(|scratch| (scratch.path.clone(), scratch.bytes)),
        proxy: policy.network != Network::None,
        groups: inner.sites.plan(&groups, limits, u64::from(use_namespaces)),
        memory_each: limits.memory_each,
        processes: limits.processes,
        cpu_seconds: limits.cpu_each.map(|time| time.as_secs().max(1)),
        file_size: limits.file_size,
        open_files: limits.open_files,
        wall: limits.wall,
        grace: limits.grace,
    }
}

fn monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn output() -> Result<(pipe::Receiver, OwnedFd), RunError> {
    let make = || -> io::Result<_> {
        let (reader, writer) = io::pipe()?;
        Ok((pipe::Receiver::from_owned_fd(reader.into())?, writer.into()))
    };
    make().map_err(failed("making a pipe"))
}

/// Makes what the program reads from: a pipe if there is something to read, else nothing at all.
fn input(bytes: &[u8]) -> Result<(Option<pipe::Sender>, OwnedFd), RunError> {
    let make = || -> io::Result<_> {
        if bytes.is_empty() {
            return Ok((None, File::open("/dev/null")?.into()));
        }
        let (reader, writer) = io::pipe()?;
        Ok((Some(pipe::Sender::from_owned_fd(writer.into())?), reader.into()))
    };
    make().map_err(failed("making a pipe"))
}

async fn feed(stdin: Option<pipe::Sender>, bytes: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        // A program need not read all that it is given.
        drop(stdin.write_all(&bytes).await);
    }
}

/// One stream of output.
struct Tap {
    pipe: pipe::Receiver,
    buffer: Vec<u8>,
    stream: Stream,
    limit: usize,
    captured: Captured,
    lines: Lines,
    open: bool,
}

impl Tap {
    fn new(pipe: pipe::Receiver, stream: Stream, limit: usize) -> Self {
        let (captured, lines) = (Captured::default(), Lines::default());
        Self { pipe, buffer: vec![0; CHUNK_BYTES], stream, limit, captured, lines, open: true }
    }

    /// Waits for what comes next. Loses nothing when it is dropped while it waits.
    async fn read(&mut self) -> io::Result<usize> {
        self.pipe.read(&mut self.buffer).await
    }

    fn took(&mut self, read: &io::Result<usize>, on_line: &mut impl FnMut(Stream, &str)) {
        let Ok(length @ 1..) = *read else {
            self.open = false;
            return;
        };
        let chunk = &self.buffer[..length];
        self.captured.push(chunk, self.limit);
        self.lines.push(chunk, |line| on_line(self.stream, line));
    }

    fn finish(&mut self, on_line: &mut impl FnMut(Stream, &str)) {
        self.lines.finish(|line| on_line(self.stream, line));
    }
}

/// What the launcher said.
#[derive(Default)]
struct Talk {
    ready_at: Option<u64>,
    failure: Option<(Stage, i32, Vec<u8>)>,
    status: Option<i32>,
    timed_out: bool,
    out_of_memory: bool,
}

impl Talk {
    fn hear(&mut self, message: Message) {
        match message {
            Message::Ready { at, .. } => self.ready_at = Some(at),
            Message::Failed { stage, errno, detail } => {
                self.failure.get_or_insert((stage, errno, detail));
            }
            Message::Ended { status } => self.status = Some(status),
            Message::TimedOut => self.timed_out = true,
            Message::Gone { out_of_memory } => self.out_of_memory = out_of_memory,
            Message::Listening => {}
        }
    }

    /// When the program was executed, or why it was not. Zero if it was asked to end before.
    fn outcome(&mut self, asked: bool) -> Result<u64, RunError> {
        if let Some((stage, errno, detail)) = self.failure.take() {
            let detail = String::from_utf8_lossy(&detail).into_owned();
            let (path, source) = if errno == 0 {
                (None, io::Error::other(detail))
            } else {
                let path = (!detail.is_empty()).then(|| PathBuf::from(detail));
                (path, io::Error::from_raw_os_error(errno))
            };
            return Err(RunError::Start { stage, path, source });
        }
        let was_ended = asked || self.timed_out;
        if self.ready_at.is_none() && self.status.is_none() && !was_ended {
            let source = io::Error::other("it ended before the program began");
            return Err(RunError::Launcher { action: "running the launcher", source });
        }
        Ok(self.ready_at.unwrap_or(0))
    }

    fn ended(&self) -> Ended {
        // The first process was killed from outside, and with it all the others.
        let Some(status) = self.status else { return Ended::Signaled(libc::SIGKILL) };
        let status = ExitStatus::from_raw(status);
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Signaled(signal.unwrap_or(0)),
        }
    }
}
