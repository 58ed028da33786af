//! Digests of files and skills, and what makes them change.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use kitbag_skills::{
    BundledFile, Digest, DigestCache, DigestError, FileDigest, Folder, Manifest, ManifestLimits,
    SkillDigests, file_digest, skill_digest,
};

use crate::reading::Bench;

const LIMITS: ManifestLimits = ManifestLimits::STANDARD;

/// The manifest as if it had been taken long after the last change.
fn settled(bench: &Bench) -> Manifest {
    let mut manifest = bench.folder.manifest(&LIMITS);
    manifest.taken += Duration::from_hours(1);
    manifest
}

fn digests(bench: &Bench) -> SkillDigests {
    DigestCache::default().digests(&bench.folder, &settled(bench)).unwrap()
}

fn file(path: &str, executable: bool, bytes: &[u8]) -> FileDigest {
    let (path, digest) = (path.parse().unwrap(), Digest::of(bytes));
    FileDigest { path, size: bytes.len() as u64, executable, digest }
}

#[test]
fn a_file_has_the_sha256_of_its_bytes() {
    let bench = Bench::new();
    bench.write("a.md", "abc");
    let digest = file_digest(&bench.open("a.md").unwrap()).unwrap();
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest.to_string(), hex);
    assert_eq!(hex.parse(), Ok(digest));
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{hex}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{hex}\"")).unwrap(), digest);
    for wrong in ["", &hex[1..], &hex.to_uppercase(), &hex.replace('b', "g")] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }

    let long = vec![7; 300_000];
    bench.write("long.bin", &long);
    bench.write("empty", "");
    assert_eq!(file_digest(&bench.open("long.bin").unwrap()).unwrap(), Digest::of(&long));
    assert_eq!(file_digest(&bench.open("empty").unwrap()).unwrap(), Digest::of(b""));
}

#[test]
fn a_file_that_changes_while_it_is_digested_has_none() {
    let bench = Bench::new();
    bench.write("a.md", "abc");
    for other in ["abcd", "ab"] {
        let opened = bench.open("a.md").unwrap();
        bench.write("a.md", other);
        assert!(file_digest(&opened).is_err(), "{other}");
        bench.write("a.md", "abc");
    }
}

/// The word *digest* of the product: over the sorted path, mode and SHA-256 of each file.
#[test]
fn a_skill_has_the_sha256_of_its_sorted_paths_modes_and_digests() {
    let bench = Bench::new();
    bench.write("scripts/run.sh", "run");
    let mode = Permissions::from_mode(0o700);
    fs::set_permissions(bench.skill.join("scripts/run.sh"), mode).unwrap();
    let files = vec![file("SKILL.md", false, b"# Skill"), file("scripts/run.sh", true, b"run")];
    let mut text = b"kitbag skill 1\n100644 SKILL.md\0".to_vec();
    text.extend(files[0].digest.as_bytes());
    text.extend(b"100755 scripts/run.sh\0");
    text.extend(files[1].digest.as_bytes());
    assert_eq!(digests(&bench), SkillDigests { skill: Digest::of(&text), files });
}

/// Fault row 51: an approval that is bound to this digest ends with any change.
#[test]
fn fault_d51_any_change_of_a_file_changes_the_skills_digest() {
    let base = [file("a", false, b"x"), file("b", false, b"y")];
    let same = [base[1].clone(), base[0].clone()];
    assert_eq!(skill_digest(&base), skill_digest(&same));
    let others = [
        vec![base[0].clone()],
        vec![file("a", true, b"x"), base[1].clone()],
        vec![file("c", false, b"x"), base[1].clone()],
        vec![file("a", false, b"y"), file("b", false, b"x")],
        vec![],
    ];
    for other in others {
        assert_ne!(skill_digest(&base), skill_digest(&other), "{other:?}");
    }
}

