//! The Agent Skills format as data: find, parse, catalogue, digest, substitute, read within bounds, watch.

pub mod declaration;
pub mod frontmatter;
mod name;
mod path;
mod problem;

pub use name::{MAX_NAME_CHARS, SkillName, SkillNameError};
pub use path::{MAX_PATH_CHARS, PathRule, SkillPath, SkillPathError};
pub use problem::{Position, Problem, Reason, Severity};
