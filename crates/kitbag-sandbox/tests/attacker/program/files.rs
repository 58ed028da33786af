//! Attacks on files.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use super::{Attack, Facts, Outcome, call, said};

pub(super) const ATTACKS: &[Attack] = &[
    ("read-secret", |facts| read(&facts.path("secret"))),
    ("read-secret-by-link", read_by_link),
    ("read-secret-by-hard-link", read_by_hard_link),
    ("read-secret-by-parent", read_by_parent),
    ("read-secret-by-openat2", read_by_openat2),
    ("read-secret-by-proc-root", |facts| {
        read(&Path::new("/proc/self/root").join(facts.text("secret").trim_start_matches('/')))
    }),
    ("read-shadow", |_| read(Path::new("/etc/shadow"))),
    ("read-other-skill", |facts| read(&facts.path("other").join("SKILL.md"))),
    ("list-home", |facts| list(&facts.path("home"))),
    ("list-root", |_| list(Path::new("/"))),
    ("list-sys", |_| list(Path::new("/sys/kernel"))),
    ("stat-secret", |facts| {
        fs::metadata(facts.path("secret")).map(|metadata| format!("{} bytes", metadata.len()))
    }),
    ("access-secret", access),
    ("chmod-secret", |facts| {
        let permissions = fs::Permissions::from_mode(0o644);
        fs::set_permissions(facts.path("secret"), permissions).map(|()| "changed".to_owned())
    }),
    ("utime-secret", utime),
    ("setxattr-secret", setxattr),
    ("chown-secret", chown),
    ("write-secret", |facts| {
        OpenOptions::new().write(true).open(facts.path("secret")).map(|_| "opened".to_owned())
    }),
    ("truncate-secret", truncate),
    ("truncate-secret-by-open", |facts| {
        let flags = OpenOptions::new().write(true).truncate(true).open(facts.path("secret"));
        flags.map(|_| "truncated".to_owned())
    }),
    ("rename-secret", |facts| {
        fs::rename(facts.path("secret"), facts.path("scratch").join("taken"))
            .map(|()| String::new())
    }),
    ("unlink-victim", |facts| fs::remove_file(facts.path("victim")).map(|()| String::new())),
    ("create-in-home", |facts| create(&facts.path("home").join("planted"))),
    ("mkdir-in-home", |facts| {
        fs::create_dir(facts.path("home").join("dir")).map(|()| String::new())
    }),
    ("write-own-skill", |facts| {
        let file = facts.path("skill").join("SKILL.md");
        OpenOptions::new().append(true).open(file)?.write_all(b"x").map(|()| String::new())
    }),
    ("create-in-own-skill", |facts| create(&facts.path("skill").join("planted"))),
    ("remove-own-skill", |facts| {
        fs::remove_file(facts.path("skill").join("SKILL.md")).map(|()| String::new())
    }),
    ("write-usr", |_| create(Path::new("/usr/bin/kitbag-planted"))),
    ("write-dev", |_| create(Path::new("/dev/kitbag-planted"))),
    ("write-kernel-settings", |_| {
        let path = "/proc/sys/kernel/core_pattern";
        OpenOptions::new().write(true).open(path).map(|_| path.to_owned())
    }),
    ("sysrq", |_| {
        OpenOptions::new().write(true).open("/proc/sysrq-trigger").map(|_| String::new())
    }),
    ("raw-disk", raw_disk),
    ("kernel-memory", |_| {
        File::open("/dev/mem").or_else(|_| File::open("/proc/kcore")).map(|_| String::new())
    }),
    ("kernel-log", |_| File::open("/dev/kmsg").map(|_| String::new())),
    ("terminal", |_| File::open("/dev/tty").map(|_| String::new())),
    ("mknod", mknod),
    ("open-by-handle", open_by_handle),
    ("execute-from-scratch", execute),
    ("execute-by-loader", execute_by_loader),
    ("execute-from-memory", execute_memory),
];

fn read(path: &Path) -> Outcome {
    let text = fs::read(path)?;
    Ok(String::from_utf8_lossy(&text[..text.len().min(20)]).replace('\n', " "))
}

