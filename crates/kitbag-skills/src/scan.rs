//! Finds the skills below a root, and on the next look does again only what a change calls for.

mod walk;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use self::walk::Walk;
use crate::document::{self, Document, Loaded, LookedAt, Outcome, SKILL_MD};
use crate::file::Stamp;
use crate::problem::{Problem, Reason};
use crate::roots::Root;

/// The most entries of one directory that are looked at.
pub(crate) const MAX_ENTRIES: usize = 500_000;

/// The most Markdown files directly in a root that are looked at for a misplaced frontmatter.
const MAX_FLAT_FILES: usize = 64;

/// A skill found below a root.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The directory as it was reached.
    pub(crate) path: PathBuf,
    /// The directory, links followed.
    pub(crate) real: PathBuf,
    /// The skill there.
    pub(crate) document: Arc<Document>,
}

/// What a look at one root gave.
#[derive(Debug, Default)]
pub(crate) struct Sighting {
    pub(crate) found: Vec<Found>,
    pub(crate) problems: Vec<Problem>,
    /// Every directory on the way, for a watch.
    pub(crate) directories: Vec<PathBuf>,
    /// Everything that was looked at: while it is as it was, so is the sighting.
    looked_at: Vec<LookedAt>,
    /// Whether something could have changed since without a mark.
    unsettled: bool,
}

impl Sighting {
    /// Whether another look would give the same.
    fn is_current(&self) -> bool {
        /// Fewer are not worth a thread.
        const SHARE: usize = 512;
        if self.unsettled {
            return false;
        }
        let same = |part: &[LookedAt]| part.iter().all(LookedAt::is_unchanged);
        let (here, there) = self.looked_at.split_at(self.looked_at.len() / 2);
        if here.len() < SHARE {
            return same(here) && same(there);
        }
        thread::scope(|scope| {
            let there = scope.spawn(|| same(there));
            same(here) & there.join().unwrap_or(false)
        })
    }
}

/// What was seen before, by real directory.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    listings: HashMap<PathBuf, Listing>,
    documents: HashMap<PathBuf, (String, Loaded)>,
    links: HashMap<PathBuf, (Stamp, PathBuf)>,
    sightings: Vec<(Root, Arc<Sighting>)>,
}

#[derive(Debug)]
struct Listing {
    stamp: Stamp,
    settled: bool,
    children: Arc<[Child]>,
    /// Spellings of SKILL.md other than the right one.
    variants: Vec<String>,
    flat_files: Vec<String>,
    cut: bool,
}

#[derive(Debug)]
struct Child {
    name: OsString,
    link: bool,
}

impl Scanner {
    /// Forgets everything that lies in none of `directories`, so that what is gone costs no memory.
    pub(crate) fn keep_only(&mut self, directories: &HashSet<&Path>) {
        self.listings.retain(|path, _| directories.contains(path.as_path()));
        self.documents.retain(|path, _| directories.contains(path.as_path()));
    }

    /// Looks for skills below each root, in byte order of their paths; gives the sighting of before where nothing
    /// changed.
    pub(crate) fn look(&mut self, roots: &[Root]) -> Vec<Arc<Sighting>> {
        let mut before = std::mem::take(&mut self.sightings);
        for root in roots {
            let known = before.iter().position(|(known, _)| known == root);
            let known = known.map(|at| before.swap_remove(at).1);
            let sighting = match known {
                Some(sighting) if sighting.is_current() => sighting,
                _ => Arc::new(self.walk(root)),
            };
            self.sightings.push((root.clone(), sighting));
        }
        self.sightings.iter().map(|(_, sighting)| Arc::clone(sighting)).collect()
    }

    fn walk(&mut self, root: &Root) -> Sighting {
        Walk::over(self, root)
    }

