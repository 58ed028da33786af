//! A path, made ready to be compared with many shapes.

use std::cell::RefCell;

use super::{Bytes, Shape};

/// The most bytes of a path whose positions are the bits of one number.
const MAX_BITS: usize = 127;

/// The most sets of bytes whose positions are kept.
const MAX_SETS: usize = 32;

/// A path, and the positions in it by what stands there.
pub(in super::super) struct Text<'a> {
    path: &'a [u8],
    /// Nothing for a longer path than [`MAX_BITS`].
    bits: Option<Bits<'a>>,
}

/// Positions in ascending order.
type Ends = Vec<usize>;

impl<'a> Text<'a> {
    pub(in super::super) fn new(path: &'a [u8]) -> Self {
        let bits = (path.len() <= MAX_BITS).then(|| {
            let mut by_byte = Box::new([0; 256]);
            for (at, &byte) in path.iter().enumerate() {
                by_byte[usize::from(byte)] |= 1 << at;
            }
            Bits { path, by_byte, by_set: RefCell::default() }
        });
        Self { path, bits }
    }

    /// Whether the shape matches the whole path. Linear in the path for each part of the shape, and never more.
    pub(in super::super) fn is(&self, shape: &Shape) -> bool {
        let length = self.path.len();
        match &self.bits {
            Some(bits) => bits.ends(shape, 1) >> length & 1 == 1,
            None => ends(shape, self.path, &[0]).last() == Some(&length),
        }
    }
}

/// Sets of positions as bits of one number.
struct Bits<'a> {
    path: &'a [u8],
    by_byte: Box<[u128; 256]>,
    /// What was asked for so far; globs share their few sets of bytes.
    by_set: RefCell<Vec<(Bytes, u128)>>,
}

impl Bits<'_> {
    /// Where a part may end that begins at one of the positions.
    fn ends(&self, shape: &Shape, from: u128) -> u128 {
        match shape {
            Shape::Literal(text) if text.len() > self.path.len() => 0,
            Shape::Literal(text) => {
                let mut fits = from;
                for (by, &byte) in text.iter().enumerate() {
                    fits &= self.by_byte[usize::from(byte)] >> by;
                    if fits == 0 {
                        return 0;
                    }
                }
                fits << text.len()
            }
            Shape::One(bytes) => (from & self.of(*bytes)) << 1,
            Shape::Many(bytes) => {
                // The carry of the sum runs through every position that the bytes go on at.
                let on = self.of(*bytes);
                ((from & on).wrapping_add(on) ^ on) | from
            }
            Shape::Maybe(part) => from | self.ends(part, from),
            Shape::Each(parts) => parts
                .iter()
                .fold(from, |from, part| if from == 0 { 0 } else { self.ends(part, from) }),
            Shape::Either(parts) => parts.iter().fold(0, |ends, part| ends | self.ends(part, from)),
        }
    }

    /// The positions at which one of the bytes stands.
    fn of(&self, bytes: Bytes) -> u128 {
        let mut by_set = self.by_set.borrow_mut();
        if let Some(&(_, positions)) = by_set.iter().find(|(known, _)| *known == bytes) {
            return positions;
        }
        let fits = self.path.iter().enumerate().filter(|&(_, &byte)| bytes.has(byte));
        let positions = fits.fold(0, |positions, (at, _)| positions | 1 << at);
        if by_set.len() < MAX_SETS {
            by_set.push((bytes, positions));
        }
        positions
    }
}

/// The same for a path of any length.
fn ends(shape: &Shape, path: &[u8], from: &[usize]) -> Ends {
    match shape {
        Shape::Literal(text) => {
            let fits = from.iter().filter(|&&at| path[at..].starts_with(text));
            fits.map(|at| at + text.len()).collect()
        }
        Shape::One(bytes) => {
            let fits = from.iter().filter(|&&at| path.get(at).is_some_and(|&b| bytes.has(b)));
            fits.map(|at| at + 1).collect()
        }
        Shape::Many(bytes) => {
            let mut ends: Ends = Vec::new();
            for &start in from {
                if ends.last().is_some_and(|&last| last >= start) {
                    continue;
                }
                let run = path[start..].iter().take_while(|&&b| bytes.has(b)).count();
                ends.extend(start..=start + run);
            }
            ends
        }
        Shape::Maybe(part) => union(&[from.to_vec(), ends(part, path, from)]),
        Shape::Each(parts) => parts.iter().fold(from.to_vec(), |from, part| {
            if from.is_empty() { from } else { ends(part, path, &from) }
        }),
        Shape::Either(parts) => {
            let each: Vec<Ends> = parts.iter().map(|part| ends(part, path, from)).collect();
            union(&each)
        }
    }
}

fn union(lists: &[Ends]) -> Ends {
    let mut all = lists.concat();
    all.sort_unstable();
    all.dedup();
    all
}
