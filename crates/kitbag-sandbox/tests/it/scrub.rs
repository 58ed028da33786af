//! The environment of a server, seen by its child.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::host::{User, is_root};

/// Runs a server that protects itself at some time, and answers what it said.
fn server(user: User, when: &str) -> String {
    let mut command = Command::new(crate::ATTACKER);
    command.args(["protect", when]).current_dir("/").env_clear();
    command.envs([("SECRET_TOKEN", "hunter2"), ("EMPTY", ""), ("LONG", &*"x".repeat(10_000))]);
    if user == User::Nobody {
        command.uid(65534).gid(65534);
    }
    let output = command.output().expect("the attacker was built");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no `{word}` in {text}"))
}

/// Without it the child of the same user reads the secret: else the other tests would prove nothing.
#[test]
fn a_child_reads_an_environment_that_nobody_protects() {
    for user in User::all() {
        assert_eq!(after(&server(user, "never"), "child-sees"), "secret");
    }
}

#[test]
fn a_child_reads_nothing_of_a_protected_environment() {
    for user in User::all() {
        let text = server(user, "first");
        assert_eq!(after(&text, "holds"), "true", "{text}");
        let root = is_root() && user == User::Current;
        let seen = after(&text, "child-sees");
        let length = after(&text, "protection")
            .split_once("bytes: ")
            .and_then(|(_, rest)| rest.split(' ').next())
            .expect("it was scrubbed");
        // Root looks into what is opaque to others, and finds zeros.
        let expected = if root {
            format!("{length} zeros")
        } else {
            "Permission denied (os error 13)".to_owned()
        };
        assert_eq!(seen, expected, "{text}");
        if !root {
            assert_eq!(after(&text, "child-opens-memory"), "false");
        }
    }
}

/// The process itself, the children that inherit from it, and its sandbox miss nothing.
#[test]
fn a_protected_process_still_works() {
    for user in User::all() {
        let (protected, bare) = (server(user, "first"), server(user, "never"));
        assert_eq!(after(&protected, "variables"), after(&bare, "variables"));
        assert!(after(&protected, "variables").contains("hunter2"));
        assert_eq!(after(&protected, "inherited"), "true");
        assert_eq!(after(&protected, "tier"), crate::sandbox().tier().to_string());
        if is_root() && user == User::Current {
            assert_eq!(after(&protected, "again"), "true");
        }
    }
}

/// Where another thread could be reading it, the block is left alone, and the answer says so.
#[test]
fn a_second_thread_is_reason_to_touch_nothing() {
    let text = server(User::Current, "late");
    let protection = after(&text, "protection");
    assert!(protection.contains("Failed") && protection.contains("2 threads"), "{text}");
    assert_eq!(after(&text, "inherited"), "true");
}
