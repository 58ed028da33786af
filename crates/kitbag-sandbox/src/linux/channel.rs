//! Starting a launcher, and the socket to it.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use crate::job::RunError;
use crate::launcher::NAME;
use crate::plan::{MAX_MESSAGE_BYTES, MAX_PLAN_BYTES, Message, Plan};
use crate::sandbox::Launcher;

/// The server's end. When it is closed, everything of the run is killed.
#[derive(Debug)]
pub(super) struct Channel(OwnedFd);

impl AsFd for Channel {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(super) fn failed(action: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::Launcher { action, source }
}

impl Channel {
    /// Makes a channel, and the command that starts the launcher on its other end.
    pub(super) fn open(launcher: &Launcher) -> Result<(Self, Command), RunError> {
        let flags = SocketFlags::CLOEXEC;
        let family = AddressFamily::UNIX;
        let (ours, theirs) = rustix::net::socketpair(family, SocketType::SEQPACKET, flags, None)
            .map_err(|error| failed("making a socket")(error.into()))?;
        let mut command = Command::new(&launcher.0);
        command.arg0(NAME).env_clear().stdin(Stdio::from(theirs));
        Ok((Self(ours), command))
    }

    /// Sends the plan and what the program will read.
    pub(super) fn send_plan(&self, plan: &Plan, stdin: &impl AsFd) -> Result<(), RunError> {
        let send = || -> io::Result<()> {
            let bytes = plan.encode();
            if bytes.len() > MAX_PLAN_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let plan = sealed(&bytes)?;
            let descriptors = [plan.as_fd(), stdin.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
            let slices = &[IoSlice::new(b"P")];
            rustix::net::sendmsg(&self.0, slices, &mut ancillary, SendFlags::NOSIGNAL)?;
            Ok(())
        };
        send().map_err(failed("sending the plan"))
    }

    /// Makes it one that a runtime can wait for.
    pub(super) fn into_waitable(self) -> io::Result<tokio::net::UnixStream> {
        let socket = std::os::unix::net::UnixStream::from(self.0);
        socket.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(socket)
    }
}

/// Asks the program to end.
pub(super) fn ask_to_end(channel: impl AsFd) {
    // A launcher that is gone has ended everything.
    let _ = rustix::net::send(channel, b"S", SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// Takes one message, and the descriptor beside it. `None` is the end.
pub(super) fn receive(channel: impl AsFd) -> io::Result<Option<(Message, Option<OwnedFd>)>> {
    let mut bytes = [0; MAX_MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let slices = &mut [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = match rustix::net::recvmsg(channel, slices, &mut ancillary, flags) {
        // It ended with our plan unread.
        Err(rustix::io::Errno::CONNRESET) => return Ok(None),
        other => other?.bytes,
    };
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    if received == 0 {
        return Ok(None);
    }
    let message = Message::decode(&bytes[..received]);
    let message = message.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Some((message, descriptor)))
}

/// Puts bytes where nobody can change them any more.
fn sealed(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = match rustix::fs::memfd_create(c"plan", flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 don't know the last flag.
        Err(rustix::io::Errno::INVAL) => rustix::fs::memfd_create(c"plan", flags),
        other => other,
    }
    .map(File::from)?;
    file.write_all(bytes)?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    Ok(file)
}
