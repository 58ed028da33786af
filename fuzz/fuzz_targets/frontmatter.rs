//! Any bytes as a `SKILL.md`, and any text as a `kitbag.toml`.

#![no_main]

use std::path::Path;

use kitbag_skills::declaration::read_sidecar;
use kitbag_skills::frontmatter::{read, yaml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let skill = read(Path::new("SKILL.md"), bytes);
    assert!(skill.body_start <= bytes.len());
    if let Some(range) = skill.frontmatter {
        assert!(range.end <= skill.body_start);
        if let Ok(text) = std::str::from_utf8(&bytes[range])
            && yaml::parse(text, 2).is_ok()
        {
            assert!(!skill.repaired, "what parses is never repaired");
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        read_sidecar(Path::new("kitbag.toml"), text);
        // Most inputs are no fence and a block: give the YAML a chance of its own.
        let fenced = format!("---\n{text}\n---\n");
        read(Path::new("SKILL.md"), fenced.as_bytes());
    }
});
