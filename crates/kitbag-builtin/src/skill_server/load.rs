//! `skill_load`: a skill's instructions, word for word.

use kitbag_skills::Document;
use kitbag_skills::frontmatter::body_start;
use kitbag_tool::Refusal;
use serde::{Deserialize, Serialize};

use super::list::source;
use super::{MAX_SKILL_MD_BYTES, Shelf, find, guidance_note, left_to_people};
use crate::skill_run::{Standing, standing};
use crate::skill_tools::wire_name;

#[derive(Debug, Deserialize)]
pub(super) struct Arguments {
    name: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Loaded {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when_to_use: Option<String>,
    source: String,
    body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_note: Option<String>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation_note: Option<String>,
    files: Vec<LoadedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_note: Option<String>,
    scripts: Vec<LoadedScript>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<LoadedTool>,
}

#[derive(Debug, Serialize)]
struct LoadedFile {
    path: String,
    size: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LoadedScript {
    script: String,
    interpreter: String,
    runnable_here: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LoadedTool {
    tool: String,
    description: String,
    runnable_here: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn load(shelf: &Shelf, arguments: &Arguments) -> Result<Loaded, Refusal> {
    let catalog = shelf.library.look();
    let skill = find(&catalog, &arguments.name)?;
    let document = &skill.document;
    if document.header.user_only {
        return Err(left_to_people(skill));
    }
    let body = read_body(document, MAX_SKILL_MD_BYTES)?;
    let manifest = shelf.library.manifest(document);
    let files = manifest
        .files
        .iter()
        .map(|file| LoadedFile { path: file.path.to_string(), size: file.size })
        .collect();
    let scripts = document.declaration.scripts.iter().map(|script| LoadedScript {
        script: script.script.to_string(),
        interpreter: script.interpreter.clone(),
        runnable_here: shelf.scripts.as_deref().is_some_and(|scripts| {
            let standing = standing(scripts, document, script, &manifest);
            matches!(standing, Standing::Runnable { .. })
        }),
    });
    let why_not = shelf.running.why_not(skill);
    let tools = document.declaration.tools.iter().map(|tool| LoadedTool {
        tool: wire_name(document.name.as_str(), &tool.name).to_string(),
        description: tool.description.clone(),
        runnable_here: why_not.is_none(),
        reason: why_not.map(str::to_owned),
    });
    Ok(Loaded {
        name: document.name.to_string(),
        description: document.header.description.clone(),
        when_to_use: document.header.when_to_use.clone(),
        source: source(skill),
        body_note: joined(guidance_note(skill), body.note),
        truncated: body.cut.is_some(),
        truncation_note: body.cut.map(|cut| cut_note(document, cut)),
        body: body.text,
        files,
        files_note: (!manifest.complete)
            .then(|| "The list is not complete; `problems` of skill_list says why.".to_owned()),
        scripts: scripts.collect(),
        tools: tools.collect(),
    })
}

/// Both notes as one.
fn joined(guidance: Option<&str>, note: Option<String>) -> Option<String> {
    match (guidance, note) {
        (Some(guidance), Some(note)) => Some(format!("{guidance} {note}")),
        (Some(guidance), None) => Some(guidance.to_owned()),
        (None, note) => note,
    }
}

/// The text of a SKILL.md after its frontmatter.
pub(crate) struct Body {
    pub(crate) text: String,
    /// Where it was cut, if it was.
    pub(crate) cut: Option<BodyCut>,
    /// What else the reader must know.
    pub(crate) note: Option<String>,
}

/// Where a SKILL.md was cut, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct BodyCut {
    /// The length of the whole file.
    pub(crate) size: u64,
    /// Where the text that was left out begins.
    pub(crate) next: usize,
}

/// Reads the body anew, within the first `limit` bytes of the file.
pub(crate) fn read_body(document: &Document, limit: usize) -> Result<Body, Refusal> {
    let unreadable = |error: String| {
        Refusal::new(format!("The instructions of `{}` cannot be read: {error}.", document.name))
            .hint("Look at `problems` of skill_list.")
    };
    let file =
        document.folder.open(&document.skill_md).map_err(|error| unreadable(error.to_string()))?;
    let mut chunk = file.read(0, limit).map_err(|error| unreadable(error.to_string()))?;
    let cut = chunk.truncated.then(|| {
        chunk.bytes.truncate(chunk.bytes.len() - parted_character(&chunk.bytes));
        BodyCut { size: chunk.size, next: chunk.bytes.len() }
    });
    let bytes = chunk.bytes.split_off(body_start(&chunk.bytes).min(chunk.bytes.len()));
    let (text, note) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => (
            String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Some(
                "The text is not valid UTF-8; each \u{fffd} stands for bytes that could not be read."
                    .to_owned(),
            ),
        ),
    };
    Ok(Body { text, cut, note })
}

/// How many bytes at the end are the beginning of a character that goes on behind it.
fn parted_character(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(3))
        .find(|length| {
            let end = &bytes[bytes.len() - length..];
            str::from_utf8(end).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
        })
        .unwrap_or(0)
}

/// What a reader is told whose SKILL.md was cut.
pub(super) fn cut_note(document: &Document, BodyCut { size, next }: BodyCut) -> String {
    format!(
        "{} has {size} bytes and is read up to {MAX_SKILL_MD_BYTES}. Read on with skill_file, path `{}`, offset {next}.",
        document.skill_md, document.skill_md
    )
}

/// The skill's directory on this machine, as its text refers to it.
pub(crate) fn directory(document: &Document) -> Option<String> {
    document.folder.directory().map(|directory| directory.display().to_string())
}
