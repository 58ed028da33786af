//! An estimate of what a text costs a model, from the text alone.

/// Letters of a Latin word that one token holds.
const LETTERS_A_TOKEN: u32 = 8;

/// Letters of a word in another alphabet that one token holds.
const OTHER_LETTERS_A_TOKEN: u32 = 3;

/// Digits of a number that one token holds.
const DIGITS_A_TOKEN: u32 = 3;

/// Punctuation characters in a row that one token holds.
const MARKS_A_TOKEN: u32 = 2;

/// Estimates how many tokens a model counts for `text`.
///
/// The estimate knows no vocabulary: it counts words, numbers, marks and line breaks by the lengths that byte-pair
/// vocabularies give them, one per character where a script writes no spaces. Expect it within a quarter of a
/// provider's count for English and code; show it with `~`. One pass, no allocation.
pub fn estimate_tokens(text: &str) -> usize {
    let mut meter = Meter::default();
    for character in text.chars() {
        meter.push(character);
    }
    meter.count()
}

/// Whether `character` belongs to a script that sets words side by side without spaces.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// What the last character was, as far as the next one's cost depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Run {
    #[default]
    Nothing,
    Lower,
    Upper,
    OtherLetters,
    Digits,
    Marks,
    Blanks,
    Breaks,
}

/// Counts tokens character by character.
///
/// The count never falls, and after a line break it does not depend on what came before: the cost of a text is the
/// sum of the costs of its lines. The catalogue's budget rests on both.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    count: usize,
    run: Run,
    length: u32,
}

impl Meter {
    /// The tokens of what was pushed.
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Counts every character of `text`.
    pub(crate) fn push_str(&mut self, text: &str) {
        for character in text.chars() {
            self.push(character);
        }
    }

    /// Counts one character.
    pub(crate) fn push(&mut self, character: char) {
        match character {
            'a'..='z' if self.run == Run::Upper => {
                self.run = Run::Lower;
                self.lengthen(LETTERS_A_TOKEN);
            }
            'a'..='z' => self.extend(Run::Lower, LETTERS_A_TOKEN),
            'A'..='Z' => self.extend(Run::Upper, LETTERS_A_TOKEN),
            '0'..='9' => self.extend(Run::Digits, DIGITS_A_TOKEN),
            '\n' | '\r' => self.extend(Run::Breaks, u32::MAX),
            ' ' | '\t' => {
                // The first blank belongs to the word behind it; a row of them, as in indented code, is a token.
                let second = self.run == Run::Blanks && self.length == 1;
                self.length =
                    if self.run == Run::Blanks { self.length.saturating_add(1) } else { 1 };
                self.run = Run::Blanks;
                self.count += usize::from(second);
            }
            // Vocabularies join an underscore to the word behind it.
            '_' if matches!(self.run, Run::Lower | Run::Upper) => self.run = Run::Nothing,
            character if character.is_ascii() => self.extend(Run::Marks, MARKS_A_TOKEN),
            character if is_unspaced(character) => self.single(1),
            character if character.is_alphabetic() => {
                self.extend(Run::OtherLetters, OTHER_LETTERS_A_TOKEN);
            }
            '\u{1f000}'.. => self.single(2),
            _ => self.single(1),
        }
    }

    fn single(&mut self, tokens: usize) {
        self.run = Run::Nothing;
        self.count += tokens;
    }

    fn extend(&mut self, run: Run, a_token: u32) {
        if self.run == run {
            self.lengthen(a_token);
        } else {
            (self.run, self.length) = (run, 1);
            self.count += 1;
        }
    }

    fn lengthen(&mut self, a_token: u32) {
        self.length += 1;
        if self.length > a_token {
            self.length = 1;
            self.count += 1;
        }
    }
}
