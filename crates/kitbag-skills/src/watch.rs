//! Looks at the disk when something there changed, so that clients hear of it without asking.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::watch;

use crate::file::Stamp;
use crate::library::Library;

/// The most directories that are watched; what lies beyond is polled.
pub(crate) const MAX_WATCHED_DIRECTORIES: usize = 8_192;

/// How long it must be quiet after a change before the disk is looked at.
pub(crate) const QUIET: Duration = Duration::from_millis(100);

/// How long a burst of changes can put a look off.
pub(crate) const LONGEST_BURST: Duration = Duration::from_secs(1);

/// How often the disk is looked at without a change having been seen, where all of it is watched.
///
/// That finds roots that did not exist before, and changes on file systems that do not tell of any.
pub(crate) const SLOW_POLL: Duration = Duration::from_secs(5);

/// How often the disk is looked at where not all of it can be watched.
pub(crate) const FAST_POLL: Duration = Duration::from_secs(1);

/// A running watch; dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    signals: mpsc::Sender<Signal>,
    looks: watch::Receiver<u64>,
}

#[derive(Debug)]
enum Signal {
    Changed,
    /// Events were lost, or the watch itself failed.
    Unsure,
    Stop,
}

impl Watch {
    /// Watches what `library` looks at, on a thread of its own.
    ///
    /// The thread ends when the watch or the library is dropped, at the latest after five seconds.
    pub fn start(library: &Arc<Library>) -> std::io::Result<Self> {
        let (signals, inbox) = mpsc::channel();
        let (looked, looks) = watch::channel(0);
        let library = Arc::downgrade(library);
        let to_thread = signals.clone();
        thread::Builder::new()
            .name("kitbag-watch".to_owned())
            .spawn(move || run(&library, &inbox, to_thread, &looked))?;
        Ok(Self { signals, looks })
    }

    /// Counts the looks that were made because something may have changed.
    pub fn looks(&self) -> watch::Receiver<u64> {
        self.looks.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The thread is gone already if nobody receives.
        let _ = self.signals.send(Signal::Stop);
    }
}

fn run(
    library: &Weak<Library>,
    inbox: &mpsc::Receiver<Signal>,
    signals: mpsc::Sender<Signal>,
    looked: &watch::Sender<u64>,
) {
    let mut watched = Watched::new(signals);
    let mut whole = false;
    loop {
        let Some(strong) = library.upgrade() else { return };
        strong.look();
        let now_whole = watched.follow(strong.directories());
        drop(strong);
        looked.send_modify(|count| *count += 1);
        if now_whole && !whole {
            // What changed between the look and the start of the watch told nobody.
            whole = true;
            continue;
        }
        whole = now_whole;
        let poll = if whole { SLOW_POLL } else { FAST_POLL };
        match inbox.recv_timeout(poll) {
            Ok(Signal::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
            Ok(Signal::Unsure) => watched.forget(),
            Ok(Signal::Changed) | Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if !wait_for_quiet(inbox, &mut watched) {
            return;
        }
    }
}

/// Takes signals until none comes for [`QUIET`]; false when told to stop.
fn wait_for_quiet(inbox: &mpsc::Receiver<Signal>, watched: &mut Watched) -> bool {
    let end = Instant::now() + LONGEST_BURST;
    while Instant::now() < end {
        match inbox.recv_timeout(QUIET) {
            Ok(Signal::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => return false,
            Ok(Signal::Unsure) => watched.forget(),
            Ok(Signal::Changed) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return true,
        }
    }
    true
}

/// The directories that the operating system tells about.
struct Watched {
    watcher: Option<notify::RecommendedWatcher>,
    /// By path, which directory it was: one put in the place of another is not watched yet.
    directories: HashMap<PathBuf, Stamp>,
}

impl Watched {
    fn new(signals: mpsc::Sender<Signal>) -> Self {
        let tell = move |event: notify::Result<notify::Event>| {
            let signal = match event {
                Ok(event) if event.need_rescan() => Signal::Unsure,
                Ok(event) if event.kind.is_access() => return,
                Ok(_) => Signal::Changed,
                Err(_) => Signal::Unsure,
            };
            // Nobody receives once the watch has ended.
            let _ = signals.send(signal);
        };
        let watcher = notify::recommended_watcher(tell)
            .inspect_err(|error| tracing::warn!(%error, "no watch; polling instead"))
            .ok();
        Self { watcher, directories: HashMap::new() }
    }

    /// Watches exactly `wanted`, as far as that can be had; true when all of it is watched.
    fn follow(&mut self, wanted: Vec<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let mut whole = wanted.len() <= MAX_WATCHED_DIRECTORIES;
        let wanted: HashSet<PathBuf> = wanted.into_iter().take(MAX_WATCHED_DIRECTORIES).collect();
        self.directories.retain(|directory, stamp| {
            let keep = wanted.contains(directory)
                && fs::metadata(directory)
                    .is_ok_and(|now| Stamp::of_metadata(&now).is_same_place(stamp));
            if !keep {
                // A directory that is gone has lost its watch already.
                drop(watcher.unwatch(directory));
            }
            keep
        });
        for directory in wanted {
            if self.directories.contains_key(&directory) {
                continue;
            }
            // One that is gone by now is no longer among the wanted at the next look.
            let Ok(metadata) = fs::metadata(&directory) else { continue };
            match watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.directories.insert(directory, Stamp::of_metadata(&metadata));
                }
                Err(error) => {
                    tracing::debug!(%error, directory = %directory.display(), "not watched");
                    whole = false;
                }
            }
        }
        whole
    }

    /// Starts anew with the next look: what is watched may not be what is there any more.
    fn forget(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            for (directory, _) in self.directories.drain() {
                drop(watcher.unwatch(&directory));
            }
        }
    }
}
