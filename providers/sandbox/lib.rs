//! The sandbox: a server on loopback that imitates the providers.
//!
//! It speaks HTTP like Google's and Microsoft's sign-ins, the Gmail API, parts of the People API,
//! Google Calendar, and the mail and calendar parts of Microsoft Graph, in their shapes and with
//! their errors. Its mailboxes and calendars are kept in memory and come from a shipped sample or
//! any folder of `.eml` and `.mbox` files. The rest of the program uses it like the real services
//! and cannot tell the difference. It can also fail on purpose ([`FaultRates`]).
//!
//! Layout: `server` reads requests and routes each to its service; `http` has the types of requests
//! and answers, `json` and `refusals` build their contents. `gmail`, `google_calendar` and `people`
//! implement Google's APIs, and `google` their common parts; `graph` implements Microsoft Graph,
//! below `/v1.0/`; `auth` has both sign-ins. `store` has mail and calendars independent of any
//! provider, so that both halves work side by side on one port; `load` fills it. Both show the same
//! messages: a Gmail label that is a location is a message's folder in Graph, and the user's labels
//! are its categories.
//!
//! The server runs on a thread and a runtime of its own, to behave like a remote machine: a long
//! search in it must not delay the caller's tasks, which could not happen with the real services.

mod auth;
mod delivery;
mod faults;
mod gmail;
mod google;
mod google_calendar;
mod graph;
mod http;
mod json;
mod load;
mod lock;
mod people;
mod refusals;
mod routes;
mod server;
mod state;
mod store;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use auth::tokens::SignIn;
use auth::tokens::device_codes::DeviceCodes;
use daysheet_core::clock::Clock;
use daysheet_core::error::{Error, ErrorKind, Result};
pub use faults::{AnswerAlteration, AnswerObserver, ApiExchange, FaultRates};
use jiff::civil::Date;
pub use load::LoadReport;
use load::calendar::CalendarSource;
pub use load::calendar::SAMPLE_ZONE;
use lock::lock;
use state::{RequestState, SharedState};
use store::mailbox::change::MailboxChange;
use store::mailbox::{ArrivingMessage, Mailbox};
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::{oneshot, watch};

/// The configuration of a sandbox.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// A folder of mail, or one file. `None` is the sample mailboxes.
    pub mail: Option<PathBuf>,
    /// A folder of calendars, or one file. `None` is the samples' calendars, or empty ones if
    /// `mail` is given.
    pub calendar: Option<PathBuf>,
    /// The day around which the samples' dates are moved, by whole weeks. `None` leaves them around
    /// 16 November 2026.
    pub today: Option<Date>,
    /// The clock that decides what is new, due and overdue.
    pub clock: Clock,
    /// The port on 127.0.0.1. 0 is any free port.
    pub port: u16,
    /// The injected faults.
    pub faults: FaultRates,
    /// If true, a progress bar is drawn on stderr if that is a terminal and loading takes long.
    pub progress: bool,
    /// The lifetime of access tokens.
    pub token_lifetime: Duration,
    /// The minimum time between a device's requests for its tokens. It is announced in whole
    /// seconds, rounded up; zero allows requests at any time.
    pub device_interval: Duration,
    /// The lifetime of a device's codes.
    pub device_lifetime: Duration,
}

impl SandboxOptions {
    /// Returns options for the sample mailboxes as written, on any port, without faults. Tokens
    /// live for an hour, device codes for a quarter of one.
    pub fn new(clock: Clock) -> Self {
        Self {
            mail: None,
            calendar: None,
            today: None,
            clock,
            port: 0,
            faults: FaultRates::default(),
            progress: false,
            token_lifetime: Duration::from_hours(1),
            device_interval: Duration::from_secs(5),
            device_lifetime: Duration::from_mins(15),
        }
    }
}

/// A running sandbox. It stops when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    base: String,
    report: LoadReport,
    state: Arc<SharedState>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The message of the server's thread when it is ready.
struct ServerStart {
    port: u16,
    report: LoadReport,
    state: Arc<SharedState>,
}

