//! The sandbox: a server on loopback that stands in for the providers.
//!
//! It speaks HTTP as Google's and Microsoft's sign-ins, the Gmail API, parts of
//! the People API, Google Calendar and the parts of Microsoft Graph for mail and
//! calendars do, in their shapes and with their errors, over mailboxes and
//! calendars held in memory: a shipped sample, or any folder of `.eml` and
//! `.mbox` files. The rest of the program reaches it as it
//! reaches the real thing and cannot tell. It can also fail on purpose
//! ([`FaultRates`]).
//!
//! How it is laid out: `server` reads requests and leads each to the service it is
//! for; `http` has what they are read into. `gmail`, `google_calendar` and `people`
//! know Google's APIs, and `google` what those have in common; `graph` knows
//! Microsoft Graph, below `/v1.0/`; `auth` has both sign-ins. `store` holds mail
//! and calendars and knows no provider, so that the providers' halves stand side
//! by side, on the same port; `load` fills it. Both show the same messages: a label
//! of Gmail's that is a place is a message's folder in Graph, and the user's labels
//! are its categories.
//!
//! The server runs on a thread of its own with a runtime of its own. It is to
//! behave like a machine far away: a long search here must not hold up the
//! caller's tasks, which would never happen to the real service's callers.

mod auth;
mod delivery;
mod faults;
mod gmail;
mod google;
mod google_calendar;
mod graph;
mod http;
mod load;
mod people;
mod routes;
mod server;
mod state;
mod store;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
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
use state::{RequestState, SharedState};
use store::mailbox::change::MailboxChange;
use store::mailbox::{ArrivingMessage, Mailbox};
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::{oneshot, watch};

/// How a sandbox is set up.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// A folder of mail, or one file; without it, the sample mailbox.
    pub mail: Option<PathBuf>,
    /// A folder of calendars, or one file; without it, those of the sample
    /// mailbox, or empty ones for other mail.
    pub calendar: Option<PathBuf>,
    /// The day around which the samples' dates are to lie, by whole weeks; without it,
    /// they are as written, around 16 November 2026.
    pub today: Option<Date>,
    /// The clock by which things are new, due and overdue.
    pub clock: Clock,
    /// The port on 127.0.0.1; 0 takes any that is free.
    pub port: u16,
    /// What goes wrong on purpose.
    pub faults: FaultRates,
    /// Draw a progress bar on stderr when it is a terminal and loading is long.
    pub progress: bool,
    /// How long access tokens live.
    pub token_lifetime: Duration,
    /// How long a device must wait between two questions for its tokens. It is
    /// given in whole seconds, rounded up; zero lets it ask at any time.
    pub device_interval: Duration,
    /// How long a device's codes are good.
    pub device_lifetime: Duration,
}

impl SandboxOptions {
    /// The sample mailbox as written, on any port; no faults, tokens for an hour, device codes for
    /// a quarter of one.
    pub fn new(clock: Clock) -> Self {
        Self {
            mail: None,
            calendar: None,
            today: None,
            clock,
            port: 0,
            faults: FaultRates::default(),
            progress: false,
            token_lifetime: Duration::from_secs(3_600),
            device_interval: Duration::from_secs(5),
            device_lifetime: Duration::from_secs(900),
        }
    }
}

