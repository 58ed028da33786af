//! Private copies of skills.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use kitbag_skills::{
    BundledFile, CopyError, DigestCache, DigestError, Folder, MAX_COPY_BYTES, ManifestLimits,
    copy_skill,
};

use crate::reading::Bench;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn weakness_7_a_copy_has_the_digest_of_the_skill_and_holds_its_bytes() {
    let bench = Bench::new();
    let long = vec![7; 300_000];
    bench.write("SKILL.md", "x");
    bench.write("scripts/run.sh", "echo hello");
    bench.write("assets/deep/long.bin", &long);
    let Folder::Disk(skill) = &bench.folder else { panic!("it lies on disk") };
    fs::set_permissions(skill.join("scripts/run.sh"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("scripts/run.sh", skill.join("alias.sh")).unwrap();
    let into = tempfile::tempdir().unwrap();
    let manifest = bench.folder.manifest(&ManifestLimits::STANDARD);
    let copied = copy_skill(&bench.folder, &manifest, into.path()).unwrap();
    assert_eq!(copied, DigestCache::default().digests(&bench.folder, &manifest).unwrap());
    assert_eq!(fs::read(into.path().join("assets/deep/long.bin")).unwrap(), long);
    let alias = into.path().join("alias.sh");
    assert!(!alias.is_symlink());
    assert_eq!(fs::read_to_string(&alias).unwrap(), "echo hello");
    assert_eq!(mode(&alias), 0o555);
    assert_eq!(mode(&into.path().join("SKILL.md")), 0o444);

    let again = Folder::Disk(into.path().canonicalize().unwrap());
    let listed = again.manifest(&ManifestLimits::STANDARD);
    assert_eq!(DigestCache::default().digests(&again, &listed).unwrap().skill, copied.skill);
}

#[test]
fn weakness_7_the_digest_is_that_of_the_copy_where_the_skill_changed_since_it_was_listed() {
    let bench = Bench::new();
    bench.write("SKILL.md", "x");
    bench.write("run.sh", "echo good");
    let manifest = bench.folder.manifest(&ManifestLimits::STANDARD);
    let before = DigestCache::default().digests(&bench.folder, &manifest).unwrap();
    bench.write("run.sh", "echo evil");
    let into = tempfile::tempdir().unwrap();
    let copied = copy_skill(&bench.folder, &manifest, into.path()).unwrap();
    assert_ne!(copied.skill, before.skill);
    assert_eq!(fs::read_to_string(into.path().join("run.sh")).unwrap(), "echo evil");
}

#[test]
fn what_is_left_out_of_the_digest_is_left_out_of_the_copy() {
    let bench = Bench::new();
    bench.write("SKILL.md", "x");
    bench.write(".env", "SECRET=1");
    bench.write(".gitignore", "build/\n");
    bench.write("build/out.js", "1");
    let into = tempfile::tempdir().unwrap();
    let manifest = bench.folder.manifest(&ManifestLimits::STANDARD);
    copy_skill(&bench.folder, &manifest, into.path()).unwrap();
    assert!(!into.path().join(".env").exists() && !into.path().join("build").exists());
}

#[test]
fn a_skill_that_is_not_whole_or_too_large_or_gone_is_not_copied() {
    let bench = Bench::new();
    bench.write("SKILL.md", "x");
    bench.write("a.md", "a");
    let into = tempfile::tempdir().unwrap();
    let copy = |limits: &ManifestLimits| {
        copy_skill(&bench.folder, &bench.folder.manifest(limits), into.path())
    };
    let few = ManifestLimits { files: 1, ..ManifestLimits::STANDARD };
    assert!(matches!(copy(&few), Err(CopyError::Read(DigestError::Incomplete))));

    let Folder::Disk(skill) = &bench.folder else { panic!("it lies on disk") };
    fs::File::create(skill.join("huge")).unwrap().set_len(MAX_COPY_BYTES).unwrap();
    assert!(matches!(copy(&ManifestLimits::STANDARD), Err(CopyError::TooLarge(_))));

    fs::remove_file(skill.join("huge")).unwrap();
    let manifest = bench.folder.manifest(&ManifestLimits::STANDARD);
    fs::remove_file(skill.join("a.md")).unwrap();
    let gone = copy_skill(&bench.folder, &manifest, into.path());
    assert!(matches!(gone, Err(CopyError::Read(DigestError::Open(_)))));
}

#[test]
fn a_bundled_skill_is_copied_too() {
    const FILES: &[BundledFile] = &[
        BundledFile { path: "SKILL.md", bytes: b"x" },
        BundledFile { path: "scripts/a.sh", bytes: b"echo" },
    ];
    let folder = Folder::Bundled(FILES);
    let into = tempfile::tempdir().unwrap();
    copy_skill(&folder, &folder.manifest(&ManifestLimits::STANDARD), into.path()).unwrap();
    assert_eq!(fs::read(into.path().join("scripts/a.sh")).unwrap(), b"echo");
}
