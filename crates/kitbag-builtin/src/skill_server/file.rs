//! `skill_file`: files of a skill, each with its own outcome.

use kitbag_skills::{Content, Skill, SkillFile, SkillPath, SkillPathError, classify, media_type};
use kitbag_tool::Refusal;
use kitbag_tool::redact::redact;
use serde::{Deserialize, Serialize};

use super::{
    MAX_BATCH_BYTES, MAX_FILE_BYTES, MAX_SKILL_MD_BYTES, Shelf, find, guidance_note,
    left_to_people, on_disk,
};

#[derive(Debug, Deserialize)]
pub(super) struct Arguments {
    name: String,
    paths: Vec<String>,
    #[serde(default)]
    offset: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Given {
    skill: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    files: Vec<Entry>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Entry {
    Read(ReadEntry),
    Failed { path: String, error: String },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadEntry {
    path: String,
    size: u64,
    media_type: &'static str,
    encoding: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    offset: u64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation_note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    content: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(offset: &u64) -> bool {
    *offset == 0
}

/// The most bytes of a character: as much earlier than the limit can a prompt that was cut tell to read on.
const MAX_CHARACTER_BYTES: u64 = 4;

pub(super) fn files(shelf: &Shelf, arguments: &Arguments) -> Result<Given, Refusal> {
    let catalog = shelf.library.look();
    let skill = find(&catalog, &arguments.name)?;
    let opened: Vec<(&str, Result<SkillFile, String>)> = arguments
        .paths
        .iter()
        .map(|path| (path.as_str(), open(skill, path, arguments.offset)))
        .collect();
    // The sum is taken before anything is read, so it cannot depend on the order of the paths.
    let served: u64 = opened
        .iter()
        .filter_map(|(_, file)| file.as_ref().ok())
        .map(|file| file.size().saturating_sub(arguments.offset).min(MAX_FILE_BYTES as u64))
        .sum();
    if served > MAX_BATCH_BYTES {
        return Err(Refusal::new(format!(
            "These files come to {served} bytes, over this call's {MAX_BATCH_BYTES}-byte limit."
        ))
        .hint("Ask for fewer files at once."));
    }
    let files = opened
        .into_iter()
        .map(|(path, file)| match file.and_then(|file| read(path, &file, arguments.offset)) {
            Ok(entry) => Entry::Read(entry),
            Err(error) => {
                Entry::Failed { path: path.to_owned(), error: redact(&error).into_owned() }
            }
        })
        .collect();
    Ok(Given { skill: skill.name().to_string(), note: guidance_note(skill), files })
}

fn open(skill: &Skill, path: &str, offset: u64) -> Result<SkillFile, String> {
    let document = &skill.document;
    let checked: SkillPath =
        path.parse().map_err(|error| format!("{error}; {}", SkillPathError::hint()))?;
    let checked = on_disk(document, &checked);
    let is_beyond_the_prompt =
        offset.saturating_add(MAX_CHARACTER_BYTES) > MAX_SKILL_MD_BYTES as u64;
    if document.header.user_only && *checked == document.skill_md && !is_beyond_the_prompt {
        return Err(left_to_people(skill).to_text());
    }
    document.folder.open(checked).map_err(|error| error.to_string())
}

fn read(path: &str, file: &SkillFile, offset: u64) -> Result<ReadEntry, String> {
    let chunk = file
        .read(offset, MAX_FILE_BYTES)
        .map_err(|error| format!("`{}` cannot be read: {error}", path.escape_debug()))?;
    let passage = classify(chunk);
    let (encoding, content) = match passage.content {
        Content::Text(text) => ("utf-8", text),
        Content::Base64(text) => ("base64", text),
    };
    Ok(ReadEntry {
        path: path.to_owned(),
        size: passage.size,
        media_type: media_type(path),
        encoding,
        offset,
        truncated: passage.next.is_some(),
        truncation_note: passage.next.map(|next| {
            format!(
                "The file has {} bytes and is given {MAX_FILE_BYTES} at a time; read on with offset {next}.",
                passage.size
            )
        }),
        next_offset: passage.next,
        content,
    })
}
