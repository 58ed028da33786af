//! Landlock: the granted paths once more, as rules that hold for whatever the process becomes.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus,
    Scope,
};

use super::{Failure, root};
use crate::plan::{PROXY_PORT, Plan, Stage};

/// The newest interface whose rights this module knows. What a kernel lacks of it is left out.
const NEWEST: ABI = ABI::V9;
/// Rights that a rule on a file can have.
const OF_FILES: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{
    Execute | ReadFile | WriteFile | Truncate | IoctlDev
});
/// What of the process table and of the kernel a script without a process table of its own may read.
const SHARED_FACTS: [&str; 6] = [
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];
/// What every program may know of the users of a machine where there is no root built for it.
const SHARED_NAMES: [&str; 5] =
    ["/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd"];

/// Restricts this process and answers the version of the interface that did it.
pub(super) fn restrict(plan: &Plan) -> Result<u32, Failure> {
    let status =
        rules(plan).and_then(|ruleset| ruleset.restrict_self().map_err(|error| refused(&error)))?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Err(Failure::new(Stage::Landlock, &io::Error::from_raw_os_error(libc::EOPNOTSUPP)))
        }
        (
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            LandlockStatus::Available { effective_abi, .. },
        ) => Ok(effective_abi as u32),
        _ => Err(Failure::new(Stage::Landlock, &io::Error::from_raw_os_error(libc::ENOSYS))),
    }
}

fn rules(plan: &Plan) -> Result<RulesetCreated, Failure> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(|error| refused(&error))?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::Execute | AccessFs::IoctlDev);
    for path in &plan.read {
        ruleset = allow(ruleset, path, read)?;
    }
    for path in &plan.execute {
        ruleset = allow(ruleset, path, read | AccessFs::Execute)?;
    }
    for path in plan.write.iter().chain(plan.scratch.iter().map(|(path, _)| path)) {
        ruleset = allow(ruleset, path, write)?;
    }
    for device in root::DEVICES {
        ruleset = allow(ruleset, Path::new(device), read | AccessFs::WriteFile)?;
    }
    if plan.layers.use_namespaces {
        ruleset = allow(ruleset, Path::new("/proc"), read)?;
        ruleset = allow(ruleset, Path::new(root::SHARED_MEMORY), write)?;
        for path in ["/dev", "/etc"] {
            ruleset = allow(ruleset, Path::new(path), read)?;
        }
    } else {
        for path in SHARED_FACTS.into_iter().chain(SHARED_NAMES).map(Path::new) {
            if path.exists() {
                ruleset = allow(ruleset, path, read)?;
            }
        }
    }
    if plan.proxy {
        ruleset = ruleset
            .add_rule(NetPort::new(PROXY_PORT, AccessNet::ConnectTcp))
            .map_err(|error| refused(&error))?;
    }
    Ok(ruleset)
}

fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failure> {
    let opened = PathFd::new(path).map_err(|error| refused(&error).on(path))?;
    let directory = path.is_dir();
    let rights = if directory { rights } else { rights & OF_FILES };
    let rule = PathBeneath::new(opened, rights);
    ruleset.add_rule(rule).map_err(|error| refused(&error).on(path))
}

/// Finds the error of the kernel in the library's.
fn refused(error: &(dyn std::error::Error + 'static)) -> Failure {
    let mut cause = Some(error);
    while let Some(each) = cause {
        if let Some(kernel) = each.downcast_ref::<io::Error>() {
            return Failure::new(Stage::Landlock, kernel);
        }
        cause = each.source();
    }
    Failure::said(Stage::Landlock, error.to_string())
}
