//! The profile that `sandbox-exec` of macOS takes, made from a policy.
//!
//! It is text made from data, so it is tested everywhere. Whether macOS holds what it says has not been tried out, and so
//! nothing runs under it: see `docs/reference/sandbox.md`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::job::RunError;
use crate::policy::{Network, Policy, PolicyError};
use crate::tier::Guarantee;

/// What every program of macOS reads and maps before its `main`.
const LOADED: [&str; 4] =
    ["/System/Library", "/System/Cryptexes", "/private/var/db/dyld", "/private/var/db/timezone"];
/// The devices that every program expects, and that hold nothing.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/// Directories of the root that are links into `/private`. Rules are about where a path leads.
const PRIVATE: [&str; 3] = ["/etc", "/tmp", "/var"];

/// Makes the profile of a policy, with everything denied that isn't granted.
///
/// Paths must be free of links, but for the three that every macOS has. Refuses hosts, since a profile knows ports only, and
/// the limits that macOS has nothing for: memory, the number of processes, and the size of the scratch directory.
/// The remaining limits are the caller's to set, as resource limits.
pub fn seatbelt_profile(policy: &Policy) -> Result<String, RunError> {
    policy.check()?;
    let missing = not_held(policy);
    if !missing.is_empty() {
        return Err(RunError::Refused { missing });
    }
    let scratch = policy.scratch.as_ref().map(|scratch| &scratch.path);
    let readable = quoted(policy.read.iter())?;
    let executable = quoted(policy.execute.iter())?;
    let writable = quoted(policy.write.iter().chain(scratch))?;
    let granted = policy.read.iter().chain(&policy.execute).chain(&policy.write).chain(scratch);
    let loaded = LOADED.map(|path| format!("{path:?}"));
    let devices = DEVICES.map(|path| format!("{path:?}"));

    let mut profile = String::from("(version 1)\n(deny default)\n");
    let mut rule = |verdict: &str, operations: &str, filter: &str, paths: &[String]| {
        for path in paths {
            // Writing to a text can't fail.
            let _ = writeln!(profile, "({verdict} {operations} ({filter} {path}))");
        }
    };
    rule("allow", "file-read-metadata", "literal", &above(granted)?);
    rule("allow", "file-read* file-map-executable", "subpath", &loaded);
    rule("allow", "file-read* file-write-data", "literal", &devices);
    rule("allow", "file-read*", "subpath", &readable);
    rule("allow", "file-read* file-write*", "subpath", &writable);
    // A later rule wins: what is both written and executed was granted both.
    rule("deny", "process-exec* file-map-executable", "subpath", &writable);
    rule("allow", "file-read* process-exec* file-map-executable", "subpath", &executable);
    profile.push_str(
        "(allow process-fork)\n\
         (allow signal (target same-sandbox))\n\
         (allow process-info* (target same-sandbox))\n\
         (allow sysctl-read)\n\
         (allow ipc-posix-sem)\n\
         (deny network*)\n",
    );
    Ok(profile)
}

fn not_held(policy: &Policy) -> Vec<(Guarantee, String)> {
    let limits = &policy.limits;
    let bounded = policy.scratch.as_ref().is_some_and(|scratch| scratch.bytes.is_some());
    let asked = [
        (policy.network != Network::None, Guarantee::Hosts, "a profile knows ports, not hosts"),
        (limits.memory_each.is_some(), Guarantee::MemoryEach, "macOS has no such limit"),
        (limits.memory_total.is_some(), Guarantee::MemoryTotal, "macOS has no such limit"),
        (limits.processes.is_some(), Guarantee::Processes, "all processes of the user are counted"),
        (bounded, Guarantee::ScratchSize, "a directory of the disk has no bound"),
    ];
    let missing = asked.into_iter().filter(|(asked, ..)| *asked);
    missing.map(|(_, guarantee, why)| (guarantee, why.to_owned())).collect()
}

/// Where a path of the root leads on macOS.
fn real(path: &Path) -> PathBuf {
    let private = PRIVATE.iter().any(|link| path.starts_with(link));
    let inside = path.strip_prefix("/").unwrap_or(path);
    if private { Path::new("/private").join(inside) } else { path.to_owned() }
}

fn quoted<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<Vec<String>, PolicyError> {
    paths.map(|path| quote(path, &real(path))).collect()
}

/// Writes a path as a text of the profile's language, in which nothing but these two marks has a meaning.
fn quote(named: &Path, path: &Path) -> Result<String, PolicyError> {
    let why = "is not text, or holds a control character";
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| PolicyError::Path { path: named.to_owned(), why })?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// All directories above the granted paths: to reach a file, what leads to it must be seen.
fn above<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<Vec<String>, PolicyError> {
    let mut found = Vec::new();
    for path in paths {
        let path = real(path);
        for directory in path.ancestors().skip(1) {
            let quoted = quote(&path, directory)?;
            if !found.contains(&quoted) {
                found.push(quoted);
            }
        }
    }
    found.sort();
    Ok(found)
}
