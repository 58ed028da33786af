//! Attacks on the kernel and on what it shares.

use std::fs;

use super::files::c_path;
use super::{Attack, Facts, Outcome, call, said};

/// `CLONE_NEWUSER`.
const NEW_USER: usize = 0x1000_0000;

pub(super) const ATTACKS: &[Attack] = &[
    ("io-uring", |_| {
        let parameters = [0_u64; 32];
        plain(libc::SYS_io_uring_setup, [4, parameters.as_ptr() as usize, 0, 0, 0, 0])
    }),
    ("user-namespace", |_| plain(libc::SYS_unshare, [NEW_USER, 0, 0, 0, 0, 0])),
    ("user-namespace-by-clone", clone),
    ("user-namespace-by-clone3", clone3),
    ("enter-namespace", |facts| {
        let namespace = fs::File::open(format!("/proc/{}/ns/mnt", facts.number("parent")))?;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&namespace).cast_unsigned() as usize;
        plain(libc::SYS_setns, [descriptor, 0, 0, 0, 0, 0])
    }),
    ("chroot", |facts| {
        let path = c_path(&facts.path("scratch"));
        plain(libc::SYS_chroot, [path.as_ptr() as usize, 0, 0, 0, 0, 0])
    }),
    ("mount", |facts| {
        let path = c_path(&facts.path("scratch"));
        let kind = c"tmpfs".as_ptr() as usize;
        plain(libc::SYS_mount, [kind, path.as_ptr() as usize, kind, 0, 0, 0])
    }),
    ("mount-by-descriptor", |_| {
        plain(libc::SYS_fsopen, [c"tmpfs".as_ptr() as usize, 0, 0, 0, 0, 0])
    }),
    ("unmount", |_| plain(libc::SYS_umount2, [c"/proc".as_ptr() as usize, 2, 0, 0, 0, 0])),
    ("clone-mount", |_| {
        let here = libc::AT_FDCWD as usize;
        plain(libc::SYS_open_tree, [here, c"/usr".as_ptr() as usize, 1, 0, 0, 0])
    }),
    ("remount-writable", |_| {
        let attributes = [0_u64, 1, 0, 0];
        let here = libc::AT_FDCWD as usize;
        let change = |path: &std::ffi::CStr| {
            let arguments = [here, path.as_ptr() as usize, 0, attributes.as_ptr() as usize, 32, 0];
            plain(libc::SYS_mount_setattr, arguments)
        };
        change(c"/usr").or_else(|_| change(c"/"))
    }),
    ("keyring", |_| {
        let session = usize::MAX - 2;
        plain(libc::SYS_keyctl, [0, session, 0, 0, 0, 0])
    }),
    ("add-key", |_| {
        let user = c"user".as_ptr() as usize;
        let keyring = usize::MAX - 3;
        plain(libc::SYS_add_key, [user, c"kitbag".as_ptr() as usize, user, 4, keyring, 0])
    }),
    ("shared-memory-of-parent", |facts| {
        plain(libc::SYS_shmat, [facts.number("shm").cast_unsigned() as usize, 0, 0o10000, 0, 0, 0])
    }),
    ("shared-memory", |_| plain(libc::SYS_shmget, [0, 4096, 0o1600, 0, 0, 0])),
    ("semaphores", |_| plain(libc::SYS_semget, [0, 1, 0o1600, 0, 0, 0])),
    ("message-queue", |_| plain(libc::SYS_msgget, [0, 0o1600, 0, 0, 0, 0])),
    ("posix-message-queue", |_| {
        plain(libc::SYS_mq_open, [c"kitbag".as_ptr() as usize, 0o102, 0o600, 0, 0, 0])
    }),
    ("bpf", |_| {
        let attributes = [1_u32, 4, 4, 1, 0, 0, 0, 0];
        plain(libc::SYS_bpf, [0, attributes.as_ptr() as usize, 32, 0, 0, 0])
    }),
    ("perf", |_| {
        let mut attributes = [0_u32; 32];
        attributes[0] = 1;
        attributes[1] = 128;
        let arguments = [attributes.as_ptr() as usize, 0, usize::MAX, usize::MAX, 0, 0];
        plain(libc::SYS_perf_event_open, arguments)
    }),
    ("userfaultfd", |_| plain(libc::SYS_userfaultfd, [1, 0, 0, 0, 0, 0])),
    ("fanotify", |_| plain(libc::SYS_fanotify_init, [0x200, 0, 0, 0, 0, 0])),
    ("load-module", |_| plain(libc::SYS_init_module, [0, 0, c"".as_ptr() as usize, 0, 0, 0])),
    ("kexec", |_| plain(libc::SYS_kexec_load, [0, 0, 0, 0, 0, 0])),
    ("set-clock", |_| {
        let mut now = [0_u64; 2];
        call(libc::SYS_clock_gettime, [0, now.as_mut_ptr() as usize, 0, 0, 0, 0])?;
        plain(libc::SYS_clock_settime, [0, now.as_ptr() as usize, 0, 0, 0, 0])
    }),
    ("set-host-name", |_| plain(libc::SYS_sethostname, [c"x".as_ptr() as usize, 1, 0, 0, 0, 0])),
    ("read-kernel-log", |_| {
        let buffer = [0_u8; 64];
        plain(libc::SYS_syslog, [3, buffer.as_ptr() as usize, 64, 0, 0, 0])
    }),
    ("become-another-user", |_| plain(libc::SYS_setresuid, [12345, 12345, 12345, 0, 0, 0])),
    ("become-another-group", |_| plain(libc::SYS_setresgid, [12345, 12345, 12345, 0, 0, 0])),
    ("raise-capabilities", |_| {
        let header = [0x2008_0522_u32, 0];
        // `CAP_CHOWN`, effective, permitted and inheritable.
        let one = [1_u32, 1, 1, 0, 0, 0];
        plain(libc::SYS_capset, [header.as_ptr() as usize, one.as_ptr() as usize, 0, 0, 0, 0])
    }),
    ("capabilities", |_| {
        let header = [0x2008_0522_u32, 0];
        let mut sets = [0_u32; 6];
        call(libc::SYS_capget, [header.as_ptr() as usize, sets.as_mut_ptr() as usize, 0, 0, 0, 0])?;
        let has = sets.iter().any(|set| *set != 0);
        if has { Ok(format!("{sets:x?}")) } else { Err(said("none")) }
    }),
    ("gain-by-execution", |_| match call(libc::SYS_prctl, [39, 0, 0, 0, 0, 0]) {
        Ok(1) => Err(said("no new privileges")),
        _ => Ok("set-user-id programs count".to_owned()),
    }),
    ("type-into-terminal", |_| {
        match call(libc::SYS_ioctl, [0, 0x5412, c"x".as_ptr() as usize, 0, 0, 0]) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
            other => Ok(format!("{other:?}")),
        }
    }),
    ("second-call-table", |_| match call(0x4000_0000 | libc::SYS_getpid, [0; 6]) {
        Err(error) => Err(error),
        Ok(pid) => Ok(format!("process {pid}")),
    }),
    ("trace-me", |_| plain(libc::SYS_ptrace, [0; 6])),
];

fn plain(number: libc::c_long, arguments: [usize; 6]) -> Outcome {
    call(number, arguments).map(|result| format!("answered {result}"))
}

fn clone(_: &Facts) -> Outcome {
    match call(libc::SYS_clone, [NEW_USER | 0x11, 0, 0, 0, 0, 0])? {
        0 => std::process::exit(0),
        child => Ok(format!("process {child}")),
    }
}

fn clone3(_: &Facts) -> Outcome {
    let arguments = [NEW_USER as u64, 0, 0, 0, 17, 0, 0, 0];
    match call(libc::SYS_clone3, [arguments.as_ptr() as usize, 64, 0, 0, 0, 0])? {
        0 => std::process::exit(0),
        child => Ok(format!("process {child}")),
    }
}
