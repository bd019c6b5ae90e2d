//! Request → projection → page → rows → text: the steps that all answers share.
//!
//! Every answer is made by the same steps, 1 to 3 in [`search`](mail::search), [`lookup`],
//! [`read`](mail::read) and similar modules, 4 and 5 in [`fit`](answer::fit): 1. `project` turns
//! the chosen columns into what to request from the API; 2. the provider answers with a page of
//! its own objects, the only I/O to an API; 3. `flatten` makes rows of them, and ids become
//! handles: the complete response; 4. `budget` chooses the part that fits; 5. `encode` writes the
//! document; long texts follow in blocks of their own,
//!    and notes say what is missing.
//!
//! It names the port (`provider.rs`) and never a provider. Sign-in is in
//! [`sign_in`](access::sign_in).

mod access;
mod answer;
mod brief;
mod calendar;
mod changes;
mod complete;
mod lookup;
pub mod mail;
mod settings;
mod writing;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use crate::accounts::Accounts;
use crate::budget::Response;
use crate::client::ClientPrompts;
use crate::config::Config;
use crate::course;
use crate::encode::{Document, Format};
use crate::error::{Error, Kind, Result};
use crate::event_time::zone_label;
use crate::flatten::{self, Report, RowContext};
use crate::outputs::ResultStore;
use crate::provider::Account;
use crate::provider::{Connect, Failed};
use crate::query::DateContext;
use crate::row::{Cell, RowTable};
use crate::schemas::{self, Api, Field, Level, Table};
use crate::store::{HandleKind, Store};
use crate::text::{Note, NoteKey, note, ours, quoted};
use crate::tools::Action;
use crate::unsubscribe::post::OneClickUnsubscriber;

pub use access::sign_in::{Begun, Finished, finish};
pub use answer::fit::{Answer, Stats};
pub use answer::inspect::{Form, Inspected};
pub use answer::offered::unoffered;
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
    /// People that were listed lately.
    known: lookup::known::KnownPeople,
    /// The threads of messages that were listed lately.
    threads: mail::answered::ListedThreads,
    /// Calendars that were listed lately.
    lists: calendar::agenda::calendars::Lists,
    /// Answers recently returned in chunks.
    snapshots: answer::fit::Snapshots,
    /// Rows that were shown lately.
    shown: answer::shown::ShownRows,
    /// Names that arguments can be completed with.
    folder_names: complete::FolderNames,
    /// Answers that were shortened.
    outputs: ResultStore,
    /// Posts the requests that leave mailing lists.
    unsubscriber: OneClickUnsubscriber,
    patience: Duration,
    /// Whether the process has shown untrusted text.
    taint: access::guard::TaintTracker,
    /// How long a message in doubt may still be sent.
    send_recovery: mail::send::SendRecovery,
}

impl Pipeline {
    /// Creates a pipeline over the accounts of one store.
    pub fn new(
        config: Arc<Config>,
        store: Store,
        accounts: Arc<Accounts>,
        connect: Arc<dyn Connect>,
    ) -> Self {
        Self {
            outputs: ResultStore::new(&config, store.clone(), accounts.clone()),
            send_recovery: mail::send::SendRecovery::new(config.look),
            config,
            store,
            accounts,
            connect,
            sign_ins: Arc::default(),
            known: lookup::known::KnownPeople::default(),
            threads: mail::answered::ListedThreads::default(),
            lists: calendar::agenda::calendars::Lists::default(),
            snapshots: answer::fit::Snapshots::default(),
            shown: answer::shown::ShownRows::default(),
            folder_names: complete::FolderNames::default(),
            unsubscriber: OneClickUnsubscriber::new(),
            patience: PATIENCE,
            taint: access::guard::TaintTracker::default(),
        }
    }

    /// Sets the poster that leaves mailing lists; by default it posts only to public addresses.
    #[must_use]
    pub fn with_unsubscriber(mut self, unsubscriber: OneClickUnsubscriber) -> Self {
        self.unsubscriber = unsubscriber;
        self
    }

    /// Sets how long one account of several may take before the answer is returned
    /// without it; 15 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how long a message in doubt is looked for before it is reported as such,
    /// and for how long after that it may still be sent.
    #[must_use]
    pub fn with_send_recovery(mut self, look: Duration, open: Duration) -> Self {
        self.send_recovery = mail::send::SendRecovery { look, open };
        self
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Awaits one account. If it is one of several, it fails when it takes too long,
    /// because one slow account must not hold back the others.
    async fn await_account<T>(
        &self,
        several: bool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.await_counted(several.then_some("accounts"), work).await
    }

    /// Does the same for one of several things of a kind, which is how progress counts it:
    /// `accounts`, `ids`. Without a kind, only this one is awaited, however long it takes.
    async fn await_counted<T>(
        &self,
        kind: Option<&'static str>,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(kind) = kind else {
            return work.await;
        };
        course::expect(kind, 1);
        let answer = tokio::time::timeout(self.patience, work).await;
        course::done(kind, 1);
        answer.unwrap_or_else(|_elapsed| {
            Err(Error::new(
                Kind::Timeout,
                format!("no answer within {} seconds", self.patience.as_secs()),
            ))
        })
    }

