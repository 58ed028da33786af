//! The cast as a program, which the statements are run against.

use std::process::ExitCode;

fn main() -> ExitCode {
    kitbag_sdk::main(kitbag_suite::cast())
}
