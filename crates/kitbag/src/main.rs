//! The `kitbag` command.

fn main() {}
