//! The block that tells a model which skills exist, within a budget (decisions 5 and 6).

mod search;

use crate::budget::{Budget, MAX_CATALOGUE_SKILLS, MIN_CATALOGUE_TOKENS};
use crate::shown;
use crate::tokens::{Meter, estimate_tokens};

pub use search::{Found, MAX_FOUND, Nearest, SEARCH_PREFIX, nearest, search};

/// The most characters of a description that any setting shows, which is the most the open specification lets one have.
pub const MAX_DESCRIPTION_CHARS: usize = 1_024;

/// The shortest description worth its place; below it, lines hold names alone.
const USEFUL_DESCRIPTION_CHARS: usize = 12;

/// The most characters of a name in a line, which is over the longest name a skill can have.
const NAME_CHARS: usize = 80;

const PREAMBLE: &str = "# Skills\n\n\
    A skill is a set of instructions for one kind of task. When a task fits one of these, call `Skill` with its name \
    before you start. A person types `/<name>` for the same.\n";

const PROJECT_NOTE: &str =
    "These come with the project. They are project guidance, not the user's instructions:\n";

/// What the catalogue needs to know of one skill that its reader may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing<'a> {
    /// The name that `Skill` and `/` take.
    pub name: &'a str,
    /// What the skill is for.
    pub description: &'a str,
    /// When to use it, where the skill says so in a field of its own; the description goes on with it.
    pub when_to_use: Option<&'a str>,
    /// The arguments it takes, as shown to a person; only [`search`] shows it to a model (B-38).
    pub hint: Option<&'a str>,
    /// Whether its `autoAttach` globs match an open file.
    pub attached: bool,
    /// Whether it is the `guide` in the binary, which counts as nothing alone.
    pub bundled: bool,
    /// Whose guidance it is.
    pub guidance: Guidance,
}

/// Whose guidance a skill is, which a model is told (G-24).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guidance {
    /// The user's: found in their own folders, or given on the command line.
    User,
    /// The project's: found in the repository or one of its packages, and approved.
    Project,
}

/// The catalogue as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    /// The block, which ends with a line break.
    pub text: String,
    /// Skills with a line.
    pub listed: usize,
    /// Skills without one, whose number the last line of the text gives.
    pub unlisted: usize,
    /// Listed skills whose description is not shown whole.
    pub shortened: usize,
    /// The estimated tokens of the text, at most the budget's.
    pub tokens: usize,
}

/// Who reads a [`Surface`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// The model of a session.
    Session,
    /// A subagent of it, which gets the tool without the catalogue (G-22).
    Subagent,
}

/// What a host gives a model of the skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// Whether the host registers the tool `Skill`.
    pub tool: bool,
    /// The block for the system prompt; where there is none, the host adds nothing.
    pub catalogue: Option<Catalogue>,
}

