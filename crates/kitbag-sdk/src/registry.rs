//! The skills of a program, and the one way to call them.

mod service;
mod source;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use kitbag_tool::{Offer, SourceId, ToolOutput, ToolSpec};
use tokio::sync::watch;

use crate::dispatch::dispatch;
use crate::nested::{self, Way};
use crate::{Definition, Generate, SkillCall, SkillError};

/// The name of a registry among the sources of a toolbox, where it is given none.
const DEFAULT_ID: &str = "typed-skills";

/// Skills by their names. A handle: clones share the skills, and each change is seen through all of them.
///
/// Readers get immutable snapshots. A change copies the list of skills, not the skills, so whoever has thousands
/// registers them in one [`apply`](Self::apply).
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
    model: Option<Arc<dyn Generate>>,
}

struct Shared {
    id: SourceId,
    /// Held while the next snapshot is made, so that both channels tell the same story.
    writer: Mutex<()>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    offer: watch::Sender<Arc<Offer>>,
}

/// The skills of a registry at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: u64,
    /// Sorted by name.
    definitions: Vec<Arc<Definition>>,
}

/// One change of a registry.
#[derive(Debug, Clone)]
pub enum Change {
    /// Adds a skill whose name is free.
    Register(Arc<Definition>),
    /// Adds a skill, in place of the one that has its name.
    Replace(Arc<Definition>),
    /// Takes the skill of this name out, if there is one.
    Remove(String),
}

/// A skill whose name is taken. The one that was registered first stays.
#[derive(Debug, Clone, thiserror::Error)]
#[error("skill `{}` is registered already", definition.name())]
pub struct Duplicate {
    /// The definition that was refused.
    pub definition: Arc<Definition>,
}

/// Changes that were not made, none of them.
#[derive(Debug, Clone, thiserror::Error)]
#[error("change {at} of {}: skill `{name}` is registered already", changes.len())]
pub struct Rejected {
    /// Which of the changes cannot be made, counted from 0.
    pub at: usize,
    /// The name that is taken.
    pub name: String,
    /// All of the changes, as they were given.
    pub changes: Vec<Change>,
}

impl Registry {
    /// An empty registry, which is called `typed-skills` among the sources of a toolbox.
    pub fn new() -> Self {
        Self::named(DEFAULT_ID.parse().expect("the default name follows the rule for names"))
    }

    /// An empty registry with its name among the sources of a toolbox.
    pub fn named(id: SourceId) -> Self {
        let shared = Shared {
            id,
            writer: Mutex::default(),
            snapshot: watch::Sender::default(),
            offer: watch::Sender::default(),
        };
        Self { shared: Arc::new(shared), model: None }
    }

    /// A handle of the same registry, whose calls can ask this model.
    #[must_use]
    pub fn generating(&self, model: Arc<dyn Generate>) -> Self {
        Self { shared: self.shared.clone(), model: Some(model) }
    }

    /// Adds a skill whose name is free, and gives back what callers will reach.
    ///
    /// # Errors
    ///
    /// The name is taken. Nothing changed, and the error holds the definition.
    pub fn register(
        &self,
        definition: impl Into<Arc<Definition>>,
    ) -> Result<Arc<Definition>, Duplicate> {
        let definition = definition.into();
        let change = Change::Register(definition.clone());
        match self.apply(vec![change]) {
            Ok(()) => Ok(definition),
            Err(_rejected) => Err(Duplicate { definition }),
        }
    }

    /// Adds a skill, and gives back the one that had its name. Calls under way end with the one they began with.
    pub fn replace(&self, definition: impl Into<Arc<Definition>>) -> Option<Arc<Definition>> {
        let definition = definition.into();
        let mut former = None;
        self.try_change(|definitions| {
            match place(definitions, definition.name()) {
                Ok(at) => former = Some(std::mem::replace(&mut definitions[at], definition)),
                Err(at) => definitions.insert(at, definition),
            }
            Some(())
        });
        former
    }

