//! A root of its own: an empty file system in memory, into which the granted paths are mounted, and nothing else.
//!
//! What isn't there can't be read, changed, or seen to exist. Everything is read-only but what was granted for
//! writing, no file of a writable place is executed, and no device or set-user-id bit counts.

mod grants;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
};

use super::{At, Failure, sys};
use crate::plan::{Plan, Stage};
use grants::{Content, Grant, grants};

/// The devices that every program expects, and that hold nothing.
pub(super) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Where programs share memory among their own processes.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// The most bytes of it.
const SHARED_MEMORY_BYTES: u64 = 64 * 1024 * 1024;
/// The most bytes of the skeleton: a few directories, links and names.
const SKELETON_BYTES: u64 = 4 * 1024 * 1024;
/// A directory that every machine has, to hold the root until the old one is gone.
const ANCHOR: &str = "/dev";
/// Links of a usual `/dev`.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
];

/// Builds the root and changes to it.
pub(super) fn build(plan: &Plan, (user, group): (u32, u32)) -> Result<(), Failure> {
    let (grants, links) = grants(plan)?;
    // All that is needed of the old root is held before the new one covers a part of it.
    let grants: Vec<(Grant, OwnedFd)> = grants
        .into_iter()
        .map(|grant| {
            let tree = take(&grant)?;
            Ok((grant, tree))
        })
        .collect::<Result<_, Failure>>()?;
    let devices: Vec<(&str, OwnedFd)> = DEVICES
        .into_iter()
        .filter(|device| Path::new(device).exists())
        .map(|device| Ok((device, clone_tree(Path::new(device), libc::MOUNT_ATTR_NOSUID)?)))
        .collect::<Result<_, Failure>>()?;

    let anywhere = rustix::fs::CWD;
    let skeleton = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let root = memory(SKELETON_BYTES.into(), "755", skeleton).at(Stage::Root)?;
    let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(&root, c"", anywhere, ANCHOR, whole).at(Stage::Root)?;

    make_skeleton(&root, user, group).at(Stage::Root)?;
    for (grant, tree) in &grants {
        place(&root, &grant.path, grant.directory, tree).at_path(Stage::Grant, &grant.path)?;
    }
    for (device, tree) in &devices {
        place(&root, Path::new(device), false, tree).at_path(Stage::Grant, Path::new(device))?;
    }
    let shared = memory(Some(SHARED_MEMORY_BYTES), "1777", writable()).at(Stage::Root)?;
    place(&root, Path::new(SHARED_MEMORY), true, &shared).at(Stage::Root)?;
    process_table(&root).at(Stage::ProcessTable)?;
    // Links come last: until here no path could lead anywhere but straight down.
    for (link, to) in links.iter().map(|(link, to)| (inside(link), to.as_path())) {
        make_link(&root, link, to).at_path(Stage::Grant, link)?;
    }
    if let Some((scratch, _)) = &plan.scratch {
        make_link(&root, Path::new("tmp"), scratch).at(Stage::Root)?;
    }
    sys::set_mount_attributes(
        &root,
        libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC,
        sys::Reach::One,
    )
    .at(Stage::Root)?;

    rustix::process::fchdir(&root).at(Stage::Pivot)?;
    rustix::process::pivot_root(c".", c".").at(Stage::Pivot)?;
    rustix::mount::unmount(c".", UnmountFlags::DETACH).at(Stage::Pivot)?;
    rustix::process::chdir(c"/").at(Stage::Pivot)
}

fn writable() -> MountAttrFlags {
    MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
}

/// Makes a file system in memory that is mounted nowhere yet.
fn memory(bytes: Option<u64>, mode: &str, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), c"mode", mode)?;
    if let Some(bytes) = bytes {
        rustix::mount::fsconfig_set_string(context.as_fd(), c"size", bytes.to_string())?;
    }
    rustix::mount::fsconfig_create(context.as_fd())?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    Ok(rustix::mount::fsmount(context.as_fd(), flags, attributes)?)
}