/// A running sandbox; dropping it stops it.
#[derive(Debug)]
pub struct Sandbox {
    base: String,
    report: LoadReport,
    state: Arc<SharedState>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// What the server's thread tells when it is ready.
struct ServerStart {
    port: u16,
    report: LoadReport,
    state: Arc<SharedState>,
}

impl Sandbox {
    /// Loads the mail and starts to answer. When this returns, the port is open.
    pub async fn start(options: SandboxOptions) -> Result<Self> {
        let (ready, started) = oneshot::channel();
        let (stop, stopping) = watch::channel(false);
        let thread = thread::Builder::new()
            .name("sandbox".to_owned())
            .spawn(move || run(options, ready, stopping))
            .map_err(|error| internal("cannot start the sandbox's thread", &error))?;
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

    /// The base of all its paths: `http://127.0.0.1:PORT`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// What was loaded and what was passed over.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// The addresses of the mailboxes, in alphabetical order.
    pub fn addresses(&self) -> Vec<String> {
        let state = RequestState::of(&self.state);
        let mailboxes = state.mailboxes();
        mailboxes.map(|mailbox| mailbox.address.clone()).collect()
    }

    /// How many API requests have come in, failed ones included; the sign-in's
    /// do not count.
    pub fn requests(&self) -> u64 {
        self.state.requests()
    }

    /// Every route, `GET /gmail/v1/users/me/messages/id`, with how many requests for
    /// it succeeded so far.
    pub fn routes(&self) -> BTreeMap<String, u64> {
        let mut routes: BTreeMap<&str, u64> = server::routes().map(|name| (name, 0)).collect();
        routes.extend(self.state.hits());
        routes.into_iter().map(|(name, hits)| (name.replace('"', ""), hits)).collect()
    }

    /// How many requests that change something have come in since faults were set
    /// that look at such alone.
    pub fn writes(&self) -> u64 {
        self.state.writes()
    }

    /// Replaces the faults from the next request on.
    pub fn set_faults(&self, faults: FaultRates) {
        self.state.set_faults(faults);
    }

    /// Changes the APIs' answers from the next request on, or no more.
    pub fn set_alter(&self, alter: Option<AnswerAlteration>) {
        self.state.set_alter(alter);
    }

    /// Has the APIs' answers seen before they are sent, from the next request on, or no more.
    pub fn set_observer(&self, observer: Option<AnswerObserver>) {
        self.state.set_observer(observer);
    }

    /// Ends all grants: refreshing gives `invalid_grant` from now on.
    pub fn revoke_all(&self) {
        self.state.sign_in().revoke_all();
    }

    /// Ends all access tokens, as time would; refresh tokens stay good.
    pub fn expire_access_tokens(&self) {
        self.state.sign_in().expire_access_tokens();
    }

    /// Lets a message come into a mailbox; false if there is no such mailbox, or
    /// the message is there already. Without a `Date` of its own it comes now.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it is no message.
    pub fn deliver(&self, address: &str, message: &[u8]) -> Result<bool> {
        let raw: Arc<[u8]> = store::message::wire_form(message).into();
        let now = self.state.clock.seconds();
        let facts = store::message::facts(&raw, Some(now))
            .map_err(|why| Error::new(ErrorKind::Argument, format!("this is no letter: {why}")))?;
        let arrival = ArrivingMessage { name: String::new(), raw, facts };
        let come = |_: &Mailbox| Some(MailboxChange::Comes(Box::new(arrival.clone())));
        Ok(self.state.change_mailbox(address, come))
    }

    /// Gives the message with a Message-ID (without brackets) other labels, by
    /// their ids as Gmail has them; false if there is no such message.
    pub fn relabel(&self, address: &str, message_id: &str, labels: &[&str]) -> bool {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        self.state.change_mailbox(address, |mailbox| {
            let message = mailbox.by_message_id(message_id)?;
            Some(MailboxChange::Labels(message.id, labels.clone()))
        })
    }

    /// Deletes the message with a Message-ID (without brackets) for good; false
    /// if there is no such message.
    pub fn discard(&self, address: &str, message_id: &str) -> bool {
        self.state.change_mailbox(address, |mailbox| {
            let message = mailbox.by_message_id(message_id)?;
            Some(MailboxChange::Goes(vec![message.id]))
        })
    }

    /// The labels of every message with a Message-ID (without brackets) in the
    /// mailbox of an address, newest first; each message counts, so that two
    /// deliveries of one message are two. Labels are ids as Gmail has them.
    pub fn labels_of(&self, address: &str, message_id: &str) -> Vec<Vec<String>> {
        let state = RequestState::of(&self.state);
        let messages = state.mailbox(address).map(|mailbox| &mailbox.messages);
        let mut found = Vec::new();
        for message in messages.into_iter().flatten() {
            if message.facts.message_id == message_id {
                found.push(message.labels.clone());
            }
        }
        found
    }

    /// Lets everybody see the rooms of the Microsoft tenant, or nobody, as it is
    /// at the start: that takes an administrator's consent.
    pub fn allow_rooms(&self, allowed: bool) {
        self.state.graph.allow_rooms(allowed);
    }

    /// Makes all sync tokens of Google Calendar, all history ids of Gmail and
    /// all delta links of Graph too old: each of them is refused from now on.
    pub fn expire_sync_tokens(&self) {
        self.state.expire_sync_tokens();
        self.state.graph.expire_delta_links();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Once it is joined, the port is free. A panic in it was reported
            // already, by the thread itself.
            let _ = thread.join();
        }
    }
}

/// The server's thread, from loading to stopping.
fn run(
    options: SandboxOptions,
    ready: oneshot::Sender<Result<ServerStart>>,
    mut stopping: watch::Receiver<bool>,
) {
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Nobody listens any more if the caller gave up; so also below.
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
    // The port first: a port that is taken should not cost a long load.
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
    let state =
        SharedState::new(mailboxes, calendars.agenda, options.faults, sign_in, options.clock);
    let ready = ServerStart { port, report, state: Arc::new(state) };
    Ok((listener, ready))
}

/// A failure that is nobody's fault outside.
fn internal(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("{what}: {error}"))
}
