//! The shared state of the sandbox's requests: mailboxes, sign-ins, faults, counters.
//!
//! Each part that changes has a lock of its own, which is held briefly and never across an await. A
//! mailbox is not altered in place: a change replaces it by its next state. Each request has a
//! [`RequestState`] of its own that keeps the mailbox states it has seen; a mailbox state without such a
//! request is dropped.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use daysheet_core::clock::Clock;

use super::auth::tokens::SignIn;
use super::faults::{AnswerAlteration, AnswerObserver, DrawnFault, FaultRates};
use super::gmail::attachment_id::AttachmentIds;
use super::gmail::sessions::OpenUploads;
use super::graph::exchange::index::MailboxIndex;
use super::graph::state::GraphState;
use super::http::HttpRequest;
use super::lock::lock;
use super::store::calendars::SandboxCalendars;
use super::store::mailbox::Mailbox;
use super::store::mailbox::change::MailboxChange;
use super::store::settings::StoredSettings;

/// The state of a running sandbox, shared by all requests.
#[derive(Debug)]
pub(crate) struct SharedState {
    mailboxes: Vec<MailboxSlot>,
    /// Creates and resolves attachment ids.
    pub attachment_ids: AttachmentIds,
    /// The state of Graph's half.
    pub graph: GraphState,
    /// Uploads to Gmail in progress.
    pub uploads: OpenUploads,
    /// The clock of all services.
    pub clock: Clock,
    agenda: Mutex<SandboxCalendars>,
    settings: Mutex<HashMap<String, StoredSettings>>,
    sign_in: Mutex<SignIn>,
    faults: Mutex<FaultRates>,
    /// The change to the APIs' answers.
    pub alter: Mutex<Option<AnswerAlteration>>,
    /// The observer of the APIs' answers.
    pub observer: Mutex<Option<AnswerObserver>>,
    /// The number of API requests so far.
    pub requests: AtomicU64,
    /// The number of requests that change something, counted while the faults are limited to such
    /// requests, since they were set.
    pub writes: AtomicU64,
    /// The epoch of Google's sync tokens. Tokens of earlier epochs are expired.
    pub sync_epoch: AtomicU64,
    /// The number of successful requests by route.
    pub hits: Mutex<BTreeMap<&'static str, u64>>,
    last_tick: AtomicI64,
}

/// The current state of a mailbox.
#[derive(Debug)]
struct MailboxSlot {
    address: String,
    now: Mutex<Arc<IndexedMailbox>>,
}

/// The sandbox as seen by one request. Mailbox states that it returned remain valid while it
/// exists, even if the mailboxes change meanwhile.
#[derive(Debug)]
pub(crate) struct RequestState {
    shared: Arc<SharedState>,
    seen: OnceLock<Box<SeenMailbox>>,
}

/// A mailbox state that a request has seen, and the next one.
#[derive(Debug)]
struct SeenMailbox {
    indexed: Arc<IndexedMailbox>,
    next: OnceLock<Box<SeenMailbox>>,
}

/// A mailbox with an index that is built when first needed.
#[derive(Debug)]
struct IndexedMailbox {
    mailbox: Mailbox,
    index: OnceLock<MailboxIndex>,
}

impl IndexedMailbox {
    fn new(mailbox: Mailbox) -> Self {
        Self { mailbox, index: OnceLock::new() }
    }
}

impl Deref for RequestState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.shared
    }
}

impl RequestState {
    /// Returns a view of the sandbox for one request.
    pub fn new(shared: &Arc<SharedState>) -> Self {
        Self { shared: Arc::clone(shared), seen: OnceLock::new() }
    }

    /// Returns the current mailboxes in the order of their addresses.
    pub fn mailboxes(&self) -> impl Iterator<Item = &Mailbox> {
        let slot = self.shared.mailboxes.iter();
        slot.map(|slot| &self.see(slot).mailbox)
    }

    /// Returns the current mailbox of an address, compared case-insensitively.
    pub fn mailbox(&self, address: &str) -> Option<&Mailbox> {
        let slot = self.shared.slot(address)?;
        Some(&self.see(slot).mailbox)
    }

    /// Returns the current mailbox of an address, and Graph's index for it.
    pub fn indexed(&self, address: &str) -> Option<(&Mailbox, &MailboxIndex)> {
        let IndexedMailbox { mailbox, index } = self.see(self.shared.slot(address)?);
        Some((mailbox, index.get_or_init(|| MailboxIndex::new(mailbox))))
    }

    /// Returns the current state of a mailbox, and keeps it for the rest of the request.
    fn see(&self, slot: &MailboxSlot) -> &IndexedMailbox {
        let indexed = Arc::clone(&lock(&slot.now));
        // A chain instead of one cell, because references to earlier states are still in use.
        let mut link = &self.seen;
        loop {
            let seen = link.get_or_init(|| {
                Box::new(SeenMailbox { indexed: Arc::clone(&indexed), next: OnceLock::new() })
            });
            if Arc::ptr_eq(&seen.indexed, &indexed) {
                return &seen.indexed;
            }
            link = &seen.next;
        }
    }
}

