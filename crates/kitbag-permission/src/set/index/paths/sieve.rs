//! Many globs at once: only those whose texts a path holds are compared with it.

use std::cmp::Reverse;
use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::shape::{Shape, Text};

/// The most globs that may hang on one text; past it a path that holds the text would be compared with too many.
const MAX_SHARED: usize = 32;

/// Globs by the texts that must be in a path for them to match.
#[derive(Debug, Clone, Default)]
pub(super) struct Sieve {
    needles: Option<AhoCorasick>,
    /// Numbers of shapes, by number of the needle.
    hanging: Vec<Vec<usize>>,
    shapes: Vec<Sieved>,
    /// Those without a text of their own, which are compared with every path.
    rest: Vec<Sieved>,
}

/// A shape, and the numbers of the globs that match what it matches.
#[derive(Debug, Clone)]
struct Sieved {
    shape: Shape,
    globs: Vec<usize>,
}

/// The texts to look for while they are gathered.
#[derive(Default)]
struct Needles {
    texts: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
    hanging: Vec<Vec<usize>>,
}

impl Sieve {
    /// Hangs every glob on texts that few others hold.
    pub(super) fn build(shapes: Vec<Shape>) -> Self {
        let mut needles = Needles::default();
        let mut kept = Vec::new();
        let all = shapes.into_iter().enumerate();
        let all = all.map(|(number, shape)| Sieved { shape, globs: vec![number] }).collect();
        let common = needles.hang(all, &mut kept);
        // Of `*.{rs,a}` and `*.{rs,b}` the first half is one and the same, and the second says which is which.
        let mut split: HashMap<Shape, Vec<usize>> = HashMap::new();
        for Sieved { shape, globs } in common {
            for one in shape.alternatives() {
                split.entry(one).or_default().extend(&globs);
            }
        }
        let split = split.into_iter().map(|(shape, globs)| Sieved { shape, globs }).collect();
        let mut rest = needles.hang(split, &mut kept);
        // The plainest automaton is made fastest, and paths are short.
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        let automaton = AhoCorasick::builder().kind(kind).build(&needles.texts).ok();
        if automaton.is_none() {
            rest.append(&mut kept);
        }
        let automaton = automaton.filter(|_| !needles.texts.is_empty());
        Self { needles: automaton, hanging: needles.hanging, shapes: kept, rest }
    }

    /// Calls `hit` with each glob that matches the path, maybe more than once; only those are compared that `asked` wants.
    pub(super) fn find(
        &self,
        path: &[u8],
        asked: impl Fn(usize) -> bool,
        mut hit: impl FnMut(usize),
    ) {
        let text = Text::new(path);
        let mut compare = |Sieved { shape, globs }: &Sieved| {
            if globs.iter().any(|&glob| asked(glob)) && text.is(shape) {
                globs.iter().filter(|&&glob| asked(glob)).for_each(|&glob| hit(glob));
            }
        };
        self.rest.iter().for_each(&mut compare);
        let Some(needles) = &self.needles else { return };
        let mut seen_needles = vec![false; self.hanging.len()];
        let mut seen = vec![false; self.shapes.len()];
        for found in needles.find_overlapping_iter(path) {
            let needle = found.pattern().as_usize();
            if std::mem::replace(&mut seen_needles[needle], true) {
                continue;
            }
            for &number in &self.hanging[needle] {
                if !std::mem::replace(&mut seen[number], true) {
                    compare(&self.shapes[number]);
                }
            }
        }
    }
}

impl Needles {
    /// Hangs each shape on those of its texts that fewest others hold, and gives back those that have none.
    fn hang(&mut self, shapes: Vec<Sieved>, kept: &mut Vec<Sieved>) -> Vec<Sieved> {
        let runs: Vec<Vec<Vec<Vec<u8>>>> = shapes.iter().map(|one| one.shape.needles()).collect();
        let mut shared: HashMap<&[u8], usize> = HashMap::new();
        for text in runs.iter().flatten().flatten() {
            *shared.entry(text).or_default() += 1;
        }
        let mut common = Vec::new();
        for (one, runs) in shapes.into_iter().zip(&runs) {
            let most = |run: &[Vec<u8>]| run.iter().map(|text| shared[&**text]).max();
            let shortest = |run: &[Vec<u8>]| run.iter().map(Vec::len).min();
            let best = runs.iter().min_by_key(|run| (most(run), Reverse(shortest(run))));
            let Some(best) = best.filter(|run| most(run) <= Some(MAX_SHARED)) else {
                common.push(one);
                continue;
            };
            for text in best {
                let needle = *self.numbers.entry(text.clone()).or_insert_with(|| {
                    self.texts.push(text.clone());
                    self.hanging.push(Vec::new());
                    self.texts.len() - 1
                });
                self.hanging[needle].push(kept.len());
            }
            kept.push(one);
        }
        common
    }
}
