//! What is wrong with a file somebody wrote, told so that a person can act on it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// How much a [`Problem`] costs the skill it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// Something written in the file was not taken, or was taken in another way than written.
    Warning,
    /// The skill, root or file that the problem names is not used.
    Error,
}

/// Why a [`Problem`] was raised.
///
/// The set grows: a reader of the wire form must accept a name it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// A root does not resolve, is not a directory, or cannot be listed.
    RootUnreadable,
    /// A directory inside a skill or a root cannot be listed.
    DirectoryUnreadable,
    /// A candidate directory holds no `SKILL.md`.
    NoSkillMd,
    /// `SKILL.md` is not a regular file, or reading it failed.
    UnreadableSkillMd,
    /// `SKILL.md` is spelt in another case.
    SkillMdCase,
    /// A Markdown file lies where a skill's folder is expected.
    FlatFile,
    /// The frontmatter cannot be read as YAML, even after a repair.
    MalformedFrontmatter,
    /// The frontmatter was read after a repair, or in a way its author may not have meant.
    RepairedFrontmatter,
    /// A known frontmatter key holds something that cannot be taken.
    FrontmatterField,
    /// No description, and no first line of a body to take its place.
    NoDescription,
    /// The `mcp-host` block or `kitbag.toml` says something that cannot be taken.
    Declaration,
    /// Two real directories of one rank share a name, so neither is used.
    DuplicateName,
    /// Another directory answers to the name that this skill's frontmatter gives.
    AliasTaken,
    /// The frontmatter name, or the name of a link, differs from the directory's.
    NameMismatch,
    /// The directory's own name cannot be a skill's.
    UnusableName,
    /// A declared script is not among the skill's files.
    DeclaredScriptMissing,
    /// A link leads out of where it may lead, or to nothing.
    SymlinkEscape,
    /// A bundled file's name is one that the read tools refuse.
    UnusablePath,
    /// A pipe, socket or device lies in a skill.
    SpecialFile,
    /// A `.gitignore` inside a skill is not taken, or not in full.
    IgnoreFile,
    /// A skill holds more files or directories than are listed.
    FileLimit,
    /// A source holds more skills than are used.
    SkillLimit,
    /// A directory lies deeper than discovery looks.
    TooDeep,
    /// A hidden directory that seems to hold skills is none of the known ones, and is not searched.
    HiddenDirectory,
    /// A `package.json`, or the skill folders it names, cannot be used.
    Package,
    /// The Skills extension of MCP does not list this skill.
    ExtensionSkipped,
    /// What was approved cannot be read, so nothing that needs an approval is used.
    ApprovalsUnreadable,
    /// The grant of scripts names something that no skill declares, or cannot be read.
    Grant,
    /// The process's first environment could not be wiped, so that scripts may read what it was started with.
    EnvironUnscrubbed,
}

impl Reason {
    /// Every reason there is, in the order in which the documentation lists them.
    pub const ALL: [Self; 29] = [
        Self::RootUnreadable,
        Self::DirectoryUnreadable,
        Self::NoSkillMd,
        Self::UnreadableSkillMd,
        Self::SkillMdCase,
        Self::FlatFile,
        Self::MalformedFrontmatter,
        Self::RepairedFrontmatter,
        Self::FrontmatterField,
        Self::NoDescription,
        Self::Declaration,
        Self::DuplicateName,
        Self::AliasTaken,
        Self::NameMismatch,
        Self::UnusableName,
        Self::DeclaredScriptMissing,
        Self::SymlinkEscape,
        Self::UnusablePath,
        Self::SpecialFile,
        Self::IgnoreFile,
        Self::FileLimit,
        Self::SkillLimit,
        Self::TooDeep,
        Self::HiddenDirectory,
        Self::Package,
        Self::ExtensionSkipped,
        Self::ApprovalsUnreadable,
        Self::Grant,
        Self::EnvironUnscrubbed,
    ];

    /// The name of the reason on the wire and in tables, such as `name-mismatch`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RootUnreadable => "root-unreadable",
            Self::DirectoryUnreadable => "directory-unreadable",
            Self::NoSkillMd => "no-skill-md",
            Self::UnreadableSkillMd => "unreadable-skill-md",
            Self::SkillMdCase => "skill-md-case",
            Self::FlatFile => "flat-file",
            Self::MalformedFrontmatter => "malformed-frontmatter",
            Self::RepairedFrontmatter => "repaired-frontmatter",
            Self::FrontmatterField => "frontmatter-field",
            Self::NoDescription => "no-description",
            Self::Declaration => "declaration",
            Self::DuplicateName => "duplicate-name",
            Self::AliasTaken => "alias-taken",
            Self::NameMismatch => "name-mismatch",
            Self::UnusableName => "unusable-name",
            Self::DeclaredScriptMissing => "declared-script-missing",
            Self::SymlinkEscape => "symlink-escape",
            Self::UnusablePath => "unusable-path",
            Self::SpecialFile => "special-file",
            Self::IgnoreFile => "ignore-file",
            Self::FileLimit => "file-limit",
            Self::SkillLimit => "skill-limit",
            Self::TooDeep => "too-deep",
            Self::HiddenDirectory => "hidden-directory",
            Self::Package => "package",
            Self::ExtensionSkipped => "extension-skipped",
            Self::ApprovalsUnreadable => "approvals-unreadable",
            Self::Grant => "grant",
            Self::EnvironUnscrubbed => "environ-unscrubbed",
        }
    }
}

/// A place in a text file. Both counts start at 1; columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character within the line.
    pub column: u32,
}

impl Position {
    /// The place of byte `offset` in `text`; an offset past the end is the place after the last character.
    ///
    /// Lines end at LF, CRLF or a lone CR.
    pub fn at(text: &str, offset: usize) -> Self {
        let (mut line, mut column) = (1_u32, 1_u32);
        let mut after_cr = false;
        for (at, character) in text.char_indices() {
            if at >= offset {
                break;
            }
            match character {
                '\n' if after_cr => {}
                '\n' | '\r' => (line, column) = (line.saturating_add(1), 1),
                _ => column = column.saturating_add(1),
            }
            after_cr = character == '\r';
        }
        Self { line, column }
    }
}

/// One thing that is wrong: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind.
    pub reason: Reason,
    /// What it costs.
    pub severity: Severity,
    /// The file or directory it is about.
    #[serde(serialize_with = "lossily")]
    pub path: PathBuf,
    /// The place in that file, where one is known.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// What is wrong, in one sentence without its final stop.
    pub detail: String,
    /// What to do, in one sentence without its final stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A path as text: what is not UTF-8 in it is shown as U+FFFD, since JSON can hold nothing else.
pub(crate) fn lossily<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl Problem {
    /// A problem that costs the skill, root or file at `path`.
    pub fn error(reason: Reason, path: impl AsRef<Path>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, reason, path, detail)
    }

    /// A problem that the skill at `path` survives.
    pub fn warning(reason: Reason, path: impl AsRef<Path>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, reason, path, detail)
    }

    /// Something about `path` that is only worth knowing.
    pub fn note(reason: Reason, path: impl AsRef<Path>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Note, reason, path, detail)
    }

    fn new(
        severity: Severity,
        reason: Reason,
        path: impl AsRef<Path>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            reason,
            severity,
            path: path.as_ref().to_owned(),
            position: None,
            detail: detail.into(),
            hint: None,
        }
    }

    /// The same problem at a place in its file.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// The same problem with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    /// Writes `path:line:column: detail [reason]`, without the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {} [{}]", self.detail, self.reason.as_str())
    }
}
