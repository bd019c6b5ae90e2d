//! What Graph's half remembers between requests: how many are under way for
//! each mailbox, and what belongs to mailboxes that only Exchange has.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::exchange::state::ExchangeState;
use super::ids::named_guid;
use super::mail::file::FileUpload;

/// Requests that a mailbox takes at a time.
const AT_ONCE: usize = 4;

/// The state of Graph's half.
#[derive(Debug, Default)]
pub(crate) struct GraphState {
    generation: AtomicU64,
    rooms: AtomicBool,
    requests: AtomicU64,
    items: AtomicU64,
    busy: Mutex<HashMap<String, usize>>,
    exchanges: Mutex<HashMap<String, ExchangeState>>,
    uploads: Mutex<Vec<FileUpload>>,
}

impl GraphState {
    /// The age of what clients know of changes.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Makes all that clients know of changes too old.
    pub fn expire_delta_links(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// True when the tenant's rooms may be seen.
    pub fn rooms(&self) -> bool {
        self.rooms.load(Ordering::Relaxed)
    }

    /// Lets everybody see the tenant's rooms, or nobody.
    pub fn allow_rooms(&self, allowed: bool) {
        self.rooms.store(allowed, Ordering::Relaxed);
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

    /// Reads or changes what is kept of a mailbox; `then` must not ask for it
    /// again.
    pub fn exchange<T>(&self, address: &str, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        let exchanges = self.exchanges.lock();
        let mut exchanges = exchanges.unwrap_or_else(PoisonError::into_inner);
        then(exchanges.entry(address.to_lowercase()).or_default())
    }

    /// Reads or changes what is being sent up piece by piece.
    pub fn uploads<T>(&self, then: impl FnOnce(&mut Vec<FileUpload>) -> T) -> T {
        let uploads = self.uploads.lock();
        then(&mut uploads.unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes one of the places that a mailbox has for requests; nothing when
    /// all are taken. The place is free again when the guard goes.
    pub fn enter(&self, address: &str) -> Option<ConcurrencySlot<'_>> {
        let address = address.to_lowercase();
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let count = busy.entry(address.clone()).or_default();
        if *count >= AT_ONCE {
            return None;
        }
        *count += 1;
        Some(ConcurrencySlot { state: self, address })
    }
}

/// One request's place at a mailbox.
#[derive(Debug)]
pub(crate) struct ConcurrencySlot<'a> {
    state: &'a GraphState,
    address: String,
}

impl Drop for ConcurrencySlot<'_> {
    fn drop(&mut self) {
        let busy = self.state.busy.lock();
        let mut busy = busy.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = busy.get_mut(&self.address) {
            *count = count.saturating_sub(1);
        }
    }
}
