//! The sandbox at the crate's boundary: real programs run through a real launcher.
#![cfg(target_os = "linux")]

mod attacks;
mod bombs;
mod host;
mod runs;
mod scrub;
mod seatbelt;
mod tree;

use kitbag_sandbox::{Launcher, Sandbox};

/// The program that is the launcher here, and that attacks.
const ATTACKER: &str = env!("CARGO_BIN_EXE_kitbag-sandbox-attacker");

fn sandbox() -> Sandbox {
    Sandbox::probe(Launcher::program(ATTACKER))
}
