//! The state of Graph's half between requests: concurrent requests per mailbox, and data that only
//! Exchange has.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::exchange::state::ExchangeState;
use super::ids::named_guid;
use super::mail::file::FileUpload;
use crate::lock::lock;

/// The maximum number of concurrent requests to a mailbox, as Outlook allows an app.
const AT_ONCE: usize = 4;

/// The state of Graph's half.
#[derive(Debug, Default)]
pub(crate) struct GraphState {
    generation: AtomicU64,
    /// True if the tenant's rooms may be read.
    pub rooms: AtomicBool,
    requests: AtomicU64,
    items: AtomicU64,
    busy: Mutex<HashMap<String, usize>>,
    exchanges: Mutex<HashMap<String, ExchangeState>>,
    uploads: Mutex<Vec<FileUpload>>,
}

impl GraphState {
    /// Returns the generation of delta links. Links of an earlier one are too old.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Makes all existing delta links too old.
    pub fn expire_delta_links(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a UUID for a request. The sequence is the same on every run.
    pub fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        named_guid(&format!("request {number}"))
    }

    /// Returns the number of a request inside a batch, which decides about its fault. The numbers
    /// are far from those outside of batches, so that a batch and its first part do not fail alike.
    pub fn item(&self) -> u64 {
        (1 << 40) + self.items.fetch_add(1, Ordering::Relaxed)
    }

    /// Reads or changes a mailbox's data. `then` must not call this again, because the lock is
    /// held.
    pub fn exchange<T>(&self, address: &str, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        then(lock(&self.exchanges).entry(address.to_lowercase()).or_default())
    }

    /// Reads or changes the upload sessions.
    pub fn uploads<T>(&self, then: impl FnOnce(&mut Vec<FileUpload>) -> T) -> T {
        then(&mut lock(&self.uploads))
    }

    /// Takes a slot for a request to a mailbox; `None` if all are taken. Dropping the slot frees
    /// it.
    pub fn enter(&self, address: &str) -> Option<ConcurrencySlot<'_>> {
        let address = address.to_lowercase();
        let mut busy = lock(&self.busy);
        let count = busy.entry(address.clone()).or_default();
        if *count >= AT_ONCE {
            return None;
        }
        *count += 1;
        Some(ConcurrencySlot { state: self, address })
    }
}

/// The slot of one request to a mailbox.
#[derive(Debug)]
pub(crate) struct ConcurrencySlot<'a> {
    state: &'a GraphState,
    address: String,
}

impl Drop for ConcurrencySlot<'_> {
    fn drop(&mut self) {
        if let Some(count) = lock(&self.state.busy).get_mut(&self.address) {
            *count = count.saturating_sub(1);
        }
    }
}
