//! The promises that the doc comments of the port make for mailboxes and calendars of all
//! providers.
//!
//! The suite calls the port alone. Facts that the port does not reveal, such as the number of
//! messages, are given as a [`KnownMail`] or a [`KnownCalendar`]. The suite tries all promises
//! before it fails, and names the broken ones.

#![allow(dead_code, reason = "no suite needs all of it")]

mod calendars;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;

pub use calendars::{KnownCalendar, calendars};
use daysheet_core::call::client::NonInteractive;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{FlattenReport, RowContext, RowObject, RowRoom, flatten, instant};
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::project::{Projection, project};
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::mail::{
    AutoReply, DraftOrigin, FolderKind, MailState, MessageAction, MessageFlag, SettingsChange,
};
use daysheet_core::provider::{
    BodyForm, ListPage, ListRequest, Mailbox, PeopleQuery, TextPart, ThreadRole,
};
use daysheet_core::query::{Query, QueryTerm};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{
    ColumnLevel, EVENT, FOLDER, LISTINGS, ListOrigin as From, MESSAGE, Service, THREAD, Table,
    TableColumn,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::messages::{outgoing, person, stored_draft};
use crate::common::clock;

/// A word that is in no message and is no id.
const NOBODY: &str = "xylorimbaphobia";
const RUBBISH: [&str; 4] = ["", "../me", "a b", "x/../y"];
/// Pages after which a list is assumed to be endless.
const PAGES: usize = 200;
/// The number of messages whose columns are fetched one by one.
const SOME: usize = 6;

/// Known contents of a mailbox.
pub struct KnownMail {
    /// The number of messages listed without a query.
    pub messages: usize,
    /// Words that one message alone has, its subject, and words of its text.
    pub words: &'static str,
    pub subject: &'static str,
    pub text: &'static str,
    /// A folder, by its name in queries, and its number of messages.
    pub folder: (&'static str, usize),
    /// Words of a conversation and its number of messages.
    pub thread: (&'static str, usize),
    /// A well-formed id of a message that does not exist.
    pub unknown: &'static str,
    /// True if all writes are refused.
    pub read_only: bool,
    /// Promises known to be broken, each with the reason.
    pub except: &'static [(&'static str, &'static str)],
}

/// The promises that were tried, and the findings of the broken ones.
#[derive(Default)]
struct Suite {
    met: BTreeSet<&'static str>,
    broken: BTreeMap<&'static str, String>,
}

impl Suite {
    fn holds(&mut self, promise: &'static str, holds: bool, found: impl Debug) {
        self.met.insert(promise);
        if !holds {
            self.broken.entry(promise).or_insert_with(|| format!("{found:?}"));
        }
    }

    /// Returns the answer, or an empty one if it was refused; a refusal breaks the promise.
    fn answer<T: Default>(&mut self, promise: &'static str, result: Result<T>) -> T {
        self.holds(promise, result.is_ok(), result.as_ref().err());
        result.unwrap_or_default()
    }

    /// Checks that a call was refused because of its arguments, with a message.
    fn refused<T: Debug>(&mut self, promise: &'static str, result: Result<T>) {
        let argument = result
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::Argument && !error.message().is_empty());
        self.holds(promise, argument, result);
    }

    /// Returns the names of all promises. Fails if a promise without an exception is broken, or one
    /// with an exception is kept.
    fn end(self, except: &[(&'static str, &str)]) -> Vec<&'static str> {
        let excepted = |name: &str| except.iter().any(|(known, _)| *known == name);
        let broken: Vec<_> = self.broken.iter().filter(|(name, _)| !excepted(name)).collect();
        assert!(broken.is_empty(), "promises that are not kept: {broken:#?}");
        for (name, reason) in except {
            assert!(self.broken.contains_key(name), "{name} is kept, although {reason}");
        }
        self.met.into_iter().collect()
    }
}

/// Reads objects as rows.
fn rows<'a, O>(
    api: Service,
    table: &'static Table,
    columns: &[&'static TableColumn],
    items: &'a [O],
    names: &HashMap<String, String>,
) -> (RowTable, FlattenReport)
where
    RowObject<'a>: std::convert::From<&'a O>,
{
    let account = "me@example.com";
    let zone = &TimeZone::UTC;
    let context = RowContext { api, zone, account, address: account, names, room: RowRoom::One };
    flatten(table, columns, items, &context)
}

/// Returns the ids of objects, their first column.
fn ids(api: Service, table: &'static Table, items: &[Value]) -> Vec<String> {
    let (rows, _) =
        rows(api, table, &table.fields.iter().take(1).collect::<Vec<_>>(), items, &HashMap::new());
    let id = |row: &[RowCell]| match &row[0] {
        RowCell::Id(id) | RowCell::Text(id) => id.clone(),
        _ => String::new(),
    };
    rows.rows().map(id).collect()
}

fn message_ids(api: Service, items: &[Value]) -> Vec<MessageId> {
    ids(api, &MESSAGE, items).into_iter().map(MessageId::from).collect()
}

fn times(api: Service, table: &'static Table, column: &str, items: &[Value]) -> Vec<Timestamp> {
    let names = &HashMap::new();
    let (zone, account) = (&TimeZone::UTC, "");
    let context = RowContext { api, zone, account, address: account, names, room: RowRoom::List };
    let field = table.field(column).unwrap();
    items.iter().filter_map(|item| instant(field, item, &context)).collect()
}

fn all(table: &'static Table) -> Vec<&'static TableColumn> {
    table.up_to(ColumnLevel::More)
}

/// Returns true if the changes are empty except for the cursor.
fn is_quiet<T>(changes: &ChangeFeed<T>) -> bool {
    let lists = [&changes.new, &changes.changed, &changes.sent, &changes.deleted];
    lists.iter().all(|list| list.is_empty())
        && changes.gone.is_empty()
        && changes.gone_drafts.is_empty()
        && !changes.cursor.is_empty()
        && !changes.more
}

fn words(text: &str) -> Option<Query> {
    Some(Query::All(vec![Query::Term(QueryTerm::Text(text.to_owned()))]))
}

/// The mailbox under test.
struct Probe<'a> {
    mailbox: &'a dyn Mailbox,
    api: Service,
}

impl Probe<'_> {
    fn ask(&self, table: &'static Table, limit: usize, query: Option<Query>) -> ListRequest {
        let projection = project(self.api, &all(table));
        ListRequest {
            query,
            folder: None,
            projection,
            limit,
            oldest: false,
            cursor: None,
            hidden: false,
        }
    }

    async fn page(&self, table: &'static Table, ask: &ListRequest) -> Result<ListPage> {
        if *table == THREAD {
            self.mailbox.threads(ask).await
        } else {
            self.mailbox.messages(ask).await
        }
    }

    /// Returns all pages joined, without the items that a page repeats.
    async fn list(&self, table: &'static Table, mut ask: ListRequest) -> Result<Vec<Value>> {
        let (mut items, mut known) = (Vec::new(), BTreeSet::new());
        for _ in 0..PAGES {
            let page = self.page(table, &ask).await?;
            for item in page.items {
                if known.insert(ids(self.api, table, std::slice::from_ref(&item)).remove(0)) {
                    items.push(item);
                }
            }
            match page.next {
                Some(next) => ask.cursor = Some(next),
                None => return Ok(items),
            }
        }
        panic!("a list has no end");
    }

    /// Returns the ids of the listed messages, in order.
    async fn found(&self, query: Option<Query>, folder: Option<&str>) -> Result<Vec<MessageId>> {
        let mut ask = self.ask(&MESSAGE, 100, query);
        ask.folder = folder.map(FolderId::from);
        Ok(message_ids(self.api, &self.list(&MESSAGE, ask).await?))
    }
}

/// Tries the promises of a mailbox; returns their names.
pub async fn mailbox(mailbox: &dyn Mailbox, known: &KnownMail) -> Vec<&'static str> {
    let mut suite = Suite::default();
    let probe = Probe { mailbox, api: mailbox.api() };
    let listed = lists(&probe, known, &mut suite).await;
    queries(&probe, known, &mut suite).await;
    threads(&probe, known, &mut suite).await;
    reads(&probe, known, &listed, &mut suite).await;
    lookups(&probe, &mut suite).await;
    changes(&probe, &mut suite).await;
    refusals(&probe, known, &listed, &mut suite).await;
    let after = probe.found(None, None).await.unwrap_or_default();
    suite.holds("refusals_change_nothing", after == listed, after.len());
    suite.end(known.except)
}

/// Tries lists of messages: order, pages, columns. Returns the ids of all.
async fn lists(probe: &Probe<'_>, known: &KnownMail, suite: &mut Suite) -> Vec<MessageId> {
    let api = probe.api;
    let whole = probe.list(&MESSAGE, probe.ask(&MESSAGE, 100, None)).await;
    let whole = suite.answer("messages_are_listed", whole);
    let listed = message_ids(api, &whole);
    suite.holds("messages_are_all_there", listed.len() == known.messages, listed.len());
    suite.holds("objects_have_their_key", !listed.iter().any(MessageId::is_empty), &listed);
    let dates = times(api, &MESSAGE, "date", &whole);
    suite.holds("messages_come_newest_first", dates.is_sorted_by(|a, b| a >= b), &dates);

    let first = probe.page(&MESSAGE, &probe.ask(&MESSAGE, 5, None)).await;
    let first = suite.answer("messages_are_listed", first);
    let count = first.items.len() + first.failed.len();
    suite.holds("limit_is_kept", (1..=5).contains(&count), count);
    suite.holds(
        "next_says_that_there_is_more",
        first.next.is_some() == (known.messages > 5),
        &first.next,
    );
    let joined = probe.list(&MESSAGE, probe.ask(&MESSAGE, 5, None)).await;
    let joined = message_ids(api, &suite.answer("messages_are_listed", joined));
    suite.holds("pages_join_to_the_whole", joined == listed, &joined);
    for query in [None, words(known.words)] {
        reversed(probe, &MESSAGE, query, suite).await;
    }

    let some = probe.page(&MESSAGE, &probe.ask(&MESSAGE, SOME, None)).await;
    let some = suite.answer("messages_are_listed", some);
    let columns = all(&MESSAGE);
    let (full, report) = rows(api, &MESSAGE, &columns, &whole, &some.names);
    suite.holds("values_are_of_their_type", report.odd.is_empty(), &report.odd);
    let full_rows = full.rows().count();
    let empty = (0..full_rows).filter(|at| {
        ["id", "date", "from"].iter().any(|name| full.cell(*at, name) == Some(&RowCell::Null))
    });
    suite.holds("messages_have_id_date_and_sender", empty.count() == 0, full_rows);
    let subjects = full.rows().filter(|row| row[3] != RowCell::Null).count();
    suite.holds("messages_have_subjects", subjects > 0, subjects);

    // Columns read the same if they are fetched alone.
    let (full, _) = rows(api, &MESSAGE, &columns, &some.items, &some.names);
    for field in columns {
        let mut ask = probe.ask(&MESSAGE, SOME, None);
        ask.projection = project(api, &[&MESSAGE.fields[0], field]);
        let page = suite.answer("messages_are_listed", probe.page(&MESSAGE, &ask).await);
        let (alone, _) = rows(api, &MESSAGE, &[field], &page.items, &page.names);
        let alone: Vec<_> = alone.rows().map(|row| row[0].clone()).collect();
        let beside: Vec<_> =
            (0..full.rows().count()).filter_map(|at| full.cell(at, field.name)).collect();
        let same = alone.iter().collect::<Vec<_>>() == beside;
        suite.holds("what_is_asked_for_is_enough", same, (field.name, &alone, &beside));
    }
    listed
}

/// Checks that the oldest-first order reverses the list, unless it is refused.
async fn reversed(
    probe: &Probe<'_>,
    table: &'static Table,
    query: Option<Query>,
    suite: &mut Suite,
) {
    let newest = probe.list(table, probe.ask(table, 50, query.clone())).await;
    let newest = suite.answer("queries_are_answered", newest);
    let ask = ListRequest { oldest: true, ..probe.ask(table, 5, query) };
    let oldest = match probe.list(table, ask).await {
        Err(error) if error.kind() == ErrorKind::Argument => return,
        oldest => suite.answer("the_oldest_come_first", oldest),
    };
    let dates = times(probe.api, table, "date", &oldest);
    let mut whole = times(probe.api, table, "date", &newest);
    whole.reverse();
    suite.holds("the_oldest_come_first", dates == whole, (&dates, &whole));
}

/// Tries queries and filters by folder.
async fn queries(probe: &Probe<'_>, known: &KnownMail, suite: &mut Suite) {
    let found = probe.list(&MESSAGE, probe.ask(&MESSAGE, 10, words(known.words))).await;
    let found = suite.answer("queries_are_answered", found);
    let (found, _) = rows(probe.api, &MESSAGE, &all(&MESSAGE), &found, &HashMap::new());
    let subjects: Vec<_> = found.rows().map(|row| row[3].clone()).collect();
    let one = subjects == [RowCell::Text(known.subject.to_owned())];
    suite.holds("a_known_word_finds_its_message", one, &subjects);
    let nothing = suite.answer("queries_are_answered", probe.found(words(NOBODY), None).await);
    suite.holds("an_unknown_word_finds_nothing", nothing.is_empty(), &nothing);

    let (name, count) = known.folder;
    let place = Some(Query::Term(QueryTerm::Folder(name.to_owned())));
    let place = suite.answer("folders_are_searched_by_name", probe.found(place, None).await);
    suite.holds("folders_are_searched_by_name", place.len() == count, place.len());
    let names = suite.answer("names_are_told", probe.mailbox.names().await);
    let capabilities = probe.mailbox.capabilities();
    let id = capabilities.system_label(name).filter(|id| !id.is_empty());
    let by_name = names.iter().find(|(_, known)| *known == name).map(|(id, _)| id.as_str());
    let filtered = match id.or(by_name) {
        Some(id) => suite.answer("a_folder_has_its_messages", probe.found(None, Some(id)).await),
        None => Vec::new(),
    };
    suite.holds(
        "a_folder_has_its_messages",
        filtered.len() == count && filtered == place,
        &filtered,
    );
}

/// Tries conversations.
async fn threads(probe: &Probe<'_>, known: &KnownMail, suite: &mut Suite) {
    let api = probe.api;
    let whole = probe.list(&THREAD, probe.ask(&THREAD, 50, None)).await;
    let whole = suite.answer("threads_are_listed", whole);
    suite.holds("threads_are_all_there", !whole.is_empty(), whole.len());
    let columns = all(&THREAD);
    let (_, report) = rows(api, &THREAD, &columns, &whole, &HashMap::new());
    suite.holds("threads_are_of_their_type", report.odd.is_empty(), &report.odd);
    let dates = times(api, &THREAD, "date", &whole);
    let sorted = dates.len() == whole.len() && dates.is_sorted_by(|a, b| a >= b);
    suite.holds("threads_come_newest_first", sorted, &dates);
    let joined = probe.list(&THREAD, probe.ask(&THREAD, 5, None)).await;
    let joined = ids(api, &THREAD, &suite.answer("threads_are_listed", joined));
    suite.holds("pages_of_threads_join", joined == ids(api, &THREAD, &whole), &joined);
    reversed(probe, &THREAD, None, suite).await;

    let (text, count) = known.thread;
    let message = suite.answer("queries_are_answered", probe.found(words(text), None).await);
    let found = probe.list(&THREAD, probe.ask(&THREAD, 10, words(text))).await;
    let found = suite.answer("threads_are_listed", found);
    let (table, _) = rows(api, &THREAD, &columns, &found, &HashMap::new());
    let counted = table.cell(0, "count").cloned();
    let Some(id) = ids(api, &THREAD, &found).into_iter().next() else {
        return;
    };
    let members = suite.answer("a_thread_is_read", probe.mailbox.thread(&id.into()).await);
    // A thread's count leaves drafts out.
    let sent = members.iter().filter(|one| one.role != ThreadRole::Draft).count();
    let expected = RowCell::Count(i64::try_from(sent).unwrap());
    suite.holds("a_thread_has_all_its_messages", counted == Some(expected), &counted);
    let members: Vec<MessageId> = members.into_iter().map(|one| one.id).collect();
    let inside = members.len() == count && message.iter().take(1).all(|id| members.contains(id));
    suite.holds("a_thread_contains_what_is_found_by_it", inside, (&members, &message));
    let projection = project(api, &all(&MESSAGE));
    let read = probe.mailbox.read_messages(&members, &projection, BodyForm::None).await;
    let read: Vec<Value> = read.into_iter().flatten().map(|one| one.item).collect();
    let dates = times(api, &MESSAGE, "date", &read);
    let sorted = dates.len() == count && dates.is_sorted();
    suite.holds("a_thread_is_oldest_first", sorted, &dates);
}

/// Tries reading messages by id.
async fn reads(probe: &Probe<'_>, known: &KnownMail, listed: &[MessageId], suite: &mut Suite) {
    let projection = project(probe.api, &all(&MESSAGE));
    let mut requested: Vec<MessageId> = listed.iter().take(4).rev().cloned().collect();
    requested.insert(1, known.unknown.into());
    requested.push(RUBBISH[3].into());
    for form in [BodyForm::None, BodyForm::Parts, BodyForm::Headers] {
        let read = probe.mailbox.read_messages(&requested, &projection, form).await;
        suite.holds("there_is_an_answer_for_each_id", read.len() == requested.len(), read.len());
        for (id, one) in requested.iter().zip(read) {
            let kind = one.as_ref().err().map(Error::kind);
            if id == known.unknown {
                suite.holds(
                    "what_is_not_there_is_not_found",
                    kind == Some(ErrorKind::NotFound),
                    &one,
                );
            } else if id == RUBBISH[3] {
                suite.holds("no_id_is_refused", kind == Some(ErrorKind::Argument), &one);
            } else {
                let item = suite.answer("messages_are_read", one).item;
                let found = message_ids(probe.api, &[item]);
                suite.holds(
                    "answers_are_in_the_order_of_ids",
                    found == [id.as_str()],
                    (id, &found),
                );
            }
        }
    }
    let found = probe.found(words(known.words), None).await.unwrap_or_default();
    let read = probe.mailbox.read_messages(&found, &projection, BodyForm::Parts).await;
    let text = read.into_iter().flatten().flat_map(|one| one.parts).flatten().flatten();
    let text = text.map(|part| match part {
        TextPart::Plain(plain) => plain.text,
        TextPart::Html(html) => html,
    });
    let text = text.collect::<Vec<_>>().join("\n");
    suite.holds("the_text_is_read", text.contains(known.text), text);
    let accepted = listed.iter().all(|id| probe.mailbox.check_id(id.as_str()).is_ok());
    suite.holds("its_own_ids_are_accepted", accepted, listed.first());
    for id in RUBBISH {
        suite.refused("no_id_is_refused", probe.mailbox.check_id(id));
    }
}

/// Tries lists other than messages.
async fn lookups(probe: &Probe<'_>, suite: &mut Suite) {
    let people = PeopleQuery { limit: 10, ..PeopleQuery::default() };
    for (_, listing) in LISTINGS.iter().filter(|(_, listing)| listing.origin == From::Mailbox) {
        let table = listing.table;
        let projection = project(probe.api, &all(table));
        match probe.mailbox.lookup(table, &people, &projection).await {
            Ok(page) => {
                let (_, report) = rows(probe.api, table, &all(table), &page.items, &page.names);
                suite.holds("lists_are_of_their_type", report.odd.is_empty(), (table.name, report));
                if *table == FOLDER {
                    folders(probe, &page, suite).await;
                }
            }
            refused => suite.refused("lists_are_answered_or_refused", refused),
        }
    }
    // `EVENT` is not a list of mailboxes.
    let none = probe.mailbox.lookup(&EVENT, &people, &Projection::default()).await;
    suite.refused("lists_are_answered_or_refused", none);
}

/// Checks that each folder has a name, and that system labels are among the folders.
async fn folders(probe: &Probe<'_>, page: &ListPage, suite: &mut Suite) {
    let names = probe.mailbox.names().await.unwrap_or_default();
    let (table, _) = rows(probe.api, &FOLDER, &all(&FOLDER), &page.items, &page.names);
    let system = RowCell::Text("system".to_owned());
    let ids = ids(probe.api, &FOLDER, &page.items);
    let named = |at: usize| names.contains_key(&ids[at]) || table.cell(at, "kind") == Some(&system);
    let missing: Vec<_> = (0..ids.len()).filter(|at| !named(*at)).map(|at| &ids[at]).collect();
    suite.holds("names_has_every_folder", missing.is_empty(), missing);
    for (_, id) in probe.mailbox.capabilities().system_labels {
        let there = id.is_empty() || ids.iter().any(|known| known == id);
        suite.holds("system_labels_are_there", there, id);
    }
}

/// Tries changes.
async fn changes(probe: &Probe<'_>, suite: &mut Suite) {
    let projection = project(probe.api, &all(&MESSAGE));
    let start = suite.answer("changes_begin", probe.mailbox.changes(None, &projection).await);
    suite.holds("changes_begin_with_a_cursor_alone", is_quiet(&start), &start);
    let next = probe.mailbox.changes(Some(&start.cursor), &projection).await;
    let next = suite.answer("nothing_changes_by_itself", next);
    suite.holds("nothing_changes_by_itself", is_quiet(&next) && !next.started_over, &next);
    let other = probe.mailbox.changes(Some("no cursor of this one's"), &projection).await;
    if other.as_ref().is_ok_and(|changes| changes.started_over) {
        return;
    }
    suite.refused("other_cursors_are_refused", other);
}

/// Checks that actions outside the declared capabilities are refused.
async fn refusals(probe: &Probe<'_>, known: &KnownMail, listed: &[MessageId], suite: &mut Suite) {
    let (mailbox, can) = (probe.mailbox, probe.mailbox.capabilities());
    suite.holds("the_service_has_a_name", !can.name.is_empty(), can);
    let content = || outgoing("1@example.com", person("", "me@example.com"), vec![]);
    let draft = stored_draft(known.unknown, known.unknown, "v1", content());
    let state = |id: &MessageId| MailState { id: id.clone(), ..MailState::default() };
    let states: Vec<_> = listed.iter().take(1).map(state).collect();
    let read_only = known.read_only;
    if !can.scheduled_send {
        let later = clock::now() + SignedDuration::from_hours(48);
        suite.refused("nothing_is_sent_later", mailbox.send(&draft, Some(later)).await);
    }
    if !can.signatures {
        let signature = SettingsChange::Signature { address: None, html: "<p>Ada</p>".to_owned() };
        suite.refused("signatures_are_refused", mailbox.apply_settings(&signature).await);
        suite.refused("rehearsals_refuse_the_same", mailbox.rehearse(&signature).await);
    }
    if !can.task_flags {
        for result in mailbox.apply(&states, &MessageAction::Flag(MessageFlag::Done)).await {
            suite.refused("task_flags_are_refused", result);
        }
    }
    if !read_only {
        return;
    }
    let name = "read_only_refuses";
    suite.refused(name, mailbox.senders().await);
    suite.refused(name, mailbox.source_message(&listed[0]).await);
    suite.refused(name, mailbox.create(&DraftOrigin::New, &content(), &NonInteractive).await);
    suite.refused(name, mailbox.update(&draft, &content(), &NonInteractive).await);
    suite.refused(name, mailbox.discard(&draft).await);
    suite.refused(name, mailbox.send(&draft, None).await);
    suite.refused(name, mailbox.find_folder("Bills", FolderKind::Folder, true).await);
    suite.refused(
        name,
        mailbox.apply_settings(&SettingsChange::AutoReply(AutoReply::default())).await,
    );
    for step in [MessageAction::Read(true), MessageAction::Trash, MessageAction::Delete] {
        for result in mailbox.apply(&states, &step).await {
            suite.refused(name, result);
        }
    }
}
