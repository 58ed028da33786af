//! Attacks on other processes.

use std::fs::{self, File};
use std::io;

use super::{Attack, Facts, Outcome, call, check, said};

pub(super) const ATTACKS: &[Attack] = &[
    ("parent-environment", |facts| proc_file(facts.number("parent"), "environ")),
    ("parent-memory", |facts| proc_file(facts.number("parent"), "mem")),
    ("parent-maps", |facts| proc_file(facts.number("parent"), "maps")),
    ("parent-command-line", |facts| proc_file(facts.number("parent"), "cmdline")),
    ("parent-descriptors", |facts| listing(facts.number("parent"), "fd")),
    ("parent-root", |facts| listing(facts.number("parent"), "root")),
    ("parent-directory", |facts| listing(facts.number("parent"), "cwd")),
    ("starter-environment", |_| proc_file(starter(), "environ")),
    ("starter-memory", |_| proc_file(starter(), "mem")),
    ("starter-descriptors", |_| listing(starter(), "fd")),
    ("starter-root", |_| listing(starter(), "root")),
    ("first-process-memory", |_| proc_file(1, "mem")),
    ("see-processes", see),
    ("ptrace-parent", |facts| ptrace(facts.number("parent"))),
    ("ptrace-starter", |_| ptrace(starter())),
    ("read-memory-of-parent", read_memory),
    ("take-descriptor-of-parent", take_descriptor),
    ("signal-parent", |facts| signal(facts.number("parent"))),
    ("signal-starter", |_| signal(starter())),
    ("signal-group-of-parent", |facts| signal(-facts.number("parent"))),
    ("signal-by-descriptor", signal_by_descriptor),
    ("renice-parent", |facts| {
        call(libc::SYS_setpriority, [0, pid(facts), 5, 0, 0, 0]).map(|_| String::new())
    }),
    ("limit-parent", limit_parent),
    ("pin-parent", |facts| {
        let mask = [1_u64];
        let arguments = [pid(facts), 8, mask.as_ptr() as usize, 0, 0, 0];
        call(libc::SYS_sched_setaffinity, arguments).map(|_| String::new())
    }),
    ("compare-with-parent", |facts| {
        let me = std::process::id() as usize;
        call(libc::SYS_kcmp, [me, pid(facts), 1, 0, 0, 0]).map(|_| String::new())
    }),
    ("inherited-descriptors", inherited),
    ("inherited-variables", |_| {
        let name = std::env::vars_os().find(|(name, _)| name != "GIVEN");
        name.map(|(name, _)| name.display().to_string()).ok_or_else(|| said("none"))
    }),
];

fn pid(facts: &Facts) -> usize {
    facts.number("parent").cast_unsigned() as usize
}

/// Whoever started the process that runs all attacks.
fn starter() -> i32 {
    let status =
        fs::read_to_string(format!("/proc/{}/status", std::os::unix::process::parent_id()));
    let line = status.ok().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("PPid:").map(|pid| pid.trim().to_owned()))
    });
    // Where the process table can't be read, it is known by the number that the starter told.
    let told = || std::env::args().find_map(|each| Some(each.strip_prefix("parent=")?.to_owned()));
    line.or_else(told).and_then(|pid| pid.parse().ok()).unwrap_or(-1)
}

fn proc_file(pid: i32, name: &str) -> Outcome {
    let mut file = File::open(format!("/proc/{pid}/{name}"))?;
    if name == "mem" {
        return Ok("opened".to_owned());
    }
    let mut bytes = vec![0; 4096];
    let length = io::Read::read(&mut file, &mut bytes)?;
    let read = bytes[..length].iter().filter(|byte| **byte != 0).count();
    if read == 0 { Err(said("nothing but zeros")) } else { Ok(format!("{read} bytes")) }
}

fn listing(pid: i32, name: &str) -> Outcome {
    Ok(format!("{} entries", fs::read_dir(format!("/proc/{pid}/{name}"))?.count()))
}

fn see(_: &Facts) -> Outcome {
    let entries = fs::read_dir("/proc")?.flatten();
    let numbers: Vec<i32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The first process, the one that runs all attacks, and this one.
    if numbers.len() > 3 {
        Ok(format!("{} processes", numbers.len()))
    } else {
        Err(said("own only"))
    }
}

fn ptrace(pid: i32) -> Outcome {
    call(libc::SYS_ptrace, [0x4206, pid.cast_unsigned() as usize, 0, 0, 0, 0])
        .map(|_| String::new())
}

fn read_memory(facts: &Facts) -> Outcome {
    let mut byte = [0_u8];
    let to = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let from = libc::iovec { iov_base: ptrace as *mut _, iov_len: 1 };
    let arguments = [pid(facts), &raw const to as usize, 1, &raw const from as usize, 1, 0];
    match call(libc::SYS_process_vm_readv, arguments) {
        // It got as far as looking for the address.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok("allowed".to_owned()),
        other => other.map(|_| String::new()),
    }
}

fn take_descriptor(facts: &Facts) -> Outcome {
    let descriptor = call(libc::SYS_pidfd_open, [pid(facts), 0, 0, 0, 0, 0])?;
    let descriptor = usize::try_from(descriptor).unwrap();
    call(libc::SYS_pidfd_getfd, [descriptor, 0, 0, 0, 0, 0]).map(|_| String::new())
}

fn signal(pid: i32) -> Outcome {
    // SAFETY: signal zero only asks whether another one could be sent.
    check(unsafe { libc::kill(pid, 0) }).map(|_| String::new())
}

fn signal_by_descriptor(facts: &Facts) -> Outcome {
    let descriptor = call(libc::SYS_pidfd_open, [pid(facts), 0, 0, 0, 0, 0])?;
    let descriptor = usize::try_from(descriptor).unwrap();
    call(libc::SYS_pidfd_send_signal, [descriptor, 0, 0, 0, 0, 0]).map(|_| String::new())
}

fn limit_parent(facts: &Facts) -> Outcome {
    let mut old = [0_u64; 2];
    let nofile = libc::RLIMIT_NOFILE as usize;
    call(libc::SYS_prlimit64, [pid(facts), nofile, 0, old.as_mut_ptr() as usize, 0, 0])?;
    call(libc::SYS_prlimit64, [pid(facts), nofile, old.as_ptr() as usize, 0, 0, 0])
        .map(|_| String::new())
}

fn inherited(_: &Facts) -> Outcome {
    let open = (3..1024).find(|descriptor| {
        // SAFETY: asking for the flags of a number touches nothing.
        unsafe { libc::fcntl(*descriptor, libc::F_GETFD) >= 0 }
    });
    open.map(|descriptor| format!("descriptor {descriptor}")).ok_or_else(|| said("none"))
}
