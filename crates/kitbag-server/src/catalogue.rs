//! The port through which the Skills extension of MCP sees a catalogue of skills.

use kitbag_skills::{SkillName, SkillPath};
use kitbag_tool::{BoxFuture, ListError, Page, PageRequest};
use serde_json::{Map, Value};

/// A catalogue of skills, as the Skills extension shows it (decision 21).
///
/// It leaves out every skill that the extension may not list: one whose frontmatter has no valid name equal to the
/// directory's, or no description. Keys of pages are the catalogue's own affair; see [`Page`].
///
/// Methods may read and hash files: implementations do so off the async threads, and may be dropped at any point.
pub trait SkillCatalogue: Send + Sync {
    /// Gives a page of the skills, each whole.
    fn skills<'a>(
        &'a self,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Page<SkillEntry>, ListError>>;

    /// One skill; none where the extension has none of this name.
    fn skill<'a>(
        &'a self,
        name: &'a SkillName,
    ) -> BoxFuture<'a, Result<Option<SkillEntry>, ListError>>;

    /// Gives a page of what lies directly in a directory of a skill, or in the skill's own where `path` is none.
    ///
    /// None where there is no such skill, or no such directory in it.
    fn directory<'a>(
        &'a self,
        name: &'a SkillName,
        path: Option<&'a SkillPath>,
        page: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Page<DirectoryEntry>>, ListError>>;
}

/// One skill with the digests of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillEntry {
    /// Its name, which is its directory's.
    pub name: SkillName,
    /// Its frontmatter with every key that stands there, typed as YAML 1.2 types it. `name` and `description` are
    /// strings among them.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub files: SkillFiles,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFiles {
    /// All of them, `SKILL.md` among them.
    Listed(Vec<SkillFile>),
    /// More, or more bytes, than a host of the extension must take (512 files, 16 MiB): none is vouched for.
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Where it lies in the skill.
    pub path: SkillPath,
    /// The SHA-256 of its bytes.
    pub digest: [u8; 32],
    /// Its length in bytes.
    pub size: u64,
}

/// Something in a directory of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryEntry {
    /// A directory.
    Directory {
        /// Where it lies in the skill.
        path: SkillPath,
    },
    /// A file.
    File {
        /// Where it lies in the skill.
        path: SkillPath,
        /// Its media type.
        media_type: String,
        /// Its length in bytes.
        size: u64,
    },
}
