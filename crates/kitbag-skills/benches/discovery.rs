//! Finding skills: the first look of a process, and the look that finds that nothing changed.
//!
//! `KITBAG_BENCH_SKILLS` names a folder of real skills to measure on instead of made ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::Bencher;
use kitbag_skills::{
    Approvals, ConsentFrom, Consents, GivenBy, Library, Places, RootChoice, RootOrder, Seal,
    SkillLimit,
};

fn main() {
    divan::main();
}

fn collection(count: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary directory can be made");
    for number in 0..count {
        let directory = root.path().join(format!("skill-{number:04}"));
        fs::create_dir(&directory).expect("a directory can be made");
        let body = "Look at what is there, do the work, then check that it worked.\n".repeat(80);
        let text = format!(
            "---\nname: skill-{number:04}\ndescription: >-\n  Does the work that number {number} asks for, in \
             the order in which it must be done.\n  Use when somebody asks for number {number}.\nlicense: MIT\n\
             allowed-tools: Read, Bash(git add:*)\nmetadata:\n  version: \"1.{number}\"\n---\n\n# Skill\n\n{body}"
        );
        fs::write(directory.join("SKILL.md"), text).expect("a file can be written");
    }
    root
}

fn library(root: &Path) -> Library {
    let choice = RootChoice::Only { by: GivenBy::CommandLine, roots: vec![root.to_owned()] };
    let places = Places {
        home: None,
        kitbag_home: None,
        cwd: PathBuf::from("/"),
        choice,
        order: RootOrder::UserFirst,
    };
    Library::new(places, SkillLimit(usize::MAX))
}

#[divan::bench(args = [500, 1_000, 2_000, 4_000], sample_count = 10, sample_size = 1)]
fn first_look(bencher: Bencher<'_, '_>, count: usize) {
    let root = collection(count);
    bencher.bench_local(|| library(root.path()).look());
}

#[divan::bench(args = [500, 1_000, 2_000, 4_000], sample_count = 20, sample_size = 1)]
fn look_again(bencher: Bencher<'_, '_>, count: usize) {
    let root = collection(count);
    let library = library(root.path());
    library.look();
    // What was written a moment ago is read once more.
    std::thread::sleep(std::time::Duration::from_millis(100));
    library.look();
    bencher.bench_local(|| library.look());
}

/// Approvals that never change.
#[derive(Debug)]
struct Approved(Arc<Approvals>);

impl Consents for Approved {
    fn approvals(&self, _: &Path) -> Arc<Approvals> {
        Arc::clone(&self.0)
    }
}

/// A project whose skills are all approved: each is compared with what was approved at every look.
#[divan::bench(args = [500, 1_000, 2_000, 4_000], sample_count = 20, sample_size = 1)]
fn look_again_at_approved_skills(bencher: Bencher<'_, '_>, count: usize) {
    let collection = collection(count);
    let project = tempfile::tempdir().expect("a temporary directory can be made");
    fs::create_dir_all(project.path().join(".git")).expect("a directory can be made");
    fs::create_dir_all(project.path().join(".agents")).expect("a directory can be made");
    fs::rename(collection.path(), project.path().join(".agents/skills")).expect("it can be moved");
    let places = || Places {
        home: None,
        kitbag_home: None,
        cwd: project.path().to_owned(),
        choice: RootChoice::Default { also: Vec::new() },
        order: RootOrder::UserFirst,
    };
    let catalog = Library::new(places(), SkillLimit(usize::MAX)).look();
    let digests = catalog.skills.iter().filter_map(|skill| {
        let directory = skill.document.folder.directory()?;
        let seal = Seal::of(directory, skill.name(), None).ok()?;
        Some((skill.consent_key.clone()?, seal.digest()))
    });
    let approvals = Approvals { digests: digests.collect(), fault: None };
    let consents = ConsentFrom::Records(Arc::new(Approved(Arc::new(approvals))));
    let library = Library::new(places(), SkillLimit(usize::MAX)).with_consents(consents);
    std::thread::sleep(std::time::Duration::from_millis(100));
    library.look();
    assert_eq!(library.look().used().count(), count + 1);
    bencher.bench_local(|| library.look());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn first_look_at_real_skills(bencher: Bencher<'_, '_>) {
    let Some(root) = real_skills() else { return };
    bencher.bench_local(|| library(&root).look());
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn look_again_at_real_skills(bencher: Bencher<'_, '_>) {
    let Some(root) = real_skills() else { return };
    let library = library(&root);
    library.look();
    bencher.bench_local(|| library.look());
}

#[expect(clippy::disallowed_methods, reason = "a bench is told by its caller what to measure")]
fn real_skills() -> Option<PathBuf> {
    std::env::var("KITBAG_BENCH_SKILLS").ok().map(PathBuf::from)
}
