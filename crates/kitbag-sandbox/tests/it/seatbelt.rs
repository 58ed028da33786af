//! The profile for macOS, as text.

use std::time::Duration;

use kitbag_sandbox::{
    Allowed, Guarantee, HostPort, Limits, Network, Policy, PolicyError, RunError, Scratch, Tier,
    seatbelt_profile,
};

fn policy() -> Policy {
    Policy {
        read: vec!["/Users/a/skill".into(), "/etc/ssl".into()],
        execute: vec!["/usr".into()],
        write: vec!["/Users/a/out \"1\"\\".into()],
        scratch: Some(Scratch { path: "/tmp/scratch".into(), bytes: None }),
        network: Network::None,
        environment: Vec::new(),
        limits: Limits {
            memory_each: None,
            processes: None,
            wall: Some(Duration::from_secs(1)),
            ..Limits::SCRIPT
        },
        least: Tier::Lsm,
        allowed: Allowed::Nothing,
    }
}

#[test]
fn a_profile_denies_what_it_does_not_name() {
    let expected = r#"(version 1)
(deny default)
(allow file-read-metadata (literal "/"))
(allow file-read-metadata (literal "/Users"))
(allow file-read-metadata (literal "/Users/a"))
(allow file-read-metadata (literal "/private"))
(allow file-read-metadata (literal "/private/etc"))
(allow file-read-metadata (literal "/private/tmp"))
(allow file-read* file-map-executable (subpath "/System/Library"))
(allow file-read* file-map-executable (subpath "/System/Cryptexes"))
(allow file-read* file-map-executable (subpath "/private/var/db/dyld"))
(allow file-read* file-map-executable (subpath "/private/var/db/timezone"))
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* file-write-data (literal "/dev/zero"))
(allow file-read* file-write-data (literal "/dev/random"))
(allow file-read* file-write-data (literal "/dev/urandom"))
(allow file-read* (subpath "/Users/a/skill"))
(allow file-read* (subpath "/private/etc/ssl"))
(allow file-read* file-write* (subpath "/Users/a/out \"1\"\\"))
(allow file-read* file-write* (subpath "/private/tmp/scratch"))
(deny process-exec* file-map-executable (subpath "/Users/a/out \"1\"\\"))
(deny process-exec* file-map-executable (subpath "/private/tmp/scratch"))
(allow file-read* process-exec* file-map-executable (subpath "/usr"))
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(deny network*)
"#;
    assert_eq!(seatbelt_profile(&policy()).unwrap(), expected);
}

/// A path can't end its text and go on as a rule.
#[test]
fn a_path_stays_a_path() {
    let mut hostile = policy();
    hostile.read = vec!["/a\")) (allow default) (\"".into()];
    let profile = seatbelt_profile(&hostile).unwrap();
    assert!(profile.contains(r#"(allow file-read* (subpath "/a\")) (allow default) (\""))"#));
    hostile.read = vec!["/a\n(allow default)".into()];
    let refused = seatbelt_profile(&hostile);
    assert!(matches!(refused, Err(RunError::Policy(PolicyError::Path { .. }))), "{refused:?}");
}

#[test]
fn what_a_profile_cannot_hold_is_refused() {
    let mut policy = policy();
    policy.network = Network::Hosts(vec!["example.com".parse::<HostPort>().unwrap()]);
    policy.limits = Limits { memory_total: Some(1), ..Limits::SCRIPT };
    policy.scratch = Some(Scratch { path: "/tmp/scratch".into(), bytes: Some(1) });
    let Err(RunError::Refused { missing }) = seatbelt_profile(&policy) else { panic!() };
    let missing: Vec<Guarantee> = missing.into_iter().map(|(guarantee, _)| guarantee).collect();
    assert_eq!(
        missing,
        [
            Guarantee::Hosts,
            Guarantee::MemoryEach,
            Guarantee::MemoryTotal,
            Guarantee::Processes,
            Guarantee::ScratchSize
        ]
    );
}
