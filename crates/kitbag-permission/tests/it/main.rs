//! Rules, calls and what comes out.

mod decisions;
mod fixture;
mod grammar;
mod grants;
mod problems;
mod properties;
mod reference;
