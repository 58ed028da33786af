//! The sources that kitbag ships.
//!
//! [`SkillServer`] offers the skills of a [`Library`](kitbag_skills::Library) as the tools `skill_list`, `skill_load`
//! and `skill_file`, as one prompt a skill, and as one resource a file (decision 21). Every answer looks at the disk
//! first, so it is never older than the question.
//!
//! Nothing here knows a protocol, and nothing here runs what a skill brings.

mod skill_server;
mod skill_tool;

pub use skill_server::{
    INSTRUCTIONS, MAX_BATCH_BYTES, MAX_FILE_BYTES, MAX_FILE_PATHS, MAX_RESOURCE_BYTES,
    MAX_SKILL_MD_BYTES, ServeLimits, SkillServer,
};
pub use skill_tool::{Caller, SkillCall, answer, catalogue};
