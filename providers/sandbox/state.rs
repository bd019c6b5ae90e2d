//! What the sandbox's requests share: mailboxes, sign-ins, faults, counters.
//!
//! Mailboxes are loaded once and only read here; everything that changes while
//! the server runs stands behind a lock of its own, held for moments and never
//! across an await.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::attachment_id::AttachmentIds;
use super::entra::EntraPolicy;
use super::faults::{Fault, Faults};
use super::graph_state::GraphState;
use super::mailbox::Mailbox;
use super::tokens::SignIn;

/// The state of one running sandbox.
#[derive(Debug)]
pub(super) struct State {
    /// The mailboxes, in the order of their addresses.
    pub mailboxes: Vec<Mailbox>,
    /// The maker and reader of attachment ids.
    pub attachment_ids: AttachmentIds,
    /// What Graph's half remembers.
    pub graph: GraphState,
    sign_in: Mutex<SignIn>,
    faults: Mutex<Faults>,
    entra_policy: Mutex<EntraPolicy>,
    requests: AtomicU64,
}

impl State {
    /// The state at the start.
    pub fn new(mailboxes: Vec<Mailbox>, faults: Faults, sign_in: SignIn) -> Self {
        Self {
            graph: GraphState::new(mailboxes.len()),
            mailboxes,
            attachment_ids: AttachmentIds::default(),
            sign_in: Mutex::new(sign_in),
            faults: Mutex::new(faults),
            entra_policy: Mutex::default(),
            requests: AtomicU64::new(0),
        }
    }

    /// The mailbox of an address, whatever its case.
    pub fn mailbox(&self, address: &str) -> Option<&Mailbox> {
        self.mailboxes
            .iter()
            .find(|mailbox| mailbox.address.eq_ignore_ascii_case(address))
    }

    /// The tokens and codes handed out.
    pub fn sign_in(&self) -> MutexGuard<'_, SignIn> {
        lock(&self.sign_in)
    }

    /// Replaces the faults from the next request on.
    pub fn set_faults(&self, faults: Faults) {
        *lock(&self.faults) = faults;
    }

    /// What the Microsoft tenant's administrator demands.
    pub fn entra_policy(&self) -> EntraPolicy {
        *lock(&self.entra_policy)
    }

    /// Replaces that from the next request on.
    pub fn set_entra_policy(&self, policy: EntraPolicy) {
        *lock(&self.entra_policy) = policy;
    }

    /// Counts a request and tells its delay and, for an API's, its fault.
    pub fn next_fault(&self, api: bool) -> (Duration, Option<Fault>) {
        let faults = lock(&self.faults);
        if !api {
            return (faults.delay, None);
        }
        let count = self.requests.fetch_add(1, Ordering::Relaxed);
        (faults.delay, faults.draw(count))
    }

    /// The fault of a request inside a batch. It counts as part of its batch.
    pub fn item_fault(&self) -> Option<Fault> {
        lock(&self.faults).draw(self.graph.item())
    }

    /// How many API requests have come in.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Locks; what a panicking request left behind is whole, for every change is
/// one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