fn list(path: &Path) -> Outcome {
    let entries = fs::read_dir(path)?.take(3).flatten();
    Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

fn create(path: &Path) -> Outcome {
    File::create_new(path).map(|_| path.display().to_string())
}

pub(super) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn read_by_link(facts: &Facts) -> Outcome {
    let link = facts.path("scratch").join("link");
    symlink(facts.path("secret"), &link)?;
    read(&link)
}

fn read_by_hard_link(facts: &Facts) -> Outcome {
    let link = facts.path("scratch").join("hard");
    fs::hard_link(facts.path("secret"), &link)?;
    read(&link)
}

fn read_by_parent(facts: &Facts) -> Outcome {
    let up = "../".repeat(facts.path("scratch").components().count());
    read(&facts.path("scratch").join(up + facts.text("secret").trim_start_matches('/')))
}

fn read_by_openat2(facts: &Facts) -> Outcome {
    let directory = File::open(facts.path("skill"))?;
    let up = "../".repeat(facts.path("skill").components().count());
    let path = c_path(Path::new(&(up + facts.text("secret").trim_start_matches('/'))));
    let how = [0_u64; 3];
    let directory = usize::try_from(directory.as_raw_fd()).unwrap();
    let arguments = [directory, path.as_ptr() as usize, how.as_ptr() as usize, 24, 0, 0];
    call(libc::SYS_openat2, arguments).map(|_| "opened".to_owned())
}

fn access(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("secret"));
    let here = libc::AT_FDCWD as usize;
    call(libc::SYS_faccessat, [here, path.as_ptr() as usize, 0, 0, 0, 0]).map(|_| String::new())
}

fn utime(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("secret"));
    let here = libc::AT_FDCWD as usize;
    call(libc::SYS_utimensat, [here, path.as_ptr() as usize, 0, 0, 0, 0])
        .map(|_| format!("{:?}", SystemTime::now()))
}

fn setxattr(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("secret"));
    let arguments =
        [path.as_ptr() as usize, c"user.x".as_ptr() as usize, c"y".as_ptr() as usize, 1, 0, 0];
    call(libc::SYS_setxattr, arguments).map(|_| String::new())
}

fn chown(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("secret"));
    let here = libc::AT_FDCWD as usize;
    call(libc::SYS_fchownat, [here, path.as_ptr() as usize, 12345, 12345, 0, 0])
        .map(|_| String::new())
}

fn truncate(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("secret"));
    call(libc::SYS_truncate, [path.as_ptr() as usize, 0, 0, 0, 0, 0]).map(|_| String::new())
}

fn raw_disk(_: &Facts) -> Outcome {
    let names =
        ["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/loop-control", "/dev/fuse"];
    let opened = names.iter().find(|name| File::open(name).is_ok());
    opened.map(ToString::to_string).ok_or_else(|| said("none could be opened"))
}

fn mknod(facts: &Facts) -> Outcome {
    let path = c_path(&facts.path("scratch").join("zero"));
    let here = libc::AT_FDCWD as usize;
    let mode = (libc::S_IFCHR | 0o666) as usize;
    call(libc::SYS_mknodat, [here, path.as_ptr() as usize, mode, 0x105, 0, 0])?;
    File::open(facts.path("scratch").join("zero")).map(|_| String::new())
}

fn open_by_handle(facts: &Facts) -> Outcome {
    let mut handle = [0_u32; 40];
    handle[0] = 128;
    let mut mount = 0_i32;
    let path = c_path(&facts.path("scratch"));
    let here = libc::AT_FDCWD as usize;
    let arguments =
        [here, path.as_ptr() as usize, handle.as_mut_ptr() as usize, &raw mut mount as usize, 0, 0];
    call(libc::SYS_name_to_handle_at, arguments)?;
    let root = File::open(facts.path("scratch"))?;
    let root = usize::try_from(root.as_raw_fd()).unwrap();
    call(libc::SYS_open_by_handle_at, [root, handle.as_ptr() as usize, 0, 0, 0, 0])
        .map(|_| String::new())
}

fn copy_of_true(facts: &Facts) -> io::Result<std::path::PathBuf> {
    let copy = facts.path("scratch").join("program");
    fs::write(&copy, fs::read("/bin/true")?)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    Ok(copy)
}

fn execute(facts: &Facts) -> Outcome {
    let copy = copy_of_true(facts)?;
    Command::new(copy).status().map(|status| status.to_string())
}

fn execute_by_loader(facts: &Facts) -> Outcome {
    let copy = copy_of_true(facts)?;
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let loader = loaders.iter().find(|path| Path::new(path).exists());
    let loader = loader.ok_or_else(|| said("no loader"))?;
    let output = Command::new(loader).arg(copy).output()?;
    if output.status.success() {
        return Ok("ran".to_owned());
    }
    Err(said(&String::from_utf8_lossy(&output.stderr).replace('\n', " ")))
}

fn execute_memory(_: &Facts) -> Outcome {
    let descriptor = call(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0, 0, 0])?;
    let path = format!("/proc/self/fd/{descriptor}");
    fs::write(&path, fs::read("/bin/true")?)?;
    Command::new(path).status().map(|status| status.to_string())
}
