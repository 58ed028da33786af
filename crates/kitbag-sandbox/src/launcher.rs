//! The launcher: this very program, executed again, which confines itself step by step and becomes the script.
//!
//! It is a process of its own for three reasons: forking a server copies its page tables and so costs the more the
//! larger it is; between fork and `execve` a program with threads may do next to nothing; and somebody must
//! outlive the script to bury it when the server is killed. It has one thread and no environment.
//!
//! With namespaces there are three processes: the supervisor, which stays outside; the first process of the
//! process namespace, which builds the root and reaps; and the script. Without, there are two, and the supervisor reaps.
//! Descriptor 0 is a socket to the server. It closes when the server ends, however it ends, and then all is killed.

mod confine;
mod filter;
mod group;
mod init;
mod network;
mod root;
mod rules;
mod supervisor;
mod sys;
mod target;

use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};

use crate::plan::{MAX_PLAN_BYTES, Message, Plan, Stage};

/// The name under which a program is executed to be the launcher.
pub(crate) const NAME: &str = "kitbag-sandbox-launcher";

/// What failed, in words of the kernel.
pub(super) struct Failure {
    stage: Stage,
    errno: i32,
    detail: Vec<u8>,
}

impl Failure {
    fn new(stage: Stage, error: &io::Error) -> Self {
        Self { stage, errno: error.raw_os_error().unwrap_or(0), detail: Vec::new() }
    }

    fn on(mut self, detail: &Path) -> Self {
        self.detail = detail.as_os_str().as_bytes().to_vec();
        self
    }

    fn said(stage: Stage, detail: String) -> Self {
        Self { stage, errno: 0, detail: detail.into_bytes() }
    }
}

/// Says at which step an error happened.
pub(super) trait At<T> {
    fn at(self, stage: Stage) -> Result<T, Failure>;
    fn at_path(self, stage: Stage, path: &Path) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(stage, &error.into()))
    }

    fn at_path(self, stage: Stage, path: &Path) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(stage, &error.into()).on(path))
    }
}

/// The way to the server. Whole messages, each at once.
pub(super) struct Control(OwnedFd);

impl Control {
    fn send(&self, message: &Message) {
        // Who doesn't listen any more has closed the socket, and that is noticed elsewhere.
        let _ = rustix::net::send(&self.0, &message.encode(), SendFlags::NOSIGNAL);
    }

    fn fail(&self, failure: Failure) {
        let Failure { stage, errno, detail } = failure;
        self.send(&Message::Failed { stage, errno, detail });
    }
}

/// Is the launcher, when this program was executed to be it, and doesn't return then. Else it does nothing.
///
/// It must be the first thing that `main` does: before a thread is started, and before anything is opened.
pub fn become_launcher_if_asked() {
    let mut arguments = std::env::args_os();
    if arguments.next().is_some_and(|name| name == NAME) && arguments.next().is_none() {
        launch();
    }
}

fn launch() -> ! {
    // What the server's parents left open is none of the script's business, nor of ours.
    drop(sys::close_from(3, 0));
    let Ok(control) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) else {
        sys::exit(71);
    };
    let control = Control(control);
    let received = receive(&control).and_then(|(plan, stdin)| {
        rustix::stdio::dup2_stdin(&stdin).at(Stage::Plan)?;
        Ok(plan)
    });
    let ended = received.and_then(|plan| supervisor::supervise(&plan, &control));
    if let Err(failure) = ended {
        control.fail(failure);
    }
    sys::exit(0)
}

/// Takes the plan and the script's standard input.
fn receive(control: &Control) -> Result<(Plan, OwnedFd), Failure> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let slices = &mut [IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(control.0.as_fd(), slices, &mut ancillary, flags).at(Stage::Plan)?;
    let mut descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let mut descriptors = descriptors.next().into_iter().flatten();
    let (Some(plan), Some(stdin)) = (descriptors.next(), descriptors.next()) else {
        return Err(Failure::said(Stage::Plan, "no plan came".to_owned()));
    };
    let mut bytes = Vec::new();
    let limit = MAX_PLAN_BYTES as u64 + 1;
    std::fs::File::from(plan).take(limit).read_to_end(&mut bytes).at(Stage::Plan)?;
    let plan = Plan::decode(&bytes)
        .map_err(|_| Failure::said(Stage::Plan, "the plan can't be read".to_owned()))?;
    Ok((plan, stdin))
}
