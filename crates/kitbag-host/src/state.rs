//! The store, opened when something needs it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use kitbag_store::{SetAside, Store, StoreOptions, Timestamp};

use crate::error::HostError;
use crate::place::Where;

/// The store of a host, open or not.
#[derive(Debug, Default)]
pub(crate) struct State {
    opened: Mutex<Option<Arc<Store>>>,
    /// What was found damaged when it was opened.
    set_aside: Mutex<Option<Arc<SetAside>>>,
}

impl State {
    /// The store; made where there is none.
    pub(crate) fn store(&self, place: &Where) -> Result<Arc<Store>, HostError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*opened {
            return Ok(Arc::clone(store));
        }
        let path = place.store_file().ok_or(HostError::NoHome)?;
        let found = Store::open(&path, now(), StoreOptions::STANDARD)?;
        if let Some(set_aside) = found.set_aside {
            let mut told = self.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
            *told = Some(Arc::new(set_aside));
        }
        let store = Arc::new(found.store);
        *opened = Some(Arc::clone(&store));
        Ok(store)
    }

    /// The store, if there is one.
    pub(crate) fn existing(&self, place: &Where) -> Result<Option<Arc<Store>>, HostError> {
        let Some(path) = place.store_file() else { return Ok(None) };
        // Opening an absent store would make it. What cannot be looked at is opened, so that the reason is told.
        match path.try_exists() {
            // A log of changes without its database is damage, and must be found.
            Ok(false) if !path.with_file_name("kitbag.db-wal").exists() => Ok(None),
            _ => self.store(place).map(Some),
        }
    }

    /// What was found damaged and is now out of the way.
    pub(crate) fn set_aside(&self) -> Option<Arc<SetAside>> {
        self.set_aside.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The clock that consents and the log are dated by.
pub(crate) fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}
