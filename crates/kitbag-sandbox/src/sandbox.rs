//! The sandbox of this machine: what it gives, and one function that runs a job in it.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::capture::Stream;
use crate::job::{Finished, Job, RunError};
use crate::policy::{Allowed, Network, Policy};
use crate::tier::{Findings, Guarantee, Layer, Report, Tier, Verdict};

#[cfg(not(target_os = "linux"))]
use crate::elsewhere as here;
#[cfg(target_os = "linux")]
use crate::linux as here;

/// The program that is executed to be the launcher; its `main` begins with
/// [`become_launcher_if_asked`](crate::become_launcher_if_asked).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher(pub(crate) PathBuf);

impl Launcher {
    /// This very program, even if its file was replaced since it started.
    pub fn this_program() -> Self {
        Self(PathBuf::from("/proc/self/exe"))
    }

    /// Another program.
    pub fn program(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

/// The sandbox of this machine. Clones share what was found out.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has a launcher"))]
    pub(crate) launcher: Launcher,
    pub(crate) findings: Findings,
    pub(crate) sites: here::Sites,
}

impl Sandbox {
    /// Finds out what this machine's kernel gives, by doing it in a child. Blocks for some milliseconds; do it once.
    ///
    /// Never fails: what can't be found out is missing, and the report says why.
    pub fn probe(launcher: Launcher) -> Self {
        let (findings, sites) = here::probe(&launcher);
        Self { inner: Arc::new(Inner { launcher, findings, sites }) }
    }

    /// The strongest tier that works here, in which every job is run.
    pub fn tier(&self) -> Tier {
        self.inner.findings.tier()
    }

    /// The table of layers and guarantees.
    pub fn report(&self) -> Report {
        self.inner.findings.report()
    }

    /// Says what a run under this policy would lack, or why it would be refused, without running anything.
    pub fn judge(&self, policy: &Policy) -> Result<Vec<(Guarantee, String)>, RunError> {
        policy.check()?;
        let findings = &self.inner.findings;
        let tier = findings.tier();
        let missing = || findings.without_a_tier();
        if tier == Tier::None {
            return Err(RunError::Unavailable { missing: missing() });
        }
        if tier < policy.least {
            return Err(RunError::TooWeak { least: policy.least, tier, missing: missing() });
        }
        let allowed = |guarantee| match &policy.allowed {
            Allowed::Nothing => false,
            // Hosts that can't be told apart would be all of them.
            Allowed::Weaker(named) => guarantee != Guarantee::Hosts && named.contains(&guarantee),
        };
        let (mut gaps, mut refused) = (Vec::new(), Vec::new());
        for guarantee in Guarantee::ALL {
            let asked = asks_for(policy, guarantee);
            match findings.verdict(guarantee) {
                Verdict::Held => {}
                Verdict::Missing(why) if asked == Asked::Firmly && !allowed(guarantee) => {
                    refused.push((guarantee, why));
                }
                Verdict::Missing(_) | Verdict::Partly(_) if asked == Asked::No => {}
                Verdict::Missing(why) => gaps.push((guarantee, why)),
                Verdict::Partly(why) => gaps.push((guarantee, why.to_owned())),
            }
        }
        if refused.is_empty() { Ok(gaps) } else { Err(RunError::Refused { missing: refused }) }
    }

    /// Runs a job and returns when no process of it is left.
    ///
    /// Each line of output is handed to `on_line` when it is complete. Cancelling asks the program to end, and kills
    /// all of it after the policy's grace; what came out until then is in the answer. Dropping the future kills it at
    /// once. Must be called within a tokio runtime with IO and time.
    pub async fn run(
        &self,
        job: Job,
        cancel: &CancellationToken,
        on_line: impl FnMut(Stream, &str) + Send,
    ) -> Result<Finished, RunError> {
        job.check()?;
        let gaps = self.judge(&job.policy)?;
        here::run(&self.inner, job, gaps, cancel, on_line).await
    }

    /// Which control groups a policy needs here.
    #[cfg(target_os = "linux")]
    pub(crate) fn needs_group(findings: &Findings, policy: &Policy, layer: Layer) -> bool {
        match layer {
            Layer::ProcessGroup => {
                let else_held = findings.tier() >= Tier::Namespaces && !findings.root;
                policy.limits.processes.is_some() && !else_held && findings.has(layer)
            }
            Layer::MemoryGroup => policy.limits.memory_total.is_some() && findings.has(layer),
            Layer::Namespaces | Layer::Landlock | Layer::Seccomp => false,
        }
    }
}

/// How much a policy needs a guarantee.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// It has no meaning for it.
    No,
    /// Its absence is told.
    Softly,
    /// Nothing starts without it.
    Firmly,
}

fn asks_for(policy: &Policy, guarantee: Guarantee) -> Asked {
    let limits = &policy.limits;
    let if_asked = |asked: bool| if asked { Asked::Firmly } else { Asked::No };
    match guarantee {
        Guarantee::FileRead
        | Guarantee::FileWrite
        | Guarantee::Signals
        | Guarantee::Memory
        | Guarantee::TreeDies => Asked::Firmly,
        // Where these are asked for firmly, the policy names the tier.
        Guarantee::FileMetadata | Guarantee::Execute => Asked::Softly,
        Guarantee::Network => if_asked(policy.network == Network::None),
        Guarantee::Hosts => if_asked(policy.network != Network::None),
        Guarantee::MemoryEach => if_asked(limits.memory_each.is_some()),
        Guarantee::MemoryTotal => if_asked(limits.memory_total.is_some()),
        Guarantee::Processes => if_asked(limits.processes.is_some()),
        Guarantee::CpuTime => if_asked(limits.cpu_each.is_some()),
        Guarantee::FileSize => if_asked(limits.file_size.is_some()),
        Guarantee::OpenFiles => if_asked(limits.open_files.is_some()),
        Guarantee::ScratchSize => {
            if_asked(policy.scratch.as_ref().is_some_and(|scratch| scratch.bytes.is_some()))
        }
    }
}
