//! The requests to providers for everybody whom a process serves: how many may be in flight,
//! whose turn it is, and how many there were.
//!
//! Permits are taken in two steps, first a person's own and then a common one. However many
//! requests a person has, only a few of them wait in the common queue, so nobody waits for another
//! person's long job.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::error::{Error, ErrorKind};

/// Requests in flight unless the settings say otherwise.
pub const MAX_IN_FLIGHT: usize = 256;
/// One person of many may have one part of this number of them.
const PART: usize = 4;

/// What is counted.
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
    /// What happened.
    pub what: CountKind,
    /// The provider's name in commands.
    pub provider: String,
    /// How it ended: the class of its status, such as `2xx`, or a word.
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

/// One person's share of them. Clones are the same share.
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
    /// Creates the requests of a process, at most `most` in flight.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Semaphore::new(most),
            most,
            people: Mutex::default(),
            counts: Mutex::default(),
        })
    }

    /// Returns the share of a process's only person: all.
    pub fn whole(self: &Arc<Self>) -> UpstreamShare {
        UpstreamShare(self.person(self.most))
    }

    /// Returns the share of one person of many; the same for the same owner.
    pub fn share_of(self: &Arc<Self>, owner: &str) -> UpstreamShare {
        let mut people = lock(&self.people);
        if let Some(person) = people.get(owner).and_then(Weak::upgrade) {
            return UpstreamShare(person);
        }
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
        let own = self.0.places.acquire().await.ok();
        UpstreamPermit { _own: own, _common: self.0.upstream.places.acquire().await.ok() }
    }

    /// Waits until no other request of the same person has the turn that one of all people has.
    pub async fn own_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.0.turn.clone().acquire_owned().await.ok()
    }

    /// Returns the requests of the process.
    pub fn upstream(&self) -> &Arc<UpstreamRequests> {
        &self.0.upstream
    }
}

/// A share of its own, as of a process with one person.
impl Default for UpstreamShare {
    fn default() -> Self {
        UpstreamRequests::new(MAX_IN_FLIGHT).whole()
    }
}

/// Returns the word for how a request ended: the class of its status; `throttled`, `network`,
/// `timeout`, or `other` for a response that could not be used.
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
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
