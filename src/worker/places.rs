//! The places for workers: how many run at once, and in which order.
//!
//! As for requests to providers (`core/provider/upstream.rs`), permits are taken in two steps, a
//! person's own and then a common one: however many files a person has read, only one of their jobs
//! waits in the common queue. One place is reserved for small jobs, so that they do not wait for
//! other people's large ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The numbers of places for large and for small jobs; each worker may use half a gigabyte.
const LARGE: usize = 2;
const SMALL: usize = 1;

/// The places of a process.
#[derive(Debug)]
pub struct WorkerPlaces {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    people: Mutex<HashMap<String, Weak<OwnPlaces>>>,
}

/// One person's permits for places.
#[derive(Debug)]
struct OwnPlaces {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
}

/// The permit for one worker.
#[derive(Debug)]
pub struct WorkerPermit {
    /// The permits; `None` if the places were closed, which never happens.
    _permits: [Option<OwnedSemaphorePermit>; 2],
    /// Keeps the person's permits while one of them is in use.
    _own: Arc<OwnPlaces>,
}

impl Default for WorkerPlaces {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { large: places(LARGE), small: places(SMALL), people: Mutex::default() }
    }
}

impl WorkerPlaces {
    /// Waits for a place for a small job. Without `owner`, the job is for the machine's only
    /// person.
    pub async fn small(&self, owner: Option<&str>) -> WorkerPermit {
        let own = self.own(owner);
        let first = own.small.clone().acquire_owned().await.ok();
        let common = self.small.clone().acquire_owned().await.ok();
        WorkerPermit { _permits: [first, common], _own: own }
    }

    /// Waits for a place for a large job.
    pub async fn large(&self, owner: Option<&str>) -> WorkerPermit {
        let own = self.own(owner);
        let first = own.large.clone().acquire_owned().await.ok();
        let common = self.large.clone().acquire_owned().await.ok();
        WorkerPermit { _permits: [first, common], _own: own }
    }

    fn own(&self, owner: Option<&str>) -> Arc<OwnPlaces> {
        // A machine's only person may use all places.
        let large = if owner.is_some() { 1 } else { LARGE };
        let owner = owner.unwrap_or_default();
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = people.get(owner).and_then(Weak::upgrade) {
            return own;
        }
        // People without a job need no entry, and their places are all free.
        people.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(OwnPlaces {
            large: Arc::new(Semaphore::new(large)),
            small: Arc::new(Semaphore::new(SMALL)),
        });
        people.insert(owner.to_owned(), Arc::downgrade(&own));
        own
    }
}
