//! Lists that are given by the page.

use std::num::NonZeroUsize;

use crate::{Interrupted, Refusal};

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The key that the page before ended with; the first page where there is none.
    pub after: Option<&'a str>,
    /// The most items to give.
    pub limit: NonZeroUsize,
}

/// A part of a list.
///
/// A list has an order over keys, and a page continues after a key whether or not that item still exists: what
/// stays in the list from the first page to the last is given exactly once, whatever comes and goes meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the order of their keys.
    pub items: Vec<T>,
    /// The key of the last item, where more may follow.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// A list that has nothing in it.
    pub fn empty() -> Self {
        Self { items: Vec::new(), next: None }
    }

    /// Cuts a page out of `sorted`, which must be sorted by `key`, making only the items that are given.
    ///
    /// `key` need not be what an item is known by: it only has to name its place in the list for good.
    pub fn cut<S>(
        request: PageRequest<'_>,
        sorted: &[S],
        key: impl Fn(&S) -> String,
        make: impl FnMut(&S) -> T,
    ) -> Self {
        let start = match request.after {
            Some(after) => sorted.partition_point(|item| key(item).as_str() <= after),
            None => 0,
        };
        let rest = &sorted[start..];
        let given = &rest[..rest.len().min(request.limit.get())];
        let next = match given.last() {
            Some(last) if given.len() < rest.len() => Some(key(last)),
            _ => None,
        };
        Self { items: given.iter().map(make).collect(), next }
    }
}

/// A list that could not be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The cursor was not made here.
    #[error("the cursor is not one of this list")]
    BadCursor,
    /// The source has the list, and will not or cannot give it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It did not come to an end.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