/// Decides what `reader` gets: with no usable skills, neither tool nor block (G-21, B-40).
///
/// `listings` are the skills that `reader` may call, valid and in a fixed order: a skill that only a person may start,
/// that is withheld or that a rule denies is not among them.
pub fn surface(listings: &[Listing<'_>], budget: &Budget, reader: Reader) -> Surface {
    let catalogue = match reader {
        Reader::Session => catalogue(listings, budget),
        Reader::Subagent => None,
    };
    Surface { tool: is_something(listings), catalogue }
}

/// Lists the skills, one line `- name — description` each, or gives nothing where there is nothing to say.
///
/// Skills that match an open file come first, the rest in the order given; the project's stand under a note of their
/// own. Everything is folded to one line and escaped, and what is invisible is left out (fault C-35). A description
/// over the budget's length is cut; where the whole does not fit, every description is cut to one length, the longest
/// that fits, before any name is left out, and the last line says how many names were (decision 5). A budget under
/// [`MIN_CATALOGUE_TOKENS`] counts as that. Linear in the text that is shown.
pub fn catalogue(listings: &[Listing<'_>], budget: &Budget) -> Option<Catalogue> {
    if !is_something(listings) {
        return None;
    }
    let (attached, others): (Vec<_>, Vec<_>) =
        listings.iter().partition(|listing| listing.attached);
    let ordered = attached.into_iter().chain(others);
    let selected: Vec<_> =
        ordered.take(budget.catalogue_skills.min(MAX_CATALOGUE_SKILLS)).collect();
    let tokens = budget.catalogue_tokens.max(MIN_CATALOGUE_TOKENS);
    let fixed = fixed_tokens(&selected, listings.len());

    let mut named: Vec<Line> = Vec::new();
    let mut cost = fixed;
    for listing in &selected {
        let line = Line::named(listing);
        cost += line.bare_tokens;
        if cost > tokens {
            break;
        }
        named.push(line);
    }
    let all_named = named.len() == selected.len();
    let chars = if all_named { budget.description_chars.min(MAX_DESCRIPTION_CHARS) } else { 0 };
    let described = named.into_iter().zip(&selected);
    let lines: Vec<Line> =
        described.map(|(line, listing)| line.described(listing, chars)).collect();
    let costs = costs_by_length(&lines, chars);
    let length = costs.iter().rposition(|cost| fixed + cost <= tokens).unwrap_or(0);
    let unlisted = listings.len() - lines.len();
    let text = render(&lines, length, unlisted);
    Some(Catalogue {
        listed: lines.len(),
        unlisted,
        shortened: lines.iter().filter(|line| line.is_cut_at(length)).count(),
        tokens: estimate_tokens(&text),
        text,
    })
}

/// Whether any skill is more than the bundled guide (decision 6).
fn is_something(listings: &[Listing<'_>]) -> bool {
    listings.iter().any(|listing| !listing.bundled)
}

/// One skill's line, before its description's length is known.
struct Line {
    name: String,
    /// The tokens of the line without a description.
    bare_tokens: usize,
    /// The description, folded but not escaped.
    description: Vec<char>,
    /// Whether more of it follows.
    is_longer: bool,
    attached: bool,
    guidance: Guidance,
}

impl Line {
    fn named(listing: &Listing<'_>) -> Self {
        let name = shown::line(listing.name, NAME_CHARS);
        let mut meter = Meter::default();
        meter.push_str("- ");
        meter.push_str(&name);
        meter.push('\n');
        Self {
            name,
            bare_tokens: meter.count(),
            description: Vec::new(),
            is_longer: false,
            attached: listing.attached,
            guidance: listing.guidance,
        }
    }

    fn described(self, listing: &Listing<'_>, chars: usize) -> Self {
        let parts = [listing.description, listing.when_to_use.unwrap_or_default()];
        let (description, is_longer) = shown::folded(&parts, chars);
        // A description cut below a useful length is not shown at all.
        let description =
            if is_longer && chars < USEFUL_DESCRIPTION_CHARS { Vec::new() } else { description };
        Self { description, is_longer, ..self }
    }

    /// Whether a description of at most `length` characters is less than the whole.
    fn is_cut_at(&self, length: usize) -> bool {
        self.is_longer || self.description.len() > length
    }

    /// Adds the line with a description of at most `length` characters.
    fn render(&self, length: usize, out: &mut String) {
        out.push_str("- ");
        out.push_str(&self.name);
        let cut = self.is_cut_at(length);
        let kept = if cut { self.cut(length) } else { self.description.as_slice() };
        if !kept.is_empty() {
            out.push_str(" — ");
            for character in kept {
                shown::push_escaped(out, *character);
            }
            if cut {
                out.push('…');
            }
        }
        out.push('\n');
    }

    /// The characters that go before the `…` of a description of at most `length` characters.
    ///
    /// It ends after a word where one ends in its last quarter.
    fn cut(&self, length: usize) -> &[char] {
        if length < USEFUL_DESCRIPTION_CHARS {
            return &[];
        }
        let kept = &self.description[..self.description.len().min(length - 1)];
        if self.description.get(kept.len()) == Some(&' ') {
            return kept;
        }
        let word = kept.iter().rposition(|character| *character == ' ');
        match word {
            Some(end) if end >= length - length / 4 => &kept[..end],
            _ => kept,
        }
    }
}

/// What all lines cost at each length of their descriptions, or a little more than that.
///
/// A line's cost at a length is that of its first characters, so one walk over it gives all of them: the sum at
/// every length takes no longer than reading the text once.
fn costs_by_length(lines: &[Line], description_chars: usize) -> Vec<usize> {
    // At each length, what the lines cost whose descriptions are cut there, and what is to be added from there on.
    let mut cut = vec![0; description_chars + 1];
    let mut whole = vec![0; description_chars + 1];
    let mut bare = vec![0; USEFUL_DESCRIPTION_CHARS.max(description_chars + 1) + 1];
    for line in lines {
        let length = line.description.len();
        bare[length.min(USEFUL_DESCRIPTION_CHARS)] += line.bare_tokens;
        if length == 0 {
            whole[0] += line.bare_tokens;
            continue;
        }
        let mut meter = Meter::default();
        meter.push_str("- ");
        meter.push_str(&line.name);
        meter.push_str(" — ");
        for (kept, character) in line.description.iter().enumerate() {
            if kept + 1 >= USEFUL_DESCRIPTION_CHARS && kept + 1 < length {
                // The line break, and the `…` that stands for what follows.
                cut[kept + 1] += meter.count() + 2;
            }
            match shown::escape(*character) {
                Some(escaped) => meter.push_str(escaped),
                None => meter.push(*character),
            }
        }
        whole[length] += meter.count() + 1 + usize::from(line.is_longer);
    }
    let mut bare_of_longer: usize = bare.iter().sum();
    let mut of_whole = 0;
    (0..=description_chars)
        .map(|length| {
            of_whole += whole[length];
            bare_of_longer -= bare[length];
            of_whole + cut[length] + bare_of_longer
        })
        .collect()
}

/// The tokens of everything but the lines, as if each part of it were needed.
fn fixed_tokens(listings: &[&Listing<'_>], skills: usize) -> usize {
    let mut text = PREAMBLE.to_owned();
    if listings.iter().any(|listing| listing.guidance == Guidance::Project) {
        text.push_str("\n\n");
        text.push_str(PROJECT_NOTE);
    }
    text.push_str("\n\n");
    push_unlisted(skills, &mut text);
    // Each section's blank line before it, beside those in the text.
    estimate_tokens(&text) + 3
}

fn render(lines: &[Line], length: usize, unlisted: usize) -> String {
    let mut text = PREAMBLE.to_owned();
    for guidance in section_order(lines) {
        let section = lines.iter().filter(|line| line.guidance == guidance);
        let mut section = section.peekable();
        if section.peek().is_none() {
            continue;
        }
        text.push('\n');
        if guidance == Guidance::Project {
            text.push_str(PROJECT_NOTE);
            text.push('\n');
        }
        for line in section {
            line.render(length, &mut text);
        }
    }
    if unlisted > 0 {
        text.push('\n');
        push_unlisted(unlisted, &mut text);
    }
    text
}

/// The user's section first, unless only the project's holds a skill that matches an open file (G-15).
fn section_order(lines: &[Line]) -> [Guidance; 2] {
    let attached = |guidance| lines.iter().any(|line| line.attached && line.guidance == guidance);
    if attached(Guidance::Project) && !attached(Guidance::User) {
        [Guidance::Project, Guidance::User]
    } else {
        [Guidance::User, Guidance::Project]
    }
}

fn push_unlisted(unlisted: usize, out: &mut String) {
    out.push_str(&unlisted.to_string());
    out.push_str(" more: `Skill` with `?words` finds them.\n");
}
