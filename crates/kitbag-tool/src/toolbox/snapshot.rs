//! What several sources offer at one moment, as one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use crate::arguments::Check;
use crate::{Offer, OfferedTool, Source, ToolName, ToolSpec};

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
    pub(crate) tool: Arc<OfferedTool>,
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
        self.offered().map(|tool| &tool.spec)
    }

    /// The tools as their sources offer them, sorted by name.
    pub fn offered(&self) -> impl DoubleEndedIterator<Item = &Arc<OfferedTool>> {
        self.tools.values().map(|entry| &entry.tool)
    }

    /// The tools whose names come after `name`, sorted by name.
    pub(crate) fn after(&self, name: &str) -> impl DoubleEndedIterator<Item = &Arc<OfferedTool>> {
        let from = (std::ops::Bound::Excluded(name), std::ops::Bound::Unbounded);
        self.tools.range::<str, _>(from).map(|(_, entry)| &entry.tool)
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolSpec>> {
        self.tools.get(name).map(|entry| &entry.tool.spec)
    }

    pub(crate) fn offered_as(&self, name: &str) -> Option<&Arc<OfferedTool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    pub(crate) fn entry(&self, name: &ToolName) -> Option<&Entry> {
        self.tools.get(name)
    }

    /// Whether this is the merge of exactly what these say now.
    pub(super) fn is_of(&self, offers: &[watch::Receiver<Arc<Offer>>]) -> bool {
        let same = |(ours, theirs): (&Arc<Offer>, &watch::Receiver<Arc<Offer>>)| {
            Arc::ptr_eq(ours, &theirs.borrow())
        };
        self.offers.iter().zip(offers).all(same)
    }

    pub(super) fn merge(
        generation: u64,
        sources: &[Arc<dyn Source>],
        offers: Box<[Arc<Offer>]>,
    ) -> Self {
        let mut tools = BTreeMap::new();
        for (source, offer) in offers.iter().enumerate() {
            for tool in &offer.tools {
                let name = &tool.spec.name;
                if tools.contains_key(name) {
                    let origin = sources[source].id();
                    tracing::warn!(source = %origin, tool = %name, "the name is taken already");
                    continue;
                }
                let entry = Entry { tool: tool.clone(), source, check: OnceLock::new() };
                tools.insert(name.clone(), entry);
            }
        }
        Self { generation, offers, tools }
    }
}
