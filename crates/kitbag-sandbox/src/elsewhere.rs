//! Systems without a boundary of ours: nothing runs, and the reason is told.

use tokio_util::sync::CancellationToken;

use crate::capture::Stream;
use crate::job::{Finished, Job, RunError};
use crate::sandbox::{Inner, Launcher};
use crate::tier::{Findings, Guarantee};

/// Where control groups can be made: nowhere.
#[derive(Debug, Default)]
pub(crate) struct Sites;

#[cfg(target_os = "macos")]
const WHY: &str = "the profile for `sandbox-exec` is not tried out on this system";
#[cfg(windows)]
const WHY: &str = "a job object bounds resources and lifetime, neither files nor the network";
#[cfg(not(any(target_os = "macos", windows)))]
const WHY: &str = "this system has no boundary that kitbag knows";

pub(crate) fn probe(_launcher: &Launcher) -> (Findings, Sites) {
    (Findings::nothing(WHY), Sites)
}

#[expect(clippy::unused_async, reason = "has the shape of the function that runs")]
pub(crate) async fn run(
    _inner: &Inner,
    _job: Job,
    _gaps: Vec<(Guarantee, String)>,
    _cancel: &CancellationToken,
    _on_line: impl FnMut(Stream, &str) + Send,
) -> Result<Finished, RunError> {
    Err(RunError::Unavailable { missing: WHY.to_owned() })
}

/// Does nothing: there is no launcher.
pub fn become_launcher_if_asked() {}