    /// Takes a skill out, and gives it back. Calls under way go on.
    pub fn remove(&self, name: &str) -> Option<Arc<Definition>> {
        let mut former = None;
        self.try_change(|definitions| {
            former = Some(definitions.remove(place(definitions, name).ok()?));
            Some(())
        });
        former
    }

    /// Makes many changes as one: whoever looks sees none of them or all, and is told once.
    ///
    /// # Errors
    ///
    /// One of them would register a name that is taken then. Nothing changed, and the error holds them all.
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), Rejected> {
        let mut taken = None;
        self.try_change(|definitions| {
            for (at, change) in changes.iter().enumerate() {
                match change {
                    Change::Register(new) => match place(definitions, new.name()) {
                        Ok(_) => {
                            taken = Some((at, new.name().to_owned()));
                            return None;
                        }
                        Err(at) => definitions.insert(at, new.clone()),
                    },
                    Change::Replace(new) => match place(definitions, new.name()) {
                        Ok(at) => definitions[at] = new.clone(),
                        Err(at) => definitions.insert(at, new.clone()),
                    },
                    Change::Remove(name) => {
                        if let Ok(at) = place(definitions, name) {
                            definitions.remove(at);
                        }
                    }
                }
            }
            Some(())
        });
        match taken {
            Some((at, name)) => Err(Rejected { at, name, changes }),
            None => Ok(()),
        }
    }

    /// The skill of this name: the very value that was registered.
    pub fn get(&self, name: &str) -> Option<Arc<Definition>> {
        self.shared.snapshot.borrow().get(name).cloned()
    }

    /// The skills at this moment.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.borrow().clone()
    }

    /// The skills at each moment from now on. Changes that follow each other quickly may be seen as one.
    pub fn changes(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.shared.snapshot.subscribe()
    }

    /// Calls a skill, within a tokio runtime.
    ///
    /// The arguments are held to the published schema, then the handler runs as a task of its own, which is dropped
    /// with this future. No lock is held meanwhile: a handler may call, register and remove.
    ///
    /// # Errors
    ///
    /// As [`SkillError`] says. A skill that ran and gave an output flagged as an error did not fail to be called.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn call(&self, call: SkillCall) -> Result<ToolOutput, SkillError> {
        if let Way::Through(context) = &call.way {
            let context = context.clone();
            return nested::call(&context, call).await;
        }
        match self.get(&call.skill) {
            Some(definition) => dispatch(&definition, self, call).await,
            None => Err(SkillError::NotRegistered { name: call.skill.as_ref().to_owned() }),
        }
    }

    pub(crate) fn model(&self) -> Option<&Arc<dyn Generate>> {
        self.model.as_ref()
    }

    /// Publishes the edited list, unless the edit gives none.
    fn try_change(&self, edit: impl FnOnce(&mut Vec<Arc<Definition>>) -> Option<()>) {
        let _writer = self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.snapshot();
        let mut definitions = old.definitions.clone();
        if edit(&mut definitions).is_none() {
            return;
        }
        let tools = definitions.iter().map(|definition| definition.tool.clone()).collect();
        let next = Snapshot { generation: old.generation + 1, definitions };
        self.shared.snapshot.send_replace(Arc::new(next));
        self.shared.offer.send_replace(Arc::new(Offer { tools, prompts: None, resources: None }));
    }
}

impl Snapshot {
    /// Counts the states of the registry, from 0, which is the empty one.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The skills, sorted by the bytes of their names.
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// The tools that stand for them, in the same order.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<ToolSpec>> {
        self.definitions.iter().map(|definition| definition.spec())
    }

    /// The skill of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        place(&self.definitions, name).ok().map(|at| &self.definitions[at])
    }
}

/// Where the skill of this name stands, or would.
fn place(definitions: &[Arc<Definition>], name: &str) -> Result<usize, usize> {
    definitions.binary_search_by(|definition| definition.name().cmp(name))
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot();
        let names = snapshot.definitions.iter().map(|definition| definition.name());
        f.debug_list().entries(names).finish()
    }
}
