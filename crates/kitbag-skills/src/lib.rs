//! The Agent Skills format as data: find, parse, catalogue, digest, substitute, read within bounds, watch.

pub mod activation;
pub mod attach;
pub mod budget;
mod catalog;
pub mod catalogue;
pub mod clients;
mod consent;
pub mod declaration;
mod digest;
mod document;
mod extension;
mod file;
mod folder;
pub mod frontmatter;
mod guide;
mod library;
mod manifest;
mod media;
mod name;
mod origin;
mod packages;
mod path;
mod problem;
pub mod review;
mod roots;
mod scan;
mod seal;
pub mod shown;
mod skill;
pub mod substitute;
mod tokens;
mod uri;
pub mod validate;
mod watch;

pub use catalog::{Catalog, Denials, SkillLimit};
pub use consent::{Approvals, Consent, ConsentFrom, ConsentKey, Consents};
pub use digest::{
    CopyError, Digest, DigestCache, DigestError, FileDigest, MAX_COPY_BYTES, SkillDigests,
    copy_skill, file_digest, skill_digest,
};
pub use document::{Document, SKILL_MD};
pub use extension::{MAX_EXTENSION_BYTES, MAX_EXTENSION_FILES, extension_fault, is_specified_name};
pub use file::{Chunk, SkillFile, Stamp};
pub use folder::{BundledFile, Folder, ReadError};
pub use guide::GUIDE;
pub use library::Library;
pub use manifest::{Child, Manifest, ManifestFile, ManifestLimits};
pub use media::{Content, Passage, classify, media_type};
pub use name::{MAX_NAME_CHARS, SkillName, SkillNameError};
pub use origin::{GivenBy, Origin, Trust};
pub use path::{MAX_PATH_CHARS, PathRule, SkillPath, SkillPathError};
pub use problem::{Position, Problem, Reason, Severity};
pub use roots::{Layout, Places, Reach, Root, RootChoice, RootOrder, workspace};
pub use seal::{ChangedSinceApproved, OutsideFile, Seal, SealError, SealedEntry, SealedKind};
pub use skill::{Skill, Status};
pub use tokens::estimate_tokens;
pub use uri::{SkillUri, SkillUriError};
pub use watch::Watch;
