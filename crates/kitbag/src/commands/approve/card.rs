//! What a person is shown of a skill before they say yes.

use kitbag_host::consent::{Difference, Earlier};
use kitbag_skills::review::{Review, ReviewedFile};
use kitbag_skills::{Skill, shown};
use serde_json::{Value, json};

use super::super::{because, shell_word};
use crate::style::{self, BAD, DIM, GOOD, HEADING, NAME, WARN, paint};

/// The lines of the text that are shown at first.
const SHOWN_LINES: usize = 40;

/// The characters of a line that are shown at first.
const SHOWN_CHARS: usize = 300;

/// The files that are shown at first.
const SHOWN_FILES: usize = 40;

/// The card; all of it that somebody else wrote is made visible.
pub(super) fn card(review: &Review, skill: &Skill, earlier: Option<&Earlier>) -> String {
    let header = &review.document.header;
    let mut text = String::new();
    let place = shown::visible(&review.found_at.display().to_string());
    let name = paint(NAME, &review.document.name);
    let origin = shown::visible(&skill.origin.label());
    style::add(&mut text, format_args!("{name}  {origin}  {}\n", paint(DIM, place)));
    style::add(&mut text, format_args!("  {}\n", paint(WARN, standing(skill, earlier))));
    heading(&mut text, "It says of itself");
    line(&mut text, header.description.as_deref().unwrap_or_default());
    if let Some(when) = &header.when_to_use {
        line(&mut text, when);
    }
    if header.user_only {
        line(&mut text, "(only a person can start it)");
    }
    heading(&mut text, "It would run or ask for");
    if review.requests.is_empty() {
        line(&mut text, "nothing that it declares");
    }
    review.requests.iter().for_each(|request| line(&mut text, request));
    let lines = review.body().lines().count();
    let size = review.document.size;
    heading(
        &mut text,
        &format!("It would say (~{} tokens, {lines} lines, {size} bytes)", review.tokens),
    );
    for body in review.body().lines().take(SHOWN_LINES) {
        let cut: String = body.chars().take(SHOWN_CHARS).collect();
        let more = body.chars().count().saturating_sub(SHOWN_CHARS);
        let more = match more {
            0 => String::new(),
            more => paint(DIM, format!("… {more} more characters")),
        };
        let line = format!("│ {}{}", visible(&cut), more);
        style::add(&mut text, format_args!("  {}\n", line.trim_end()));
    }
    if lines > SHOWN_LINES {
        let command = format!("kitbag skills show {} --trust", shell_word(&review.qualified_name));
        let more = format!("… {} more lines: `{command}`", lines - SHOWN_LINES);
        style::add(&mut text, format_args!("  {}\n", paint(WARN, more)));
    }
    files(&mut text, &review.files);
    if !review.warnings.is_empty() {
        heading(&mut text, "Look at");
        for warning in &review.warnings {
            style::add(&mut text, format_args!("  {}\n", paint(WARN, visible(warning))));
        }
    }
    let digest = paint(DIM, format!("digest {}", review.digest));
    style::add(&mut text, format_args!("\n  {digest}\n\n"));
    text
}

/// Why the skill waits.
fn standing(skill: &Skill, earlier: Option<&Earlier>) -> String {
    let Some(earlier) = earlier else {
        return because(skill).unwrap_or_default();
    };
    let mut text = format!("approved at {}, and changed since", earlier.at);
    if let Some(difference) = &earlier.difference
        && !difference.files.is_empty()
    {
        let files = difference.files.iter().take(5);
        let files = files.map(|(path, change)| format!("`{path}` {}", change.as_str()));
        let mut files: Vec<String> = files.collect();
        if difference.files.len() > 5 {
            files.push(format!("{} more files", difference.files.len() - 5));
        }
        style::add(&mut text, format_args!(": {}", files.join(", ")));
    }
    text
}

fn files(text: &mut String, files: &[ReviewedFile]) {
    let bytes: u64 = files.iter().filter_map(|file| file.size).sum();
    heading(text, &format!("Its folder ({} entries, {bytes} bytes)", files.len()));
    for file in files.iter().take(SHOWN_FILES) {
        let kind = file.fingerprint.split(' ').next().unwrap_or_default();
        let size = file.size.map(|size| format!("{size} bytes")).unwrap_or_default();
        let kind = if kind == "file" { size } else { format!("{size} {kind}") };
        let unserved = if file.served { "" } else { ", not served" };
        let note = paint(DIM, format!("{}{unserved}", kind.trim()));
        style::add(text, format_args!("  {}  {note}\n", file.path));
    }
    if files.len() > SHOWN_FILES {
        let more = format!("… {} more", files.len() - SHOWN_FILES);
        style::add(text, format_args!("  {}\n", paint(DIM, more)));
    }
}

