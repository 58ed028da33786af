//! Which tokens were used.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The most tokens that are remembered in memory; past it nothing can be confirmed until some have expired.
pub(crate) const MAX_SPENT: usize = 100_000;

/// Where in the data folder the files lie.
const FOLDER: [&str; 2] = [".mcp-confirm", "spent"];

/// How long a file is kept whose content cannot be read.
const KEPT_UNREADABLE: Duration = Duration::from_hours(24);

/// The tokens that were used, by their nonces, until they have expired.
#[derive(Debug)]
pub(crate) enum Spent {
    /// For as long as the process lives: enough for a key that lives no longer.
    InMemory(Mutex<HashMap<String, u64>>),
    /// One file for each in this folder, shared by all processes with the key.
    OnDisk(PathBuf),
}

/// Whether a token was ours to spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is spent now.
    Ours,
    /// It was spent before.
    Lost,
}

impl Spent {
    /// A store for this process.
    pub(crate) fn in_memory() -> Self {
        Self::InMemory(Mutex::default())
    }

    /// A store in the folder for data. Nothing is made before something is spent.
    pub(crate) fn below(data: &Path) -> Self {
        Self::OnDisk(FOLDER.iter().fold(data.to_owned(), |path, name| path.join(name)))
    }

    /// Whether a nonce was used; forgets those that expired before `now_ms`. Blocks on I/O.
    pub(crate) fn is_spent(&self, nonce: &str, now_ms: u64) -> io::Result<bool> {
        match self {
            Self::InMemory(spent) => {
                let mut spent = spent.lock().unwrap_or_else(PoisonError::into_inner);
                spent.retain(|_, expires_ms| *expires_ms >= now_ms);
                Ok(spent.contains_key(nonce))
            }
            Self::OnDisk(folder) => {
                prune(folder, now_ms);
                match folder.join(file_name(nonce)?).symlink_metadata() {
                    Ok(_) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Uses a nonce up; of all that try at once, one succeeds. Blocks on I/O.
    pub(crate) fn spend(&self, nonce: &str, expires_ms: u64) -> io::Result<Claim> {
        match self {
            Self::InMemory(spent) => {
                let mut spent = spent.lock().unwrap_or_else(PoisonError::into_inner);
                if spent.contains_key(nonce) {
                    return Ok(Claim::Lost);
                }
                if spent.len() >= MAX_SPENT {
                    return Err(io::ErrorKind::QuotaExceeded.into());
                }
                spent.insert(nonce.to_owned(), expires_ms);
                Ok(Claim::Ours)
            }
            Self::OnDisk(folder) => {
                let path = folder.join(file_name(nonce)?);
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
                match made {
                    Ok(mut file) => {
                        file.write_all(expires_ms.to_string().as_bytes())?;
                        file.sync_all()?;
                        Ok(Claim::Ours)
                    }
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Claim::Lost),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// The nonce as the name of a file, which nobody else chose: it was signed.
fn file_name(nonce: &str) -> io::Result<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=128).contains(&nonce.len()) && nonce.chars().all(is_plain) {
        Ok(nonce)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// Removes what has expired. What cannot be removed stays: a file too many rejects a token, never accepts one.
fn prune(folder: &Path, now_ms: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_nonce = entry.file_name().to_str().is_some_and(|name| file_name(name).is_ok());
        if is_nonce && is_expired(&entry.path(), now_ms) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn is_expired(path: &Path, now_ms: u64) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    if metadata.is_file() && metadata.len() <= 20 {
        let expires: Option<u64> = fs::read_to_string(path).ok().and_then(|text| text.parse().ok());
        if let Some(expires_ms) = expires {
            return expires_ms < now_ms;
        }
    }
    // A write that was torn; its token cannot live that long.
    let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age > KEPT_UNREADABLE)
}
