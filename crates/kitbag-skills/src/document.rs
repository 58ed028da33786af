//! A skill's folder as read at discovery: its SKILL.md up to the body, and its `kitbag.toml`.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::OFlags;

use crate::declaration::{self, Declaration, MAX_SIDECAR_BYTES, SIDECAR};
use crate::file::Stamp;
use crate::folder::{Folder, ReadError};
use crate::frontmatter::{self, DescriptionSource, Header, MAX_FRONTMATTER_BYTES, SkillMd};
use crate::name::SkillName;
use crate::path::SkillPath;
use crate::problem::{Problem, Reason, Severity};
use crate::seal::{Seal, SealedKind};

/// The name of the file that makes a directory a skill.
pub const SKILL_MD: &str = "SKILL.md";

/// What is read of a SKILL.md at first; nearly every frontmatter, and the first line after it, lies within.
const PREFIX_BYTES: usize = 4 * 1024;

/// What is read of a SKILL.md where the first look did not reach the body.
const LONG_PREFIX_BYTES: usize = MAX_FRONTMATTER_BYTES + 8 * 1024;

/// One skill as its author wrote it; the body is read on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The directory's name.
    pub name: SkillName,
    /// Where its files are.
    pub folder: Folder,
    /// The SKILL.md inside the folder; of another case where the author wrote it so.
    pub skill_md: SkillPath,
    /// The bytes of the whole SKILL.md.
    pub size: u64,
    /// Where the body begins, in bytes.
    pub body_start: u64,
    /// What the frontmatter says.
    pub header: Header,
    /// What the skill may run, declared in `kitbag.toml` or the `mcp-host` block.
    pub declaration: Declaration,
    /// What is wrong with it; one of severity *error* makes it unusable.
    pub problems: Vec<Problem>,
}

impl Document {
    /// The problem that makes the skill unusable, where there is one.
    pub fn fault(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.severity == Severity::Error)
    }

    /// The skill in `bytes`, bundled as `folder`.
    pub(crate) fn bundled(name: SkillName, folder: Folder, bytes: &[u8]) -> Self {
        let path = Path::new(SKILL_MD);
        let skill_md = SKILL_MD.parse().expect("the name is a path inside a skill");
        let read = frontmatter::read(path, bytes);
        assemble(name, folder, path, skill_md, read, bytes.len() as u64, None)
    }
}

/// A document with what tells whether it is still what lies on disk.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) outcome: Outcome,
    skill_md: Option<Stamp>,
    sidecar: Option<Stamp>,
    settled: bool,
}

/// What a directory turned out to be.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// A skill.
    Skill(Arc<Document>),
    /// No SKILL.md in any spelling.
    Absent,
    /// A skill that nothing can be made of.
    Refused(Problem),
}

impl Loaded {
    /// What was looked at in `directory`, so that one more look tells whether it is still so.
    pub(crate) fn looked_at(&self, directory: &Path, file_name: &str) -> Vec<LookedAt> {
        let skill_md = LookedAt { path: directory.join(file_name), stamp: self.skill_md };
        let sidecar = LookedAt { path: directory.join(SIDECAR), stamp: self.sidecar };
        if self.skill_md.is_some() { vec![skill_md, sidecar] } else { vec![skill_md] }
    }

    /// Whether a change from now on would show.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether `directory` still holds what was loaded; two look-ups.
    pub(crate) fn is_current(&self, directory: &Path, file_name: &str) -> bool {
        self.settled
            && self.skill_md == stamp(&directory.join(file_name))
            && (self.skill_md.is_none() || self.sidecar == stamp(&directory.join(SIDECAR)))
    }
}

/// A path, links followed, and what was there; nothing where there was nothing.
#[derive(Debug)]
pub(crate) struct LookedAt {
    pub(crate) path: PathBuf,
    pub(crate) stamp: Option<Stamp>,
}

impl LookedAt {
    /// Whether the same is there now.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.stamp == stamp(&self.path)
    }
}

pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|metadata| Stamp::of_metadata(&metadata))
}

