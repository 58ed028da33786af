//! Values of the caller that travel with a call.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Values that a caller gives to a handler, one of each type. Cheap to clone; a clone is a copy.
#[derive(Clone, Default)]
pub struct Extensions(Option<Arc<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Extensions {
    /// The value of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Puts a value in, instead of the one of its type. Clones made earlier keep theirs.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        Arc::make_mut(self.0.get_or_insert_default()).insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Puts the values of `other` in, of those types that there is no value of.
    pub fn fill_from(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (_, None) => {}
            (own @ None, Some(_)) => own.clone_from(&other.0),
            (Some(own), Some(values)) => {
                let own = Arc::make_mut(own);
                for (kind, value) in &**values {
                    own.entry(*kind).or_insert_with(|| value.clone());
                }
            }
        }
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.as_ref().map_or(0, |values| values.len());
        f.debug_struct("Extensions").field("count", &count).finish()
    }
}
