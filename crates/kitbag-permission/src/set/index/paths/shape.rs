//! One glob as a small tree: what it matches, and which texts a path must hold for it to match.

mod text;

use globset::Glob;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

pub(super) use text::Text;

/// The most texts of which a path must hold one, and the most globs without braces that one with braces is taken for.
const MAX_NEEDLES: usize = 16;

/// What a glob matches. A tree of fewer kinds than expressions have, since globs need no others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// These bytes.
    Literal(Box<[u8]>),
    /// One of these bytes.
    One(Bytes),
    /// Any number of these bytes.
    Many(Bytes),
    /// It or nothing.
    Maybe(Box<Self>),
    /// One after the other.
    Each(Vec<Self>),
    /// One of them.
    Either(Vec<Self>),
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Bytes([u64; 4]);

impl Shape {
    /// Reads the very expression that stands for the glob; nothing where it holds more than a shape can say.
    pub(super) fn of(glob: &Glob) -> Option<Self> {
        let mut parser = ParserBuilder::new().utf8(false).dot_matches_new_line(true).build();
        let hir = parser.parse(glob.regex()).ok()?;
        let HirKind::Concat(parts) = hir.kind() else { return None };
        let [first, middle @ .., last] = parts.as_slice() else { return None };
        let anchored =
            *first.kind() == HirKind::Look(Look::Start) && *last.kind() == HirKind::Look(Look::End);
        anchored.then(|| middle.iter().map(Self::read).collect::<Option<_>>().map(Self::Each))?
    }

    fn read(hir: &Hir) -> Option<Self> {
        let all = |parts: &[Hir]| parts.iter().map(Self::read).collect::<Option<Vec<_>>>();
        match hir.kind() {
            HirKind::Empty => Some(Self::Literal(Box::default())),
            HirKind::Literal(text) => Some(Self::Literal(text.0.clone())),
            HirKind::Class(class) => Bytes::read(class).map(Self::One),
            HirKind::Repetition(repeated) => match (repeated.min, repeated.max) {
                (0, Some(1)) => Some(Self::Maybe(Box::new(Self::read(&repeated.sub)?))),
                (0, None) => match Self::read(&repeated.sub)? {
                    Self::One(bytes) => Some(Self::Many(bytes)),
                    _ => None,
                },
                _ => None,
            },
            HirKind::Concat(parts) => all(parts).map(Self::Each),
            HirKind::Alternation(parts) => all(parts).map(Self::Either),
            HirKind::Look(_) | HirKind::Capture(_) => None,
        }
    }

    /// The same with each of its short lists of texts taken apart: all of these together match what it matches.
    pub(super) fn alternatives(self) -> Vec<Self> {
        let Self::Each(parts) = self else { return vec![self] };
        let mut all: Vec<Vec<Self>> = vec![Vec::new()];
        for part in parts {
            let texts = part.texts().filter(|texts| all.len() * texts.len() <= MAX_NEEDLES);
            let choices = match texts {
                Some(texts) => texts.into_iter().map(|text| Self::Literal(text.into())).collect(),
                None => vec![part],
            };
            let longer = |before: &Vec<Self>| -> Vec<Vec<Self>> {
                let one = |choice| [&**before, std::slice::from_ref(choice)].concat();
                choices.iter().map(one).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all.into_iter().map(Self::Each).collect()
    }

    /// Every list of texts of which each path that it matches holds one: what stands between its wildcards.
    pub(super) fn needles(&self) -> Vec<Vec<Vec<u8>>> {
        let parts = match self {
            Self::Each(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut found = Vec::new();
        let mut run = vec![Vec::new()];
        for part in parts {
            match part.texts().map(|texts| (run.len() * texts.len() <= MAX_NEEDLES, texts)) {
                Some((true, texts)) => run = product(&run, &texts),
                Some((false, texts)) => found.push(std::mem::replace(&mut run, texts)),
                None => found.push(std::mem::replace(&mut run, vec![Vec::new()])),
            }
        }
        found.push(run);
        found.retain(|run| run.iter().all(|text| !text.is_empty()));
        found
    }

    /// All that it matches, if that is a short list.
    fn texts(&self) -> Option<Vec<Vec<u8>>> {
        let texts = match self {
            Self::Literal(text) => vec![text.to_vec()],
            Self::One(bytes) => bytes.list(MAX_NEEDLES)?.into_iter().map(|b| vec![b]).collect(),
            Self::Many(_) => return None,
            Self::Maybe(part) => [vec![Vec::new()], part.texts()?].concat(),
            Self::Each(parts) => {
                let mut run = vec![Vec::new()];
                for part in parts {
                    run = product(&run, &part.texts()?);
                    if run.len() > MAX_NEEDLES {
                        return None;
                    }
                }
                run
            }
            Self::Either(parts) => {
                parts.iter().map(Self::texts).collect::<Option<Vec<_>>>()?.concat()
            }
        };
        (texts.len() <= MAX_NEEDLES).then_some(texts)
    }
}

impl Bytes {
    fn read(class: &Class) -> Option<Self> {
        let Class::Bytes(class) = class else { return None };
        let mut set = [0; 4];
        for byte in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
            set[usize::from(byte) / 64] |= 1 << (byte % 64);
        }
        Some(Self(set))
    }

    fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte) / 64] >> (byte % 64) & 1 == 1
    }

    fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn iter(self) -> impl Iterator<Item = u8> {
        (0..4_u8).flat_map(move |at| {
            let mut word = self.0[usize::from(at)];
            std::iter::from_fn(move || {
                let bit = u8::try_from(word.trailing_zeros()).ok().filter(|&bit| bit < 64)?;
                word &= word - 1;
                Some(at * 64 + bit)
            })
        })
    }

    fn list(self, most: usize) -> Option<Vec<u8>> {
        (self.count() as usize <= most).then(|| self.iter().collect())
    }
}

/// Every text of the first list before every one of the second.
fn product(first: &[Vec<u8>], second: &[Vec<u8>]) -> Vec<Vec<u8>> {
    first.iter().flat_map(|one| second.iter().map(|two| [&**one, two].concat())).collect()
}
