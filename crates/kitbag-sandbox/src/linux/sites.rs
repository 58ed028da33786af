//! Where control groups can be made.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::plan::GroupPlan;
use crate::policy::Limits;
use crate::tier::Layer;

/// The places in which a run's groups are made, one a layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sites {
    processes: Option<Site>,
    memory: Option<Site>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Site {
    parent: PathBuf,
    unified: bool,
}

impl Sites {
    /// Reads where this process is in the hierarchies, and what could be made there. Whether it can is tried later.
    pub(super) fn find() -> Self {
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Self {
            processes: site("pids", &memberships, &mounts),
            memory: site("memory", &memberships, &mounts),
        }
    }

    pub(super) fn has(&self, layer: Layer) -> bool {
        match layer {
            Layer::ProcessGroup => self.processes.is_some(),
            Layer::MemoryGroup => self.memory.is_some(),
            Layer::Namespaces | Layer::Landlock | Layer::Seccomp => false,
        }
    }

    /// Makes the plan of the groups for these layers, with so many processes of our own in them.
    pub(super) fn plan(&self, layers: &[Layer], limits: &Limits, own: u64) -> Vec<GroupPlan> {
        let mut plans: Vec<GroupPlan> = Vec::new();
        let mut add = |site: &Option<Site>, file: [&str; 2], limit: Option<u64>| {
            let (Some(site), Some(limit)) = (site, limit) else { return };
            let file = file[usize::from(site.unified)];
            let setting = (OsString::from(file), OsString::from(limit.to_string()));
            match plans.iter_mut().find(|plan| plan.parent == site.parent) {
                Some(plan) => plan.settings.push(setting),
                None => {
                    plans.push(GroupPlan { parent: site.parent.clone(), settings: vec![setting] });
                }
            }
        };
        if layers.contains(&Layer::ProcessGroup) {
            add(&self.processes, ["pids.max"; 2], limits.processes.map(|most| most + own));
        }
        if layers.contains(&Layer::MemoryGroup) {
            add(&self.memory, ["memory.limit_in_bytes", "memory.max"], limits.memory_total);
        }
        plans
    }
}

fn site(controller: &str, memberships: &str, mounts: &str) -> Option<Site> {
    let mut unified = None;
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        if controllers.split(',').any(|each| each == controller) {
            let parent = mounted(mounts, "cgroup", Some(controller), path)?;
            return Some(Site { parent, unified: false });
        }
        if controllers.is_empty() {
            unified = mounted(mounts, "cgroup2", None, path);
        }
    }
    // Only a group whose controllers are handed down can have a child that is bounded: our own, if it has no members
    // itself, else the one above it.
    let own = unified?;
    let hands_down = |directory: &&Path| {
        let down = fs::read_to_string(directory.join("cgroup.subtree_control")).unwrap_or_default();
        down.split_whitespace().any(|each| each == controller)
    };
    let parent = own.ancestors().take(2).find(hands_down)?.to_owned();
    Some(Site { parent, unified: true })
}

/// Finds the directory of a group through the mount of its hierarchy.
fn mounted(mounts: &str, kind: &str, controller: Option<&str>, group: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, file_system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut file_system = file_system.split(' ');
        let (found, options) = (file_system.next()?, file_system.nth(1)?);
        let bears = controller.is_none_or(|name| options.split(',').any(|each| each == name));
        if found != kind || !bears {
            return None;
        }
        let below = Path::new(group).strip_prefix(root).ok()?;
        Some(Path::new(point).join(below))
    })
}
