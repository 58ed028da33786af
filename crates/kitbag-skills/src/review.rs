//! What a person looks at before they say yes to a skill: what it would say, what it would run, what is in it.
//!
//! All of it is made of the bytes that the digest is over, so what is shown is what is approved.

mod hidden;
mod requests;

use std::path::PathBuf;
use std::sync::Arc;

use crate::consent::ConsentKey;
use crate::declaration::SIDECAR;
use crate::digest::Digest;
use crate::document::{Document, load_sealed};
use crate::folder::ReadError;
use crate::path::SkillPath;
use crate::problem::{Problem, Reason};
use crate::seal::{Seal, SealError, SealedKind};
use crate::shown;
use crate::skill::Skill;
use crate::tokens::estimate_tokens;
use crate::validate::{self, Finding};

pub use requests::requests;

/// The most bytes of a SKILL.md that are looked at; more of it is covered all the same.
pub const MAX_REVIEWED_BYTES: usize = 1024 * 1024;

/// The most bytes of another file that are searched for what a person would want to know.
const MAX_SEARCHED_BYTES: usize = 256 * 1024;

/// The most bytes over all files that are searched.
const MAX_SEARCHED_IN_ALL: u64 = 8 * 1024 * 1024;

/// The most warnings of one skill.
pub const MAX_WARNINGS: usize = 100;

/// A skill that waits for an answer.
#[derive(Debug, Clone)]
pub struct Review {
    /// The skill as it was read from the sealed folder.
    pub document: Document,
    /// `origin:name`.
    pub qualified_name: String,
    /// What an approval is kept under; none where the skill's path is no text, so that none can be kept.
    pub key: Option<ConsentKey>,
    /// Where the skill was found.
    pub found_at: PathBuf,
    /// What an approval is bound to.
    pub digest: Digest,
    /// The text of SKILL.md, frontmatter included, up to [`MAX_REVIEWED_BYTES`].
    pub text: String,
    /// Where the body begins in it, in bytes.
    pub body_start: usize,
    /// How many tokens the body is, about.
    pub tokens: usize,
    /// What it asks for and would run, a line each.
    pub requests: Vec<String>,
    /// Everything in its folder that the approval covers.
    pub files: Vec<ReviewedFile>,
    /// What a person would not see at a glance.
    pub warnings: Vec<String>,
    seal: Arc<Seal>,
}

/// Something in a reviewed skill's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Its path as it may be shown.
    pub path: String,
    /// Its length in bytes, of a file.
    pub size: Option<u64>,
    /// What it is and holds; equal for equal content.
    pub fingerprint: String,
    /// Whether clients can read it. What they cannot is covered, since a script could load it.
    pub served: bool,
}

/// Why there is nothing to say yes to.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The skill is not on disk.
    #[error("it is part of the program")]
    Bundled,
    /// The folder cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A file is not what it was a moment ago.
    #[error("it changed while it was read")]
    Changed(#[source] ReadError),
}

/// Reads a skill for somebody who is to say yes or no; blocks on I/O and runs nothing.
pub fn review(skill: &Skill) -> Result<Review, ReviewError> {
    let directory = skill.document.folder.directory().ok_or(ReviewError::Bundled)?;
    let seal = Arc::new(Seal::of(directory, skill.name(), None)?);
    let document = load_sealed(&seal, &skill.document).map_err(ReviewError::Changed)?;
    let text = read(&seal, &document.skill_md, MAX_REVIEWED_BYTES)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let start = usize::try_from(document.body_start).unwrap_or(usize::MAX);
    let body_start = text.floor_char_boundary(start.min(text.len()));
    let mut review = Review {
        qualified_name: skill.qualified_name(),
        key: skill.consent_key.clone(),
        found_at: skill.found_at.first().cloned().unwrap_or_else(|| directory.to_owned()),
        digest: seal.digest(),
        tokens: estimate_tokens(&text[body_start..]),
        requests: requests(&document),
        files: files(&seal),
        warnings: Vec::new(),
        text,
        body_start,
        document,
        seal,
    };
    review.warnings = warnings(&review)?;
    Ok(review)
}

impl Review {
    /// The body of SKILL.md, which is what a model reads first.
    pub fn body(&self) -> &str {
        &self.text[self.body_start..]
    }

    /// Whether more of SKILL.md is covered than [`text`](Self::text) holds.
    pub fn is_cut(&self) -> bool {
        self.document.size > MAX_REVIEWED_BYTES as u64
    }

    /// Whether the folder still holds what was reviewed; reads what may have changed.
    pub fn still_holds(&self) -> Result<bool, SealError> {
        let name = &self.document.name;
        let now = Seal::of(self.seal.directory(), name, Some(&self.seal))?;
        Ok(now.digest() == self.digest)
    }
}