/// The whole of SKILL.md.
pub(super) fn whole(review: &Review) -> String {
    let mut text = String::new();
    heading(&mut text, review.document.skill_md.as_str());
    for line in review.text.lines() {
        style::add(&mut text, format_args!("  {}\n", format!("│ {}", visible(line)).trim_end()));
    }
    if review.is_cut() {
        let cut = format!("… of {} bytes, no more is shown", review.document.size);
        style::add(&mut text, format_args!("  {}\n", paint(WARN, cut)));
    }
    text
}

/// What changed since the last yes.
pub(super) fn changes(earlier: Option<&Earlier>) -> String {
    let mut text = String::new();
    let Some(earlier) = earlier else {
        return "  It was never approved before, so all of it is new.\n".to_owned();
    };
    heading(&mut text, &format!("What changed since {}", earlier.at));
    let Some(difference) = &earlier.difference else {
        line(&mut text, "What was shown then cannot be read any more.");
        return text;
    };
    if difference.is_empty() {
        line(&mut text, "Nothing that is known of: it may be what was not kept.");
    }
    for (path, change) in &difference.files {
        style::add(&mut text, format_args!("  {:8} {path}\n", change.as_str()));
    }
    unified(&mut text, "SKILL.md", &difference.text);
    unified(&mut text, "What it would run or ask for", &difference.requests);
    for note in notes(difference) {
        style::add(&mut text, format_args!("  {}\n", paint(WARN, note)));
    }
    text
}

fn notes(difference: &Difference) -> Vec<String> {
    let mut notes = Vec::new();
    if difference.unknown_files > 0 {
        let files = difference.unknown_files;
        notes.push(format!("of {files} files it is not known any more what they were"));
    }
    if difference.text_cut {
        notes.push("the end of the earlier text is not known any more".to_owned());
    }
    notes
}

fn unified(text: &mut String, title: &str, diff: &str) {
    if diff.is_empty() {
        return;
    }
    heading(text, title);
    // Split at line feeds alone, so that another kind of line end shows.
    for line in diff.trim_end_matches('\n').split('\n') {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => DIM,
            _ => anstyle::Style::new(),
        };
        style::add(text, format_args!("  {}\n", paint(style, visible(line))));
    }
}

pub(super) fn json(review: &Review, earlier: Option<&Earlier>, approved: bool) -> Value {
    let header = &review.document.header;
    let file = |file: &ReviewedFile| {
        json!({
            "path": file.path,
            "size": file.size,
            "fingerprint": file.fingerprint,
            "served": file.served,
        })
    };
    let difference = |difference: &Difference| {
        let files = difference.files.iter();
        let files = files.map(|(path, change)| json!({ "path": path, "change": change.as_str() }));
        json!({
            "files": files.collect::<Vec<_>>(),
            "filesUnknown": difference.unknown_files,
            "text": difference.text,
            "textCut": difference.text_cut,
            "requests": difference.requests,
        })
    };
    json!({
        "name": review.document.name,
        "qualifiedName": review.qualified_name,
        "foundAt": review.found_at.to_string_lossy(),
        "approved": approved,
        "digest": review.digest,
        "description": header.description,
        "whenToUse": header.when_to_use,
        "tokens": review.tokens,
        "requests": review.requests,
        "files": review.files.iter().map(file).collect::<Vec<_>>(),
        "warnings": review.warnings,
        "text": review.text,
        "textCut": review.is_cut(),
        "approvedBefore": earlier.map(|earlier| earlier.at.to_string()),
        "changed": earlier.and_then(|earlier| earlier.difference.as_ref()).map(difference),
    })
}

fn heading(text: &mut String, title: &str) {
    style::add(text, format_args!("\n  {}\n", paint(HEADING, title)));
}

fn line(text: &mut String, said: &str) {
    style::add(text, format_args!("  {}\n", visible(said)));
}

/// One line with what cannot be seen written as an escape, whatever breaks it.
fn visible(text: &str) -> String {
    style::harmless(&text.replace(['\n', '\t'], " "))
}
