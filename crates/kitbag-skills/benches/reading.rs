//! What it costs to list, check and digest skills on disk.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has no result")]

use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use kitbag_skills::{DigestCache, Folder, Manifest, ManifestLimits, file_digest};
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// One skill of so many files, a hundred to a directory.
fn large(files: usize) -> (TempDir, Folder) {
    let (temp, dir) = temp();
    fs::write(dir.join("SKILL.md"), "# Skill").unwrap();
    fs::write(dir.join(".gitignore"), "*.log\nbuild/\n").unwrap();
    for number in 2..files {
        let directory = dir.join(format!("part{:02}", number / 100));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{number}.md")), "text").unwrap();
    }
    (temp, Folder::Disk(dir))
}

/// So many skills of five files in two directories each.
fn collection(skills: usize) -> (TempDir, Vec<Folder>) {
    let (temp, dir) = temp();
    let skill = |number: usize| {
        let dir = dir.join(format!("skill{number}"));
        fs::create_dir_all(dir.join("references")).unwrap();
        for path in ["SKILL.md", "LICENSE.txt", "references/a.md", "references/b.md", "run.py"] {
            fs::write(dir.join(path), "text").unwrap();
        }
        Folder::Disk(dir)
    };
    let folders = (0..skills).map(skill).collect();
    (temp, folders)
}

fn temp() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    (temp, dir)
}

fn list(folder: &Folder) -> Manifest {
    folder.manifest(&ManifestLimits::STANDARD)
}

#[divan::bench(args = [500, 1000, 2000])]
fn manifest_of_one_skill(bencher: Bencher<'_, '_>, files: usize) {
    let (_temp, folder) = large(files);
    bencher.counter(ItemsCount::new(files)).bench_local(|| list(&folder));
}

#[divan::bench(args = [500, 1000, 2000, 4000])]
fn manifests_of_skills(bencher: Bencher<'_, '_>, skills: usize) {
    let (_temp, folders) = collection(skills);
    bencher
        .counter(ItemsCount::new(skills))
        .bench_local(|| folders.iter().map(list).collect::<Vec<_>>());
}

#[divan::bench(args = [500, 4000])]
fn nothing_changed_in_skills(bencher: Bencher<'_, '_>, skills: usize) {
    let (_temp, folders) = collection(skills);
    let manifests: Vec<_> = folders.iter().map(list).collect();
    bencher.counter(ItemsCount::new(skills)).bench_local(|| {
        let pairs = manifests.iter().zip(&folders);
        pairs.filter(|(manifest, folder)| manifest.is_current(folder)).count()
    });
}

#[divan::bench]
fn digest_of_16_mib(bencher: Bencher<'_, '_>) {
    const LENGTH: usize = 16 * 1024 * 1024;
    let (_temp, dir) = temp();
    fs::write(dir.join("data.bin"), vec![7; LENGTH]).unwrap();
    let file = open(&dir, "data.bin");
    bencher.counter(BytesCount::new(LENGTH)).bench_local(|| file_digest(&file).unwrap());
}

#[divan::bench]
fn digests_of_2000_files_anew(bencher: Bencher<'_, '_>) {
    let (_temp, folder) = large(2000);
    let manifest = list(&folder);
    bencher.bench_local(|| DigestCache::default().digests(&folder, &manifest).unwrap());
}

#[divan::bench]
fn open_and_read_one_file(bencher: Bencher<'_, '_>) {
    let (_temp, folder) = large(200);
    let path = "part01/150.md".parse().unwrap();
    bencher.bench_local(|| folder.open(&path).unwrap().read(0, 1024 * 1024).unwrap());
}

fn open(dir: &Path, path: &str) -> kitbag_skills::SkillFile {
    Folder::Disk(dir.to_owned()).open(&path.parse().unwrap()).unwrap()
}
