//! A machine that lacks something: a filter makes the kernel deny it to all that follows.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What can be taken away: calls, the bits of the first argument that count, and the error.
fn missing(layer: &str) -> (&'static [libc::c_long], u32, i32) {
    match layer {
        "namespaces" => (&[libc::SYS_clone, libc::SYS_unshare], 0x1000_0000, libc::EPERM),
        "mounts" => (&[libc::SYS_fsopen, libc::SYS_mount, libc::SYS_mount_setattr], 0, libc::EPERM),
        "landlock" => (&[444, 445, 446], 0, libc::ENOSYS),
        "landlock-disabled" => (&[444, 445, 446], 0, libc::EOPNOTSUPP),
        "seccomp" => (&[libc::SYS_seccomp], 0, libc::EINVAL),
        "groups" => (&[libc::SYS_mkdir, libc::SYS_mkdirat], 0, libc::EROFS),
        other => panic!("no layer `{other}`"),
    }
}

/// `LAYER[,LAYER] PROGRAM ARGUMENTS`
pub(super) fn run(arguments: &[String]) {
    let (layers, command) = arguments.split_first().unwrap();
    let deny =
        layers.split(',').map(missing).map(|(calls, bits, errno)| program(calls, bits, errno));
    let programs: Vec<_> = deny.collect();
    // SAFETY: the programs outlive the calls, which copy them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        for program in &programs {
            let length = u16::try_from(program.len()).unwrap();
            let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
            let set = libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const program, 0, 0);
            assert_eq!(set, 0, "{}", io::Error::last_os_error());
        }
    }
    let error = Command::new(&command[0]).args(&command[1..]).exec();
    panic!("{error}");
}

fn program(calls: &[libc::c_long], bits: u32, errno: i32) -> Vec<libc::sock_filter> {
    let line = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut program = Vec::new();
    for call in calls {
        program.push(line(0x20, 0, 0, 0));
        let behind = if bits == 0 { 1 } else { 3 };
        program.push(line(0x15, u32::try_from(*call).unwrap(), 0, behind));
        if bits != 0 {
            program.push(line(0x20, 16, 0, 0));
            program.push(line(0x45, bits, 0, 1));
        }
        program.push(line(0x06, 0x0005_0000 | errno.cast_unsigned(), 0, 0));
    }
    program.push(line(0x06, 0x7fff_0000, 0, 0));
    program
}