fn read(seal: &Seal, path: &SkillPath, most: usize) -> Result<Vec<u8>, ReviewError> {
    let file = seal.open(path).map_err(ReviewError::Changed)?;
    let failed = |source| ReviewError::Changed(ReadError::Io { path: path.clone(), source });
    Ok(file.read(0, most).map_err(failed)?.bytes)
}

fn files(seal: &Seal) -> Vec<ReviewedFile> {
    let manifest = seal.manifest();
    let listed = seal.entries().iter().filter(|entry| !entry.path.is_empty());
    listed
        .map(|entry| {
            let path = str::from_utf8(&entry.path);
            ReviewedFile {
                path: entry.shown(),
                size: match &entry.kind {
                    SealedKind::File { size, .. } => Some(*size),
                    SealedKind::Directory | SealedKind::Link { .. } => None,
                },
                fingerprint: entry.fingerprint(),
                served: entry.kind == SealedKind::Directory
                    || path.is_ok_and(|path| manifest.file(path).is_some()),
            }
        })
        .collect()
}

fn warnings(review: &Review) -> Result<Vec<String>, ReviewError> {
    let mut warnings = Vec::new();
    if review.is_cut() {
        warnings.push(format!(
            "SKILL.md has {} bytes, of which the first {MAX_REVIEWED_BYTES} are looked at here",
            review.document.size
        ));
    }
    let told = |problem: &Problem| {
        let file = problem.path.strip_prefix(review.seal.directory()).unwrap_or(&problem.path);
        let file = shown::visible(&file.display().to_string());
        let line = problem.position.map(|at| format!(":{}", at.line)).unwrap_or_default();
        format!("{file}{line}: {} [{}]", problem.detail, problem.reason.as_str())
    };
    let problems = review.document.problems.iter().chain(&review.seal.manifest().problems);
    warnings
        .extend(problems.filter(|problem| problem.reason != Reason::ExtensionSkipped).map(told));
    for script in &review.document.declaration.scripts {
        if review.seal.manifest().file(script.script.as_str()).is_none() {
            warnings.push(format!("`{}` is declared, and is not a file of it", script.script));
        }
    }
    let hidden = review.files.iter().filter(|file| !file.served).count();
    if hidden > 0 {
        warnings.push(format!(
            "{hidden} of its files and links are not served to clients and are covered all the same: {}",
            named(review.files.iter().filter(|file| !file.served).map(|file| file.path.as_str()))
        ));
    }
    warnings.extend(hidden::hidden(review.document.skill_md.as_str(), &review.text));
    let mut left = MAX_SEARCHED_IN_ALL;
    for file in &review.seal.manifest().files {
        left = left.saturating_sub(file.size);
        if left == 0 {
            warnings.push("its files are too large to search all of them".to_owned());
            break;
        }
        let is_own = file.path == review.document.skill_md;
        let text = if is_own {
            review.text.clone()
        } else {
            if file.size > MAX_SEARCHED_BYTES as u64 {
                warnings.push(format!(
                    "`{}` has {} bytes, of which the first {MAX_SEARCHED_BYTES} are searched",
                    file.path, file.size
                ));
            }
            match text(read(&review.seal, &file.path, MAX_SEARCHED_BYTES)?) {
                Some(text) => text,
                None => continue,
            }
        };
        if !is_own && file.path.as_str() != SIDECAR && is_markdown(file.path.as_str()) {
            warnings.extend(hidden::hidden(file.path.as_str(), &text));
        }
        let found = validate::look_for_surprises(file.path.as_str(), &text);
        warnings.extend(found.into_iter().map(|finding| told_of(&finding)));
    }
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if more > 0 {
        warnings.push(format!("{more} more warnings are not shown"));
    }
    Ok(warnings)
}

fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("md" | "markdown" | "mdx" | "html" | "htm"))
}

/// The bytes as text, a character that was cut at their end left out; none where they are no text.
fn text(bytes: Vec<u8>) -> Option<String> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned()
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

fn told_of(finding: &Finding) -> String {
    let file = finding.file.as_deref().unwrap_or_default();
    let Finding { message, rule, .. } = finding;
    match finding.position {
        Some(at) => format!("{file}:{}:{}: {message} [{rule}]", at.line, at.column),
        None => format!("{file}: {message} [{rule}]"),
    }
}

/// The first names of a list, and how many more there are.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<&str> = names.collect();
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        text.push(format!("{} more", names.len() - SHOWN));
    }
    text.join(", ")
}
