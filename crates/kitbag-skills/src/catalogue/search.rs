//! Finding a skill that the catalogue does not list, or that was named wrongly (decisions 5 and 7).

use std::cmp::Reverse;
use std::fmt;

use crate::budget::DESCRIPTION_CHARS;
use crate::shown;

use super::{Guidance, Listing, NAME_CHARS, PROJECT_NOTE};

/// The character that makes a name given to `Skill` a search.
pub const SEARCH_PREFIX: char = '?';

/// The most skills that one search shows.
pub const MAX_FOUND: usize = 20;

/// The most words of a search that count.
const MAX_WORDS: usize = 16;

/// The most characters of a name that are compared.
const COMPARED_CHARS: usize = 64;

/// The most characters of an argument hint that are shown.
const HINT_CHARS: usize = 60;

/// What [`search`] found, which `Display` writes as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// What was looked for.
    pub words: &'a str,
    /// The best matches first, at most [`MAX_FOUND`].
    pub shown: Vec<Listing<'a>>,
    /// How many match in all.
    pub matching: usize,
    /// How many were looked through.
    pub total: usize,
}

/// Finds the skills whose name or description holds `words`, best first.
///
/// Case does not count, nor does the order of the words. A skill that holds more of the words comes before one that
/// holds fewer, then a name before a description, then the order given. No words find every skill.
pub fn search<'a>(listings: &[Listing<'a>], words: &'a str) -> Found<'a> {
    let wanted: Vec<String> =
        words.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect();
    let mut scored: Vec<_> = listings
        .iter()
        .map(|listing| (Score::of(listing, &wanted), listing))
        .filter(|(score, _)| wanted.is_empty() || score.words > 0)
        .collect();
    scored.sort_by_key(|(score, _)| Reverse(*score));
    Found {
        words,
        matching: scored.len(),
        shown: scored.into_iter().take(MAX_FOUND).map(|(_, listing)| *listing).collect(),
        total: listings.len(),
    }
}

/// How well a skill answers a search; the fields in the order of their weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    words: usize,
    whole_names: usize,
    in_name: usize,
}

impl Score {
    fn of(listing: &Listing<'_>, wanted: &[String]) -> Self {
        let name = listing.name.to_lowercase();
        let description = listing.description.to_lowercase();
        let when = listing.when_to_use.unwrap_or_default().to_lowercase();
        let mut score = Self { words: 0, whole_names: 0, in_name: 0 };
        for word in wanted {
            let in_name = name.contains(word.as_str());
            score.in_name += usize::from(in_name);
            score.whole_names += usize::from(name == *word);
            score.words +=
                usize::from(in_name || description.contains(word) || when.contains(word));
        }
        score
    }
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = shown::name(self.words.trim());
        if self.shown.is_empty() {
            return writeln!(f, "None of {} skills matches {words}.", self.total);
        }
        match self.words.trim() {
            "" => writeln!(f, "There are {} skills:", self.total)?,
            _ => writeln!(f, "{} of {} skills match {words}:", self.matching, self.total)?,
        }
        for guidance in [Guidance::User, Guidance::Project] {
            let mut section =
                self.shown.iter().filter(|listing| listing.guidance == guidance).peekable();
            if section.peek().is_none() {
                continue;
            }
            f.write_str("\n")?;
            if guidance == Guidance::Project {
                writeln!(f, "{PROJECT_NOTE}")?;
            }
            for listing in section {
                write!(f, "- {}", shown::line(listing.name, NAME_CHARS))?;
                if let Some(hint) = listing.hint {
                    write!(f, " {}", shown::line(hint, HINT_CHARS))?;
                }
                writeln!(f, " — {}", shown::line(listing.description, DESCRIPTION_CHARS))?;
            }
        }
        let more = self.matching - self.shown.len();
        if more > 0 {
            writeln!(f, "\n{more} more match: add words to narrow the search.")?;
        }
        Ok(())
    }
}

/// The names nearest to one that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest<'a> {
    /// The nearest first; of equally near ones the order of the alphabet.
    pub names: Vec<&'a str>,
    /// How many names exist.
    pub total: usize,
}

/// Finds the `most` names that are nearest to `name`.
///
/// A name that differs only in case, or of which one is part of the other, is nearer than one that differs in letters;
/// those count by the letters to change, add, drop or swap. At most 64 characters of a name are compared.
pub fn nearest<'a>(name: &str, names: &[&'a str], most: usize) -> Nearest<'a> {
    let wanted = Compared::of(name);
    let mut ranked: Vec<_> =
        names.iter().map(|name| (wanted.distance(&Compared::of(name)), *name)).collect();
    ranked.sort_unstable();
    Nearest {
        names: ranked.into_iter().take(most).map(|(_, name)| name).collect(),
        total: names.len(),
    }
}

struct Compared {
    text: String,
    characters: Vec<char>,
}

impl Compared {
    fn of(name: &str) -> Self {
        let characters: Vec<char> =
            name.trim().chars().take(COMPARED_CHARS).flat_map(char::to_lowercase).collect();
        Self { text: characters.iter().collect(), characters }
    }

    /// The kind of difference, then the size of it.
    fn distance(&self, other: &Self) -> (u8, usize) {
        let part =
            |part: &Self, whole: &Self| !part.text.is_empty() && whole.text.contains(&part.text);
        if self.text == other.text {
            (0, 0)
        } else if part(self, other) || part(other, self) {
            (1, self.characters.len().abs_diff(other.characters.len()))
        } else {
            (2, edits(&self.characters, &other.characters))
        }
    }
}

/// The letters to change, add, drop or swap with their neighbour to make `one` of `other`.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=other.len()).collect();
    for (row, left) in one.iter().enumerate() {
        let mut current = Vec::with_capacity(other.len() + 1);
        current.push(row + 1);
        for (column, right) in other.iter().enumerate() {
            let changed = previous[column] + usize::from(left != right);
            let mut best = changed.min(previous[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *right && *left == other[column - 1] {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[other.len()]
}
