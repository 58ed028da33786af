//! The files beside `SKILL.md`, as far as the bounds go.

use super::findings::{Findings, Place};
use super::lines::Text;
use super::locate::Located;
use super::{check_text, rules};
use crate::{Folder, Manifest, ManifestLimits, Reason};

/// The most bytes of one file that are looked at; a larger one is left out whole.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The most bytes of all files of a skill that are looked at.
const MAX_TOTAL_BYTES: u64 = 16 * 1024 * 1024;

/// Looks at every text file of the skill but `SKILL.md`, and at the links among them.
pub(super) fn check(located: &Located, findings: &mut Findings) {
    let Ok(real) = std::fs::canonicalize(&located.directory) else { return };
    let folder = Folder::Disk(real.clone());
    let manifest = folder.manifest(&ManifestLimits::STANDARD);
    links(&manifest, &real, findings);
    let (mut unread, mut total) = (0_usize, 0_u64);
    for file in &manifest.files {
        let path = file.path.as_str();
        if path == located.file {
            continue;
        }
        if file.size > MAX_FILE_BYTES || total.saturating_add(file.size) > MAX_TOTAL_BYTES {
            unread += 1;
            continue;
        }
        total += file.size;
        let Ok(opened) = folder.open(&file.path) else { continue };
        let Ok(chunk) = opened.read(0, usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX))
        else {
            continue;
        };
        // What is no text is nothing that a model reads.
        let Ok(text) = String::from_utf8(chunk.bytes) else { continue };
        if !text.contains('\0') {
            check_text(&Text { file: path, content: &text, frontmatter: 0 }, &real, findings);
        }
    }
    if unread > 0 {
        let message = format!(
            "too large for the local checks, and not looked at: {unread} of the skill's files"
        );
        findings.add(&rules::FILES_CUT, Place::DIRECTORY, message, None);
    }
    if !manifest.complete {
        let message = "not all files of the skill were listed, so some were not checked";
        findings.add(&rules::FILES_CUT, Place::DIRECTORY, message, None);
    }
}

fn links(manifest: &Manifest, real: &std::path::Path, findings: &mut Findings) {
    for problem in manifest.problems.iter().filter(|p| p.reason == Reason::SymlinkEscape) {
        let inside = problem.path.strip_prefix(real).unwrap_or(&problem.path);
        let file = inside.to_string_lossy();
        findings.add(
            &rules::REFERENCE_ESCAPE,
            Place::file(&file),
            format!("as a link, {}", problem.detail),
            "a skill is installed without what surrounds it: copy the file into the skill",
        );
    }
}