/// Reads the skill in the real directory `directory` whose SKILL.md is called `file_name`.
pub(crate) fn load(directory: &Path, file_name: &str) -> Loaded {
    let now = SystemTime::now();
    let path = directory.join(file_name);
    let absent = Loaded { outcome: Outcome::Absent, skill_md: None, sidecar: None, settled: true };
    let refuse = |problem| Loaded {
        outcome: Outcome::Refused(problem),
        skill_md: None,
        sidecar: None,
        settled: false,
    };
    let (file, metadata) = match open(directory, &path) {
        Ok(Some(opened)) => opened,
        Ok(None) => return absent,
        Err(problem) => return refuse(problem),
    };
    let skill_md_stamp = Stamp::of_metadata(&metadata);
    let (read, seen) = match read_prefix(&path, &file) {
        Ok(read) => read,
        Err(error) => return refuse(unreadable(&path, &error)),
    };
    let name = directory.file_name().unwrap_or_default();
    let name: SkillName = match name.to_string_lossy().parse() {
        Ok(name) => name,
        Err(error) => {
            return refuse(
                Problem::error(Reason::UnusableName, directory, error.to_string())
                    .hint("rename the directory"),
            );
        }
    };
    let skill_md: SkillPath = match file_name.parse() {
        Ok(skill_md) => skill_md,
        Err(error) => {
            return refuse(Problem::error(Reason::UnusablePath, &path, error.to_string()));
        }
    };
    let sidecar_path = directory.join(SIDECAR);
    let sidecar = read_sidecar(&sidecar_path);
    let sidecar_stamp = sidecar.as_ref().map(|(stamp, _)| *stamp);
    let settled =
        skill_md_stamp.is_settled(now) && sidecar_stamp.is_none_or(|stamp| stamp.is_settled(now));
    let mut document = assemble(
        name,
        Folder::Disk(directory.to_owned()),
        &path,
        skill_md,
        read,
        metadata.len().max(seen),
        sidecar.map(|(_, text)| (sidecar_path, text)),
    );
    document.problems.extend(case_problem(&path, &document.skill_md));
    Loaded {
        outcome: Outcome::Skill(Arc::new(document)),
        skill_md: Some(skill_md_stamp),
        sidecar: sidecar_stamp,
        settled,
    }
}

/// The skill in a sealed folder, made of the bytes that were sealed and no others; `document` is what a look gave.
///
/// Fails where the folder holds other bytes by now.
pub(crate) fn load_sealed(seal: &Arc<Seal>, document: &Document) -> Result<Document, ReadError> {
    let path = seal.directory().join(document.skill_md.as_str());
    let file = seal.open(&document.skill_md)?;
    let failed = |source| ReadError::Io { path: document.skill_md.clone(), source };
    let chunk = file.read(0, LONG_PREFIX_BYTES).map_err(failed)?;
    let mut made = assemble(
        document.name.clone(),
        Folder::Sealed(Arc::clone(seal)),
        &path,
        document.skill_md.clone(),
        frontmatter::read(&path, &chunk.bytes),
        chunk.size,
        sealed_sidecar(seal)?.map(|text| (seal.directory().join(SIDECAR), text)),
    );
    made.problems.extend(case_problem(&path, &document.skill_md));
    Ok(made)
}

fn sealed_sidecar(seal: &Seal) -> Result<Option<Result<String, Problem>>, ReadError> {
    let path = seal.directory().join(SIDECAR);
    let refuse =
        |detail: String| Ok(Some(Err(Problem::warning(Reason::Declaration, &path, detail))));
    let kind = match seal.entry(SIDECAR.as_bytes()) {
        None => return Ok(None),
        Some(entry) => &entry.kind,
    };
    match kind {
        SealedKind::Link { .. } => refuse(LINKED_SIDECAR.to_owned()),
        SealedKind::Directory => refuse("it is not a regular file".to_owned()),
        SealedKind::File { size, .. } if *size > MAX_SIDECAR_BYTES as u64 => {
            refuse(format!("it is larger than {MAX_SIDECAR_BYTES} bytes"))
        }
        SealedKind::File { .. } => {
            let inside: SkillPath = SIDECAR.parse().expect("the name is a path inside a skill");
            let failed = |source| ReadError::Io { path: inside.clone(), source };
            let chunk = seal.open_covered(&inside)?.read(0, MAX_SIDECAR_BYTES).map_err(failed)?;
            match String::from_utf8(chunk.bytes) {
                Ok(text) => Ok(Some(Ok(text))),
                Err(_) => refuse("it cannot be read: it is not valid UTF-8".to_owned()),
            }
        }
    }
}

/// What is said of a declaration that is a link.
const LINKED_SIDECAR: &str = "it is a link; a declaration must be a file of the skill itself";

fn case_problem(path: &Path, skill_md: &SkillPath) -> Option<Problem> {
    (skill_md.as_str() != SKILL_MD).then(|| {
        Problem::warning(Reason::SkillMdCase, path, format!("it is spelt `{skill_md}`"))
            .hint("rename it to `SKILL.md`: most clients find no other spelling")
    })
}

