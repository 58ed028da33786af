//! A process and everything it started, as one thing to end.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::oneshot;

/// A process group; killed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    state: Arc<Mutex<State>>,
}

/// Whether the number of the group still is the group's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The leader runs, or has ended and was not waited for, so that nobody else can have got its number.
    Ours,
    /// The leader was waited for.
    Gone,
}

impl Group {
    /// Watches the group that `child` leads: gives its status once it has ended and all others of the group were
    /// killed.
    pub(super) fn watch(mut child: Child) -> io::Result<(Self, oneshot::Receiver<ExitStatus>)> {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or(io::ErrorKind::InvalidData)?;
        let state = Arc::new(Mutex::new(State::Ours));
        let group = Self { leader, state: Arc::clone(&state) };
        let (send, ended) = oneshot::channel();
        let reap = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let ended = loop {
                match waitid(WaitId::Pid(leader), options) {
                    Err(Errno::INTR) => {}
                    ended => break ended.is_ok(),
                }
            };
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if ended {
                kill(leader, Signal::KILL);
            }
            let status = child.wait();
            *state = State::Gone;
            drop(state);
            if let Ok(status) = status {
                // Whoever asked may have given up by now.
                let _ = send.send(status);
            }
        };
        // A thread, since a process that was started on one runtime must be waited for whatever becomes of that one.
        std::thread::Builder::new().name("kitbag-process".to_owned()).spawn(reap)?;
        Ok((group, ended))
    }

    /// Sends `signal` to all of the group.
    pub(super) fn signal(&self, signal: Signal) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Ours {
            kill(self.leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn kill(leader: Pid, signal: Signal) {
    // Fails only where nobody is left to get it.
    let _ = kill_process_group(leader, signal);
}
