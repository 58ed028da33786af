//! The server's side on Linux: it starts launchers and listens to them.

mod channel;
mod probe;
mod run;
mod sites;

pub(crate) use probe::probe;
pub(crate) use run::run;
pub(crate) use sites::Sites;
