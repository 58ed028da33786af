//! The globs of one tool.

mod shape;
mod sieve;

use std::collections::{BTreeSet, HashMap};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::super::{Fit, WhyNot};
use super::Found;
use crate::action::{PathSubject, Spellings};
use crate::rule::Pattern;
use shape::Shape;
use sieve::Sieve;

/// The most bytes of a path that is compared with globs: the longest that any system opens.
///
/// With a longer one, every rule that denies or asks and has a subject hits, and none that allows does.
const MAX_PATH_BYTES: usize = 32 * 1024;

/// The globs of one tool, each of which is in exactly one of two places.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    /// All but the simplest.
    sieve: Sieve,
    /// Of each in `sieve`.
    sieved: Vec<PathGlob>,
    /// The simplest, for which this has tables, and any that is no shape.
    set: GlobSet,
    /// Of each in `set`.
    globs: Vec<PathGlob>,
}

/// What a glob means for the rules that are written with it.
#[derive(Debug, Clone)]
struct PathGlob {
    ids: Vec<usize>,
    base: Base,
    /// Begins with `**/`, so that it means files of that name anywhere.
    anywhere: bool,
}

/// What a path is written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Base {
    Root,
    Home,
    Workspace,
}

impl Paths {
    pub(super) fn build(
        patterns: &[(usize, &Pattern)],
        refuse: &mut impl FnMut(usize, String, &str),
    ) -> Self {
        let mut known: HashMap<(&str, bool), usize> = HashMap::new();
        let mut globs: Vec<(Glob, PathGlob)> = Vec::new();
        for &(id, pattern) in patterns {
            let Pattern::Literal(text) = pattern else {
                refuse(id, "this tool is about files".to_owned(), "write a glob, as in `src/**`");
                continue;
            };
            if let Some(hint) = unreachable(text) {
                refuse(id, "no path is ever written so".to_owned(), hint);
                continue;
            }
            let (base, anywhere) = match &**text {
                text if text.starts_with('/') => (Base::Root, false),
                text if text == "~" || text.starts_with("~/") => (Base::Home, false),
                text => (Base::Workspace, text.starts_with("**/")),
            };
            // A directory belongs to what lies in it, so that a search of `secret` is a search of `secret/**`.
            let directory = text.strip_suffix("/**").map(|directory| match directory {
                "" => "/",
                directory => directory,
            });
            for text in [Some(&**text), directory].into_iter().flatten() {
                if let Some(&number) = known.get(&(text, anywhere)) {
                    globs[number].1.ids.push(id);
                    continue;
                }
                match GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build()
                {
                    Ok(glob) => {
                        known.insert((text, anywhere), globs.len());
                        globs.push((glob, PathGlob { ids: vec![id], base, anywhere }));
                    }
                    Err(error) => {
                        let hint = "escape `*`, `?`, `[`, `{` and `\\` with `\\` where they mean themselves";
                        refuse(id, format!("the glob cannot be read: {}", error.kind()), hint);
                        break;
                    }
                }
            }
        }
        let paths = Self::sort(globs);
        paths.unwrap_or_else(|globs| {
            let ids: BTreeSet<usize> = globs.iter().flat_map(|glob| glob.ids.clone()).collect();
            for id in ids {
                let hint = "use fewer or shorter ones";
                refuse(id, "the globs of this tool are too large together".to_owned(), hint);
            }
            Self::default()
        })
    }

