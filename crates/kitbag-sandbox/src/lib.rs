//! Runs a program under a policy that the kernel enforces, and ends its whole tree.
//!
//! A [`Policy`] says what a program may read, write, execute, reach and use; [`Sandbox::run`] runs it so, or refuses
//! and names what this machine can't hold. What the machine gives is found out once, by doing it ([`Sandbox::probe`]).
//!
//! On Linux the boundary is made by this program itself, executed again as a *launcher*: its `main` must begin with
//! [`become_launcher_if_asked`]. The strongest tier makes namespaces with a root of its own, Landlock, and a system
//! call filter; the weaker one does with the last two. Nothing weaker is ever used. `docs/reference/sandbox.md` says what each
//! holds, and what it doesn't.
//!
//! [`protect_environment`] keeps the environment of the server itself from its neighbours.
//!
//! This is the only crate with `unsafe` code.

mod capture;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod job;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod plan;
mod policy;
mod sandbox;
mod scrub;
mod seatbelt;
mod tier;

pub use capture::{Captured, MAX_LINE_BYTES, Stream};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::become_launcher_if_asked;
pub use job::{Ended, Finished, Job, RunError, Timings};
#[cfg(target_os = "linux")]
pub use launcher::become_launcher_if_asked;
#[cfg(target_os = "linux")]
pub use plan::Stage;
pub use policy::{
    Allowed, HostPort, HostPortError, Limits, MAX_COMMAND_BYTES, MAX_HOSTS, MAX_PATH_BYTES,
    MAX_PATHS, Network, Policy, PolicyError, Scratch,
};
pub use sandbox::{Launcher, Sandbox};
pub use scrub::{Protection, Scrub, protect_environment};
pub use seatbelt::seatbelt_profile;
pub use tier::{Guarantee, Layer, Presence, Report, Tier, Verdict};
