//! The block of variables on Linux.

#![expect(unsafe_code, reason = "the C library's list of variables is a list of pointers")]

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::process::DumpableBehavior;

/// The most bytes of a block. The kernel allows a quarter of the stack's limit, and never more than 6 MiB.
const MAX_BLOCK_BYTES: u64 = 8 * 1024 * 1024;
/// The most bytes of `/proc/self/stat`: 52 numbers and a name of at most 64 bytes.
const MAX_STAT_BYTES: u64 = 4096;
/// How many bytes are overwritten or read at a time.
const CHUNK_BYTES: usize = 4096;

/// Overwrites the block and answers its length, or says what stood in the way.
pub(super) fn scrub() -> Result<u64, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    let threads = fs::read_dir("/proc/self/task").map_err(failed("counting the threads"))?.count();
    if threads != 1 {
        return Err(format!("{threads} threads run already"));
    }
    let mut stat = Vec::new();
    File::open("/proc/self/stat")
        .and_then(|file| file.take(MAX_STAT_BYTES).read_to_end(&mut stat))
        .map_err(failed("reading /proc/self/stat"))?;
    let block = find(&stat).ok_or("/proc/self/stat doesn't say where the variables lie")?;
    rehome(&block).map_err(failed("moving the variables"))?;
    overwrite(&block).map_err(failed("writing to /proc/self/mem"))?;
    read_back(&block).map_err(failed("reading /proc/self/environ back"))
}

/// Makes the kernel treat this process as one that others may not look into.
pub(super) fn make_opaque() -> bool {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok()
        && matches!(rustix::process::dumpable_behavior(), Ok(DumpableBehavior::NotDumpable))
}

/// Finds the block in `/proc/self/stat`: fields 50 and 51. The second field is a name in parentheses that may itself hold
/// spaces and parentheses, so fields are counted from the last one.
fn find(stat: &[u8]) -> Option<Range<u64>> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[after_name..]).ok()?;
    // The first field here is the third.
    let mut fields = text.split_ascii_whitespace().skip(50 - 3);
    let start: u64 = fields.next()?.parse().ok()?;
    let end: u64 = fields.next()?.parse().ok()?;
    (start > 0 && end > start && end - start <= MAX_BLOCK_BYTES).then_some(start..end)
}

/// Makes the C library keep its own copy of every variable, and checks that it points into the block no more.
fn rehome(block: &Range<u64>) -> io::Result<()> {
    let mut seen = HashSet::new();
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let name = CString::new(name.into_encoded_bytes())?;
        let value = CString::new(value.into_encoded_bytes())?;
        if !name.to_bytes().contains(&b'=') && seen.insert(name.clone()) {
            variables.push((name, value));
        }
    }
    // SAFETY: this process has one thread, so nobody reads or changes the list at the same time; names and values are
    // NUL-terminated, live across the calls, and are copied.
    unsafe {
        if libc::clearenv() != 0 {
            return Err(io::Error::other("the list can't be cleared"));
        }
        for (name, value) in &variables {
            if libc::setenv(name.as_ptr(), value.as_ptr(), 1) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    let inside = entries().iter().any(|entry| block.contains(&(entry.as_ptr() as u64)));
    if inside { Err(io::Error::other("the C library still points to the block")) } else { Ok(()) }
}

/// The entries of the C library's list.
fn entries() -> Vec<&'static CStr> {
    let mut found = Vec::new();
    // SAFETY: the list is null or ends with a null pointer, each entry before it is NUL-terminated, and with one thread
    // nobody changes it while it is read. The entries are used before anything else is done.
    unsafe {
        let mut at = libc::environ.cast_const();
        while !at.is_null() && !(*at).is_null() {
            found.push(CStr::from_ptr(*at));
            at = at.add(1);
        }
    }
    found
}

/// Writes zeros over exactly the block.
fn overwrite(block: &Range<u64>) -> io::Result<()> {
    let memory = File::options().write(true).open("/proc/self/mem")?;
    let zeros = [0; CHUNK_BYTES];
    let mut at = block.start;
    while at < block.end {
        let length = usize::try_from(block.end - at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        memory.write_all_at(&zeros[..length], at)?;
        at += length as u64;
    }
    Ok(())
}

/// Sees what others would see, and answers its length.
fn read_back(block: &Range<u64>) -> io::Result<u64> {
    let file = File::open("/proc/self/environ")?;
    let mut file = file.take(MAX_BLOCK_BYTES + 1);
    let mut chunk = [0; CHUNK_BYTES];
    let mut length = 0;
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        if chunk[..read].iter().any(|byte| *byte != 0) {
            return Err(io::Error::other("it is not all zeros"));
        }
        length += read as u64;
    }
    if length != block.end - block.start {
        return Err(io::Error::other("it has another length"));
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BLOCK_BYTES, find};

    fn stat(name: &str, start: u64, end: u64) -> Vec<u8> {
        let before = "0 ".repeat(50 - 3 - 1);
        format!("7 ({name}) S {before}{start} {end} 0\n").into_bytes()
    }

    #[test]
    fn the_block_is_found_behind_any_name() {
        for name in ["kitbag", "a b", "x) S 1 2 3", ")", "((", "\u{fffd}"] {
            assert_eq!(find(&stat(name, 4096, 5000)), Some(4096..5000), "{name}");
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let far = 1 + MAX_BLOCK_BYTES;
        for (start, end) in [(0, 10), (10, 10), (10, 9), (1, far + 1), (0, 0), (u64::MAX, 1)] {
            assert_eq!(find(&stat("kitbag", start, end)), None, "{start} {end}");
        }
        assert_eq!(find(&stat("kitbag", 1, far)), Some(1..far));
        let whole = stat("kitbag", 4096, 5000);
        for cut in 0..whole.len() - 8 {
            assert_eq!(find(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(find(b"7 (kitbag) S -1 -1"), None);
        let negative = format!("7 (k) S {}-5 -1", "0 ".repeat(46));
        assert_eq!(find(negative.as_bytes()), None);
    }
}
