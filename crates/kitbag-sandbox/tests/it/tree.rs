//! Nothing of a run survives it: not what left its session and its parent, not what ignores signals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::host::{Host, User};

const TIERS: [&str; 3] = ["lsm", "namespaces", "full"];
/// How long to wait for what should happen at once: a test machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// A text that no other process has in its command line.
fn mark() -> String {
    let unique = tempfile::Builder::new().prefix("mark-").rand_bytes(12).tempfile().unwrap();
    unique.path().file_name().unwrap().to_str().unwrap().to_owned()
}

/// The processes that bear a mark.
fn bearing(mark: &str) -> Vec<i32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let bears = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.windows(mark.len()).any(|part| part == mark.as_bytes()))
    };
    numbers.filter(bears).collect()
}

/// Waits until none bears the mark, and answers how long that took.
fn until_gone(mark: &str) -> Duration {
    let started = Instant::now();
    loop {
        let left = bearing(mark);
        if left.is_empty() {
            return started.elapsed();
        }
        assert!(started.elapsed() < PATIENCE, "{left:?} survived");
        std::thread::yield_now();
    }
}

#[test]
fn nothing_survives_an_end() {
    for user in User::all() {
        for tier in TIERS {
            // Who it is that runs a program that is alone makes no difference.
            let bombs =
                if user == User::Current { vec!["daemon", "stubborn"] } else { vec!["daemon"] };
            for bomb in bombs {
                for (end, wall, ended) in [
                    ("cancel", "wall_ms=100000", "ended Cancelled"),
                    ("wall", "wall_ms=1000", "ended TimedOut"),
                    ("drop", "wall_ms=100000", "dropped"),
                ] {
                    let (mark, least) = (mark(), format!("least={tier}"));
                    let end_wish = format!("end={end}");
                    let wishes = [least.as_str(), wall, &end_wish, "grace_ms=20"];
                    let said = Host::of(user, tier, &wishes, &["bomb", bomb, &mark]).run();
                    if !said.is_held(tier) {
                        continue;
                    }
                    assert!(said.text.lines().any(|line| line == ended), "{end} {}", said.text);
                    // All of it was up, and when the run was over nothing was left.
                    assert!(said.text.lines().any(|line| line == "up"), "{}", said.text);
                    assert_eq!(said.of("left"), "0", "{user:?} {tier} {end}");
                    assert_eq!(bearing(&mark), []);
                    println!("{user:?} {tier} {bomb} {end}: {}", said.of("after"));
                }
            }
        }
    }
}

/// What a program leaves behind when it ends by itself ends with it.
#[test]
fn what_is_left_behind_dies() {
    for tier in TIERS {
        let (mark, least) = (mark(), format!("least={tier}"));
        let wishes = [least.as_str(), "wall_ms=100000"];
        let said = Host::of(User::Current, tier, &wishes, &["bomb", "leave", &mark]).run();
        if said.is_held(tier) {
            assert!(said.text.lines().any(|line| line == "ended Exited(0)"), "{}", said.text);
            assert_eq!(said.of("left"), "0");
            assert_eq!(bearing(&mark), []);
        }
    }
}

#[test]
fn nothing_survives_a_killed_server() {
    for user in User::all() {
        for tier in TIERS {
            let (mark, least) = (mark(), format!("least={tier}"));
            let wishes = [least.as_str(), "wall_ms=100000", "end=stay"];
            let directory = tempfile::tempdir().unwrap();
            let host = Host::of(user, tier, &wishes, &["bomb", "daemon", &mark]);
            let mut server = host.command(directory.path()).stdout(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
            let refused = lines
                .by_ref()
                .map(Result::unwrap)
                .find_map(|line| match line.as_str() {
                    "up" => Some(None),
                    other => other.strip_prefix("refused ").map(|why| Some(why.to_owned())),
                })
                .unwrap();
            if let Some(why) = refused {
                println!("tier {tier} is not given here, and was refused: {why}");
                server.wait().unwrap();
                continue;
            }
            // The program, the one that left, and the one that stayed; and the server.
            assert!(bearing(&mark).len() >= 4, "{tier}");
            let pid = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
            let killed = Instant::now();
            rustix::process::kill_process(pid, Signal::KILL).unwrap();
            server.wait().unwrap();
            until_gone(&mark);
            println!("{user:?} {tier} kill -9: {} us", killed.elapsed().as_micros());
        }
    }
}

/// Without a sandbox the same daemon outlives its parent, or else the tests above would prove nothing.
#[test]
fn a_daemon_survives_without_a_sandbox() {
    let mark = mark();
    let mut plain = Command::new(crate::ATTACKER)
        .args(["bomb", "daemon", &mark])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(plain.stdout.take().unwrap()).lines();
    let ups = lines.by_ref().take(2).map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(ups, ["up", "up"]);
    plain.kill().unwrap();
    plain.wait().unwrap();
    let left = bearing(&mark);
    assert_eq!(left.len(), 2, "{left:?}");
    for pid in left {
        rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
    until_gone(&mark);
}

/// Many runs leave no process, no descriptor, no file, and no growth.
#[test]
fn many_runs_leave_nothing() {
    for tier in TIERS {
        let least = format!("least={tier}");
        let mut host =
            Host::of(User::Current, tier, &[&least, "count=100"], &["bomb", "output", "65536"]);
        host.kind = "many";
        let said = host.run();
        if said.is_held(tier) {
            assert_eq!(said.of("children"), "none", "{tier}");
            assert_eq!(said.of("descriptors"), "0", "{tier}");
            assert_eq!(said.of("files"), "0", "{tier}");
            let grown: u64 = said.of("grown").parse().unwrap();
            assert!(grown <= 1024, "{tier}: {grown} KiB");
            println!("{tier}: {grown} KiB");
        }
    }
}

/// Where the kernel's files of control groups lie, whichever version they are of.
fn groups() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = mounts
        .lines()
        .filter(|line| line.contains(" - cgroup"))
        .filter_map(|line| line.split(' ').nth(4));
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next: Vec<PathBuf> = points.map(PathBuf::from).collect();
    while let Some(directory) = next.pop() {
        let below = fs::read_dir(&directory).into_iter().flatten().flatten();
        let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for path in below.map(|entry| entry.path()) {
            let ours =
                path.file_name().unwrap().to_str().is_some_and(|name| name.starts_with("kitbag-"));
            if ours { found.push(path) } else { next.push(path) }
        }
    }
    found
}

/// Runs that end well, runs that don't start, and probes that fail leave no control group of theirs. Other tests have
/// theirs at the same time, so those are waited for.
#[test]
fn no_control_group_is_left() {
    let missing = ["", "namespaces", "landlock", "seccomp"];
    let before = groups();
    for without in missing {
        let wishes = ["processes=24", "memory_total=67108864"];
        let command = ["bomb", "memory", "1"];
        drop(Host { without, ..Host::of(User::Current, "full", &wishes, &command) }.run());
    }
    let mut left: Vec<PathBuf> = groups();
    left.retain(|path| !before.contains(path));
    let started = Instant::now();
    while left.iter().any(|path| path.exists()) {
        assert!(started.elapsed() < PATIENCE, "{left:?}");
        std::thread::yield_now();
    }
}
