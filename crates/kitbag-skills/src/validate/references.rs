//! What a skill's text refers to: files that must exist, and places it should not lead to.

use std::path::Path;

use super::findings::{Findings, Place, shown};
use super::lines::{Kind, Line, Role, Text};
use super::rules;

/// The most characters of a reference that are looked at; a longer one is no path.
const MAX_REFERENCE_CHARS: usize = 512;

/// The most references of one file that are looked up on disk.
const MAX_LOOKUPS: usize = 500;

/// The directories that the specification names: a path in code that begins with one means the skill's own.
const OWN_DIRECTORIES: [&str; 3] = ["scripts/", "references/", "assets/"];

/// Home directories that stand for anybody's, or that an image or a CI service has.
const COMMON_HOMES: [&str; 16] = [
    "you",
    "me",
    "yourname",
    "your-name",
    "name",
    "alice",
    "public",
    "runner",
    "ubuntu",
    "node",
    "vscode",
    "app",
    "agent",
    "claude",
    "root",
    "linuxbrew",
];

/// Reports references that lead out of `directory`, that name somebody's own machine, or that lead to nothing.
pub(super) fn check(text: &Text<'_>, directory: &Path, findings: &mut Findings) {
    let mut seen = Seen { directory, lookups: 0 };
    let markdown = text.kind() == Kind::Markdown;
    for line in text.lines() {
        host_paths(text, &line, findings);
        if !markdown {
            continue;
        }
        if line.role == Role::Prose {
            for (at, target) in link_targets(&line) {
                seen.link(text, text.place(&line, at), target, findings);
            }
        }
        for (at, code) in line.code() {
            let single = code.split_whitespace().count() == 1;
            for (offset, word) in code_words(code) {
                let place = text.place(&line, at + offset);
                if line.role == Role::Prose && single && climbs(word) {
                    seen.look(text, place, word, findings);
                }
                let own = word.strip_prefix("./").unwrap_or(word);
                if OWN_DIRECTORIES.iter().any(|name| own.starts_with(name)) && has_extension(own) {
                    seen.look(text, place, own, findings);
                }
            }
        }
    }
}

struct Seen<'d> {
    directory: &'d Path,
    lookups: usize,
}

impl Seen<'_> {
    fn link(&mut self, text: &Text<'_>, place: Place<'_>, target: &str, findings: &mut Findings) {
        let outside = target.starts_with('/') && !target.starts_with("//")
            || target.starts_with("~/")
            || target.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
        if outside {
            escape(place, target, findings);
        } else if !target.starts_with("//") && !has_scheme(target) {
            let target = target.split(['#', '?']).next().unwrap_or(target);
            self.look(text, place, &percent_decoded(target), findings);
        }
    }

    /// Looks for a relative reference from the file's directory and, as the specification has it, from the skill's.
    fn look(&mut self, text: &Text<'_>, place: Place<'_>, target: &str, findings: &mut Findings) {
        if target.is_empty() || target.len() > MAX_REFERENCE_CHARS || is_placeholder(target) {
            return;
        }
        let own_directory = text.file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let from_file = resolved(own_directory, target);
        let from_skill = resolved("", target);
        let inside: Vec<String> = [from_file, from_skill].into_iter().flatten().collect();
        if inside.is_empty() {
            escape(place, target, findings);
            return;
        }
        if self.lookups >= MAX_LOOKUPS {
            return;
        }
        self.lookups += 1;
        if !inside.iter().any(|path| self.directory.join(path).exists()) {
            findings.once(
                &rules::REFERENCE_MISSING,
                place,
                format!("`{}` does not exist in the skill", shown(target)),
                "add the file, or correct the path; it is relative to the skill's directory",
            );
        }
    }
}

fn escape(place: Place<'_>, target: &str, findings: &mut Findings) {
    findings.once(
        &rules::REFERENCE_ESCAPE,
        place,
        format!("`{}` leads out of the skill's directory", shown(target)),
        "a skill is installed without what surrounds it: copy the file into the skill",
    );
}