impl SharedState {
    /// Returns the initial state.
    pub fn new(
        mailboxes: Vec<Mailbox>,
        agenda: SandboxCalendars,
        faults: FaultRates,
        sign_in: SignIn,
        clock: Clock,
    ) -> Self {
        let keep = |mailbox: Mailbox| MailboxSlot {
            address: mailbox.address.clone(),
            now: Mutex::new(Arc::new(IndexedMailbox::new(mailbox))),
        };
        Self {
            graph: GraphState::default(),
            uploads: OpenUploads::default(),
            clock,
            mailboxes: mailboxes.into_iter().map(keep).collect(),
            attachment_ids: AttachmentIds::default(),
            agenda: Mutex::new(agenda),
            settings: Mutex::default(),
            sign_in: Mutex::new(sign_in),
            faults: Mutex::new(faults),
            alter: Mutex::default(),
            observer: Mutex::default(),
            requests: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            sync_epoch: AtomicU64::new(1),
            hits: Mutex::default(),
            last_tick: AtomicI64::new(0),
        }
    }

    /// Returns the current time in milliseconds since 1970. No two calls return the same value, so
    /// that later events have later times.
    pub fn tick(&self) -> i64 {
        let now = self.clock.now().as_millisecond();
        let after = |last: i64| now.max(last.saturating_add(1));
        let last = self
            .last_tick
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        // `fetch_update` returns the previous value, so the new one is computed once more.
        after(last.unwrap_or_default())
    }

    /// Changes a mailbox and returns the id of the changed message: the last one if there are
    /// several, 0 if there is none. `None` if the mailbox is unknown or unchanged.
    pub fn change(
        &self,
        address: &str,
        change: impl FnOnce(&Mailbox) -> Option<MailboxChange>,
    ) -> Option<u64> {
        // Locked from reading to replacing, so that no other change is lost in between.
        let mut now = lock(&self.slot(address)?.now);
        let (next, about) = now.mailbox.next(change(&now.mailbox)?)?;
        *now = Arc::new(IndexedMailbox::new(next));
        Some(about)
    }

    /// Reads or changes the settings of a mailbox, which are created if the address has no settings
    /// yet.
    pub fn settings<T>(&self, address: &str, with: impl FnOnce(&mut StoredSettings) -> T) -> T {
        let mut settings = lock(&self.settings);
        with(settings.entry(address.to_lowercase()).or_default())
    }

    fn slot(&self, address: &str) -> Option<&MailboxSlot> {
        let mut slot = self.mailboxes.iter();
        slot.find(|slot| slot.address.eq_ignore_ascii_case(address))
    }

    /// Returns the calendars.
    pub fn agenda(&self) -> MutexGuard<'_, SandboxCalendars> {
        lock(&self.agenda)
    }

    /// Returns the issued tokens and codes.
    pub fn sign_in(&self) -> MutexGuard<'_, SignIn> {
        lock(&self.sign_in)
    }

    /// Replaces the faults for further requests.
    pub fn set_faults(&self, faults: FaultRates) {
        *lock(&self.faults) = faults;
        self.writes.store(0, Ordering::Relaxed);
    }

    /// Counts a request and returns its delay and, for an API's path, its fault.
    pub fn next_fault(&self, api: Option<&str>) -> (Duration, Option<DrawnFault>) {
        let faults = lock(&self.faults);
        if !api.is_some_and(|path| path.ends_with(&faults.only)) {
            return (faults.delay, None);
        }
        let count = self.requests.fetch_add(1, Ordering::Relaxed);
        // It is not known yet if the request changes something; see `write_fault`.
        let fault = (!faults.writes).then(|| faults.draw(count));
        (faults.delay, fault.flatten())
    }

    /// Returns the fault of a request that changes something, if faults are limited to these.
    pub fn write_fault(&self, request: &HttpRequest) -> Option<DrawnFault> {
        let faults = lock(&self.faults);
        let path = request.path.join("/");
        if !faults.writes || !path.ends_with(faults.only.trim_start_matches('/')) {
            return None;
        }
        if !request.is_write() {
            return None;
        }
        let count = self.writes.fetch_add(1, Ordering::Relaxed);
        let chosen = faults.nth == 0 || faults.nth == count + 1;
        chosen.then(|| faults.draw(count)).flatten()
    }

    /// Returns the delay of requests that are carried out late.
    pub fn lateness(&self) -> Duration {
        lock(&self.faults).lateness()
    }

    /// Returns the fault of a request within a batch, which is not counted as a request of its own.
    pub fn item_fault(&self) -> Option<DrawnFault> {
        let faults = lock(&self.faults);
        // A limit by path or to writes applies to the batch as a whole.
        if faults.only.is_empty() && !faults.writes { faults.draw(self.graph.item()) } else { None }
    }

    /// Expires all of Google's sync tokens and history ids.
    pub fn expire_sync_tokens(&self) {
        self.sync_epoch.fetch_add(1, Ordering::Relaxed);
        for slot in &self.mailboxes {
            self.change(&slot.address, |_| Some(MailboxChange::Forgets));
        }
    }

    /// Counts a successful request for a route.
    pub fn hit(&self, route: &'static str) {
        *lock(&self.hits).entry(route).or_default() += 1;
    }
}