/// Takes what is granted out of the old root, with the attributes that it is granted with.
fn take(grant: &Grant) -> Result<OwnedFd, Failure> {
    if let Content::Room(bytes) = grant.content {
        return memory(bytes, "700", writable()).at_path(Stage::Grant, &grant.path);
    }
    let mut attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    if !grant.execute {
        attributes |= libc::MOUNT_ATTR_NOEXEC;
    }
    if !grant.write {
        attributes |= libc::MOUNT_ATTR_RDONLY;
    }
    clone_tree(&grant.path, attributes)
}

fn clone_tree(path: &Path, attributes: u64) -> Result<OwnedFd, Failure> {
    let clone = || -> io::Result<OwnedFd> {
        // The path is free of links; if it isn't any more, somebody is at work there.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS;
        let found = rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve)?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH;
        let tree = rustix::mount::open_tree(&found, c"", flags)?;
        sys::set_mount_attributes(&tree, attributes, sys::Reach::AllBelow)?;
        Ok(tree)
    };
    clone().at_path(Stage::Grant, path)
}

/// The same path, relative to the root.
fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Mounts a tree at its path below the root, which is made if it isn't there.
fn place(root: &OwnedFd, path: &Path, directory: bool, tree: &OwnedFd) -> io::Result<()> {
    let path = inside(path);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    let open = || rustix::fs::openat2(root, path, flags, Mode::empty(), resolve);
    let point = match open() {
        Err(Errno::NOENT) => {
            make_place(root, path, directory)?;
            open()?
        }
        other => other?,
    };
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(rustix::mount::move_mount(tree, c"", &point, c"", both)?)
}

fn make_place(root: &OwnedFd, path: &Path, directory: bool) -> io::Result<()> {
    let mut parents: Vec<PathBuf> = path.ancestors().skip(1).map(Path::to_owned).collect();
    parents.pop();
    for parent in parents.iter().rev() {
        make_directory(root, parent)?;
    }
    if directory {
        return make_directory(root, path);
    }
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(root, path, flags, Mode::from_raw_mode(0o444))?;
    Ok(())
}

fn make_directory(root: &OwnedFd, path: &Path) -> io::Result<()> {
    match rustix::fs::mkdirat(root, path, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a link, and the directories above it, where nothing is yet.
fn make_link(root: &OwnedFd, link: &Path, to: &Path) -> io::Result<()> {
    let made = rustix::fs::symlinkat(to, root, link);
    match made {
        Err(Errno::NOENT) => {
            make_place(root, &link.with_file_name("."), true)?;
            Ok(rustix::fs::symlinkat(to, root, link)?)
        }
        // What is there was granted.
        Err(Errno::EXIST | Errno::ROFS) => Ok(()),
        other => Ok(other?),
    }
}

/// Makes what every root has: devices' links, and the names of one user on one machine.
fn make_skeleton(root: &OwnedFd, user: u32, group: u32) -> io::Result<()> {
    for directory in ["dev", "etc"] {
        make_directory(root, Path::new(directory))?;
    }
    for (link, to) in DEVICE_LINKS {
        rustix::fs::symlinkat(to, root, link)?;
    }
    let passwd = format!(
        "sandbox:x:{user}:{group}:sandbox:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
    );
    let groups = format!("sandbox:x:{group}:\nnogroup:x:65534:\n");
    let files = [
        ("etc/passwd", passwd.as_str()),
        ("etc/group", groups.as_str()),
        ("etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"),
        ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ];
    for (path, text) in files {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(root, path, flags, Mode::from_raw_mode(0o444))?;
        File::from(file).write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Mounts a process table that knows the processes of this run only, and that nobody can write to. The first process,
/// which is ours, isn't in it.
fn process_table(root: &OwnedFd) -> io::Result<()> {
    let context = rustix::mount::fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    match rustix::mount::fsconfig_set_string(context.as_fd(), c"hidepid", "ptraceable") {
        // Kernels before 5.8 don't know the word.
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = writable() | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    let table = rustix::mount::fsmount(context.as_fd(), flags, attributes)?;
    place(root, Path::new("/proc"), true, &table)
}
