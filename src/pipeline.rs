//! Request → projection → page → rows → text: what every answer shares.
//!
//! Every answer is made by the same steps, in [`search`], [`lookup`] and [`read`]:
//! 1. `project` turns the chosen columns into what to ask the API for;
//! 2. the provider answers with a page of its own objects, the only I/O to an API;
//! 3. `flatten` makes rows of them, and ids become handles;
//! 4. the rows become a document, which `encode` writes;
//! 5. long texts follow in blocks of their own, and notes say what is not there.
//!
//! It names the port (`provider.rs`) and never a provider. Signing in stands in
//! [`sign_in`].

mod agenda;
mod changes;
mod cursor;
mod free;
mod gather;
mod ics;
mod lookup;
mod outcome;
mod outward;
mod read;
mod save;
mod search;
mod sign_in;
mod target;
mod whose;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::accounts::{Account, Accounts};
use crate::config::Config;
use crate::encode::Document;
use crate::error::{Error, Kind, Result};
use crate::flatten::{self, Report, Room};
use crate::provider::{Connect, Failed};
use crate::query::Clock;
use crate::request::{Action, Request};
use crate::row::{Cell, RowTable};
use crate::schemas::{self, Api, Field, Level, Source, Table};
use crate::store::{HandleKind, Store};

pub use sign_in::{Begun, Finished, finish};

/// How long one account of several may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a tool call answers with, before it is MCP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Block 1: the document, in the format asked for.
    pub document: String,
    /// Fenced long texts.
    pub texts: Vec<String>,
    /// What the reader should know besides, a line each.
    pub notes: Vec<String>,
}

impl Answer {
    /// The text blocks in their order; notes are the last block, when there are any.
    pub fn blocks(self) -> Vec<String> {
        let mut blocks = vec![self.document];
        blocks.extend(self.texts);
        if !self.notes.is_empty() {
            blocks.push(self.notes.join("\n"));
        }
        blocks
    }
}

/// Everything a call needs.
pub struct Pipeline {
    config: Arc<Config>,
    store: Store,
    accounts: Arc<Accounts>,
    connect: Arc<dyn Connect>,
    sign_ins: Arc<sign_in::SignIns>,
    /// Calendars that were listed lately.
    lists: agenda::calendars::Lists,
    patience: Duration,
}

/// An answer in the making.
struct Draft {
    document: Document,
    texts: Vec<String>,
    notes: Vec<String>,
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
            config,
            store,
            accounts,
            connect,
            sign_ins: Arc::default(),
            lists: agenda::calendars::Lists::default(),
            patience: PATIENCE,
        }
    }

    /// Sets how long one account of several may take before the others are
    /// shown without it; 15 seconds unless set.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What one account of several answers, unless it takes too long.
    async fn patiently<T>(&self, asked: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout(self.patience, asked)
            .await
            .unwrap_or_else(|_elapsed| {
                Err(Error::new(
                    Kind::Timeout,
                    format!("no answer within {} seconds", self.patience.as_secs()),
                ))
            })
    }

    /// Carries out a request.
    pub async fn run(&self, request: Request) -> Result<Answer> {
        let draft = match request.action {
            Action::Search(search) => self.search(search).await,
            Action::Lookup(lookup) => self.lookup(lookup).await,
            Action::Read(read) => self.read(read, request.format).await,
            Action::Accounts(op) => self.accounts(op).await,
            Action::Agenda(agenda) => self.agenda(agenda).await,
            Action::Free(free) => self.free(free).await,
            Action::Save(save) => self.save_events(*save).await,
            Action::Delete(delete) => self.delete(delete).await,
            Action::Respond(respond) => self.respond(respond).await,
            Action::Manage(manage) => self.manage(manage).await,
            Action::Changes(changes) => self.changes(changes).await,
        }?;
        let mut texts = draft.texts;
        // A text that was asked for instead of rows is the document.
        let document = match draft.document == Document::default() && !texts.is_empty() {
            true => texts.remove(0),
            false => draft.document.encode(request.format),
        };
        Ok(Answer {
            document,
            texts,
            notes: draft.notes,
        })
    }

    /// Now, in the user's zone.
    fn clock(&self) -> Clock {
        Clock {
            now: Timestamp::now(),
            zone: self.config.zone.clone(),
        }
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
    ) -> Result<Option<String>> {
        for one in failed {
            rows.insert_unread(one.at, &one.id);
        }
        self.hand_out(rows, account).await?;
        Ok(failed_note(rows, failed))
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
        notes: &mut Vec<String>,
    ) -> RowTable {
        let (rows, report) = flatten::flatten(table, columns, objects, &self.context(names));
        notes.extend(report_lines(&report));
        rows
    }
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
        document
            .scalars
            .insert(0, ("zone", Cell::Text(zone_name(zone))));
    }
}

/// How the zone of a document is called.
fn zone_name(zone: &jiff::tz::TimeZone) -> String {
    zone.iana_name().unwrap_or("UTC").to_owned()
}

fn report_lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if !report.cut.is_empty() {
        let columns: Vec<_> = report
            .cut
            .iter()
            .map(|(name, count)| format!("{name} in {count}"))
            .collect();
        lines.push(format!("shortened, ending in …: {}", columns.join(", ")));
    }
    for (name, count) in &report.odd {
        lines.push(format!(
            "{name} is null in {count} because the provider's value was of an unexpected type"
        ));
    }
    lines
}

/// Why an account is missing from an answer, and where it may go on.
type Missing<P> = (Error, Option<P>);

/// A note about an account that is missing.
fn missing_line<P>((error, again): Missing<P>) -> String {
    match again {
        Some(_) => format!("missing here, asked again with the next page: {error}"),
        None => format!("left out: {error}"),
    }
}

/// A note about those of `failed` that stand among the rows, by their handles.
fn failed_note(rows: &RowTable, failed: &[Failed]) -> Option<String> {
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
fn failed_line(failed: &[(String, Error)]) -> Option<String> {
    let (_, first) = failed.first()?;
    let ids: Vec<_> = failed.iter().map(|(id, _)| id.as_str()).collect();
    Some(format!(
        "{} could not be fetched ({}): {first}",
        failed.len(),
        ids.join(", "),
    ))
}

/// The columns of `table` up to `level`; the account is among them when there
/// are several, and never else.
fn columns_of(table: &'static Table, level: Level, several: bool) -> Vec<&'static Field> {
    let is_account = |field: &Field| matches!(field.gmail, Source::Account);
    table
        .fields
        .iter()
        .filter(|field| match is_account(field) {
            true => several || field.level == Level::Key,
            false => field.level <= level,
        })
        .collect()
}
