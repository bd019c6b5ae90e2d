//! Request → projection → page → rows → text: what every answer shares.
//!
//! Every answer is made by the same steps, 1 to 3 in [`search`](mail::search), [`lookup`],
//! [`read`](mail::read) and their like, 4 and 5 in [`fit`](answer::fit):
//! 1. `project` turns the chosen columns into what to ask the API for;
//! 2. the provider answers with a page of its own objects, the only I/O to an API;
//! 3. `flatten` makes rows of them, and ids become handles: the whole answer;
//! 4. `budget` chooses what of it fits;
//! 5. `encode` writes the document; long texts follow in blocks of their own,
//!    and notes say what is not there.
//!
//! It names the port (`provider.rs`) and never a provider. Signing in stands in
//! [`sign_in`](access::sign_in).

mod access;
mod answer;
mod brief;
mod calendar;
mod changes;
mod lookup;
pub mod mail;
mod settings;
mod writing;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::accounts::Accounts;
use crate::budget::Draft;
use crate::caller::Caller;
use crate::config::Config;
use crate::encode::{Document, Format};
use crate::error::{Error, Kind, Result};
use crate::flatten::{self, Report, Room};
use crate::outputs::Outputs;
use crate::provider::Account;
use crate::provider::{Connect, Failed};
use crate::query::Clock;
use crate::row::{Cell, RowTable};
use crate::schemas::{self, Api, Field, Level, Table};
use crate::store::{HandleKind, Store};
use crate::text::{Note, note, ours, quoted};
use crate::tools::Action;
use crate::unsubscribe::post::Poster;

pub use access::guard::above;
pub use access::sign_in::{Begun, Finished, finish};
pub use answer::fit::{Answer, Stats};
pub use mail::attachment::URI as ATTACHMENT_URI;

/// How long one account of several may take, unless set otherwise.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Everything a call needs.
pub struct Pipeline {
    config: Arc<Config>,
    store: Store,
    accounts: Arc<Accounts>,
    connect: Arc<dyn Connect>,
    sign_ins: Arc<access::sign_in::SignIns>,
    /// Calendars that were listed lately.
    lists: calendar::agenda::calendars::Lists,
    /// Answers that were told in chunks lately.
    snapshots: answer::fit::Snapshots,
    /// Rows that were shown lately.
    shown: answer::shown::Shown,
    /// Answers that were shortened.
    outputs: Outputs,
    /// What leaves mailing lists.
    poster: Poster,
    patience: Duration,
    /// What strangers may have said by now.
    strangers: access::guard::Strangers,
    /// How long a letter in doubt may still go out.
    doubt: mail::send::Doubt,
    /// What is taken for now, if it is not the clock's.
    now: Option<Timestamp>,
}

impl Pipeline {
    /// A pipeline over the accounts of one store.
    pub fn new(
        config: Arc<Config>,
        store: Store,
        accounts: Arc<Accounts>,
        connect: Arc<dyn Connect>,
    ) -> Self {
        Self {
            outputs: Outputs::new(&config, store.clone(), accounts.clone()),
            doubt: mail::send::Doubt::new(config.look),
            config,
            store,
            accounts,
            connect,
            sign_ins: Arc::default(),
            lists: calendar::agenda::calendars::Lists::default(),
            snapshots: answer::fit::Snapshots::default(),
            shown: answer::shown::Shown::default(),
            poster: Poster::new(),
            patience: PATIENCE,
            strangers: access::guard::Strangers::default(),
            now: None,
        }
    }

    /// Sets what leaves mailing lists; public addresses alone unless set.
    #[must_use]
    pub fn posting(mut self, poster: Poster) -> Self {
        self.poster = poster;
        self
    }

    /// Sets what is taken for now in times and queries; the clock's time unless
    /// set.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Sets how long one account of several may take before the others are
    /// shown without it; 15 seconds unless set.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how long a letter in doubt is looked for before it is told as such,
    /// and for how long after that it may still go out.
    #[must_use]
    pub fn doubt(mut self, look: Duration, open: Duration) -> Self {
        self.doubt = mail::send::Doubt { look, open };
        self
    }

    /// What can be done here.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What one account of several answers, unless it takes too long.
    async fn patiently<T>(&self, asked: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout(self.patience, asked).await.unwrap_or_else(|_elapsed| {
            Err(Error::new(
                Kind::Timeout,
                format!("no answer within {} seconds", self.patience.as_secs()),
            ))
        })
    }