    /// Returns the complete response to a request.
    async fn build_response(
        &self,
        action: Action,
        format: Format,
        caller: &dyn ClientPrompts,
    ) -> Result<Response> {
        let what = writing::of(&action);
        // Boxed, as are the others of its size: a thread's stack is small.
        let call = self.dispatch(action, format, caller);
        let mut response = self.as_one(what, call).await;
        if let Err(error) = self.quotes_shown().await {
            tracing::warn!(%error, "what was shown is not noted");
        }
        if let Ok(response) = &mut response {
            response.notes.extend(self.cut_off().await);
        }
        response
    }

    /// Returns what does an action. A plain function, which has no room for the futures of all
    /// actions: `output_read` repeats a call from within one, on the same stack.
    fn dispatch<'a>(
        &'a self,
        action: Action,
        format: Format,
        caller: &'a dyn ClientPrompts,
    ) -> BoxFuture<'a, Result<Response>> {
        match action {
            Action::Search(search) => Box::pin(self.search(search)),
            Action::Lookup(lookup) => Box::pin(self.lookup(lookup)),
            Action::Read(read) => Box::pin(self.read(read)),
            Action::Attachment(request) => Box::pin(self.attachment(request)),
            Action::Draft(request) => Box::pin(self.write_draft(*request, caller)),
            Action::Send(request) => Box::pin(self.send(request, caller)),
            Action::Modify(request) => Box::pin(self.modify(request, caller)),
            Action::Accounts(op) => Box::pin(self.accounts(op, caller)),
            Action::Agenda(agenda) => Box::pin(self.agenda(agenda)),
            Action::Free(free) => Box::pin(self.free(free)),
            Action::Save(save) => Box::pin(self.save_events(*save, caller)),
            Action::Delete(delete) => Box::pin(self.delete(delete, caller)),
            Action::Respond(respond) => Box::pin(self.respond(respond, caller)),
            Action::Manage(manage) => Box::pin(self.manage(manage, caller)),
            Action::Changes(changes) => Box::pin(self.changes(changes)),
            Action::Brief(brief) => Box::pin(self.brief(brief)),
            Action::Output(output) => Box::pin(self.output(output, format.has_text_fields())),
        }
    }

    /// Returns the current time.
    fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// Returns the current time in the user's zone, which relative dates refer to.
    fn date_context(&self) -> DateContext {
        DateContext { now: self.now(), zone: self.config.zone.clone() }
    }

    /// Returns the context in which objects of ours are flattened.
    fn local(&self) -> RowContext<'_> {
        RowContext { zone: &self.config.zone, ..RowContext::bare(Api::Local) }
    }

    /// Returns the context in which objects of `account` are flattened to rows of a list.
    fn context_for<'a>(&'a self, api: Api, label: &'a str, account: &'a Account) -> RowContext<'a> {
        RowContext { api, account: label, address: &account.email, ..self.local() }
    }

    /// Returns the provider's id of a handle of `kind`, and the account it belongs to.
    ///
    /// `None` if `id` is not a handle of that kind.
    async fn handle(&self, kind: HandleKind, id: &str) -> Result<Option<(String, String)>> {
        let Some((found, number)) = HandleKind::parse(id) else {
            return Ok(None);
        };
        if found != kind {
            return Ok(None);
        }
        match self.store.resolve(kind, number).await? {
            Some(known) => Ok(Some(known)),
            None => Err(Error::new(Kind::NotFound, format!("there is no `{id}`"))
                .next("use an id from a search or lookup")),
        }
    }

    /// Returns the handle of an object of an account, and assigns one if it has none.
    async fn handle_of(&self, account: &str, kind: HandleKind, id: &str) -> Result<String> {
        let numbers = self.store.handles(account, kind, &[id]).await?;
        Ok(numbers.first().map_or_else(|| id.to_owned(), |number| kind.handle(*number)))
    }

    /// Inserts rows for the items that could not be fetched, and returns a note about them.
    ///
    /// The rows already have their handles, so that the note can name them.
    async fn placeholder_rows(
        &self,
        rows: &mut RowTable,
        failed: &[Failed],
        account: &Account,
    ) -> Result<Option<Note>> {
        for one in failed {
            rows.insert_unread(one.at, &one.id);
        }
        self.assign_handles(rows, account).await?;
        Ok(failed_note(rows, failed))
    }

    /// Assigns handles after a write. If they cannot be stored, the provider's ids
    /// stay, because a completed write is reported in any case.
    async fn hand_out_after(&self, rows: &mut RowTable, account: &Account, notes: &mut Vec<Note>) {
        if let Err(error) = self.assign_handles(rows, account).await {
            notes.push(no_handles(&error));
        }
    }

    /// Returns the number of the handle of an object that was written, as
    /// [`Pipeline::hand_out_after`] does.
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

    /// Returns [`Pipeline::number_after`] as a handle; the provider's id if there is none.
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

    /// Returns true if there are several accounts, or if that is unknown.
    async fn several_accounts(&self) -> bool {
        self.accounts.list().await.map_or(true, |all| all.len() > 1)
    }

    /// Replaces provider ids by handles.
    async fn assign_handles(&self, rows: &mut RowTable, account: &Account) -> Result<()> {
        for prefix in rows.handle_kinds() {
            let Some(kind) = HandleKind::of(prefix) else {
                continue;
            };
            let ids = rows.ids(prefix);
            // Rows have the ids of messages, from which those of drafts may differ.
            let drafts = if kind == HandleKind::Draft && !ids.is_empty() {
                self.connect.mailbox(account)?.draft_ids(&ids).await.unwrap_or_default()
            } else {
                HashMap::new()
            };
            let keys: Vec<&str> =
                ids.iter().map(|id| drafts.get(id).unwrap_or(id).as_str()).collect();
            let numbers = self.store.handles(&account.id, kind, &keys).await?;
            let by_id: HashMap<&str, u64> = ids.iter().map(String::as_str).zip(numbers).collect();
            rows.replace_ids(prefix, |id| by_id.get(id).copied());
        }
        Ok(())
    }
}

