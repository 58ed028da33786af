//! The process that becomes the script.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{At, Control, Failure, confine, filter, group::Groups, init, rules, sys};
use crate::plan::{Message, Plan, Purpose, Stage};

/// Confines this process and executes the script.
pub(super) fn run(plan: &Plan, control: &Control, groups: Option<&Groups>, parent: &OwnedFd) -> ! {
    let Err(failure) = confine_and_execute(plan, control, groups, parent);
    control.fail(failure);
    sys::exit(71)
}

enum Never {}

fn confine_and_execute(
    plan: &Plan,
    control: &Control,
    groups: Option<&Groups>,
    parent: &OwnedFd,
) -> Result<Never, Failure> {
    if let Some(groups) = groups {
        init::die_with_supervisor(parent)?;
        groups.join()?;
    } else {
        let signal = Some(rustix::process::Signal::KILL);
        rustix::process::set_parent_process_death_signal(signal).at(Stage::Process)?;
    }
    let _ = rustix::process::setsid();
    rustix::process::chdir(&plan.cwd).at_path(Stage::WorkingDirectory, &plan.cwd)?;
    confine::limit(plan)?;
    sys::close_from(3, libc::CLOSE_RANGE_CLOEXEC).at(Stage::Execute)?;
    confine::drop_capabilities()?;
    let landlock = if plan.layers.use_landlock { rules::restrict(plan)? } else { 0 };
    sys::reset_signals().at(Stage::Execute)?;
    if plan.layers.use_seccomp {
        let sockets =
            if plan.proxy { filter::Sockets::OutgoingStreams } else { filter::Sockets::PairsOnly };
        let surroundings = if plan.layers.use_namespaces {
            filter::Surroundings::Own
        } else {
            filter::Surroundings::Shared
        };
        let program = filter::program(sockets, surroundings).ok_or_else(|| {
            Failure::said(Stage::Seccomp, "no filter for this processor".to_owned())
        })?;
        sys::install_filter(&program).at(Stage::Seccomp)?;
    }
    let ready = Message::Ready { at: confine::now(), landlock };
    match plan.purpose {
        Purpose::Check => {
            confine::check(plan)?;
            control.send(&ready);
            sys::exit(0)
        }
        Purpose::Run => {
            let Some((program, arguments)) = plan.argv.split_first() else {
                return Err(Failure::said(Stage::Execute, "there is no program".to_owned()));
            };
            control.send(&ready);
            let mut command = Command::new(program);
            command.args(arguments).env_clear();
            command.envs(plan.environment.iter().map(|(name, value)| (name, value)));
            let error = command.exec();
            Err(Failure::new(Stage::Execute, &error).on(Path::new(program)))
        }
    }
}
