//! What the sandbox's requests share: mailboxes, sign-ins, faults, counters.
//!
//! What changes while the server runs stands behind a lock of its own, held for
//! moments and never across an await. A mailbox is never altered: a change puts
//! the next state of it in its place. A request looks through a [`RequestState`] of
//! its own, which keeps what it has seen; a state that nobody looks at any more
//! is gone.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use daysheet_core::clock::Clock;

use super::auth::tokens::SignIn;
use super::faults::{AnswerAlteration, AnswerObserver, DrawnFault, FaultRates};
use super::gmail::attachment_id::AttachmentIds;
use super::gmail::sessions::OpenUploads;
use super::graph::exchange::index::MailboxIndex;
use super::graph::state::GraphState;
use super::http::HttpRequest;
use super::store::calendars::SandboxCalendars;
use super::store::mailbox::Mailbox;
use super::store::mailbox::change::MailboxChange;
use super::store::settings::StoredSettings;

/// The state of one running sandbox, shared by all requests.
#[derive(Debug)]
pub(crate) struct SharedState {
    mailboxes: Vec<MailboxSlot>,
    /// The maker and reader of attachment ids.
    pub attachment_ids: AttachmentIds,
    /// What Graph's half remembers.
    pub graph: GraphState,
    /// Uploads to Gmail that are under way.
    pub uploads: OpenUploads,
    /// The clock of all services.
    pub clock: Clock,
    agenda: Mutex<SandboxCalendars>,
    settings: Mutex<HashMap<String, StoredSettings>>,
    sign_in: Mutex<SignIn>,
    faults: Mutex<FaultRates>,
    alter: Mutex<Option<AnswerAlteration>>,
    observer: Mutex<Option<AnswerObserver>>,
    requests: AtomicU64,
    writes: AtomicU64,
    sync_epoch: AtomicU64,
    hits: Mutex<BTreeMap<&'static str, u64>>,
    last_tick: AtomicI64,
}

/// The place of a mailbox's state of now.
#[derive(Debug)]
struct MailboxSlot {
    address: String,
    now: Mutex<Arc<IndexedMailbox>>,
}

/// The sandbox as one request sees it. What it was shown of mailboxes stays as
/// long as it, however often they change meanwhile.
#[derive(Debug)]
pub(crate) struct RequestState {
    shared: Arc<SharedState>,
    seen: OnceLock<Box<SeenMailbox>>,
}

/// A mailbox's state that a request has seen, and the next one.
#[derive(Debug)]
struct SeenMailbox {
    indexed: Arc<IndexedMailbox>,
    next: OnceLock<Box<SeenMailbox>>,
}

