//! The process outside: it starts the script's tree, watches the clock and the server, and leaves when all is dead.

use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitOptions};

use super::{At, Control, Failure, group::Groups, init, sys, target};
use crate::plan::{Message, Plan, Stage};

/// The namespaces of a run.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// How long to wait before looking again for processes that came while others were killed.
const KILL_ROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Runs the plan to its end. On return no process of it is left.
pub(super) fn supervise(plan: &Plan, control: &Control) -> Result<(), Failure> {
    // A Ctrl-C in the server's terminal is the server's to judge.
    let _ = rustix::process::setsid();
    let groups = Groups::make(&plan.groups)?;
    let children = sys::child_events().at(Stage::Process)?;
    let (from_supervisor, to_init) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at(Stage::Process)?;
    let identity = init::Identity::current();
    let namespaces = plan.layers.use_namespaces;
    let flags = if namespaces {
        NAMESPACES
    } else {
        // Whoever loses its parent becomes the supervisor's child, and can be found.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).at(Stage::Process)?;
        0
    };
    let leader = match sys::fork(flags).at(Stage::Process)? {
        sys::Side::Child => {
            drop((to_init, children));
            if namespaces {
                init::run(plan, control, &groups, &from_supervisor, identity)
            } else {
                target::run(plan, control, Some(&groups), &from_supervisor)
            }
        }
        sys::Side::Parent(leader) => leader,
    };
    drop(from_supervisor);
    // From here on nobody may look into this process, which knows the script's environment.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let mut tree = Tree { leader, namespaces, to_init: fs::File::from(to_init), status: None };
    tree.watch(plan, control, &children);
    tree.bury();
    if let (Some(status), false) = (tree.status, namespaces) {
        control.send(&Message::Ended { status });
    }
    let out_of_memory = groups.out_of_memory();
    drop(groups);
    control.send(&Message::Gone { out_of_memory });
    Ok(())
}

struct Tree {
    leader: Pid,
    namespaces: bool,
    to_init: fs::File,
    status: Option<i32>,
}

impl Tree {
    /// Returns when the leader ended, or when all is to be killed.
    fn watch(&mut self, plan: &Plan, control: &Control, children: &impl AsFd) {
        let mut deadline = plan.wall.map(|wall| Instant::now() + wall);
        let mut asked = false;
        loop {
            let wait = deadline.map(|at| timespec(at.saturating_duration_since(Instant::now())));
            let mut events =
                [PollFd::new(&control.0, PollFlags::IN), PollFd::new(children, PollFlags::IN)];
            match rustix::event::poll(&mut events, wait.as_ref()) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(0) if asked => return,
                Ok(0) => {
                    control.send(&Message::TimedOut);
                    asked = true;
                }
                Ok(_) => {
                    if !events[1].revents().is_empty() {
                        sys::quiet(children);
                        if self.reap() {
                            return;
                        }
                    }
                    if events[0].revents().is_empty() {
                        continue;
                    }
                    let mut byte = [0];
                    let gone = rustix::net::recv(&control.0, &mut byte, RecvFlags::DONTWAIT);
                    if !matches!(gone, Ok((1.., _)) | Err(Errno::AGAIN)) {
                        return;
                    }
                    if asked {
                        continue;
                    }
                    asked = true;
                }
            }
            deadline = Some(Instant::now() + plan.grace);
            self.ask_to_end();
        }
    }

    /// Sends the script, and what it left in its process group, the polite signal.
    fn ask_to_end(&mut self) {
        if self.namespaces {
            // Only from inside can the script be told from the first process.
            drop(self.to_init.write_all(b"T"));
        } else {
            let _ = rustix::process::kill_process_group(self.leader, Signal::TERM);
        }
    }

    /// Takes the dead, and says whether the leader is among them.
    fn reap(&mut self) -> bool {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == self.leader {
                self.status = Some(status.as_raw());
            }
        }
        self.status.is_some()
    }

    /// Kills what is left and waits until it is gone.
    fn bury(&mut self) {
        if self.namespaces && self.status.is_none() {
            // The kernel kills a process namespace with its first process, which stays until the last one is gone.
            let _ = rustix::process::kill_process(self.leader, Signal::KILL);
            while rustix::process::wait(WaitOptions::empty()).err() == Some(Errno::INTR) {}
            return;
        }
        loop {
            let left = descendants(rustix::process::getpid());
            for pid in &left {
                let _ = rustix::process::kill_process(*pid, Signal::KILL);
            }
            self.reap();
            if rustix::process::wait(WaitOptions::NOHANG).err() == Some(Errno::CHILD) {
                return;
            }
            let _ = rustix::event::poll(&mut [], Some(&KILL_ROUND));
        }
    }
}

/// All below a process, as the kernel lists them at this moment.
fn descendants(of: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = vec![of];
    while let Some(pid) = next.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid())) else { continue };
        for task in tasks.flatten() {
            let Ok(children) = fs::read_to_string(task.path().join("children")) else { continue };
            let children = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
            let children: Vec<Pid> = children.filter_map(Pid::from_raw).collect();
            found.extend(&children);
            next.extend(&children);
        }
    }
    found
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
