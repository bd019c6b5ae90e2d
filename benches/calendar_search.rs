//! A month of 5,000 events in 10 calendars of 4 accounts.
//!
//! `cargo bench --bench calendar_search` writes the events into `.ics` files, loads them into the sandbox,
//! and lists a month through the whole program. It measures the round trips per account, with
//! deliberately late responses, and the time of the work between responses, with the same search
//! over stored responses.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet::app::App;
use daysheet::cli::client::InProcessClient;
use daysheet::cli::sandboxed::SandboxUser;
use daysheet::config::Config;
use daysheet::pipeline::Pipeline;
use daysheet::store::Store;
use daysheet::tools;
use daysheet_core::access::AccessLevel;
use daysheet_core::clock::Clock;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::error::Result;
use daysheet_core::event::{Event, EventPatch};
use daysheet_core::ids::{AccountId, CalendarId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::Account;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::{BusySchedule, CalendarOp, Calendars, ChangeFeed, EventListRequest, GuestNotice, InvitationReply};
use daysheet_core::provider::{ListPage, Mailbox, ProviderConnector};
use daysheet_core::schemas::Service;
use daysheet_sandbox::FaultRates;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Two people, each at both providers, with so many calendars and events.
const PEOPLE: [(&str, usize); 2] = [("ana@example.com", 3), ("bo@example.com", 2)];
const EVENTS: usize = 5_000;
/// Calendars of all accounts: each person's are at both providers.
const CALENDARS: usize = 10;
const DELAYS: [u64; 2] = [50, 200];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let mail = tempfile::tempdir().unwrap();
    for (address, _) in PEOPLE {
        let one = mail.path().join(address);
        std::fs::create_dir(&one).unwrap();
        let message = format!(
            "From: {address}\r\nTo: {address}\r\nSubject: hello\r\n\
             Date: Mon, 05 Jan 2026 09:00:00 +0000\r\n\r\nhello\r\n"
        );
        std::fs::write(one.join("one.eml"), message).unwrap();
    }
    let config = config(home.path());
    let who = SandboxUser::Everybody(&["google", "microsoft"]);
    let (app, sandbox) = App::sandboxed(
        config.clone(),
        Some(mail.path().into()),
        Some(folder.path().into()),
        FaultRates::default(),
        who,
    )
    .await
    .unwrap();
    println!("a month of {EVENTS} events in {CALENDARS} calendars of 4 accounts");
    let mut client = InProcessClient::connect(app.server()).await.unwrap();
    let month = json!({"from": "2026-03-01", "to": "2026-03-31", "limit": 500, "budget": 100_000, "format": "json"});
    // Sign-ins are fetched and connections opened.
    let first = client.call("calendar_search", month.clone()).await.unwrap();
    let found: Value = serde_json::from_str(first.blocks.first().unwrap()).unwrap();
    println!("  {} events in the month", found["events"].as_array().unwrap().len());
    let before = sandbox.requests();
    for delay in DELAYS {
        // A process of its own, as after a restart: nothing is remembered.
        let fresh = Pipeline::new(
            app.config.clone(),
            Store::new(&app.config),
            app.accounts.clone(),
            app.connect.clone(),
        );
        let late = FaultRates { delay: Duration::from_millis(delay), ..FaultRates::default() };
        sandbox.set_faults(FaultRates::default());
        let prompt = time(&fresh, &month).await;
        let fresh = Pipeline::new(
            app.config.clone(),
            Store::new(&app.config),
            app.accounts.clone(),
            app.connect.clone(),
        );
        sandbox.set_faults(late);
        let took = time(&fresh, &month).await;
        let trips = took.saturating_sub(prompt).as_secs_f64() * 1_000.0 / delay as f64;
        println!("  answers {delay} ms late: {trips:.1} round trips (at most 3)");
    }
    println!("  {} requests a search", (sandbox.requests() - before) / 4);
    sandbox.set_faults(FaultRates::default());

    // The same month out of answers that are there.
    let answers = Arc::new(Answers::of(&app, &month).await);
    let ready = Pipeline::new(
        app.config.clone(),
        Store::new(&app.config),
        app.accounts.clone(),
        Arc::new(Ready(answers)),
    );
    let mut best = Duration::MAX;
    for _ in 0..20 {
        best = best.min(time(&ready, &month).await);
    }
    println!(
        "  merge, flatten, handles and encode: {:.2} ms (merge and encode: at most 5)",
        best.as_secs_f64() * 1_000.0
    );
}

fn config(home: &Path) -> Config {
    let var = |name: &str| match name {
        "DAYSHEET_HOME" => home.to_str().map(str::to_owned),
        "DAYSHEET_KEY_STORE" => Some("file".to_owned()),
        "DAYSHEET_ZONE" => Some("Europe/Berlin".to_owned()),
        _ => None,
    };
    Config::from(var, None, None, Clock::system()).unwrap()
}

/// One search, as the server makes it.
async fn time(pipeline: &Pipeline, arguments: &Value) -> Duration {
    let tool = tools::find("calendar_search").unwrap();
    let arguments = arguments.as_object().cloned();
    let format = Format::Toon(Delimiter::default());
    let request = tools::read(tool, arguments, format).unwrap();
    let begun = Instant::now();
    let answer = pipeline.run(request).await.unwrap();
    let took = begun.elapsed();
    assert!(answer.blocks[0].len() > 10_000, "{}", answer.blocks[0].len());
    took
}

