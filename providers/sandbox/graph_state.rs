//! What Graph's half remembers between requests: how many are under way for
//! each mailbox, which pages are still good, and the indexes of the mailboxes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::graph_ids::named_guid;
use super::graph_store::Index;
use super::mailbox::Mailbox;

/// Requests that a mailbox takes at a time.
const AT_ONCE: usize = 4;

/// The state of Graph's half.
#[derive(Debug, Default)]
pub(super) struct GraphState {
    epoch: AtomicU64,
    requests: AtomicU64,
    items: AtomicU64,
    busy: Mutex<HashMap<String, usize>>,
    indexes: Vec<OnceLock<Index>>,
}

impl GraphState {
    /// The state at the start, for so many mailboxes.
    pub fn new(mailboxes: usize) -> Self {
        Self {
            indexes: (0..mailboxes).map(|_| OnceLock::new()).collect(),
            ..Self::default()
        }
    }

    /// The index of the mailbox at a place, made at the first need.
    pub fn index(&self, place: usize, mailbox: &Mailbox) -> Option<&Index> {
        let index = self.indexes.get(place)?;
        Some(index.get_or_init(|| Index::of(mailbox)))
    }

    /// The age of pages: a link made in an older one is not good any more.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Makes all links given so far too old.
    pub fn expire_pages(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// A number for a request, as a UUID; the same sequence on every run.
    pub fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        named_guid(&format!("request {number}"))
    }

    /// The number of a request inside a batch, for its fault. It is far from
    /// those outside, so that a batch and its first request do not fail alike.
    pub fn item(&self) -> u64 {
        (1 << 40) + self.items.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes one of the places that a mailbox has for requests; nothing when
    /// all are taken. The place is free again when the guard goes.
    pub fn enter(&self, address: &str) -> Option<Place<'_>> {
        let address = address.to_lowercase();
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let count = busy.entry(address.clone()).or_default();
        if *count >= AT_ONCE {
            return None;
        }
        *count += 1;
        Some(Place {
            state: self,
            address,
        })
    }
}

/// One request's place at a mailbox.
#[derive(Debug)]
pub(super) struct Place<'a> {
    state: &'a GraphState,
    address: String,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let busy = self.state.busy.lock();
        let mut busy = busy.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = busy.get_mut(&self.address) {
            *count = count.saturating_sub(1);
        }
    }
}
