//! The body of `SKILL.md` as a whole.

use std::path::Path;

use super::findings::{Findings, Place};
use super::lines::{Text, split_lines};
use super::rules;
use crate::substitute::{Dialect, code_placeholders};
use crate::{estimate_tokens, frontmatter};

/// The most lines a body should have (specification, progressive disclosure).
const MAX_BODY_LINES: usize = 500;

/// The most tokens a body should have (specification, progressive disclosure).
const MAX_BODY_TOKENS: usize = 5_000;

/// Reports a body that is empty, longer than the specification advises, or that arguments would damage.
pub(super) fn check(text: &Text<'_>, directory: &Path, body: &str, findings: &mut Findings) {
    let first = Place::at(text.file, text.frontmatter.saturating_add(1), 1);
    if body.trim().is_empty() {
        findings.add(&rules::BODY_EMPTY, first, "the body is empty", "write what to do");
        return;
    }
    let lines = split_lines(body).count();
    if lines > MAX_BODY_LINES {
        findings.add(
            &rules::BODY_LINES,
            first,
            format!("the body has {lines} lines, more than {MAX_BODY_LINES}"),
            "move details into files under `references/` and say when to read them",
        );
    }
    let tokens = estimate_tokens(body);
    if tokens > MAX_BODY_TOKENS {
        findings.add(
            &rules::BODY_TOKENS,
            first,
            format!("the body has about {tokens} tokens, more than {MAX_BODY_TOKENS}"),
            "move details into files under `references/` and say when to read them",
        );
    }
    placeholders(text, directory, body, findings);
}

/// Reports a `$1` in code, which is an argument to a loader and mostly not to the author (decision 8).
fn placeholders(text: &Text<'_>, directory: &Path, body: &str, findings: &mut Findings) {
    let header = frontmatter::read(directory, text.content.as_bytes()).header;
    let previews = code_placeholders(body, dialect(directory), &header.arguments);
    for preview in &previews.shown {
        let line = preview.position.line.saturating_add(text.frontmatter);
        findings.add(
            &rules::ARGUMENT_IN_CODE,
            Place::at(text.file, line, preview.position.column),
            format!("called with arguments, `{}` becomes `{}`", preview.line, preview.becomes),
            "declare the skill's `arguments`, or write the code without a `$` before a digit",
        );
    }
    if previews.more > 0 {
        let message = format!("arguments would change {} more lines of code", previews.more);
        findings.add(&rules::ARGUMENT_IN_CODE, Place::file(text.file), message, None);
    }
}

/// The dialect of the directory that the skill lies in (decision 8).
fn dialect(directory: &Path) -> Dialect {
    let names: Vec<_> = directory.components().map(std::path::Component::as_os_str).collect();
    let claude = names.windows(2).any(|pair| pair[0] == ".claude" && pair[1] == "skills");
    if claude { Dialect::Claude } else { Dialect::Kitbag }
}
