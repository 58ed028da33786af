//! Control groups of a run: made before it, joined by its first process, removed after it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{At, Failure};
use crate::plan::{GroupPlan, Stage};

/// How often to try to remove a group whose last process the kernel is still taking apart.
const REMOVE_TRIES: u32 = 500;
/// How long to wait between two tries.
const REMOVE_WAIT: Duration = Duration::from_millis(2);

/// The groups of this run, which are removed when it is over. Processes that are forked meanwhile never drop it: they
/// end by `_exit` or become something else.
pub(super) struct Groups(Vec<Group>);

struct Group {
    directory: PathBuf,
    members: File,
}

impl Groups {
    pub(super) fn make(plans: &[GroupPlan]) -> Result<Self, Failure> {
        let mut groups = Self(Vec::with_capacity(plans.len()));
        for plan in plans {
            // The number of the supervisor tells whose a group is that somebody left behind.
            let name = format!("kitbag-{}", rustix::process::getpid().as_raw_pid());
            let directory = plan.parent.join(name);
            match fs::create_dir(&directory) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                other => other,
            }
            .at_path(Stage::Group, &directory)?;
            let group = Self::set_up(&directory, plan);
            match group {
                Ok(group) => groups.0.push(group),
                Err(failure) => {
                    drop(fs::remove_dir(&directory));
                    return Err(failure);
                }
            }
        }
        Ok(groups)
    }

    fn set_up(directory: &Path, plan: &GroupPlan) -> Result<Group, Failure> {
        for (file, value) in &plan.settings {
            let file = directory.join(file);
            fs::write(&file, value.as_encoded_bytes()).at_path(Stage::Group, &file)?;
        }
        let members = members_file(directory);
        let members = File::options().write(true).open(&members).at_path(Stage::Group, &members)?;
        Ok(Group { directory: directory.to_owned(), members })
    }

    /// Moves this process, and what it will make, into the groups.
    pub(super) fn join(&self) -> Result<(), Failure> {
        for group in &self.0 {
            (&group.members).write_all(b"0").at_path(Stage::Group, &group.directory)?;
        }
        Ok(())
    }

    /// Says whether the kernel killed a member for want of memory.
    pub(super) fn out_of_memory(&self) -> bool {
        let killed = |group: &Group, file: &str| {
            let text = fs::read_to_string(group.directory.join(file)).unwrap_or_default();
            text.lines()
                .any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0"))
        };
        self.0
            .iter()
            .any(|each| killed(each, "memory.events") || killed(each, "memory.oom_control"))
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for Group { directory, .. } in &self.0 {
            for _ in 0..REMOVE_TRIES {
                match fs::remove_dir(directory) {
                    Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(REMOVE_WAIT);
                    }
                    _ => break,
                }
            }
        }
    }
}

/// The file into which a process of one thread writes to become a member. Writing to the other one, `cgroup.procs`,
/// stops all forks and exits of the machine for some milliseconds.
fn members_file(directory: &Path) -> PathBuf {
    let tasks = directory.join("tasks");
    if tasks.exists() { tasks } else { directory.join("cgroup.procs") }
}
