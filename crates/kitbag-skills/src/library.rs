//! The skills of one set of roots, looked at anew whenever somebody asks.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::catalog::{self, Bundled, Catalog, Denials, SkillLimit, Told, Usable};
use crate::consent::{Approvals, ConsentFrom, Judge};
use crate::digest::{DigestCache, DigestError, SkillDigests};
use crate::document::Document;
use crate::folder::Folder;
use crate::manifest::{Manifest, ManifestLimits};
use crate::origin::Trust;
use crate::packages::PackageRoots;
use crate::problem::{Problem, Reason};
use crate::roots::{self, Places, Root, RootChoice};
use crate::scan::{Scanner, Sighting};
use crate::skill::Skill;

/// Finds skills, keeps what it found, and does again only what a change on disk calls for.
///
/// Making one does no I/O (B-2). Every look reads the disk, so the answer is what lies there now (B-5, B-16); looks
/// are made one at a time, and cost a few microseconds a skill when nothing changed.
#[derive(Debug)]
pub struct Library {
    places: Places,
    limit: SkillLimit,
    consents: ConsentFrom,
    denials: Denials,
    seen: Mutex<Seen>,
    files: Mutex<Files>,
    latest: watch::Sender<Arc<Catalog>>,
}

#[derive(Debug, Default)]
struct Seen {
    scanner: Scanner,
    packages: PackageRoots,
    digests: DigestCache,
    judge: Judge,
    sightings: Vec<Arc<Sighting>>,
    root_problems: Vec<Problem>,
}

/// What is known of the files of skills.
#[derive(Debug, Default)]
struct Files {
    manifests: HashMap<PathBuf, Arc<Manifest>>,
    /// Over all manifests.
    count: usize,
    /// How often a manifest turned out to be another one than before.
    changes: u64,
    digests: DigestCache,
}

/// The most files over all manifests that are kept; past it, manifests are made anew when they are asked for.
const MAX_KEPT_FILES: usize = 200_000;

impl Library {
    /// A library of what lies at `places`, which uses at most `limit` skills, and none that needs an approval.
    pub fn new(places: Places, limit: SkillLimit) -> Self {
        let (latest, _) = watch::channel(Arc::default());
        let consents = ConsentFrom::Nobody;
        let denials = Denials::default();
        Self {
            places,
            limit,
            consents,
            denials,
            seen: Mutex::default(),
            files: Mutex::default(),
            latest,
        }
    }

    /// The same library, which also uses the skills to which its user said yes.
    ///
    /// At every look an approved skill is compared with what was approved, and what is read from it afterwards are the
    /// bytes that were approved, or nothing.
    #[must_use]
    pub fn with_consents(self, consents: ConsentFrom) -> Self {
        Self { consents, ..self }
    }

    /// The same library, which uses none of the skills that a rule denies.
    #[must_use]
    pub fn with_denials(self, denials: Denials) -> Self {
        Self { denials, ..self }
    }

    /// Where it looks.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Looks at the disk and returns what lies there now; blocks on I/O.
    pub fn look(&self) -> Arc<Catalog> {
        // A panic in an earlier look left at worst an old cache entry, whose stamp is checked before use.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = &mut *seen;
        let (roots, root_problems) = roots::roots(&self.places, &mut seen.packages);
        let sightings = seen.scanner.look(&roots);
        let approvals = self.approvals(&roots, &sightings);
        let fault = approvals.as_ref().and_then(|approvals| approvals.fault.clone());
        let still_judged = seen.judge.begin(approvals);
        let latest = Arc::clone(&self.latest.borrow());
        let unchanged = same(&sightings, &seen.sightings)
            && latest.roots == roots
            && root_problems == seen.root_problems
            && still_judged
            && !latest.is_contested();
        if latest.generation > 0 && unchanged {
            return latest;
        }
        let told = self.told(&roots, &root_problems, &sightings, fault);
        seen.root_problems = root_problems;
        seen.scanner.keep_only(&directories(&sightings));
        let bundled = match self.places.choice {
            RootChoice::Default { .. } => Bundled::Included,
            RootChoice::Only { .. } => Bundled::Left,
        };
        let judge = &mut seen.judge;
        let consent = |skills: &mut [Skill]| judge.judge(skills, &self.consents);
        let digests = &mut seen.digests;
        let usable = Usable { limit: self.limit, denials: &self.denials };
        let mut catalog =
            catalog::merge(&roots, &sightings, told, bundled, usable, digests, consent);
        seen.sightings = sightings;
        if latest.generation > 0 && catalog.says_the_same(&latest) {
            return latest;
        }
        catalog.generation = latest.generation + 1;
        let catalog = Arc::new(catalog);
        self.latest.send_replace(Arc::clone(&catalog));
        catalog
    }

    /// What is approved, where something was found that needs it.
    fn approvals(&self, roots: &[Root], sightings: &[Arc<Sighting>]) -> Option<Arc<Approvals>> {
        let ConsentFrom::Records(consents) = &self.consents else { return None };
        let mut found = roots.iter().zip(sightings);
        found
            .any(|(root, seen)| root.trust == Trust::NeedsApproval && !seen.found.is_empty())
            .then(|| consents.approvals(&self.real_workspace()))
    }

