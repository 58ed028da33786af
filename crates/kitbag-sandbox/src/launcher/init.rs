//! The first process of a run's process namespace: it builds the root, starts the script, and reaps.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{DumpableBehavior, Signal, WaitOptions};

use super::{At, Control, Failure, group::Groups, network, root, sys, target};
use crate::plan::{Message, Plan, Stage};

/// The user and group inside, where the caller is root: programs that find themselves to be root try what can't work.
const INNER_ID_OF_ROOT: u32 = 1000;
/// The host name inside.
const HOST_NAME: &[u8] = b"sandbox";

/// Who the caller is, seen from outside: from inside it has no number before it is mapped.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    user: u32,
    group: u32,
}

impl Identity {
    pub(super) fn current() -> Self {
        Self {
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        }
    }

    pub(super) fn inner(self) -> (u32, u32) {
        if self.user == 0 { (INNER_ID_OF_ROOT, INNER_ID_OF_ROOT) } else { (self.user, self.group) }
    }

    fn map(self) -> io::Result<()> {
        let (user, group) = self.inner();
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {} 1", self.user))?;
        fs::write("/proc/self/gid_map", format!("{group} {} 1", self.group))
    }
}

/// Runs the plan and ends with the script.
pub(super) fn run(
    plan: &Plan,
    control: &Control,
    groups: &Groups,
    supervisor: &OwnedFd,
    identity: Identity,
) -> ! {
    if let Err(failure) = prepare(plan, control, groups, supervisor, identity) {
        control.fail(failure);
        sys::exit(71);
    }
    let started = sys::child_events().at(Stage::Process).and_then(|children| {
        match sys::fork(0).at(Stage::Process)? {
            sys::Side::Child => {
                drop(children);
                target::run(plan, control, None, supervisor)
            }
            sys::Side::Parent(script) => Ok((children, script)),
        }
    });
    let (children, script) = started.unwrap_or_else(|failure| {
        control.fail(failure);
        sys::exit(71)
    });
    // The streams end when the script's processes are gone, so nobody else may hold them.
    drop(close_streams());
    loop {
        let mut events =
            [PollFd::new(supervisor, PollFlags::IN), PollFd::new(&children, PollFlags::IN)];
        if let Err(error) = rustix::event::poll(&mut events, None)
            && error != rustix::io::Errno::INTR
        {
            sys::exit(71);
        }
        let (asked, died) = (!events[0].revents().is_empty(), !events[1].revents().is_empty());
        if asked {
            let mut byte = [0];
            match rustix::io::read(supervisor, &mut byte) {
                Ok(1..) => drop(rustix::process::kill_process_group(script, Signal::TERM)),
                // The supervisor is gone.
                Ok(0) | Err(_) => sys::exit(71),
            }
        }
        if died {
            sys::quiet(&children);
        }
        while died && let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == script {
                control.send(&Message::Ended { status: status.as_raw() });
                sys::exit(0);
            }
        }
    }
}

fn prepare(
    plan: &Plan,
    control: &Control,
    groups: &Groups,
    supervisor: &OwnedFd,
    identity: Identity,
) -> Result<(), Failure> {
    identity.map().at(Stage::UserMap)?;
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    die_with_supervisor(supervisor)?;
    groups.join()?;
    if plan.proxy {
        network::offer_way_out(control)?;
    }
    root::build(plan, identity.inner())?;
    let _ = rustix::system::sethostname(HOST_NAME);
    Ok(())
}

/// Makes the kernel kill this process when the supervisor ends, and ends if that has happened already.
pub(super) fn die_with_supervisor(supervisor: &OwnedFd) -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::Process)?;
    let mut events = [PollFd::new(supervisor, PollFlags::IN)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = rustix::event::poll(&mut events, Some(&now));
    if events[0].revents().contains(PollFlags::HUP) {
        sys::exit(71);
    }
    Ok(())
}

fn close_streams() -> io::Result<()> {
    let nothing = fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}
