//! What the sandbox's requests share: mailboxes, sign-ins, faults, counters.
//!
//! Mailboxes are chains of states; everything else that changes while the
//! server runs stands behind a lock of its own, held for moments and never
//! across an await.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::agenda::Agenda;
use super::attachment_id::AttachmentIds;
use super::entra::EntraPolicy;
use super::faults::{Fault, Faults};
use super::graph_state::GraphState;
use super::graph_store::Index;
use super::mailbox::Mailbox;
use super::mailbox_change::{Chain, Change};
use super::tokens::SignIn;

/// The state of one running sandbox.
#[derive(Debug)]
pub(super) struct State {
    mailboxes: Vec<Chain<Held>>,
    /// The maker and reader of attachment ids.
    pub attachment_ids: AttachmentIds,
    /// What Graph's half remembers.
    pub graph: GraphState,
    agenda: Mutex<Agenda>,
    sign_in: Mutex<SignIn>,
    faults: Mutex<Faults>,
    entra_policy: Mutex<EntraPolicy>,
    requests: AtomicU64,
    sync_epoch: AtomicU64,
}

/// A mailbox with what is worked out of it at the first need.
#[derive(Debug)]
struct Held {
    mailbox: Mailbox,
    index: OnceLock<Index>,
}

impl Held {
    fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            index: OnceLock::new(),
        }
    }
}

impl State {
    /// The state at the start.
    pub fn new(mailboxes: Vec<Mailbox>, agenda: Agenda, faults: Faults, sign_in: SignIn) -> Self {
        Self {
            graph: GraphState::default(),
            mailboxes: mailboxes
                .into_iter()
                .map(Held::new)
                .map(Chain::new)
                .collect(),
            attachment_ids: AttachmentIds::default(),
            agenda: Mutex::new(agenda),
            sign_in: Mutex::new(sign_in),
            faults: Mutex::new(faults),
            entra_policy: Mutex::default(),
            requests: AtomicU64::new(0),
            sync_epoch: AtomicU64::new(1),
        }
    }

    /// The mailboxes as they are now, in the order of their addresses.
    pub fn mailboxes(&self) -> impl Iterator<Item = &Mailbox> {
        self.mailboxes.iter().map(|chain| &chain.now().mailbox)
    }

    /// The mailbox of an address as it is now, whatever the address's case.
    pub fn mailbox(&self, address: &str) -> Option<&Mailbox> {
        self.chain(address).map(|chain| &chain.now().mailbox)
    }

    /// The same, with Graph's index of it.
    pub fn indexed(&self, address: &str) -> Option<(&Mailbox, &Index)> {
        let Held { mailbox, index } = self.chain(address)?.now();
        Some((mailbox, index.get_or_init(|| Index::of(mailbox))))
    }

    /// Changes a mailbox; false if it is not there, or nothing changes.
    pub fn change_mailbox(
        &self,
        address: &str,
        mut change: impl FnMut(&Mailbox) -> Option<Change>,
    ) -> bool {
        let Some(chain) = self.chain(address) else {
            return false;
        };
        chain.change(|held| {
            let change = change(&held.mailbox)?;
            held.mailbox.next(change).map(Held::new)
        })
    }

    fn chain(&self, address: &str) -> Option<&Chain<Held>> {
        let mut chains = self.mailboxes.iter();
        chains.find(|chain| {
            let held: &Held = chain.now();
            held.mailbox.address.eq_ignore_ascii_case(address)
        })
    }

    /// The calendars.
    pub fn agenda(&self) -> MutexGuard<'_, Agenda> {
        lock(&self.agenda)
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

    /// The age of Google's sync tokens: one of an older one is not good.
    pub fn sync_epoch(&self) -> u64 {
        self.sync_epoch.load(Ordering::Relaxed)
    }

    /// Makes all of Google's sync tokens and history ids too old.
    pub fn expire_sync_tokens(&self) {
        self.sync_epoch.fetch_add(1, Ordering::Relaxed);
        for chain in &self.mailboxes {
            chain.change(|held| held.mailbox.next(Change::Forgets).map(Held::new));
        }
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
