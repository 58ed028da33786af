//! A text file as lines that know whether they are code, which is all of Markdown the checks need.

use super::findings::Place;

/// What kind of text a file holds, told by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Markdown: code stands in fences and between backticks.
    Markdown,
    /// A shell script: every line is commands.
    Shell,
    /// Any other text.
    Other,
}

/// A text file of a skill.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t> {
    /// The path relative to the skill, with `/` between segments.
    pub(super) file: &'t str,
    /// What it holds.
    pub(super) content: &'t str,
    /// How many lines at its start are frontmatter.
    pub(super) frontmatter: u32,
}

/// How a line is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Running text, in which backticks mark code.
    Prose,
    /// Code or commands throughout.
    Code,
    /// Neither: frontmatter, a fence, or a file that is no Markdown and no shell script.
    Plain,
}

/// One line without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// The number, from 1.
    pub(super) number: u32,
    /// The characters.
    pub(super) text: &'t str,
    /// How to read them.
    pub(super) role: Role,
}

impl<'t> Text<'t> {
    /// What the file's name says of it.
    pub(super) fn kind(&self) -> Kind {
        let extension = self.file.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
        match extension.map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
            Some("md" | "markdown" | "mdx") => Kind::Markdown,
            Some("sh" | "bash" | "zsh") => Kind::Shell,
            _ => Kind::Other,
        }
    }

    /// The lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'t>> + use<'t> {
        let (kind, frontmatter) = (self.kind(), self.frontmatter);
        let mut fence: Option<(char, usize)> = None;
        (1_u32..).zip(split_lines(self.content)).map(move |(number, text)| {
            let role = match kind {
                _ if number <= frontmatter => Role::Plain,
                Kind::Shell => Role::Code,
                Kind::Other => Role::Plain,
                Kind::Markdown => markdown_role(text, &mut fence),
            };
            Line { number, text, role }
        })
    }

    /// The place of byte `offset` of `line`.
    pub(super) fn place(&self, line: &Line<'_>, offset: usize) -> Place<'t> {
        let before = line.text.get(..offset).unwrap_or(line.text).chars().count();
        Place::at(
            self.file,
            line.number,
            u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
        )
    }
}

impl<'t> Line<'t> {
    /// The pieces of code in the line, each with the byte it begins at.
    pub(super) fn code(&self) -> Vec<(usize, &'t str)> {
        match self.role {
            Role::Code => vec![(0, self.text)],
            Role::Prose => code_spans(self.text),
            Role::Plain => Vec::new(),
        }
    }
}

/// Splits at LF, CRLF and lone CR, as [`crate::Position`] counts lines.
pub(super) fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else {
            rest = None;
            return (!text.is_empty()).then_some(text);
        };
        let after = &text[end..];
        rest = Some(after.strip_prefix("\r\n").unwrap_or(&after[1..]));
        Some(&text[..end])
    })
}

fn markdown_role(text: &str, fence: &mut Option<(char, usize)>) -> Role {
    let trimmed = text.trim_start();
    let run = |mark: char| trimmed.chars().take_while(|c| *c == mark).count();
    if let Some((mark, length)) = *fence {
        if run(mark) >= length && trimmed.trim_end().chars().all(|c| c == mark) {
            *fence = None;
            return Role::Plain;
        }
        return Role::Code;
    }
    for mark in ['`', '~'] {
        let length = run(mark);
        // A backtick in the info string makes it a code span that is written with three backticks.
        if length >= 3 && !(mark == '`' && trimmed[length..].contains('`')) {
            *fence = Some((mark, length));
            return Role::Plain;
        }
    }
    Role::Prose
}

fn code_spans(line: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = line[at..].find('`') {
        let open = at + found;
        let ticks = line[open..].bytes().take_while(|b| *b == b'`').count();
        let start = open + ticks;
        match closing_run(line, start, ticks) {
            Some(end) => {
                spans.push((start, &line[start..end]));
                at = end + ticks;
            }
            None => at = start,
        }
    }
    spans
}

/// The start of the next run of exactly `ticks` backticks.
fn closing_run(line: &str, start: usize, ticks: usize) -> Option<usize> {
    let mut at = start;
    while let Some(found) = line[at..].find('`') {
        let open = at + found;
        let run = line[open..].bytes().take_while(|b| *b == b'`').count();
        if run == ticks {
            return Some(open);
        }
        at = open + run;
    }
    None
}