    /// What a request asks for, whole.
    async fn draft(&self, action: Action, format: Format, caller: &dyn Caller) -> Result<Draft> {
        let what = writing::of(&action);
        // Boxed, as are the others of its size: a thread's stack is small.
        let call = Box::pin(self.carried_out(action, format, caller));
        let mut draft = self.as_one(what, call).await;
        if let Err(error) = self.quotes_shown().await {
            tracing::warn!(%error, "what was shown is not noted");
        }
        if let Ok(draft) = &mut draft {
            draft.notes.extend(self.cut_off().await);
        }
        draft
    }

    async fn carried_out(
        &self,
        action: Action,
        format: Format,
        caller: &dyn Caller,
    ) -> Result<Draft> {
        match action {
            Action::Search(search) => self.search(search).await,
            Action::Lookup(lookup) => self.lookup(lookup).await,
            Action::Read(read) => self.read(read).await,
            Action::Attachment(asked) => self.attachment(asked).await,
            Action::Draft(asked) => self.write_draft(*asked, caller).await,
            Action::Send(asked) => self.send(asked, caller).await,
            Action::Modify(asked) => self.modify(asked, caller).await,
            Action::Accounts(op) => self.accounts(op).await,
            Action::Agenda(agenda) => self.agenda(agenda).await,
            Action::Free(free) => self.free(free).await,
            Action::Save(save) => self.save_events(*save, caller).await,
            Action::Delete(delete) => self.delete(delete, caller).await,
            Action::Respond(respond) => self.respond(respond, caller).await,
            Action::Manage(manage) => self.manage(manage, caller).await,
            Action::Changes(changes) => self.changes(changes).await,
            Action::Brief(brief) => self.brief(brief).await,
            Action::Output(output) => self.output(output, format.has_text_fields()).await,
        }
    }

    /// Now, in the user's zone.
    fn clock(&self) -> Clock {
        Clock { now: self.now.unwrap_or_else(Timestamp::now), zone: self.config.zone.clone() }
    }

    /// How objects of ours are flattened.
    fn local(&self) -> Flattening<'_> {
        Flattening {
            api: Api::Local,
            zone: &self.config.zone,
            account: "",
            address: "",
            room: Room::List,
        }
    }

    /// The provider's id behind a handle of `kind`, and the account it belongs to.
    ///
    /// `None` when `said` is not a handle of that kind.
    async fn handle(&self, kind: HandleKind, said: &str) -> Result<Option<(String, String)>> {
        let Some((found, number)) = HandleKind::parse(said) else {
            return Ok(None);
        };
        if found != kind {
            return Ok(None);
        }
        match self.store.resolve(kind, number).await? {
            Some(known) => Ok(Some(known)),
            None => Err(Error::new(Kind::NotFound, format!("there is no `{said}`"))
                .next("use an id from a search or lookup")),
        }
    }

    /// Rows for the items that could not be fetched, and a note about them.
    ///
    /// The rows have their handles already, so that the note can name them.
    async fn stand_ins(
        &self,
        rows: &mut RowTable,
        failed: &[Failed],
        account: &Account,
    ) -> Result<Option<Note>> {
        for one in failed {
            rows.insert_unread(one.at, &one.id);
        }
        self.hand_out(rows, account).await?;
        Ok(failed_note(rows, failed))
    }

    /// Handles for what was written. Where none can be kept, the provider's ids
    /// stay: what was done is told in any case.
    async fn hand_out_after(&self, rows: &mut RowTable, account: &Account, notes: &mut Vec<Note>) {
        if let Err(error) = self.hand_out(rows, account).await {
            notes.push(no_handles(&error));
        }
    }

    /// The number of the handle of something that was written, as
    /// [`Pipeline::hand_out_after`].
    async fn number_after(
        &self,
        account: &Account,
        kind: HandleKind,
        id: &str,
        notes: &mut Vec<Note>,
    ) -> Option<u64> {
        match self.store.handles(&account.id, kind, &[id]).await {
            Ok(numbers) => numbers.first().copied(),
            Err(error) => {
                let line = no_handles(&error);
                if !notes.contains(&line) {
                    notes.push(line);
                }
                None
            }
        }
    }

    /// [`Pipeline::number_after`] as a handle; the provider's id if there is none.
    async fn handle_after(
        &self,
        account: &Account,
        kind: HandleKind,
        id: &str,
        notes: &mut Vec<Note>,
    ) -> String {
        match self.number_after(account, kind, id, notes).await {
            Some(number) => kind.handle(number),
            None => id.to_owned(),
        }
    }

    /// True when there is more than one account, or that cannot be told.
    async fn several_accounts(&self) -> bool {
        self.accounts.list().await.map_or(true, |all| all.len() > 1)
    }

    /// Puts handles in the place of provider ids.
    async fn hand_out(&self, rows: &mut RowTable, account: &Account) -> Result<()> {
        for letter in rows.handle_kinds() {
            let Some(kind) = HandleKind::of(letter) else {
                continue;
            };
            let ids = rows.ids(letter);
            let wanted: Vec<&str> = ids.iter().map(String::as_str).collect();
            let numbers = self.store.handles(&account.id, kind, &wanted).await?;
            let by_id: HashMap<&str, u64> = wanted.into_iter().zip(numbers).collect();
            rows.swap_ids(letter, |id| by_id.get(id).copied());
        }
        Ok(())
    }
}

