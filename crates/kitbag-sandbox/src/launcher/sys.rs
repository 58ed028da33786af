//! System calls that no library wraps. All `unsafe` of the launcher is here.

#![expect(unsafe_code, reason = "what the launcher asks of the kernel has no safe wrapper")]

use std::ffi::CStr;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

/// Which side of a fork this is.
pub(super) enum Side {
    Parent(Pid),
    Child,
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Forks, with the child in new namespaces of the kinds that `flags` names.
pub(super) fn fork(flags: libc::c_int) -> io::Result<Side> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a stack this is a fork. The launcher has one thread, so no lock is held
    // by a thread that the child lacks, and all pointers are null.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    Ok(pid.map_or(Side::Child, Side::Parent))
}

/// Ends this process at once: nothing of what the parent prepared is run or flushed a second time.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Closes all descriptors from `first` on, now or, with `CLOSE_RANGE_CLOEXEC` in `flags`, at the next `execve`.
pub(super) fn close_from(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes numbers. Callers own no descriptor that is closed now; those are of whoever started us.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) })?;
    Ok(())
}

/// How far a change to a mount reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    One,
    AllBelow,
}

/// Sets attributes on a mount, and cuts it off from what is mounted elsewhere later.
pub(super) fn set_mount_attributes(
    mount: impl AsFd,
    attributes: u64,
    reach: Reach,
) -> io::Result<()> {
    let set = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let recursive = if reach == Reach::AllBelow { libc::AT_RECURSIVE } else { 0 };
    let flags = libc::AT_EMPTY_PATH | recursive;
    // SAFETY: the path is a NUL-terminated string and `set` lives across the call; its size is passed beside it.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const set,
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Blocks `SIGCHLD` and makes a descriptor that becomes readable when a child ended.
pub(super) fn child_events() -> io::Result<OwnedFd> {
    // SAFETY: a `sigset_t` is plain data that `sigemptyset` initialises before it is read, and all pointers are to
    // locals that live across the calls.
    let descriptor = unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()).into())?;
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        check(libc::signalfd(-1, &raw const set, flags).into())?
    };
    let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
    // SAFETY: the kernel just made this descriptor, and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Empties such a descriptor, so that it is quiet until the next child ends. The dead are taken afterwards: a child that
/// ends in between is announced again, where the other order would forget it.
pub(super) fn quiet(children: impl AsFd) {
    let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
    while rustix::io::read(&children, &mut record).is_ok() {}
}

/// Lets all signals through again, and gives `SIGPIPE` its default back, which Rust's runtime took.
pub(super) fn reset_signals() -> io::Result<()> {
    // SAFETY: as in `child_events`; `SIG_DFL` is a valid disposition of `SIGPIPE`.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()).into())?;
        if libc::signal(libc::SIGPIPE, libc::SIG_DFL) == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Installs a system call filter for this thread and all that it becomes.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let Ok(length) = libc::c_ushort::try_from(program.len()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program and writes nothing to it; pointer and length are those of one slice.
    check(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    })?;
    Ok(())
}

/// The flag of an interface that is up.
const UP: libc::c_short = 1;

/// Brings a network interface up.
pub(super) fn interface_up(socket: impl AsFd, name: &CStr) -> io::Result<()> {
    // SAFETY: an `ifreq` of zeros is valid; the name is shorter than its field and is followed by zeros; the kernel
    // reads and writes within the struct, which lives across both calls.
    unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes().iter().take(15)) {
            *to = from.cast_signed();
        }
        let descriptor = socket.as_fd().as_raw_fd();
        check(libc::ioctl(descriptor, libc::SIOCGIFFLAGS as _, &raw mut request).into())?;
        request.ifr_ifru.ifru_flags |= UP;
        check(libc::ioctl(descriptor, libc::SIOCSIFFLAGS as _, &raw mut request).into())?;
    }
    Ok(())
}
