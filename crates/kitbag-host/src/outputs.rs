//! Outputs that were too long for their caller, whole, in files that can be read on.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use kitbag_tool::{BoxFuture, Spill, SpillFailed, Whole};

use crate::host::Host;

/// The most files that are kept; the oldest go first.
pub const MAX_KEPT_FILES: usize = 1_000;

/// The most bytes of all kept files together; the oldest go first, and the newest always stays.
pub const MAX_KEPT_BYTES: u64 = 256 * 1024 * 1024;

/// The most characters of a tool's name in the name of a file.
const MAX_NAME_CHARS: usize = 64;

/// A folder of outputs, one file each, that only their user may read.
#[derive(Debug, Clone)]
pub struct OutputFiles {
    folder: PathBuf,
}

impl Host {
    /// Where outputs go that are too long for their caller; nothing without a home. Nothing is made yet.
    pub fn outputs(&self) -> Option<OutputFiles> {
        let home = self.place().kitbag_home.as_ref()?;
        Some(OutputFiles { folder: home.join("data").join("outputs") })
    }
}

impl Spill for OutputFiles {
    fn keep<'a>(&'a self, whole: Whole<'a>) -> BoxFuture<'a, Result<String, SpillFailed>> {
        let (folder, tool, text) =
            (self.folder.clone(), whole.tool.to_string(), whole.text.to_owned());
        Box::pin(async move {
            let kept = tokio::task::spawn_blocking(move || keep(&folder, &tool, &text)).await;
            match kept {
                Ok(Ok(path)) => Ok(format!("in the file `{}`", path.display())),
                Ok(Err(error)) => Err(SpillFailed { reason: error.to_string() }),
                Err(error) => Err(SpillFailed { reason: error.to_string() }),
            }
        })
    }
}

fn keep(folder: &Path, tool: &str, text: &str) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' };
    let tool: String = tool.chars().take(MAX_NAME_CHARS).map(plain).collect();
    // In the order of time, so that the oldest are the first by name.
    let path = folder.join(format!("{millis:015}-{}-{count:06}-{tool}.txt", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    if let Err(error) = write(&mut file, text) {
        drop(fs::remove_file(&path));
        return Err(error);
    }
    drop_oldest(folder, &path);
    Ok(path)
}

fn write(file: &mut File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.flush()
}

/// Takes the oldest files out until the bounds hold. What cannot be taken out is tried again the next time.
fn drop_oldest(folder: &Path, newest: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(PathBuf, u64)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((entry.path(), found.len()))
        })
        .collect();
    files.sort_unstable_by(|one, other| other.0.cmp(&one.0));
    let mut bytes = 0_u64;
    for (kept, (path, size)) in files.into_iter().enumerate() {
        bytes = bytes.saturating_add(size);
        if path != newest && (kept >= MAX_KEPT_FILES || bytes > MAX_KEPT_BYTES) {
            drop(fs::remove_file(path));
        }
    }
}
