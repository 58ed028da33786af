//! Paths as the store writes them down: absolute, byte for byte.

use std::path::{Path, PathBuf};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

use crate::error::StoreError;
use crate::store::MAX_NAME_BYTES;

/// The bytes of an absolute path.
pub(crate) fn path_bytes(path: &Path) -> Result<&[u8], StoreError> {
    if !path.is_absolute() {
        return Err(StoreError::NotAbsolute(path.to_owned()));
    }
    let bytes = bytes(path)?;
    if bytes.len() > MAX_NAME_BYTES {
        let what = "the path";
        return Err(StoreError::TooLong { what, bytes: bytes.len(), most: MAX_NAME_BYTES });
    }
    Ok(bytes)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path may have no bytes")]
fn bytes(path: &Path) -> Result<&[u8], StoreError> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(path.as_os_str().as_bytes())
}

#[cfg(not(unix))]
fn bytes(path: &Path) -> Result<&[u8], StoreError> {
    path.to_str().map(str::as_bytes).ok_or_else(|| StoreError::NotText(path.to_owned()))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a path")]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// A path read out of a column.
pub(crate) struct PathColumn(pub(crate) PathBuf);

impl FromSql for PathColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        path(value.as_blob()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}
