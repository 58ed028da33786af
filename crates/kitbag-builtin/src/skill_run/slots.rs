//! How many scripts run at once, and how many wait.

use std::sync::Arc;

use kitbag_tool::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many scripts run at once, where nobody says otherwise.
pub const DEFAULT_RUNS: usize = 4;

/// How many more wait, where nobody says otherwise.
pub const DEFAULT_WAITING: usize = 32;

/// Places to run in, taken in the order in which they are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    running: Arc<Semaphore>,
    /// Those that run and those that wait.
    places: Arc<Semaphore>,
    runs: usize,
    waiting: usize,
}

/// A place; free again when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _running: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

/// A place in the queue, or in a slot already.
#[derive(Debug)]
pub(crate) struct Place(OwnedSemaphorePermit);

impl Slots {
    /// At least one runs at a time.
    pub(crate) fn new(runs: usize, waiting: usize) -> Self {
        let runs = runs.clamp(1, MAX_SLOTS);
        let waiting = waiting.min(MAX_SLOTS);
        Self {
            running: Arc::new(Semaphore::new(runs)),
            places: Arc::new(Semaphore::new(runs + waiting)),
            runs,
            waiting,
        }
    }

    /// Refuses where everything is taken, so that nobody is asked about what could not run then.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.places.available_permits() == 0 { Err(self.busy()) } else { Ok(()) }
    }

    /// Takes a place in the queue, and waits for nothing.
    pub(crate) fn enter(&self) -> Result<Place, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map(Place).map_err(|_full| self.busy())
    }

    /// Waits for a slot, behind those that came before.
    pub(crate) async fn wait(&self, Place(place): Place) -> Slot {
        let running = Arc::clone(&self.running).acquire_owned().await;
        Slot { _running: running.expect("the slots are never closed"), _place: place }
    }

    fn busy(&self) -> Refusal {
        let Self { runs, waiting, .. } = self;
        Refusal::new(format!(
            "{runs} scripts run and {waiting} more wait, which is all there is room for."
        ))
        .hint("Nothing was started. Try again when one has ended.")
    }
}

/// The most slots of either kind.
const MAX_SLOTS: usize = 1024;