/// A mailbox with what is worked out of it at the first need.
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
    /// A look at the sandbox, for one request.
    pub fn of(shared: &Arc<SharedState>) -> Self {
        Self { shared: Arc::clone(shared), seen: OnceLock::new() }
    }

    /// The mailboxes as they are now, in the order of their addresses.
    pub fn mailboxes(&self) -> impl Iterator<Item = &Mailbox> {
        let slot = self.shared.mailboxes.iter();
        slot.map(|slot| &self.see(slot).mailbox)
    }

    /// The mailbox of an address as it is now, whatever the address's case.
    pub fn mailbox(&self, address: &str) -> Option<&Mailbox> {
        let slot = self.shared.slot(address)?;
        Some(&self.see(slot).mailbox)
    }

    /// The same, with Graph's index of it.
    pub fn indexed(&self, address: &str) -> Option<(&Mailbox, &MailboxIndex)> {
        let IndexedMailbox { mailbox, index } = self.see(self.shared.slot(address)?);
        Some((mailbox, index.get_or_init(|| MailboxIndex::of(mailbox))))
    }

    /// The state of now, kept for as long as this look.
    fn see(&self, slot: &MailboxSlot) -> &IndexedMailbox {
        let indexed = Arc::clone(&lock(&slot.now));
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
    /// The state at the start.
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

    /// The time of now in milliseconds since 1970. No two calls get the same,
    /// so that what happens later is later.
    pub fn tick(&self) -> i64 {
        let now = self.clock.now().as_millisecond();
        let after = |last: i64| now.max(last.saturating_add(1));
        let last = self
            .last_tick
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        after(last.unwrap_or_default())
    }

    /// Changes a mailbox; false if it is not there, or nothing changes.
    pub fn change_mailbox(
        &self,
        address: &str,
        change: impl FnOnce(&Mailbox) -> Option<MailboxChange>,
    ) -> bool {
        self.change(address, change).is_some()
    }

    /// Changes a mailbox and gives the id of the message that the change was
    /// about, the last of several, 0 for none; nothing if there is no such
    /// mailbox, or nothing changes.
    pub fn change(
        &self,
        address: &str,
        change: impl FnOnce(&Mailbox) -> Option<MailboxChange>,
    ) -> Option<u64> {
        let mut now = lock(&self.slot(address)?.now);
        let (next, about) = now.mailbox.next(change(&now.mailbox)?)?;
        *now = Arc::new(IndexedMailbox::new(next));
        Some(about)
    }

    /// Reads or changes the settings of a mailbox, which are those of nobody
    /// before if the address has none.
    pub fn settings<T>(&self, address: &str, with: impl FnOnce(&mut StoredSettings) -> T) -> T {
        let mut settings = lock(&self.settings);
        with(settings.entry(address.to_lowercase()).or_default())
    }

    fn slot(&self, address: &str) -> Option<&MailboxSlot> {
        let mut slot = self.mailboxes.iter();
        slot.find(|slot| slot.address.eq_ignore_ascii_case(address))
    }

    /// The calendars.
    pub fn agenda(&self) -> MutexGuard<'_, SandboxCalendars> {
        lock(&self.agenda)
    }

    /// The tokens and codes handed out.
    pub fn sign_in(&self) -> MutexGuard<'_, SignIn> {
        lock(&self.sign_in)
    }

    /// Replaces the faults from the next request on.
    pub fn set_faults(&self, faults: FaultRates) {
        *lock(&self.faults) = faults;
        self.writes.store(0, Ordering::Relaxed);
    }

    /// Changes the APIs' answers from the next request on, or no more.
    pub fn set_alter(&self, alter: Option<AnswerAlteration>) {
        *lock(&self.alter) = alter;
    }

    /// What changes the APIs' answers.
    pub fn alter(&self) -> Option<AnswerAlteration> {
        lock(&self.alter).clone()
    }

    /// Has the APIs' answers seen from the next request on, or no more.
    pub fn set_observer(&self, observer: Option<AnswerObserver>) {
        *lock(&self.observer) = observer;
    }

    /// What sees the APIs' answers.
    pub fn observer(&self) -> Option<AnswerObserver> {
        lock(&self.observer).clone()
    }

    /// Counts a request and tells its delay and, for an API's path, its fault.
    pub fn next_fault(&self, api: Option<&str>) -> (Duration, Option<DrawnFault>) {
        let faults = lock(&self.faults);
        if !api.is_some_and(|path| path.ends_with(&faults.only)) {
            return (faults.delay, None);
        }
        let count = self.requests.fetch_add(1, Ordering::Relaxed);
        // Whether it is one that changes something is not known yet.
        let fault = (!faults.writes).then(|| faults.draw(count));
        (faults.delay, fault.flatten())
    }

    /// The fault of a request that changes something, where such alone may fail.
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

    /// How many requests that change something have come since faults were set
    /// that look at such alone.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// How late what is carried out late is.
    pub fn lateness(&self) -> Duration {
        lock(&self.faults).lateness()
    }

    /// The fault of a request inside a batch. It counts as part of its batch.
    pub fn item_fault(&self) -> Option<DrawnFault> {
        let faults = lock(&self.faults);
        if faults.only.is_empty() && !faults.writes { faults.draw(self.graph.item()) } else { None }
    }

    /// The age of Google's sync tokens: one of an older one is not good.
    pub fn sync_epoch(&self) -> u64 {
        self.sync_epoch.load(Ordering::Relaxed)
    }

    /// Makes all of Google's sync tokens and history ids too old.
    pub fn expire_sync_tokens(&self) {
        self.sync_epoch.fetch_add(1, Ordering::Relaxed);
        for slot in &self.mailboxes {
            self.change_mailbox(&slot.address, |_| Some(MailboxChange::Forgets));
        }
    }

    /// Counts a request for a route that succeeded.
    pub fn hit(&self, route: &'static str) {
        *lock(&self.hits).entry(route).or_default() += 1;
    }

    /// How many requests succeeded, by their routes.
    pub fn hits(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.hits).clone()
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
