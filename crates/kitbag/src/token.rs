//! The token of the HTTP front, in a file that only its owner can read.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use kitbag_server::{BearerToken, BearerTokenError};
use rustix::fs::OFlags;

use crate::failure::{Failure, Kind};

/// The random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The most bytes of a token file; one that is longer holds something else.
const MAX_FILE_BYTES: u64 = 4096;

/// Reads the token, or makes one where there is no file yet; a file that others can read is refused.
pub(crate) fn read_or_make(path: &Path) -> Result<BearerToken, Failure> {
    if let Some(token) = read_existing(path)? {
        return Ok(token);
    }
    if let Some(token) = make(path)? {
        return Ok(token);
    }
    // Another process has made it meanwhile; a link to nothing is all else that is there and cannot be opened.
    read_existing(path)?.ok_or_else(|| {
        Failure::say(
            Kind::Configuration,
            format!("the token file `{}` is a link to nothing", path.display()),
        )
        .hint("remove it to get a new token, or name another file with `--token-file`")
    })
}

fn read_existing(path: &Path) -> Result<Option<BearerToken>, Failure> {
    // Opening a pipe would wait for somebody who writes to it.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(nonblocking).open(path) {
        Ok(file) => read(path, &file).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path, error, "cannot be read")),
    }
}

fn read(path: &Path, file: &File) -> Result<BearerToken, Failure> {
    let metadata = file.metadata().map_err(|error| at(path, error, "cannot be read"))?;
    let refuse = |why: &str, hint: &str| {
        Err(Failure::say(Kind::Configuration, format!("the token file `{}` {why}", path.display()))
            .hint(hint))
    };
    if !metadata.is_file() {
        return refuse("is not a regular file", "name another one with `--token-file`");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse(
            "belongs to somebody else",
            "remove it, or name another one with `--token-file`",
        );
    }
    if metadata.mode() & 0o077 != 0 {
        return refuse(
            "can be read by others",
            "run `chmod 600` on it, or remove it to get a new token",
        );
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| at(path, error, "cannot be read"))?;
    match String::from_utf8_lossy(&bytes).trim().parse() {
        Ok(token) if bytes.len() as u64 <= MAX_FILE_BYTES => Ok(token),
        _ => refuse("holds no token", "remove it to get a new one"),
    }
}

/// Writes a token to a new file, which only its owner can read and which appears whole or not at all; nothing where
/// another process was first.
fn make(path: &Path) -> Result<Option<BearerToken>, Failure> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::say(Kind::Internal, format!("no randomness: {error}")))?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let text: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    let parent = path.parent().unwrap_or(path);
    let unwritable = |error| at(path, error, "cannot be written");
    fs::create_dir_all(parent).map_err(unwritable)?;
    let mut staged = tempfile::Builder::new()
        .prefix(".kitbag-token-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(parent)
        .map_err(unwritable)?;
    writeln!(staged, "{text}").and_then(|()| staged.as_file().sync_all()).map_err(unwritable)?;
    match staged.persist_noclobber(path) {
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(unwritable(error.error)),
        Ok(_) => {
            let token = text
                .parse()
                .map_err(|error: BearerTokenError| Failure::new(Kind::Internal, error))?;
            Ok(Some(token))
        }
    }
}

fn at(path: &Path, error: std::io::Error, what: &str) -> Failure {
    Failure::new(
        Kind::Configuration,
        anyhow::Error::new(error).context(format!("the token file `{}` {what}", path.display())),
    )
}
