//! What several sources offer at one moment, as one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::arguments::Check;
use crate::{Offer, Source, ToolName, ToolSpec};

/// What a toolbox offers at one moment.
#[derive(Debug)]
pub struct Snapshot {
    generation: u64,
    offers: Box<[Arc<Offer>]>,
    tools: BTreeMap<ToolName, Entry>,
}

/// A tool and who offers it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) spec: Arc<ToolSpec>,
    /// The place of its source in the toolbox.
    pub(crate) source: usize,
    /// Made at the first call, since most tools are listed and never called.
    pub(crate) check: OnceLock<Check>,
}

impl Snapshot {
    /// Counts the states of the toolbox, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The tools, sorted by name, so that the list never depends on which source was ready first.
    pub fn tools(&self) -> impl DoubleEndedIterator<Item = &Arc<ToolSpec>> {
        self.tools.values().map(|entry| &entry.spec)
    }

    /// The tools whose names come after `name`, sorted by name.
    pub fn tools_after(&self, name: &str) -> impl DoubleEndedIterator<Item = &Arc<ToolSpec>> {
        let from = (std::ops::Bound::Excluded(name), std::ops::Bound::Unbounded);
        self.tools.range::<str, _>(from).map(|(_, entry)| &entry.spec)
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.tools.get(name).map(|entry| &entry.spec)
    }

    pub(crate) fn entry(&self, name: &ToolName) -> Option<&Entry> {
        self.tools.get(name)
    }

    /// Whether this is the merge of exactly these offers.
    pub(super) fn is_of(&self, offers: &[Arc<Offer>]) -> bool {
        self.offers.iter().zip(offers).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs))
    }

    pub(super) fn merge(
        generation: u64,
        sources: &[Arc<dyn Source>],
        offers: Box<[Arc<Offer>]>,
    ) -> Self {
        let mut tools = BTreeMap::new();
        for (source, offer) in offers.iter().enumerate() {
            for spec in &offer.tools {
                if tools.contains_key(&spec.name) {
                    let origin = sources[source].id();
                    tracing::warn!(source = %origin, tool = %spec.name, "the name is taken by another source");
                    continue;
                }
                let entry = Entry { spec: spec.clone(), source, check: OnceLock::new() };
                tools.insert(spec.name.clone(), entry);
            }
        }
        Self { generation, offers, tools }
    }
}
