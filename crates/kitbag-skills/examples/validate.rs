//! Validates every path that stands on a line of standard input, and prints one JSON report a line.
//!
//! `find skills -name SKILL.md | cargo run -p kitbag-skills --example validate [-- --portable]`

use std::io::{BufRead, Write};
use std::path::Path;

use kitbag_skills::validate::{Profile, ValidateOptions, to_json, validate};

fn main() -> std::io::Result<()> {
    let portable = std::env::args().any(|argument| argument == "--portable");
    let profile = if portable { Profile::Portable } else { Profile::Strict };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let report = validate(Path::new(&line?), ValidateOptions { profile });
        let json = to_json(std::slice::from_ref(&report));
        writeln!(out, "{}", json["skills"][0])?;
    }
    out.flush()
}
