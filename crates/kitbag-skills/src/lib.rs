//! The Agent Skills format as data: find, parse, catalogue, digest, substitute, read within bounds, watch.

pub mod activation;
pub mod attach;
pub mod budget;
pub mod catalogue;
pub mod declaration;
mod digest;
mod file;
mod folder;
pub mod frontmatter;
mod manifest;
mod media;
mod name;
mod path;
mod problem;
pub mod shown;
pub mod substitute;
mod tokens;

pub use digest::{
    Digest, DigestCache, DigestError, FileDigest, SkillDigests, file_digest, skill_digest,
};
pub use file::{Chunk, SkillFile, Stamp};
pub use folder::{BundledFile, Folder, ReadError};
pub use manifest::{Child, Manifest, ManifestFile, ManifestLimits};
pub use media::{Content, Passage, classify, media_type};
pub use name::{MAX_NAME_CHARS, SkillName, SkillNameError};
pub use path::{MAX_PATH_CHARS, PathRule, SkillPath, SkillPathError};
pub use problem::{Position, Problem, Reason, Severity};
pub use tokens::estimate_tokens;
