//! The entries of a directory that come first, however many it holds.

/// The first items by name out of any number, in bounded space.
pub(super) struct Smallest<T> {
    keep: usize,
    name: fn(&T) -> &[u8],
    /// A name that comes before all others.
    first: &'static [u8],
    items: Vec<T>,
    dropped: usize,
}

impl<T> Smallest<T> {
    pub(super) fn keeping(keep: usize, name: fn(&T) -> &[u8], first: &'static [u8]) -> Self {
        Self { keep, name, first, items: Vec::new(), dropped: 0 }
    }

    pub(super) fn add(&mut self, item: T) {
        self.items.push(item);
        if self.items.len() >= self.keep.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        let Self { name, first, .. } = *self;
        self.items.sort_unstable_by(|a, b| {
            let (a, b) = (name(a), name(b));
            (a != first, a).cmp(&(b != first, b))
        });
        self.dropped += self.items.len().saturating_sub(self.keep);
        self.items.truncate(self.keep);
    }

    /// The items that were kept, in order, and how many were not.
    pub(super) fn sorted(mut self) -> (Vec<T>, usize) {
        self.shrink();
        (self.items, self.dropped)
    }
}
