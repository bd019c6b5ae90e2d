//! Limits and counters for the requests that a process sends to providers, shared by everyone it
//! serves.
//!
//! Permits are acquired in two steps, a person's own first and a common one second. However many
//! requests a person has, only a few of them wait in the common queue, so nobody waits for
//! another person's long job.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::error::{Error, ErrorKind};

/// The default limit of requests in flight.
pub const MAX_IN_FLIGHT: usize = 256;
/// The divisor that yields one person's share of the limit, on a server for many people.
const PART: usize = 4;

/// The kind of activity that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountKind {
    /// A request for a call.
    Request,
    /// The sign-in of an account.
    SignIn,
    /// The renewal of an account's tokens.
    Refresh,
}

/// A kind of event that is counted separately.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountedEvent {
    /// The kind of activity.
    pub what: CountKind,
    /// The provider's name in commands.
    pub provider: String,
    /// Its outcome: the status class, such as `2xx`, or a word.
    pub outcome: &'static str,
}

/// The requests of a process.
#[derive(Debug)]
pub struct UpstreamRequests {
    places: Semaphore,
    most: usize,
    people: Mutex<HashMap<String, Weak<PersonShare>>>,
    counts: Mutex<BTreeMap<CountedEvent, u64>>,
}

/// One person's share of the requests. Clones are the same share.
#[derive(Debug, Clone)]
pub struct UpstreamShare(Arc<PersonShare>);

#[derive(Debug)]
struct PersonShare {
    upstream: Arc<UpstreamRequests>,
    places: Semaphore,
    turn: Arc<Semaphore>,
}

/// The permit for one request.
#[derive(Debug)]
pub struct UpstreamPermit<'a> {
    _own: Option<SemaphorePermit<'a>>,
    _common: Option<SemaphorePermit<'a>>,
}

impl UpstreamRequests {
    /// Creates the shared limits of a process, with at most `most` requests in flight.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Semaphore::new(most),
            most,
            people: Mutex::default(),
            counts: Mutex::default(),
        })
    }

    /// Returns the share of a process's only person: the whole limit.
    pub fn whole(self: &Arc<Self>) -> UpstreamShare {
        UpstreamShare(self.person(self.most))
    }

    /// Returns the share of one person of many; the same share for the same owner.
    pub fn share_of(self: &Arc<Self>, owner: &str) -> UpstreamShare {
        let mut people = lock(&self.people);
        if let Some(person) = people.get(owner).and_then(Weak::upgrade) {
            return UpstreamShare(person);
        }
        // Shares live only as long as their adapters. Pruning whenever one is added keeps
        // the map as small as the set of people who are active.
        people.retain(|_, person| person.strong_count() > 0);
        let person = self.person((self.most / PART).max(1));
        people.insert(owner.to_owned(), Arc::downgrade(&person));
        UpstreamShare(person)
    }

    fn person(self: &Arc<Self>, places: usize) -> Arc<PersonShare> {
        let turn = Arc::new(Semaphore::new(1));
        Arc::new(PersonShare { upstream: self.clone(), places: Semaphore::new(places), turn })
    }

    /// Counts an event.
    pub fn count(&self, what: CountKind, provider: &str, outcome: &'static str) {
        let counted = CountedEvent { what, provider: provider.to_owned(), outcome };
        *lock(&self.counts).entry(counted).or_default() += 1;
    }

    /// Returns how often each kind of event was counted.
    pub fn counts(&self) -> Vec<(CountedEvent, u64)> {
        lock(&self.counts).iter().map(|(counted, count)| (counted.clone(), *count)).collect()
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }
}

impl UpstreamShare {
    /// Waits until one more request may be sent.
    pub async fn place(&self) -> UpstreamPermit<'_> {
        // The person's own permit comes first: in the opposite order, a person who has
        // used up their share would hold common permits while waiting.
        let own = self.0.places.acquire().await.ok();
        UpstreamPermit { _own: own, _common: self.0.upstream.places.acquire().await.ok() }
    }

    /// Waits until no other request of the same person waits for a turn among all people, and
    /// returns that turn.
    pub async fn own_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.0.turn.clone().acquire_owned().await.ok()
    }

    /// Returns the requests of the process.
    pub fn upstream(&self) -> &Arc<UpstreamRequests> {
        &self.0.upstream
    }
}

/// The whole share of a new process, for a server with one person.
impl Default for UpstreamShare {
    fn default() -> Self {
        UpstreamRequests::new(MAX_IN_FLIGHT).whole()
    }
}

/// Returns the word for the outcome of a request: `2xx`, `4xx` or `5xx` by its status;
/// `throttled`, `network`, `timeout`, or `other` for a response that could not be used.
pub fn outcome<T>(response: &Result<T, Error>) -> &'static str {
    match response.as_ref().map_err(Error::kind) {
        Ok(_) => "2xx",
        Err(ErrorKind::RateLimited(_) | ErrorKind::Provider(429)) => "throttled",
        Err(ErrorKind::Provider(500..)) => "5xx",
        Err(
            ErrorKind::Provider(400..)
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Auth,
        ) => "4xx",
        Err(ErrorKind::Network) => "network",
        Err(ErrorKind::Timeout) => "timeout",
        Err(_) => "other",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Both maps are valid after every single operation, so a panic elsewhere does not spoil
    // them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