impl Sandbox {
    /// Loads the mail and starts the server. The port is open when this returns.
    pub async fn start(options: SandboxOptions) -> Result<Self> {
        let (ready, started) = oneshot::channel();
        let (stop, stopping) = watch::channel(false);
        let thread = thread::Builder::new()
            .name("sandbox".to_owned())
            .spawn(move || run(options, ready, stopping))
            .map_err(|error| internal("cannot start the sandbox's thread", &error))?;
        // The thread drops the sender only if it ends without an answer, by a panic.
        let ServerStart { port, report, state } = match started.await {
            Ok(ready) => ready?,
            Err(error) => return Err(internal("the sandbox's thread ended early", &error)),
        };
        Ok(Self {
            base: format!("http://127.0.0.1:{port}"),
            report,
            state,
            stop,
            thread: Some(thread),
        })
    }

    /// Returns the base of all its URLs: `http://127.0.0.1:PORT`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the summary of loaded and skipped items.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// Returns the addresses of the mailboxes in alphabetical order.
    pub fn addresses(&self) -> Vec<String> {
        let state = RequestState::new(&self.state);
        let mailboxes = state.mailboxes();
        mailboxes.map(|mailbox| mailbox.address.clone()).collect()
    }

    /// Returns the number of API requests so far, including failed ones. Sign-in is not counted.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Returns every route, such as `GET /gmail/v1/users/me/messages/id`, with the number of its
    /// successful requests so far.
    pub fn routes(&self) -> BTreeMap<String, u64> {
        let mut routes: BTreeMap<&str, u64> = server::routes().map(|name| (name, 0)).collect();
        routes.extend(lock(&self.state.hits).iter());
        // `stringify!` leaves the quotes around literal segments.
        routes.into_iter().map(|(name, hits)| (name.replace('"', ""), hits)).collect()
    }

    /// Returns the number of requests that change something, counted while the faults are limited
    /// to such requests, since they were set.
    pub fn writes(&self) -> u64 {
        self.state.writes.load(Ordering::Relaxed)
    }

    /// Replaces the faults for further requests.
    pub fn set_faults(&self, faults: FaultRates) {
        self.state.set_faults(faults);
    }

    /// Sets or removes the change to the APIs' answers, for further requests.
    pub fn set_alter(&self, alter: Option<AnswerAlteration>) {
        *lock(&self.state.alter) = alter;
    }

    /// Sets or removes the observer of the APIs' answers, for further requests.
    pub fn set_observer(&self, observer: Option<AnswerObserver>) {
        *lock(&self.state.observer) = observer;
    }

    /// Revokes all grants: refreshing a token is answered with `invalid_grant`.
    pub fn revoke_all(&self) {
        self.state.sign_in().revoke_all();
    }

    /// Expires all access tokens. Refresh tokens remain valid.
    pub fn expire_access_tokens(&self) {
        self.state.sign_in().expire_access_tokens();
    }

    /// Delivers a message to a mailbox. Returns false if the mailbox does not exist or already has
    /// the message. A message without a `Date` arrives now.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the bytes are not a message.
    pub fn deliver(&self, address: &str, message: &[u8]) -> Result<bool> {
        let raw: Arc<[u8]> = store::message::wire_form(message).into();
        let now = self.state.clock.seconds();
        let facts = store::message::facts(&raw, Some(now))
            .map_err(|why| Error::new(ErrorKind::Argument, format!("this is no letter: {why}")))?;
        let arrival = ArrivingMessage { name: String::new(), raw, facts };
        let come = |_: &Mailbox| Some(MailboxChange::Comes(Box::new(arrival)));
        Ok(self.state.change(address, come).is_some())
    }

    /// Sets the labels of the message with a Message-ID (without angle brackets), by Gmail's ids.
    /// Returns false if the message does not exist.
    pub fn relabel(&self, address: &str, message_id: &str, labels: &[&str]) -> bool {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let change = |mailbox: &Mailbox| {
            let message = mailbox.by_message_id(message_id)?;
            Some(MailboxChange::Labels(message.id, labels))
        };
        self.state.change(address, change).is_some()
    }

