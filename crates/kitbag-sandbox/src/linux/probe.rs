//! Finding out what the kernel gives: by doing it, since no version and no setting tells what else forbids it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::Sites;
use super::channel::{Channel, receive};
use crate::plan::{Layers, Message, Plan, Purpose, Stage};
use crate::policy::Limits;
use crate::sandbox::Launcher;
use crate::tier::{Findings, Layer, Presence};

/// How long a try may take before the layer counts as missing.
const PATIENCE: Duration = Duration::from_secs(5);
/// Limits that a group of nothing but the tries keeps to.
const TRY: Limits =
    Limits { memory_total: Some(64 * 1024 * 1024), processes: Some(16), ..Limits::SCRIPT };

pub(crate) fn probe(launcher: &Launcher) -> (Findings, Sites) {
    if std::env::args_os().next().is_some_and(|name| name == crate::launcher::NAME) {
        // A launcher that didn't notice what it is would start another one, and so on.
        let why = "this program doesn't begin with `become_launcher_if_asked`";
        return (Findings::nothing(why), Sites::default());
    }
    let sites = Sites::find();
    let root = rustix::process::geteuid().is_root();
    let wanted: Vec<Layer> = Layer::ALL
        .into_iter()
        .filter(|layer| {
            !matches!(layer, Layer::ProcessGroup | Layer::MemoryGroup) || sites.has(*layer)
        })
        .collect();
    // All at once is what a run does; one at a time tells which one it was.
    let together = attempt(launcher, &sites, &wanted);
    let alone = |layer| match &together {
        Ok(version) => Ok(*version),
        Err(_) => attempt(launcher, &sites, &[layer]),
    };
    let mut landlock = 0;
    let layers = Layer::ALL.map(|layer| {
        if !wanted.contains(&layer) {
            return (layer, Presence::Missing("no hierarchy hands the controller down".to_owned()));
        }
        let presence = match alone(layer) {
            Ok(version) if layer == Layer::Landlock => {
                landlock = version;
                Presence::Works(format!("version {version}"))
            }
            Ok(_) => Presence::Works(String::new()),
            Err(why) => Presence::Missing(why),
        };
        (layer, presence)
    });
    (Findings { layers: layers.to_vec(), landlock, root }, sites)
}

/// Does all that a run does with these layers, but executes nothing. Answers the version of Landlock.
fn attempt(launcher: &Launcher, sites: &Sites, layers: &[Layer]) -> Result<u32, String> {
    let plan = Plan {
        purpose: Purpose::Check,
        layers: Layers {
            use_namespaces: layers.contains(&Layer::Namespaces),
            use_landlock: layers.contains(&Layer::Landlock),
            use_seccomp: layers.contains(&Layer::Seccomp),
        },
        argv: Vec::new(),
        cwd: PathBuf::from("/"),
        environment: Vec::new(),
        read: Vec::new(),
        execute: Vec::new(),
        write: Vec::new(),
        scratch: None,
        proxy: false,
        groups: sites.plan(layers, &TRY, 1),
        memory_each: None,
        processes: None,
        cpu_seconds: None,
        file_size: None,
        open_files: None,
        wall: Some(PATIENCE),
        grace: Duration::ZERO,
    };
    let said = |error: io::Error| error.to_string();
    let (channel, mut command) = Channel::open(launcher).map_err(|error| error.to_string())?;
    set_socket_timeout(&channel, Timeout::Recv, Some(PATIENCE))
        .map_err(|error| said(error.into()))?;
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(said)?;
    drop(command);
    let outcome = File::open("/dev/null")
        .map_err(said)
        .and_then(|stdin| channel.send_plan(&plan, &stdin).map_err(|error| error.to_string()))
        .and_then(|()| listen(&channel));
    drop(channel);
    drop(child.wait());
    outcome
}

fn listen(channel: &Channel) -> Result<u32, String> {
    let mut outcome = Err("the launcher said nothing".to_owned());
    loop {
        match receive(channel) {
            Err(error) => return Err(error.to_string()),
            Ok(None) => return outcome,
            Ok(Some((Message::Ready { landlock, .. }, _))) => outcome = Ok(landlock),
            Ok(Some((Message::Failed { stage, errno, detail }, _))) => {
                return Err(explain(stage, errno, &detail));
            }
            Ok(Some(_)) => {}
        }
    }
}

fn explain(stage: Stage, errno: i32, detail: &[u8]) -> String {
    let detail = String::from_utf8_lossy(detail);
    let space = if detail.is_empty() { "" } else { " " };
    match errno {
        0 => format!("{stage}:{space}{detail}"),
        _ => format!("{stage}{space}{detail}: {}", io::Error::from_raw_os_error(errno)),
    }
}
