//! The sources that kitbag ships.
//!
//! [`SkillServer`] offers the skills of a [`Library`](kitbag_skills::Library) as the tools `skill_list`, `skill_load`
//! and `skill_file`, as one prompt a skill, and as one resource a file (decision 21). Every answer looks at the disk
//! first, so it is never older than the question.
//!
//! [`SkillTools`] offers the tools that skills declare, and runs them as processes where [`Running`] lets it.
//!
//! Nothing here knows a protocol.

mod blocking;
mod interpreters;
mod json;
mod process;
pub mod skill_run;
mod skill_server;
mod skill_tool;
mod skill_tools;

pub use json::{JsonFault, parse_json};
pub use skill_server::{
    INSTRUCTIONS, MAX_BATCH_BYTES, MAX_FILE_BYTES, MAX_FILE_PATHS, MAX_RESOURCE_BYTES,
    MAX_SKILL_MD_BYTES, ServeLimits, SkillServer,
};
pub use skill_tool::{Caller, SkillCall, answer, catalogue};
pub use skill_tools::{
    DeclaredTool, MAX_RUNNING_HANDLERS, Machine, NOT_IN_A_SANDBOX, Running, SkillTools, Variables,
    declared_tools,
};
