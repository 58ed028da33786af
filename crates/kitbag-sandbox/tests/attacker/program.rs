//! Which of its parts the program plays.

#![expect(
    unsafe_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::exit,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "attacks are system calls, and their outcome is printed"
)]

mod bombs;
mod files;
mod host;
mod kernel;
mod network;
mod processes;
mod protect;
mod without;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// What an attack is told about its victims.
pub(super) struct Facts(BTreeMap<String, String>);

impl Facts {
    fn of(arguments: &[String]) -> Self {
        let pairs = arguments.iter().filter_map(|each| each.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.text(name))
    }

    fn number(&self, name: &str) -> i32 {
        self.text(name).parse().unwrap_or(-1)
    }
}

/// `Ok` says what was reached, `Err` what stood in the way.
type Outcome = io::Result<String>;
type Attack = (&'static str, fn(&Facts) -> Outcome);

pub(super) fn main() {
    kitbag_sandbox::become_launcher_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mode, rest) = arguments.split_first().unwrap();
    match mode.as_str() {
        "attack" => attack(rest),
        "bomb" => bombs::run(rest),
        "host" => host::run(rest),
        "protect" => protect::run(rest),
        "without" => without::run(rest),
        other => panic!("no mode `{other}`"),
    }
}

fn attack(arguments: &[String]) {
    let facts = Facts::of(arguments);
    let only: Vec<&str> = facts.text("only").split(',').filter(|name| !name.is_empty()).collect();
    let groups = [files::ATTACKS, processes::ATTACKS, network::ATTACKS, kernel::ATTACKS];
    for (name, attack) in groups.into_iter().flatten() {
        if !only.is_empty() && !only.contains(name) {
            continue;
        }
        // Each in a process of its own, so that none suffers from what another did to itself.
        // SAFETY: this program has one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            match attack(&facts) {
                Ok(what) => println!("{name} open {what}"),
                Err(error) => println!("{name} denied {error}"),
            }
            std::process::exit(0);
        }
        if child < 0 {
            println!("{name} broken {}", io::Error::last_os_error());
            continue;
        }
        let mut status = 0;
        // SAFETY: the child was just made, and the pointer is to a local.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        if status != 0 {
            println!("{name} broken status {status}");
        }
    }
}

/// The error of the last system call, if it failed.
fn check(result: impl TryInto<i64>) -> io::Result<i64> {
    match result.try_into() {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A system call by number, with plain arguments.
fn call(number: libc::c_long, arguments: [usize; 6]) -> io::Result<i64> {
    let [a, b, c, rest @ ..] = arguments;
    // SAFETY: every caller passes numbers, or addresses of values that outlive the call.
    check(unsafe { libc::syscall(number, a, b, c, rest[0], rest[1], rest[2]) })
}

fn said(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}
