//! The example skills, carried in the binary so that the tour works wherever it is installed.

use std::fs;
use std::io;
use std::path::Path;

/// Each file of `examples/skills`, by its path there.
const FILES: &[(&str, &[u8])] = &[
    (
        "color-contrast/SKILL.md",
        include_bytes!("../../../../../examples/skills/color-contrast/SKILL.md"),
    ),
    (
        "color-contrast/kitbag.toml",
        include_bytes!("../../../../../examples/skills/color-contrast/kitbag.toml"),
    ),
    (
        "color-contrast/scripts/contrast.mjs",
        include_bytes!("../../../../../examples/skills/color-contrast/scripts/contrast.mjs"),
    ),
    (
        "cron-schedule/SKILL.md",
        include_bytes!("../../../../../examples/skills/cron-schedule/SKILL.md"),
    ),
    (
        "cron-schedule/kitbag.toml",
        include_bytes!("../../../../../examples/skills/cron-schedule/kitbag.toml"),
    ),
    (
        "cron-schedule/scripts/cron.py",
        include_bytes!("../../../../../examples/skills/cron-schedule/scripts/cron.py"),
    ),
    (
        "postgres-migrations/SKILL.md",
        include_bytes!("../../../../../examples/skills/postgres-migrations/SKILL.md"),
    ),
    (
        "release-notes/SKILL.md",
        include_bytes!("../../../../../examples/skills/release-notes/SKILL.md"),
    ),
    (
        "review-http-api/SKILL.md",
        include_bytes!("../../../../../examples/skills/review-http-api/SKILL.md"),
    ),
    (
        "review-http-api/references/caching.md",
        include_bytes!("../../../../../examples/skills/review-http-api/references/caching.md"),
    ),
    (
        "review-http-api/references/compatibility.md",
        include_bytes!(
            "../../../../../examples/skills/review-http-api/references/compatibility.md"
        ),
    ),
    (
        "review-http-api/references/errors.md",
        include_bytes!("../../../../../examples/skills/review-http-api/references/errors.md"),
    ),
    (
        "review-http-api/references/pagination.md",
        include_bytes!("../../../../../examples/skills/review-http-api/references/pagination.md"),
    ),
    (
        "review-http-api/references/retries.md",
        include_bytes!("../../../../../examples/skills/review-http-api/references/retries.md"),
    ),
];

/// Writes the examples into `directory`, which exists.
pub(super) fn unpack(directory: &Path) -> io::Result<()> {
    for (path, bytes) in FILES {
        let path = directory.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    fn read(directory: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                read(&entry.path(), &format!("{path}/"), files);
            } else {
                files.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }

    #[test]
    fn every_example_is_carried_and_unpacked_as_it_is() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills");
        let unpacked = tempfile::tempdir().unwrap();
        super::unpack(unpacked.path()).unwrap();
        let (mut there, mut here) = (BTreeMap::new(), BTreeMap::new());
        read(&source, "", &mut there);
        read(unpacked.path(), "", &mut here);
        assert!(there == here, "{:?} is not {:?}", there.keys(), here.keys());
    }
}