/// The calendars of both people: events over a year, a few of them at a time.
fn write(folder: &Path) {
    let calendars: usize = PEOPLE.iter().map(|(_, count)| count).sum();
    let each = EVENTS / CALENDARS;
    for (address, count) in PEOPLE {
        let own = folder.join(address);
        std::fs::create_dir(&own).unwrap();
        for calendar in 0..count {
            let mut text =
                String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n");
            for event in 0..each {
                let day = event * 365 / each;
                let start = Timestamp::from_second(1_767_250_800 + 86_400 * day as i64).unwrap();
                let start = start.strftime("%Y%m%d");
                let hour = 8 + (event + calendar * 3) % calendars.max(1) * 2 % 10;
                write!(
                    text,
                    "BEGIN:VEVENT\r\nUID:{event}-{calendar}-{address}\r\nDTSTAMP:20260101T000000Z\r\n\
                     DTSTART;TZID=Europe/Berlin:{start}T{hour:02}0000\r\n\
                     DTEND;TZID=Europe/Berlin:{start}T{hour:02}4500\r\n\
                     SUMMARY:Round {event} of calendar {calendar}\r\nLOCATION:Room {hour}\r\n\
                     ORGANIZER:mailto:{address}\r\n\
                     ATTENDEE;PARTSTAT=ACCEPTED:mailto:cy@example.com\r\n\
                     ATTENDEE;PARTSTAT=DECLINED:mailto:dee@example.com\r\nEND:VEVENT\r\n"
                )
                .unwrap();
            }
            text.push_str("END:VCALENDAR\r\n");
            std::fs::write(own.join(format!("calendar{calendar}.ics")), text).unwrap();
        }
    }
}

/// The responses of the four accounts to one search.
struct Answers(Vec<(AccountId, Arc<Known>)>);

/// The responses of one account.
struct Known {
    inner: Arc<dyn Calendars>,
    calendars: Vec<Value>,
    pages: std::sync::Mutex<std::collections::HashMap<String, ListPage>>,
}

impl Answers {
    /// Queries each account once and stores its responses.
    async fn of(app: &App, month: &Value) -> Self {
        let mut all = Vec::new();
        for account in app.accounts.list().await.unwrap() {
            let inner = app.connect.calendars(&account).unwrap();
            let calendars = inner.calendars().await.unwrap();
            let known = Known { inner, calendars, pages: std::sync::Mutex::default() };
            all.push((account.id, Arc::new(known)));
        }
        let answers = Self(all);
        let keeping = Pipeline::new(
            app.config.clone(),
            Store::new(&app.config),
            app.accounts.clone(),
            Arc::new(Ready(Arc::new(Self(answers.0.clone())))),
        );
        time(&keeping, month).await;
        answers
    }
}

/// Connects to the stored responses.
struct Ready(Arc<Answers>);

#[async_trait]
impl ProviderConnector for Ready {
    fn mailbox(&self, _: &Account) -> Result<Arc<dyn Mailbox>> {
        Err(daysheet_core::error::Error::argument("no mail here"))
    }

    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>> {
        let found = self.0.0.iter().find(|(id, _)| *id == account.id).unwrap();
        Ok(Arc::new(Shown(found.1.clone())))
    }

    async fn address(&self, _: &str, _: &str, _: Option<&str>) -> Result<String> {
        Err(daysheet_core::error::Error::argument("nobody signs in here"))
    }

    fn scopes(&self, _: &str, _: bool, _: AccessLevel) -> Result<Vec<&'static str>> {
        Ok(Vec::new())
    }
}

struct Shown(Arc<Known>);

#[async_trait]
impl Calendars for Shown {
    fn api(&self) -> Service {
        self.0.inner.api()
    }

    fn capabilities(&self) -> &'static CalendarCapabilities {
        &daysheet_providers::google::CALENDAR
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        Ok(self.0.calendars.clone())
    }

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<ListPage>> {
        let key = |id: &str, cursor: &Option<String>| format!("{id} {cursor:?}");
        let missing = {
            let pages = self.0.pages.lock().unwrap();
            ask.calendars.iter().any(|(id, cursor)| !pages.contains_key(&key(id.as_str(), cursor)))
        };
        if missing {
            let answers = self.0.inner.events(ask).await;
            let mut pages = self.0.pages.lock().unwrap();
            for ((id, cursor), page) in ask.calendars.iter().zip(answers) {
                pages.insert(key(id.as_str(), cursor), page.unwrap());
            }
        }
        let pages = self.0.pages.lock().unwrap();
        ask.calendars
            .iter()
            .map(|(id, cursor)| Ok(pages.get(&key(id.as_str(), cursor)).unwrap().clone()))
            .collect()
    }

    fn event_data(&self, event: &Value) -> Option<Event> {
        self.0.inner.event_data(event)
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        self.0.inner.rooms().await
    }

    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>> {
        self.0.inner.manage(op).await
    }

    async fn event(&self, ids: &[EventId]) -> Vec<Result<Value>> {
        self.0.inner.event(ids).await
    }

    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        projection: &Projection,
    ) -> Result<Vec<Value>> {
        self.0.inner.instances(series, from, to, projection).await
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>> {
        self.0.inner.by_uid(uid).await
    }

    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        self.0.inner.create(calendar, event, notify).await
    }

    async fn update(
        &self,
        current: &Value,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        self.0.inner.update(current, change, notify).await
    }

    async fn delete(
        &self,
        current: &Value,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        self.0.inner.delete(current, message, notify).await
    }

    async fn respond(&self, current: &Value, response: &InvitationReply) -> Result<Option<Value>> {
        self.0.inner.respond(current, response).await
    }

    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()> {
        self.0.inner.forward(current, to, comment).await
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        self.0.inner.busy(who, from, to).await
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        self.0.inner.changes(cursor, projection).await
    }

    fn check_id(&self, id: &str) -> Result<()> {
        self.0.inner.check_id(id)
    }
}