    /// Puts each glob where it is found fastest; all of them come back if they are too large.
    fn sort(globs: Vec<(Glob, PathGlob)>) -> Result<Self, Vec<PathGlob>> {
        let mut builder = GlobSetBuilder::new();
        let (mut shapes, mut sieved, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        let mut all: Vec<PathGlob> = Vec::new();
        for (glob, of) in globs {
            all.push(of.clone());
            let shape = (!has_table(glob.glob())).then(|| Shape::of(&glob)).flatten();
            if let Some(shape) = shape {
                shapes.push(shape);
                sieved.push(of);
            } else {
                builder.add(glob);
                plain.push(of);
            }
        }
        let Ok(set) = builder.build() else { return Err(all) };
        Ok(Self { sieve: Sieve::build(shapes), sieved, set, globs: plain })
    }

    /// Adds the rules that hit; whether the path could be compared at all.
    pub(super) fn find(&self, path: &PathSubject, found: &mut Found) -> bool {
        let longest = |path: &Spellings| path.absolute.len();
        if longest(&path.written).max(path.real.as_ref().map_or(0, longest)) > MAX_PATH_BYTES {
            return false;
        }
        let written = self.fits(&path.written);
        let Some(real) = &path.real else {
            found.extend(written);
            return true;
        };
        let real = self.fits(real);
        let other = Fit::Partial(WhyNot::OtherPath);
        let both = |&(id, fit): &(usize, Fit), others: &Found| {
            let at = others.binary_search_by_key(&id, |&(id, _)| id);
            let whole = fit == Fit::Whole && at.is_ok_and(|at| others[at].1 == Fit::Whole);
            (id, if whole { Fit::Whole } else { other })
        };
        found.extend(written.iter().map(|hit| both(hit, &real)));
        found.extend(real.iter().map(|hit| both(hit, &written)));
        true
    }

    /// The rules that hit one path, each once and in order, with how well they fit.
    fn fits(&self, path: &Spellings) -> Found {
        let mut fits = Vec::new();
        let mut numbers = Vec::new();
        let spellings = [
            (Base::Workspace, path.relative.as_deref()),
            (Base::Home, path.home.as_deref()),
            (Base::Root, Some(path.absolute.as_str())),
        ];
        for (base, spelling) in spellings {
            let Some(spelling) = spelling else { continue };
            self.set.matches_candidate_into(&Candidate::new(spelling), &mut numbers);
            for &number in &numbers {
                self.globs[number].add(base, &mut fits);
            }
            let speaks = |number: usize| self.sieved[number].fit(base).is_some();
            self.sieve.find(spelling.as_bytes(), speaks, |number| {
                self.sieved[number].add(base, &mut fits);
            });
        }
        fits.sort_by_key(|&(id, fit)| (id, fit != Fit::Whole));
        fits.dedup_by_key(|&mut (id, _)| id);
        fits
    }
}

impl PathGlob {
    /// How well a path that is written from a base, and that the glob matches, fits the rule.
    fn fit(&self, base: Base) -> Option<Fit> {
        if self.base == base {
            Some(Fit::Whole)
        } else {
            (self.anywhere && base == Base::Root).then_some(Fit::Partial(WhyNot::OtherPath))
        }
    }

    fn add(&self, base: Base, fits: &mut Found) {
        if let Some(fit) = self.fit(base) {
            fits.extend(self.ids.iter().map(|&id| (id, fit)));
        }
    }
}

/// Whether the set of globs looks such a glob up in a table: a path, a name anywhere, an extension, or all in a directory.
fn has_table(glob: &str) -> bool {
    let glob = glob.strip_prefix("**/").unwrap_or(glob);
    let glob = glob.strip_suffix("/**").unwrap_or(glob);
    let extension = glob.strip_prefix("*.").filter(|rest| !rest.contains(['.', '/']));
    !extension.unwrap_or(glob).contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// Why no normalised path can be written like the glob.
fn unreachable(glob: &str) -> Option<&'static str> {
    if glob.starts_with("./") {
        return Some("leave `./` out; paths start from the workspace");
    }
    if glob.len() > 1 && glob.ends_with('/') {
        return Some("write `DIRECTORY/**` for a directory and all that is in it");
    }
    if glob.contains("//") {
        return Some("write one `/` between two names");
    }
    if class_beyond_ascii(glob) {
        return Some(
            "between `[` and `]` only ASCII is understood; write `{ä,ö}` for a choice of others",
        );
    }
    let dots = glob != "." && glob.split('/').any(|part| part == "." || part == "..");
    dots.then_some("write the path without `.` and `..`, absolute if it lies outside the workspace")
}

/// Whether a class holds a character of several bytes, of which globs would take each for one character.
fn class_beyond_ascii(glob: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for c in glob.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => inside = true,
            ']' => inside = false,
            c if inside && !c.is_ascii() => return true,
            _ => {}
        }
    }
    false
}