/// `target` seen from `base`, without `.` and `..`; `None` if it climbs out.
fn resolved(base: &str, target: &str) -> Option<String> {
    let mut segments: Vec<&str> = base.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

fn host_paths(text: &Text<'_>, line: &Line<'_>, findings: &mut Findings) {
    for root in ["/Users/", "/home/", ":\\Users\\"] {
        let separator = if root.ends_with('\\') { '\\' } else { '/' };
        for (at, _) in line.text.match_indices(root) {
            let part_of_a_path = line.text[..at].chars().next_back().is_some_and(|c| {
                separator == '/' && (c.is_alphanumeric() || "/.~_-}>)*".contains(c))
            });
            let rest = &line.text[at + root.len()..];
            let Some((home, _)) = rest.split_once(separator) else { continue };
            let plain = home.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
            let lower = home.to_ascii_lowercase();
            let common = lower.contains("user")
                || !lower.contains(|c: char| c.is_ascii_alphanumeric())
                || COMMON_HOMES.contains(&lower.as_str());
            if part_of_a_path || !plain || common {
                continue;
            }
            findings.once(
                &rules::REFERENCE_HOST_PATH,
                text.place(line, at),
                format!(
                    "`{root}{}{separator}` is a directory on somebody's own machine",
                    shown(home)
                ),
                "write the path relative to the skill's directory, or take it as an argument",
            );
        }
    }
}

/// The targets of the links in a line of prose, those that stand in code left out.
fn link_targets<'t>(line: &Line<'t>) -> Vec<(usize, &'t str)> {
    let spans = line.code();
    let in_code =
        |at: usize| spans.iter().any(|(start, code)| (*start..start + code.len()).contains(&at));
    let text = line.text;
    let mut targets = Vec::new();
    for (at, _) in text.match_indices("](") {
        let start = at + 2;
        if in_code(at) {
            continue;
        }
        let rest = &text[start..];
        let target = match rest.strip_prefix('<') {
            Some(quoted) => quoted.split_once('>').map(|(target, _)| target),
            None => bare_target(rest),
        };
        targets.extend(target.map(|target| (start, target)));
    }
    let trimmed = text.trim_start();
    // A definition such as `[guide]: references/guide.md`; `[^1]:` is a footnote.
    if let Some((label, target)) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once("]: "))
        && !label.starts_with('^')
        && !label.contains(['[', ']'])
        && let Some(target) = target.split_whitespace().next()
        && target.contains(['/', '.'])
    {
        targets.push((text.len() - trimmed.len(), target.trim_matches(['<', '>'])));
    }
    targets
}

/// A link's target up to the parenthesis that closes it, without a title.
fn bare_target(rest: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let end = rest.find(|c: char| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    let mut words = rest[..end].split_whitespace();
    let target = words.next()?;
    // Blanks end a target: what follows must be a title in quotes or parentheses, or this is no link.
    words.next().is_none_or(|title| title.starts_with(['"', '\'', '('])).then_some(target)
}

fn code_words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\''
                    | '`'
                    | '('
                    | ')'
                    | ','
                    | ';'
                    | ':'
                    | '='
                    | '|'
                    | '&'
                    | '<'
                    | '>'
                    | '['
                    | ']'
            )
    };
    code.split(part).filter(|word| !word.is_empty()).map(move |word| {
        (word.as_ptr() as usize - code.as_ptr() as usize, word.trim_end_matches('.'))
    })
}

/// Whether a word is a path that begins with `../` and goes on to a name.
fn climbs(word: &str) -> bool {
    word.starts_with("../") && word.contains(|c: char| c.is_alphanumeric())
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// Whether a reference has a part that somebody is to fill in.
fn is_placeholder(target: &str) -> bool {
    target.contains(['{', '}', '<', '>', '*', '$', '…', '[', ']', '|', '\\', '@'])
        || target.contains("...")
        || matches!(target, "url" | "link" | "path" | "URL" | "#")
}

fn percent_decoded(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |b: &u8| char::from(*b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (first, after) {
            (b'%', [high, low, after @ ..]) if hex(high).is_some() && hex(low).is_some() => {
                bytes.push(hex(high).unwrap_or(0) * 16 + hex(low).unwrap_or(0));
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| target.to_owned())
}
