//! Values that are never shown.

use std::fmt;

/// A value that no `Debug` shows and that has no `Display`: what stands under `env` and `headers` (B-64, decision 11).
#[derive(Clone, PartialEq, Eq)]
pub struct Covered<T>(T);

impl<T> Covered<T> {
    /// Covers a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the process or the server that it is meant for.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Covered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[covered]")
    }
}