    /// The workspace that approvals hold for, by its real path; blocks on I/O.
    pub fn real_workspace(&self) -> PathBuf {
        let workspace = roots::workspace(&self.places);
        fs::canonicalize(&workspace).unwrap_or(workspace)
    }

    /// What is wrong with what was found, before anything is made of it.
    fn told(
        &self,
        roots: &[Root],
        root_problems: &[Problem],
        sightings: &[Arc<Sighting>],
        fault: Option<String>,
    ) -> Told {
        let mut told = Told::default();
        let all_given = matches!(self.consents, ConsentFrom::ThisRun);
        if all_given {
            told.add(root_problems.iter().cloned());
        } else {
            // They repeat what a project's `package.json` says.
            told.add_unspoken(root_problems.iter().cloned());
        }
        for (root, sighting) in roots.iter().zip(sightings) {
            let problems = sighting.problems.iter().cloned();
            if root.trust == Trust::Trusted || all_given {
                told.add(problems);
            } else {
                told.add_unspoken(problems);
            }
        }
        told.add(fault.map(|fault| {
            Problem::warning(Reason::ApprovalsUnreadable, self.real_workspace(), fault)
                .hint("until they can be read, no skill of the project is used")
        }));
        told
    }

    /// The catalogue of the last look, which is empty before the first; does no I/O.
    pub fn latest(&self) -> Arc<Catalog> {
        Arc::clone(&self.latest.borrow())
    }

    /// Tells of every look that found something changed.
    pub fn changes(&self) -> watch::Receiver<Arc<Catalog>> {
        self.latest.subscribe()
    }

    /// Every directory whose change may change the catalogue, as of the last look.
    pub fn directories(&self) -> Vec<PathBuf> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = seen.sightings.iter().flat_map(|sighting| sighting.directories.iter().cloned());
        found.chain(seen.judge.directories()).collect()
    }

    /// The files of a skill as they are now; walked again only when something in its folder changed. Blocks on I/O.
    pub fn manifest(&self, document: &Document) -> Arc<Manifest> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).manifest(&document.folder)
    }

    /// The digests of a skill's files as they are now; hashes only what changed. Blocks on I/O.
    pub fn digests(&self, document: &Document) -> Result<SkillDigests, DigestError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let manifest = files.manifest(&document.folder);
        files.digests.digests(&document.folder, &manifest)
    }

    /// Counts the changes that were found in the files of skills; does no I/O.
    ///
    /// A change is one of the names, sizes or states of files that were listed before, found by whoever listed them
    /// again. The first listing of a skill's files is none.
    pub fn file_changes(&self) -> u64 {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).changes
    }

    /// Lists again what was listed before and may have changed since, and counts the changes that were ever found.
    ///
    /// Blocks on I/O, one skill at a time, so that nobody else waits for more than one.
    pub fn refresh_files(&self) -> u64 {
        let files = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: Vec<(PathBuf, Arc<Manifest>)> = files()
            .manifests
            .iter()
            .map(|(directory, manifest)| (directory.clone(), Arc::clone(manifest)))
            .collect();
        for (directory, manifest) in kept {
            let folder = Folder::Disk(directory);
            if manifest.is_current(&folder) {
                continue;
            }
            let listed = folder.manifest(&ManifestLimits::STANDARD);
            let Folder::Disk(directory) = folder else { continue };
            let mut files = files();
            // Somebody else who listed it meanwhile has seen at least as much.
            if files.manifests.get(&directory).is_some_and(|latest| Arc::ptr_eq(latest, &manifest))
            {
                files.replace(directory, listed);
            }
        }
        files().changes
    }
}

fn same(sightings: &[Arc<Sighting>], before: &[Arc<Sighting>]) -> bool {
    sightings.len() == before.len()
        && sightings.iter().zip(before).all(|(now, before)| Arc::ptr_eq(now, before))
}

fn directories(sightings: &[Arc<Sighting>]) -> HashSet<&Path> {
    sightings
        .iter()
        .flat_map(|sighting| sighting.directories.iter().map(PathBuf::as_path))
        .collect()
}

impl Files {
    fn manifest(&mut self, folder: &Folder) -> Arc<Manifest> {
        if let Folder::Sealed(seal) = folder {
            return Arc::clone(seal.manifest());
        }
        let make = || folder.manifest(&ManifestLimits::STANDARD);
        let Folder::Disk(directory) = folder else { return Arc::new(make()) };
        match self.manifests.get(directory) {
            Some(manifest) if manifest.is_current(folder) => Arc::clone(manifest),
            _ => self.replace(directory.clone(), make()),
        }
    }

    /// Keeps `listed` as what lies in `directory`. A folder without any file is no skill any more, and is not kept.
    fn replace(&mut self, directory: PathBuf, listed: Manifest) -> Arc<Manifest> {
        let listed = Arc::new(listed);
        if let Some(before) = self.manifests.remove(&directory) {
            self.count -= before.files.len();
            self.changes += u64::from(!before.lists_the_same(&listed));
        }
        if listed.files.is_empty() {
            return listed;
        }
        if self.count + listed.files.len() > MAX_KEPT_FILES {
            self.manifests.clear();
            self.count = 0;
        }
        self.count += listed.files.len();
        self.manifests.insert(directory, Arc::clone(&listed));
        listed
    }
}