    fn document(&mut self, real: &Path, file_name: &str, out: &mut Sighting) -> Outcome {
        let known = self
            .documents
            .get(real)
            .is_some_and(|(known, loaded)| known == file_name && loaded.is_current(real, known));
        if !known {
            let loaded = document::load(real, file_name);
            self.documents.insert(real.to_owned(), (file_name.to_owned(), loaded));
        }
        let Some((_, loaded)) = self.documents.get(real) else { return Outcome::Absent };
        out.looked_at.extend(loaded.looked_at(real, file_name));
        out.unsettled |= !loaded.is_settled();
        loaded.outcome.clone()
    }

    /// A SKILL.md of another case; only looked for where the right one is missing.
    fn variant(&mut self, real: &Path, out: &mut Sighting) -> Outcome {
        let variants = match self.listing(real, out) {
            Ok(listing) => listing.variants.clone(),
            Err(_) => return Outcome::Absent,
        };
        match &*variants {
            [] => Outcome::Absent,
            [file_name] => self.document(real, file_name, out),
            several => Outcome::Refused(
                Problem::error(
                    Reason::SkillMdCase,
                    real,
                    format!("it holds {}, and no `SKILL.md`", several.join(" and ")),
                )
                .hint("keep one of them, called `SKILL.md`"),
            ),
        }
    }

    fn listing(&mut self, real: &Path, out: &mut Sighting) -> std::io::Result<&Listing> {
        let looked_at = LookedAt { path: real.to_owned(), stamp: document::stamp(real) };
        out.looked_at.push(looked_at);
        let listing = self.read(real).inspect_err(|_| out.unsettled = true)?;
        out.unsettled |= !listing.settled;
        Ok(listing)
    }

    fn read(&mut self, real: &Path) -> std::io::Result<&Listing> {
        let stamp = Stamp::of_metadata(&fs::metadata(real)?);
        let current = self
            .listings
            .get(real)
            .is_some_and(|listing| listing.settled && listing.stamp == stamp);
        if !current {
            let listing = read_listing(real, stamp)?;
            self.listings.insert(real.to_owned(), listing);
        }
        self.listings.get(real).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// Where a link leads; resolved again only when it leads to another place than before.
    fn target(&mut self, link: &Path, out: &mut Sighting) -> std::io::Result<PathBuf> {
        out.looked_at.push(LookedAt { path: link.to_owned(), stamp: document::stamp(link) });
        let stamp = Stamp::of_metadata(&fs::metadata(link)?);
        if let Some((before, real)) = self.links.get(link)
            && before.is_same_place(&stamp)
            && fs::metadata(real)
                .is_ok_and(|metadata| Stamp::of_metadata(&metadata).is_same_place(&stamp))
        {
            return Ok(real.clone());
        }
        let real = fs::canonicalize(link)?;
        self.links.insert(link.to_owned(), (stamp, real.clone()));
        Ok(real)
    }
}

fn read_listing(real: &Path, stamp: Stamp) -> std::io::Result<Listing> {
    let now = SystemTime::now();
    let mut listing = Listing {
        stamp,
        settled: stamp.is_settled(now),
        children: Arc::default(),
        variants: Vec::new(),
        flat_files: Vec::new(),
        cut: false,
    };
    let mut children = Vec::new();
    for (count, entry) in fs::read_dir(real)?.enumerate() {
        if count >= MAX_ENTRIES {
            listing.cut = true;
            break;
        }
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        if kind.is_dir() || kind.is_symlink() {
            children.push(Child { name: name.clone(), link: kind.is_symlink() });
        }
        let Some(name) = name.to_str() else { continue };
        if name.eq_ignore_ascii_case(SKILL_MD) {
            if name != SKILL_MD {
                listing.variants.push(name.to_owned());
            }
        } else if kind.is_file()
            && listing.flat_files.len() < MAX_FLAT_FILES
            && Path::new(name).extension().is_some_and(|extension| extension == "md")
        {
            listing.flat_files.push(name.to_owned());
        }
    }
    children.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    listing.children = children.into();
    listing.variants.sort_unstable();
    listing.flat_files.sort_unstable();
    Ok(listing)
}