/// Returns a function that prefixes a note with the label of its account, if there are
/// several.
fn name_account(several: bool, label: &str) -> impl Fn(Note) -> Note {
    move |note| match several {
        true => note.under(ours(label)),
        false => note,
    }
}

/// Returns the note that written objects have no handles.
fn no_handles(error: &Error) -> Note {
    note!("done, but ids are the provider's own, as handles could not be stored: {}", error)
}

/// Flattens `objects` to rows; adds a note to `notes` for what could not be shown exactly.
fn rows_of(
    context: &RowContext<'_>,
    table: &'static Table,
    columns: &[&'static Field],
    objects: &[Value],
    notes: &mut Vec<Note>,
) -> RowTable {
    let (mut rows, report) = flatten::flatten(table, columns, objects, context);
    rows.made_from(objects.iter().map(json_bytes).sum());
    if context.api != Api::Local {
        answer::inspect::record(objects);
    }
    notes.extend(report_lines(&report));
    rows
}

/// Returns the size of an object as compact JSON, in bytes, without writing it.
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

/// Adds the scalar that names the zone of the times, if the document has times.
fn zone_line(document: &mut Document, zone: &jiff::tz::TimeZone) {
    let timed = document.tables.iter().any(|rows| {
        !rows.is_empty()
            && rows
                .columns()
                .iter()
                .any(|field| matches!(field.kind, schemas::Kind::Time | schemas::Kind::Start))
    });
    if timed {
        document.scalars.insert(0, ("zone", Cell::Text(zone_label(zone))));
    }
}

fn report_lines(report: &Report) -> Vec<Note> {
    let line = |(name, count): &(&'static str, usize)| {
        note!(
            "{} is null in {}: the provider's value had an unexpected type",
            ours(name),
            ours(count)
        )
    };
    report.odd.iter().map(line).collect()
}

/// The reason why an account is missing from an answer, and where to continue with it.
type Missing<P> = (Error, Option<P>);

/// Returns the note about a missing account.
fn missing_line<P>((error, again): Missing<P>) -> Note {
    let line = match again {
        Some(_) => note!("{} (retried with the next page)", error),
        None => Note::from(&error),
    };
    line.with_key(NoteKey::Missing)
}

/// Returns a note about the `failed` items among the rows, by their handles.
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

/// Returns one line about items that could not be fetched, by the ids the reader knows.
fn failed_line(failed: &[(String, Error)]) -> Option<Note> {
    let (_, first) = failed.first()?;
    // Handles are ours; other ids are a provider's.
    let named = |id: &str| match HandleKind::parse(id) {
        Some(_) => id.to_owned(),
        None => quoted(id).to_string(),
    };
    let ids: Vec<_> = failed.iter().map(|(id, _)| named(id)).collect();
    let line = note!("{} could not be fetched ({}): {}", failed.len(), ours(ids.join(", ")), first);
    Some(line.with_key(NoteKey::Missing))
}

/// Returns the columns of `table` up to `level`; the account is included only if there
/// are several.
fn columns_of(table: &'static Table, level: Level, several: bool) -> Vec<&'static Field> {
    table
        .fields
        .iter()
        .filter(|field| match field.is_account() {
            true => several || field.level == Level::Key,
            false => field.is_at(level),
        })
        .collect()
}
