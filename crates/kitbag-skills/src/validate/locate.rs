//! From the path somebody gave to a skill's directory and the text of its `SKILL.md`.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::findings::{Findings, Place};
use super::rules::{self, RuleInfo};

/// The most bytes of a `SKILL.md` that is validated.
pub const MAX_VALIDATED_BYTES: u64 = 4 * 1024 * 1024;

/// A skill that was found.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) directory: PathBuf,
    /// The directory's name; `None` for a filesystem's root.
    pub(super) name: Option<String>,
    /// `SKILL.md`, or `skill.md`.
    pub(super) file: &'static str,
    pub(super) text: String,
}

/// Finds the skill at `path` and reads its text; what is wrong is in `findings` when there is none.
pub(super) fn locate(path: &Path, findings: &mut Findings) -> Option<Located> {
    let refuse = |findings: &mut Findings, rule: &RuleInfo, message: String, hint: &'static str| {
        findings.add(rule, Place::DIRECTORY, message, hint);
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            let message = format!("nothing can be found here: {error}");
            refuse(findings, &rules::PATH_MISSING, message, "give a skill's directory");
            return None;
        }
    };
    let directory = if metadata.is_dir() {
        path.to_owned()
    } else if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md")) {
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    } else {
        let message = "this is a file, and not a `SKILL.md`".to_owned();
        refuse(findings, &rules::PATH_NOT_A_SKILL, message, "give a skill's directory");
        return None;
    };
    let Some(file) =
        ["SKILL.md", "skill.md"].into_iter().find(|name| directory.join(name).exists())
    else {
        let message = match fs::read_dir(&directory) {
            Ok(_) => "there is no `SKILL.md` in this directory".to_owned(),
            Err(error) => format!("this directory cannot be read: {error}"),
        };
        let hint = "give the directory of one skill, or create the file with that exact name";
        refuse(findings, &rules::SKILL_MD_MISSING, message, hint);
        return None;
    };
    let text = read(&directory.join(file), file, findings)?;
    let name = directory_name(&directory);
    Some(Located { directory, name, file, text })
}

/// The name by which the directory was given: a link's own name, as a client sees it; `.` and `..` are resolved first.
fn directory_name(directory: &Path) -> Option<String> {
    let lossy = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    lossy(directory).or_else(|| fs::canonicalize(directory).ok().as_deref().and_then(lossy))
}

fn read(path: &Path, file: &'static str, findings: &mut Findings) -> Option<String> {
    let place = Place::file(file);
    if file != "SKILL.md" {
        let hint = "rename it to `SKILL.md`: most clients look for exactly that";
        findings.add(&rules::SKILL_MD_CASE, place, format!("the file is called `{file}`"), hint);
    }
    let bytes = match contents(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("it cannot be read: {error}");
            findings.add(&rules::SKILL_MD_UNREADABLE, place, message, None);
            return None;
        }
    };
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        let hint =
            "link the directory instead, or copy the file: some clients pass over a linked file";
        findings.add(&rules::SKILL_MD_LINK, place, "it is a link", hint);
    }
    if bytes.len() as u64 > MAX_VALIDATED_BYTES {
        let hint = "move details into files under `references/`";
        findings.add(&rules::SKILL_MD_TOO_LARGE, place, "it is larger than 4 MiB", hint);
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
            let position = crate::Position::at(&before, good);
            let place = Place { file: Some(file), position: Some(position) };
            let hint = "save it as UTF-8";
            findings.add(&rules::SKILL_MD_NOT_UTF8, place, "the bytes here are not UTF-8", hint);
            None
        }
    }
}

fn contents(path: &Path) -> std::io::Result<Vec<u8>> {
    // A pipe would be waited for without end, so what is no regular file is not opened.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_VALIDATED_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