    /// Deletes the message with a Message-ID (without angle brackets) permanently. Returns false if
    /// the message does not exist.
    pub fn discard(&self, address: &str, message_id: &str) -> bool {
        let change = |mailbox: &Mailbox| {
            let message = mailbox.by_message_id(message_id)?;
            Some(MailboxChange::Goes(vec![message.id]))
        };
        self.state.change(address, change).is_some()
    }

    /// Returns the labels, by Gmail's ids, of every message with a Message-ID (without angle
    /// brackets) in a mailbox, newest first. A message that was delivered twice counts twice.
    pub fn labels_of(&self, address: &str, message_id: &str) -> Vec<Vec<String>> {
        let state = RequestState::new(&self.state);
        let messages = state.mailbox(address).map(|mailbox| &mailbox.messages);
        let messages = messages.into_iter().flatten();
        let found = messages.filter(|message| message.facts.message_id == message_id);
        found.map(|message| message.labels.clone()).collect()
    }

    /// Sets whether people may see the rooms of the Microsoft tenant. Initially they may not,
    /// because that requires an administrator's consent.
    pub fn allow_rooms(&self, allowed: bool) {
        self.state.graph.rooms.store(allowed, Ordering::Relaxed);
    }

    /// Sets the maximum number of events on a page of Google Calendar. Services may return fewer
    /// than requested.
    pub fn limit_pages(&self, events: usize) {
        self.state.agenda().max_page = events;
    }

    /// Expires all sync tokens of Google Calendar, history ids of Gmail and delta links of Graph.
    /// Each of them is refused from now on.
    pub fn expire_sync_tokens(&self) {
        self.state.expire_sync_tokens();
        self.state.graph.expire_delta_links();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // The port is free once the thread has ended. A panic was already reported by the
            // thread.
            let _ = thread.join();
        }
    }
}

/// Runs the server's thread, from loading to stopping.
fn run(
    options: SandboxOptions,
    ready: oneshot::Sender<Result<ServerStart>>,
    mut stopping: watch::Receiver<bool>,
) {
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Sending fails only if the caller no longer waits; the same applies below.
            let _ = ready.send(Err(internal("cannot start the sandbox's runtime", &error)));
            return;
        }
    };
    runtime.block_on(async {
        let (listener, started) = match prepare(options).await {
            Ok(prepared) => prepared,
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        let state = Arc::clone(&started.state);
        if ready.send(Ok(started)).is_err() {
            return;
        }
        tokio::select! {
            () = server::serve(listener, state) => {}
            _ = stopping.wait_for(|stop| *stop) => {}
        }
    });
}

/// Loads the mail and opens the port.
async fn prepare(options: SandboxOptions) -> Result<(TcpListener, ServerStart)> {
    // The port first, so that an occupied port is reported before a long load.
    let port = options.port;
    let unusable = |error: std::io::Error| {
        Error::new(ErrorKind::Config, format!("cannot listen on 127.0.0.1:{port}: {error}"))
            .next("choose another port, or 0 for any")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(unusable)?;
    let port = listener.local_addr().map_err(unusable)?.port();
    let (mailboxes, mut report) =
        load::load(options.mail.as_deref(), options.today, options.progress)?;
    let devices = DeviceCodes::new(options.device_interval, options.device_lifetime);
    let sign_in = SignIn::new(options.token_lifetime, devices);
    let addresses: Vec<String> = mailboxes.iter().map(|mailbox| mailbox.address.clone()).collect();
    let from = match (&options.calendar, &options.mail) {
        (Some(path), _) => CalendarSource::Path(path),
        (None, None) => CalendarSource::Samples(options.today),
        (None, Some(_)) => CalendarSource::Nothing,
    };
    let calendars = load::calendar::load(from, &addresses, &options.clock)?;
    report.events = calendars.events;
    report.skipped.extend(calendars.skipped);
    report.colleagues = calendars.colleagues;
    let state =
        SharedState::new(mailboxes, calendars.agenda, options.faults, sign_in, options.clock);
    let ready = ServerStart { port, report, state: Arc::new(state) };
    Ok((listener, ready))
}

/// Returns an internal error, which the user has not caused.
fn internal(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("{what}: {error}"))
}
