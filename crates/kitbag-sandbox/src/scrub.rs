//! Keeping a process's own environment from its neighbours.
//!
//! The kernel shows the block of variables that a process was started with as `/proc/PID/environ`, for as long as it
//! lives, and removing a variable doesn't touch it. So the variables are given another home first, then the block is
//! overwritten, then it is read back. Beside it the process is made one that the kernel neither dumps nor lets others of the
//! same user look into. Either alone leaves a hole: root sees into what is not dumpable, and memory has copies.

#[cfg(target_os = "linux")]
mod block;

/// What became of the block that `/proc/PID/environ` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scrub {
    /// The system has no such block; nothing was touched.
    Unsupported,
    /// It holds nothing but zeros, and was read back.
    Scrubbed {
        /// How many bytes it has.
        bytes: u64,
    },
    /// It could not be overwritten, or not be seen to be.
    Failed {
        /// Why.
        why: String,
    },
}

/// What protects the environment of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// What became of the block of variables.
    pub environment: Scrub,
    /// The kernel lets no other process of the same user look into this one.
    pub is_opaque: bool,
}

impl Protection {
    /// Says whether neither a child nor a sibling of the same user reads the variables from `/proc`.
    pub fn holds(&self) -> bool {
        self.is_opaque && matches!(self.environment, Scrub::Scrubbed { .. })
    }
}

/// Moves this process's environment to where only this process finds it, and makes the process opaque.
///
/// It must come early in `main`: where there is a second thread already, nothing is touched and the answer says so. After it
/// `std::env` works as before, and children inherit what they are given. A name that is there twice keeps its first value, and
/// what is no `NAME=value` is dropped. Never fails and never panics; what the answer means is the caller's to decide.
///
/// A process that is opaque can't read its own `/proc/self/environ` and `/proc/self/mem` any more unless it is root, and leaves no
/// core dump. A program that it executes starts without either protection.
pub fn protect_environment() -> Protection {
    #[cfg(target_os = "linux")]
    {
        let environment = match block::scrub() {
            Ok(bytes) => Scrub::Scrubbed { bytes },
            Err(why) => Scrub::Failed { why },
        };
        Protection { environment, is_opaque: block::make_opaque() }
    }
    #[cfg(not(target_os = "linux"))]
    Protection { environment: Scrub::Unsupported, is_opaque: false }
}
