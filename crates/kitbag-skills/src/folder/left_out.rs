//! What lies in a skill's folder and is no part of the skill: `.git`, `.env*`, and what `.gitignore` names.

use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::file::Stamp;
use crate::folder::beneath::{self, Purpose, Root};

/// The name of the files that name what is left out.
pub(crate) const RULES_FILE: &str = ".gitignore";

/// How much of one `.gitignore` is read, in bytes.
pub(crate) const MAX_RULES_BYTES: usize = 64 * 1024;

/// The most patterns that are taken from one `.gitignore`.
pub(crate) const MAX_PATTERNS: usize = 500;

/// The most bytes of one pattern, and the most wildcards in it: matching costs their product with the path.
const MAX_PATTERN_BYTES: usize = 256;
const MAX_WILDCARDS: usize = 16;

/// The most `.gitignore` files that are taken on the way to one file, or in the listing of one skill.
pub(crate) const MAX_RULES_FILES: usize = 64;

/// The file that no `.gitignore` leaves out: without it there is no skill.
pub(crate) const SKILL_MD: &str = "SKILL.md";

/// What the `.gitignore` of one directory says.
#[derive(Debug)]
pub(crate) struct Rules {
    /// How many bytes of a path come before the part that is relative to this directory.
    base: usize,
    patterns: Gitignore,
}

/// A `.gitignore` as it was read.
#[derive(Debug)]
pub(crate) struct ReadRules {
    pub(crate) rules: Rules,
    pub(crate) stamp: Stamp,
    /// What of it was not taken, if anything.
    pub(crate) complaint: Option<String>,
}

/// Whether a name is never part of a skill, wherever it stands. Letter case is no way around it, since there are file
/// systems to which it is nothing.
pub(crate) fn is_left_out_by_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git")
        || name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b".env"))
}

/// Whether `path`, or a directory on the way to it, is left out.
pub(crate) fn is_left_out(root: &Root, path: &str) -> bool {
    path.split('/').any(|name| is_left_out_by_name(name.as_bytes()))
        || (path != SKILL_MD && is_named_by_rules(root, path))
}

/// Whether the place that a link at `path` leads to is left out.
pub(crate) fn is_link_left_out(root: &Root, path: &str, real: &Path) -> bool {
    real.iter().any(|name| is_left_out_by_name(name.as_bytes()))
        || (path != SKILL_MD && real.to_str().is_none_or(|real| is_named_by_rules(root, real)))
}

/// What the rules of the directories above it say of a path; the nearest that speaks of it decides, as in git.
pub(crate) fn is_ignored(levels: &[Rules], path: &[u8], kind: FileType) -> bool {
    for level in levels.iter().rev() {
        let Some(relative) = path.get(level.base..) else { continue };
        let relative = Path::new(std::ffi::OsStr::from_bytes(relative));
        match level.patterns.matched(relative, kind == FileType::Directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
    }
    false
}

fn is_named_by_rules(root: &Root, path: &str) -> bool {
    let mut levels = Vec::new();
    let mut base = 0;
    loop {
        if levels.len() < MAX_RULES_FILES {
            let rules_path = format!("{}{RULES_FILE}", &path[..base]);
            // A directory that is a link has its rules where it really lies.
            if let Ok(found) = beneath::find(root, &rules_path, Purpose::Read)
                && !found.by_link
            {
                levels.extend(parse(found.handle, base).map(|read| read.rules));
            }
        }
        let Some(slash) = path[base..].find('/') else {
            return is_ignored(&levels, path.as_bytes(), FileType::RegularFile);
        };
        let end = base + slash;
        if is_ignored(&levels, &path.as_bytes()[..end], FileType::Directory) {
            return true;
        }
        base = end + 1;
    }
}

/// Reads the `.gitignore` of an open directory, whose path inside the skill ends after `base` bytes.
///
/// Like git, it follows no link there. `Ok(None)` where there is none.
pub(crate) fn read(directory: BorrowedFd<'_>, base: usize) -> Result<Option<ReadRules>, String> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::openat(directory, RULES_FILE, flags, Mode::empty()) {
        Ok(handle) => parse(handle, base).map(Some).ok_or_else(|| "it cannot be read".into()),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::MLINK) => Err("it is a link, which is not followed".into()),
        Err(errno) => Err(format!("it cannot be read: {}", std::io::Error::from(errno))),
    }
}

fn parse(handle: OwnedFd, base: usize) -> Option<ReadRules> {
    let stat = rustix::fs::fstat(&handle).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(handle).take(MAX_RULES_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    let mut skipped = 0_usize;
    let cut = bytes.len() > MAX_RULES_BYTES;
    if cut {
        let end = bytes[..MAX_RULES_BYTES].iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        bytes.truncate(end);
    }

    let mut builder = GitignoreBuilder::new(".");
    // Where names differ by case alone, a pattern means both: being asked in another case must not get around it.
    if cfg!(target_vendor = "apple") && builder.case_insensitive(true).is_err() {
        return None;
    }
    let mut patterns = 0;
    for line in bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes).split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        let wildcards = line.iter().filter(|byte| b"*?[{".contains(byte)).count();
        let text = std::str::from_utf8(line).ok().filter(|_| {
            line.len() <= MAX_PATTERN_BYTES && wildcards <= MAX_WILDCARDS && patterns < MAX_PATTERNS
        });
        match text.map(|text| builder.add_line(None, text)) {
            Some(Ok(_)) => patterns += 1,
            Some(Err(_)) | None => skipped += 1,
        }
    }
    let (patterns, complaint) = match builder.build() {
        Ok(built) if cut => {
            (built, Some(format!("only its first {MAX_RULES_BYTES} bytes are taken")))
        }
        Ok(built) if skipped == 0 => (built, None),
        Ok(built) => (built, Some(format!("{skipped} of its lines cannot be taken as patterns"))),
        Err(_) => (Gitignore::empty(), Some("its patterns cannot be taken together".into())),
    };
    Some(ReadRules { rules: Rules { base, patterns }, stamp: Stamp::of(&stat), complaint })
}