/// A note about things that were written and have no handles.
fn no_handles(error: &Error) -> Note {
    note!("done, but ids are the provider's own, as handles could not be stored: {}", error)
}

/// How the objects of one page become rows.
struct Flattening<'a> {
    api: Api,
    zone: &'a jiff::tz::TimeZone,
    account: &'a str,
    address: &'a str,
    room: Room,
}

impl Flattening<'_> {
    fn context<'c>(&'c self, names: &'c HashMap<String, String>) -> flatten::Context<'c> {
        flatten::Context {
            api: self.api,
            zone: self.zone,
            account: self.account,
            address: self.address,
            names,
            room: self.room,
        }
    }

    /// Rows of `objects`; what could not be shown as it was goes into `notes`.
    fn rows(
        &self,
        table: &'static Table,
        columns: &[&'static Field],
        objects: &[Value],
        names: &HashMap<String, String>,
        notes: &mut Vec<Note>,
    ) -> RowTable {
        let (mut rows, report) = flatten::flatten(table, columns, objects, &self.context(names));
        rows.made_from(objects.iter().map(json_bytes).sum());
        notes.extend(report_lines(&report));
        rows
    }
}

/// How many bytes an object has as compact JSON, which is not written for it.
fn json_bytes(object: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Values always serialise, and counting cannot fail.
    let _ = serde_json::to_writer(&mut count, object);
    count.0
}

/// The scalar that says which zone times are told in, when any are told.
fn zone_line(document: &mut Document, zone: &jiff::tz::TimeZone) {
    let timed = document.tables.iter().any(|rows| {
        !rows.is_empty()
            && rows
                .columns()
                .iter()
                .any(|field| matches!(field.kind, schemas::Kind::Time | schemas::Kind::Start))
    });
    if timed {
        document.scalars.insert(0, ("zone", Cell::Text(zone_name(zone))));
    }
}

/// How the zone of a document is called.
fn zone_name(zone: &jiff::tz::TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}

fn report_lines(report: &Report) -> Vec<Note> {
    let mut lines = Vec::new();
    for (name, count) in &report.odd {
        lines.push(note!(
            "{} is null in {}: the provider's value had an unexpected type",
            ours(name),
            ours(count)
        ));
    }
    lines
}

/// Why an account is missing from an answer, and where it may go on.
type Missing<P> = (Error, Option<P>);

/// A note about an account that is missing.
fn missing_line<P>((error, again): Missing<P>) -> Note {
    match again {
        Some(_) => note!("missing here, retried with the next page: {}", error),
        None => note!("left out: {}", error),
    }
}

/// A note about those of `failed` that stand among the rows, by their handles.
fn failed_note(rows: &RowTable, failed: &[Failed]) -> Option<Note> {
    let named: Vec<_> = failed
        .iter()
        .filter_map(|one| {
            let row = rows
                .rows()
                .zip(rows.extras())
                .find(|(_, extra)| extra.provider_id.as_ref() == Some(&one.id));
            let name = match row? {
                ([Cell::Handle(kind, number), ..], _) => format!("{kind}{number}"),
                _ => one.id.clone(),
            };
            Some((name, one.error.clone()))
        })
        .collect();
    failed_line(&named)
}

/// One line for the things that could not be fetched, by the ids the reader knows.
fn failed_line(failed: &[(String, Error)]) -> Option<Note> {
    let (_, first) = failed.first()?;
    // Handles are ours; other ids are a provider's.
    let named = |id: &str| match HandleKind::parse(id) {
        Some(_) => id.to_owned(),
        None => quoted(id).to_string(),
    };
    let ids: Vec<_> = failed.iter().map(|(id, _)| named(id)).collect();
    Some(note!("{} could not be fetched ({}): {}", failed.len(), ours(ids.join(", ")), first))
}

/// The columns of `table` up to `level`; the account is among them when there
/// are several, and never else.
fn columns_of(table: &'static Table, level: Level, several: bool) -> Vec<&'static Field> {
    table
        .fields
        .iter()
        .filter(|field| match field.is_account() {
            true => several || field.level == Level::Key,
            false => field.level <= level,
        })
        .collect()
}
