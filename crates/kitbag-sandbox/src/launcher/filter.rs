//! The system call filter: which calls answer an error instead of doing something.
//!
//! It denies what Landlock and namespaces leave open, and what a script has no use for while the kernel has had faults
//! in it. What it doesn't know (numbers added after it was written, the second call table of x86-64) answers `ENOSYS`, so
//! that programs fall back. Calls are found by halving, not one by one: the kernel looks at every instruction for every
//! call number when a filter is loaded, and that is most of the time that a filter costs.

mod assemble;
#[cfg(test)]
mod tests;

use libc::{EAFNOSUPPORT, ENOSYS, EPERM};

pub(super) use assemble::{Condition, Rule, assemble};

/// The first call number that is unknown here: `file_getattr` and all that were added after it.
const FIRST_UNKNOWN: u32 = 467;

/// `TCP_FASTOPEN` and `TCP_FASTOPEN_CONNECT`, which connect without `connect`.
const FAST_OPEN_OPTIONS: [u32; 2] = [23, 30];
/// `TIOCSTI` and `TIOCLINUX`, which type into a terminal.
const TERMINAL_REQUESTS: [u32; 2] = [0x5412, 0x541c];
/// All bits by which `clone` makes a namespace.
const NAMESPACE_BITS: u32 = 0x7e02_0000;

const AF_UNIX: u32 = libc::AF_UNIX.unsigned_abs();
const AF_INET: u32 = libc::AF_INET.unsigned_abs();
const AF_INET6: u32 = libc::AF_INET6.unsigned_abs();
const SOCK_STREAM: u32 = libc::SOCK_STREAM.unsigned_abs();
const SOCK_SEQPACKET: u32 = libc::SOCK_SEQPACKET.unsigned_abs();
const IPPROTO_TCP: u32 = libc::IPPROTO_TCP.unsigned_abs();
const MSG_FASTOPEN: u32 = libc::MSG_FASTOPEN.unsigned_abs();

/// How much of what is outside a run shares its kernel tables, and so needs denying by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// It has namespaces of its own.
    Own,
    /// It sees the processes and the sockets of the machine.
    Shared,
}

/// Which sockets there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Only connected pairs of a program with itself.
    PairsOnly,
    /// Streams that are connected, never accepted.
    OutgoingStreams,
}

/// Calls that no script needs.
const DENIED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    // `statmount` and `listmount`.
    457,
    458,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[libc::c_long] =
    &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_ustat];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[libc::c_long] = &[];

/// Calls that programs do without where a kernel lacks them.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_memfd_secret,
];

/// Calls that make or answer connections from elsewhere.
const INCOMING: &[libc::c_long] =
    &[libc::SYS_accept, libc::SYS_accept4, libc::SYS_bind, libc::SYS_listen];

/// Calls that reach another process by its number, which stands in this argument.
const OTHER_PROCESS: &[(libc::c_long, u8)] = &[
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// Makes the filter, or nothing where the processor is not known.
pub(super) fn program(
    sockets: Sockets,
    surroundings: Surroundings,
) -> Option<Vec<libc::sock_filter>> {
    assemble(rules(sockets, surroundings), FIRST_UNKNOWN)
}

fn rules(sockets: Sockets, surroundings: Surroundings) -> Vec<(u32, Rule)> {
    let mut rules = Vec::with_capacity(128);
    let mut add = |number: libc::c_long, rule: Rule| {
        // Every call number of every architecture fits.
        rules.push((u32::try_from(number).unwrap_or(u32::MAX), rule));
    };
    for &number in DENIED.iter().chain(DENIED_HERE) {
        add(number, Rule::Fails(EPERM));
    }
    for &number in ABSENT {
        add(number, Rule::Fails(ENOSYS));
    }
    add(libc::SYS_clone, Rule::FailsIf(EPERM, vec![Condition::AnyBit(0, NAMESPACE_BITS)]));
    // A file in memory that can be executed is a program that nobody granted.
    let sealed = Condition::Not(1, libc::MFD_NOEXEC_SEAL, vec![libc::MFD_NOEXEC_SEAL]);
    add(libc::SYS_memfd_create, Rule::FailsIf(ENOSYS, vec![sealed]));
    let terminal = TERMINAL_REQUESTS.map(|request| Condition::Is(1, request)).to_vec();
    add(libc::SYS_ioctl, Rule::FailsIf(EPERM, terminal));
    // A datagram socket of a pair can be sent elsewhere than to its peer; a connected one can't.
    let pairs = vec![
        Condition::Not(0, u32::MAX, vec![AF_UNIX]),
        Condition::Not(1, 0xf, vec![SOCK_STREAM, SOCK_SEQPACKET]),
    ];
    add(libc::SYS_socketpair, Rule::FailsIf(EPERM, pairs));
    for &number in INCOMING {
        add(number, Rule::Fails(EPERM));
    }
    match sockets {
        Sockets::PairsOnly => {
            add(libc::SYS_socket, Rule::Fails(EPERM));
            add(libc::SYS_connect, Rule::Fails(EPERM));
        }
        Sockets::OutgoingStreams => {
            let streams = vec![
                Condition::Not(0, u32::MAX, vec![AF_INET, AF_INET6]),
                Condition::Not(1, 0xf, vec![SOCK_STREAM]),
                Condition::Not(2, u32::MAX, vec![0, IPPROTO_TCP]),
            ];
            add(libc::SYS_socket, Rule::FailsIf(EAFNOSUPPORT, streams));
        }
    }
    // These send before they are connected.
    for (number, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)]
    {
        let fast_open = vec![Condition::AnyBit(flags, MSG_FASTOPEN)];
        add(number, Rule::FailsIf(EPERM, fast_open));
    }
    let options = FAST_OPEN_OPTIONS.map(|option| Condition::Pair((1, IPPROTO_TCP), (2, option)));
    add(libc::SYS_setsockopt, Rule::FailsIf(EPERM, options.to_vec()));
    if surroundings == Surroundings::Shared {
        for &(number, argument) in OTHER_PROCESS {
            let other = vec![Condition::Not(argument, u32::MAX, vec![0])];
            add(number, Rule::FailsIf(EPERM, other));
        }
    }
    rules
}
