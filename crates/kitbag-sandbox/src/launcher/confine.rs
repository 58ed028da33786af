//! What a process gives up before it becomes the script: resources and capabilities.

use std::fs::File;
use std::io;

use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::{At, Failure};
use crate::plan::{Plan, Stage};

/// How much later than the polite signal for too much CPU time the deadly one comes, in seconds.
const CPU_GRACE: u64 = 1;
/// The highest number that a capability may ever have.
const CAPABILITY_BITS: u32 = 64;

/// Sets the limits that the kernel holds for each process.
pub(super) fn limit(plan: &Plan) -> Result<(), Failure> {
    // The first process of the namespace is counted too.
    let processes = plan.processes.map(|most| most + u64::from(plan.layers.use_namespaces));
    let set = |resource, most: Option<u64>, hard: Option<u64>| {
        let Some(most) = most else { return Ok(()) };
        // Nobody may raise what an administrator lowered.
        let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let hard = hard.unwrap_or(most).min(ceiling);
        let limit = Rlimit { current: Some(most.min(hard)), maximum: Some(hard) };
        rustix::process::setrlimit(resource, limit).at(Stage::Limits)
    };
    set(Resource::Core, Some(0), None)?;
    // Not the address space: interpreters reserve more of it than any machine has memory.
    set(Resource::Data, plan.memory_each, None)?;
    set(Resource::Cpu, plan.cpu_seconds, plan.cpu_seconds.map(|soft| soft + CPU_GRACE))?;
    set(Resource::Fsize, plan.file_size, None)?;
    set(Resource::Nofile, plan.open_files, None)?;
    if plan.layers.use_namespaces || plan.groups.is_empty() {
        set(Resource::Nproc, processes, None)?;
    }
    Ok(())
}

/// Gives up every capability for good, whoever executes what.
pub(super) fn drop_capabilities() -> Result<(), Failure> {
    let sets = rustix::thread::capabilities(None).at(Stage::Capabilities)?;
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        for bit in 0..CAPABILITY_BITS {
            let capability = CapabilitySet::from_bits_retain(1 << bit);
            match rustix::thread::remove_capability_from_bounding_set(capability) {
                // There are no more of them.
                Err(rustix::io::Errno::INVAL) => break,
                other => other.at(Stage::Capabilities)?,
            }
        }
        let _ = rustix::thread::clear_ambient_capability_set();
        let bits = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        rustix::thread::set_capabilities_secure_bits(bits).at(Stage::Capabilities)?;
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).at(Stage::Capabilities)?;
    rustix::thread::set_no_new_privs(true).at(Stage::Capabilities)
}

/// Nanoseconds of the monotonic clock, which all processes of the machine share.
pub(super) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Sees whether the layers do what they are for, from where the script would be.
pub(super) fn check(plan: &Plan) -> Result<(), Failure> {
    let open = |what: &str| Failure::said(Stage::Check, what.to_owned());
    if plan.layers.use_seccomp {
        let socket = rustix::net::socket(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::DGRAM,
            None,
        );
        if socket.is_ok() {
            return Err(open("a socket could be made"));
        }
    }
    if plan.layers.use_namespaces && rustix::process::getpid().as_raw_pid() != 2 {
        return Err(open("the process table is not its own"));
    }
    // No plan grants these, and every Linux has them.
    let not_granted =
        [(plan.layers.use_namespaces, "/sys/kernel"), (plan.layers.use_landlock, "/")];
    for (used, path) in not_granted {
        if used && !File::open(path).is_err_and(|error| is_denial(&error)) {
            return Err(open("a directory that was not granted could be opened"));
        }
    }
    Ok(())
}

fn is_denial(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound)
}