fn assemble(
    name: SkillName,
    folder: Folder,
    path: &Path,
    skill_md: SkillPath,
    read: SkillMd,
    size: u64,
    sidecar: Option<(PathBuf, Result<String, Problem>)>,
) -> Document {
    let mut problems = read.problems;
    let declaration = match sidecar {
        None => read.declaration,
        Some((_, Err(problem))) => {
            problems.push(problem);
            Declaration::default()
        }
        Some((sidecar_path, Ok(text))) => {
            let (declared, found) = declaration::read_sidecar(&sidecar_path, &text);
            problems.extend(found);
            let (declaration, found) = declaration::merge(path, read.declaration, Some(declared));
            problems.extend(found);
            declaration
        }
    };
    if read.header.description_source == DescriptionSource::Absent
        && !problems.iter().any(|problem| problem.severity == Severity::Error)
    {
        problems.push(
            Problem::error(Reason::NoDescription, path, "it has neither a description nor a body")
                .hint("add `description:` to the frontmatter, saying what the skill does and when"),
        );
    }
    if let Some(written) = &read.header.name
        && written != name.as_str()
    {
        problems.push(
            Problem::warning(
                Reason::NameMismatch,
                path,
                format!(
                    "the frontmatter says `{}`; the skill is called `{name}`, as its directory",
                    written.escape_debug()
                ),
            )
            .hint("give the directory and `name:` the same name"),
        );
    }
    Document {
        name,
        folder,
        skill_md,
        size,
        body_start: read.body_start as u64,
        header: read.header,
        declaration,
        problems,
    }
}

/// Opens a SKILL.md without ever waiting for it; `None` where there is none.
fn open(directory: &Path, path: &Path) -> Result<Option<(File, Metadata)>, Problem> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if is_link(&error) => {
            let target = fs::canonicalize(path).map_err(|_| {
                Problem::error(Reason::SymlinkEscape, path, "it is a broken symlink")
                    .hint("put the file itself in its place")
            })?;
            if !target.starts_with(directory) {
                return Err(Problem::error(
                    Reason::SymlinkEscape,
                    path,
                    "it is a link that leads outside the skill's directory",
                )
                .hint("put the file itself in its place"));
            }
            open_plain(&target).map_err(|error| unreadable(path, &error))?
        }
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(unreadable(path, &error)),
            };
        }
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(Problem::error(Reason::UnreadableSkillMd, path, "it is not a regular file"));
    }
    Ok(Some((file, metadata)))
}

/// Opens for reading; a FIFO or a device does not make it wait, and a link at the end is refused.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::error(Reason::UnreadableSkillMd, path, format!("it cannot be read: {error}"))
        .hint("check the file's permissions")
}

/// Reads the frontmatter, with as little of the file as that takes.
fn read_prefix(path: &Path, file: &File) -> io::Result<(SkillMd, u64)> {
    let mut bytes = Vec::with_capacity(PREFIX_BYTES);
    file.take(PREFIX_BYTES as u64).read_to_end(&mut bytes)?;
    let read = frontmatter::read(path, &bytes);
    let cut = bytes.len() == PREFIX_BYTES;
    let open = read.header.description_source != DescriptionSource::Frontmatter
        || read.problems.iter().any(|problem| problem.severity == Severity::Error);
    if !(cut && open) {
        return Ok((read, bytes.len() as u64));
    }
    file.take((LONG_PREFIX_BYTES - PREFIX_BYTES) as u64).read_to_end(&mut bytes)?;
    Ok((frontmatter::read(path, &bytes), bytes.len() as u64))
}

fn read_sidecar(path: &Path) -> Option<(Stamp, Result<String, Problem>)> {
    let problem = |detail: String| Problem::warning(Reason::Declaration, path, detail);
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            let stamp = stamp(path)?;
            let detail = if is_link(&error) {
                LINKED_SIDECAR.to_owned()
            } else {
                format!("it cannot be read: {error}")
            };
            return Some((stamp, Err(problem(detail))));
        }
    };
    let metadata = file.metadata().ok()?;
    let stamp = Stamp::of_metadata(&metadata);
    let refuse = |detail: String| Some((stamp, Err(problem(detail))));
    if !metadata.is_file() {
        return refuse("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_SIDECAR_BYTES as u64 {
        return refuse(format!("it is larger than {MAX_SIDECAR_BYTES} bytes"));
    }
    let mut text = String::new();
    match file.take(MAX_SIDECAR_BYTES as u64).read_to_string(&mut text) {
        Ok(_) => Some((stamp, Ok(text))),
        Err(error) => refuse(format!("it cannot be read: {error}")),
    }
}
