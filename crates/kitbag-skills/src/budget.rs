//! How much of the skills a model is shown, by the size of its context window (decision 5).

/// The largest context window, in tokens, that counts as small.
pub const SMALL_WINDOW: u64 = 32_768;

/// Skills in the catalogue of a small window.
pub const SMALL_CATALOGUE_SKILLS: usize = 12;

/// The most skills that any catalogue lists.
pub const MAX_CATALOGUE_SKILLS: usize = 10_000;

/// Tokens of the catalogue of a small window, where that is no more than a sixteenth of it.
const SMALL_CATALOGUE_TOKENS: u64 = 1_024;

/// The least tokens a catalogue is given, which hold its preamble and the line that says what is not listed.
pub const MIN_CATALOGUE_TOKENS: usize = 128;

/// Characters of a description that are shown.
pub const DESCRIPTION_CHARS: usize = 250;

const SMALL_BODY_CHARS: u64 = 6_000;
const LARGE_BODY_CHARS: u64 = 20_000;
const SMALL_RESOURCE_CHARS: u64 = 12_000;
const LARGE_RESOURCE_CHARS: u64 = 40_000;

/// The bounds on what one model is shown of skills; each is a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Skills that the catalogue lists, at most [`MAX_CATALOGUE_SKILLS`].
    pub catalogue_skills: usize,
    /// Estimated tokens of the catalogue in all, at least [`MIN_CATALOGUE_TOKENS`].
    pub catalogue_tokens: usize,
    /// Characters of a description in the catalogue.
    pub description_chars: usize,
    /// Characters of a skill's body in one answer.
    pub body_chars: usize,
    /// Characters of a bundled file in one answer.
    pub resource_chars: usize,
}

impl Budget {
    /// The budget for a context window of `tokens` (decision 5; G-9, G-10, G-14).
    ///
    /// At [`SMALL_WINDOW`] and below: 12 skills, a body 6,000 characters, a resource 12,000. Above, the catalogue is
    /// 2 % of the window, and a body grows in proportion to 20,000 characters, a resource to 40,000.
    pub fn for_window(tokens: u64) -> Self {
        let grown = |small: u64, large: u64| {
            let proportional =
                u128::from(small) * u128::from(tokens.max(SMALL_WINDOW)) / u128::from(SMALL_WINDOW);
            count(proportional.min(u128::from(large)))
        };
        let small = tokens <= SMALL_WINDOW;
        let catalogue = if small {
            SMALL_CATALOGUE_TOKENS.min(tokens / 16)
        } else {
            SMALL_CATALOGUE_TOKENS.max(tokens / 50)
        };
        Self {
            catalogue_skills: if small { SMALL_CATALOGUE_SKILLS } else { MAX_CATALOGUE_SKILLS },
            catalogue_tokens: count(u128::from(catalogue)).max(MIN_CATALOGUE_TOKENS),
            description_chars: DESCRIPTION_CHARS,
            body_chars: grown(SMALL_BODY_CHARS, LARGE_BODY_CHARS),
            resource_chars: grown(SMALL_RESOURCE_CHARS, LARGE_RESOURCE_CHARS),
        }
    }
}

fn count(number: u128) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
