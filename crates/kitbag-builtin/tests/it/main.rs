//! Skills as a client has them: through a toolbox, over a library, from folders on disk.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod bag;
mod confirming;
mod consent;
mod files;
mod grants;
mod handlers;
mod hostile;
mod list;
mod live;
mod load;
mod memory;
mod prompts;
mod resources;
mod running;
mod skill_tool;
mod stage;
mod tools;
mod user_only;
mod workshop;