#[test]
fn a_copy_under_another_umask_has_the_same_digest() {
    let bench = Bench::new();
    let before = digests(&bench);
    fs::set_permissions(bench.skill.join("SKILL.md"), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(digests(&bench), before);
}

#[test]
fn the_cache_reads_again_only_what_changed() {
    let bench = Bench::new();
    bench.write("a.md", "a");
    let mut cache = DigestCache::default();
    let before = cache.digests(&bench.folder, &settled(&bench)).unwrap();
    assert_eq!(cache.len(), 2);

    // What is known is not opened: with its folder gone, the answer is still there.
    let manifest = settled(&bench);
    fs::rename(&bench.skill, bench.outside.join("away")).unwrap();
    assert_eq!(cache.digests(&bench.folder, &manifest).unwrap(), before);
    fs::rename(bench.outside.join("away"), &bench.skill).unwrap();

    bench.write("a.md", "b");
    let after = cache.digests(&bench.folder, &settled(&bench)).unwrap();
    assert_eq!(after.files, [before.files[0].clone(), file("a.md", false, b"b")]);

    // A file that is no longer there is forgotten.
    fs::remove_file(bench.skill.join("a.md")).unwrap();
    cache.digests(&bench.folder, &settled(&bench)).unwrap();
    assert_eq!(cache.len(), 1);
}

#[test]
fn the_cache_does_not_trust_a_stamp_as_young_as_the_listing() {
    let bench = Bench::new();
    let mut manifest = bench.folder.manifest(&LIMITS);
    manifest.taken = std::time::UNIX_EPOCH
        + Duration::from_nanos(u64::try_from(manifest.files[0].stamp.ctime_ns).unwrap());
    let mut cache = DigestCache::default();
    cache.digests(&bench.folder, &manifest).unwrap();
    assert!(cache.is_empty());
}

#[test]
fn the_cache_is_bounded_and_forgets_the_oldest_skills() {
    let bench = Bench::new();
    for number in 1..2000 {
        bench.write(&format!("{number}"), "");
    }
    let manifest = settled(&bench);
    // The same files under ever other folders, which a cache cannot know.
    let folder = |number: usize| {
        let parent = bench.outside.join(format!("link{number}"));
        std::os::unix::fs::symlink(&bench.outside, &parent).unwrap();
        Folder::Disk(parent.join("skill"))
    };
    let mut cache = DigestCache::default();
    let first = folder(0);
    let before = cache.digests(&first, &manifest).unwrap();
    let full = DigestCache::MAX_DIGESTS / 2000;
    for number in 1..=full {
        cache.digests(&folder(number), &manifest).unwrap();
    }
    assert!(cache.len() <= DigestCache::MAX_DIGESTS * 3 / 4, "{}", cache.len());
    assert_eq!(cache.digests(&first, &manifest).unwrap(), before);
}

#[test]
fn a_bundled_skill_has_digests_and_takes_no_room_in_the_cache() {
    const FILES: &[BundledFile] = &[BundledFile { path: "SKILL.md", bytes: b"# Guide" }];
    let mut cache = DigestCache::default();
    let folder = Folder::Bundled(FILES);
    let guide = cache.digests(&folder, &folder.manifest(&LIMITS)).unwrap();
    assert_eq!(guide.files, [file("SKILL.md", false, b"# Guide")]);
    assert!(cache.is_empty());
}

#[test]
fn a_skill_that_is_not_listed_in_full_has_no_digest() {
    let bench = Bench::new();
    bench.write("a.md", "a");
    let manifest = bench.folder.manifest(&ManifestLimits { files: 1, ..LIMITS });
    let result = DigestCache::default().digests(&bench.folder, &manifest);
    assert!(matches!(result, Err(DigestError::Incomplete)));
}

#[test]
fn a_skill_too_large_to_digest_is_refused_without_being_read() {
    let bench = Bench::new();
    bench.sparse("huge.bin", SkillDigests::MAX_BYTES + 1);
    let result = DigestCache::default().digests(&bench.folder, &settled(&bench));
    assert!(matches!(result, Err(DigestError::TooLarge(_))));
    assert!(file_digest(&bench.open("huge.bin").unwrap()).is_err());
}

/// Fault row 52: what is digested is what was listed, or nothing.
#[test]
fn fault_b52_a_file_that_is_not_the_listed_one_is_not_digested() {
    let bench = Bench::new();
    bench.write("a.md", "a");
    let manifest = settled(&bench);
    fs::remove_file(bench.skill.join("a.md")).unwrap();
    bench.link("a.md", "../secret.md");
    let result = DigestCache::default().digests(&bench.folder, &manifest);
    assert!(matches!(result, Err(DigestError::Open(_))));

    fs::remove_file(bench.skill.join("a.md")).unwrap();
    bench.write("a.md", "other");
    let result = DigestCache::default().digests(&bench.folder, &manifest);
    assert!(matches!(result, Err(DigestError::Changed(path)) if path.as_str() == "a.md"));
}
