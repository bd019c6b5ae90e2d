//! The mail of a brief: the messages that the rules look at, fetched from each account.
//!
//! An account costs four lists, all at once: the inbox of the window, in pages of 100 up to 300
//! messages; the sent mail, likewise, because it shows the people written to, their conversations,
//! and the messages that have been answered; the newest drafts; and the reader's own addresses.
//! Where lists return only ids, each message costs one more request; no text is fetched. `rules.rs`
//! decides on the meaning of the messages.

use std::collections::HashSet;
use std::sync::Arc;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::{ListRequest, Mailbox, PeopleQuery};
use daysheet_core::query::{DateContext, Query};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ALIAS, ColumnLevel, MESSAGE, Table, TableColumn};
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use daysheet_core::time_parse::mentioned;
use futures_util::future::{join_all, join4};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use super::rules::{BriefMessage, ReaderMail};
use crate::pipeline::access::accounts::account_labels;
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::mail::senders::{LookAlikes, WARNINGS, look_alikes_of, senders};
use crate::pipeline::rows::{columns_of, name_account, rows_of};

/// Messages per page.
const PAGE: usize = 100;
/// The number of messages of one list after which no further page is fetched.
const ENOUGH: usize = 300;
/// Pages of one list at most.
const PAGES: usize = 4;
/// The columns of a message that the rules read, in addition to those shown.
const INBOX: &[&str] = &["id", "date", "from", "to", "thread", "flags", "bulk", WARNINGS];
/// The columns of a draft.
const DRAFT: &[&str] = &["id", "date", "to", "subject"];
/// The columns of a sent message that the rules read.
const SENT: &[&str] = &["id", "date", "to", "cc", "thread", "flags"];

/// The number of days ahead within which a day named in a message puts the message first.
const SOON: i32 = 3;
/// The number of drafts that are shown.
const DRAFTS: usize = 10;

/// The messages that are considered.
pub(super) struct BriefWindow {
    /// Received messages.
    pub(super) inbox: Query,
    /// Sent messages.
    pub(super) sent: Query,
    /// Drafts.
    pub(super) drafts: Query,
    /// Now, and the zone of days.
    pub(super) clock: DateContext,
}

impl BriefWindow {
    /// Returns the first of the coming days that a text written at `date` names.
    fn soon(&self, text: &str, date: Option<Timestamp>) -> Option<Date> {
        let DateContext { now, zone, .. } = &self.clock;
        let today = zone.to_datetime(*now).date();
        let written = date.map_or(today, |date| zone.to_datetime(date).date());
        let days = mentioned(text, written).into_iter();
        days.filter(|day| (today..=today.saturating_add(SOON.days())).contains(day)).min()
    }
}

/// One account's inbox.
pub(super) struct AccountInbox {
    account: Account,
    label: String,
    mailbox: Arc<dyn Mailbox>,
    items: Vec<Value>,
    /// Drafts that wait, the newest first.
    drafts: Vec<Value>,
    /// The senders who look like a known person.
    look_alikes: LookAlikes,
}

/// The lists fetched from one account.
struct AccountMail {
    inbox: AccountInbox,
    listed: MessageList,
    sent: MessageList,
    drafts: Result<MessageList>,
    aliases: Result<Vec<String>>,
}

/// The mail of all accounts.
#[derive(Default)]
pub(super) struct BriefMail {
    pub(super) inboxes: Vec<AccountInbox>,
    /// The messages of all inboxes; `places` has the position of each: its inbox, and its place
    /// there.
    pub(super) messages: Vec<BriefMessage>,
    places: Vec<(usize, usize)>,
    pub(super) own: ReaderMail,
    /// The errors of the accounts whose mail is missing; each names its account.
    pub(super) missing: Vec<Error>,
    /// Notes on other missing data.
    pub(super) notes: Vec<Note>,
}

/// A list of messages, as far as it was read.
struct MessageList {
    items: Vec<Value>,
    notes: Vec<Note>,
    failed: Vec<Error>,
    /// True if there are more.
    cut: bool,
}

/// Fetches the mail of the window, of all these accounts. A failed account is
/// reported in the result.
pub(super) async fn brief_mail(
    ctx: &Context,
    accounts: &[Account],
    window: &BriefWindow,
) -> Result<BriefMail> {
    let labels = account_labels(ctx).await?;
    let reads = accounts.iter().map(|account| {
        let label = labels.label_of(&account.id);
        async move {
            let reads = account_mail(ctx, account, &label, window);
            // Limited in time even for a single account, because a brief is of use without its
            // mail.
            let answer = ctx.await_account(true, reads).await;
            (answer.map_err(|error| error.context(&label)), label)
        }
    });
    let mut mail = BriefMail::default();
    // A sign-in may be under another address than the one written to.
    mail.own.addresses = accounts.iter().map(|one| one.email.lower()).collect();
    for (answer, label) in join_all(reads).await {
        match answer {
            Ok(found) => mail.add(found, &label, window),
            Err(error) => mail.missing.push(error),
        }
    }
    let me = &mail.own.addresses;
    // Mail to oneself does not make the user one of the people written to.
    mail.own.people.retain(|address| !me.contains(address));
    let looks = mail.inboxes.iter().map(|inbox| {
        // The sent mail was just read, so these people need no search of their own.
        ctx.states.known.wrote_to(&inbox.account.id, mail.own.people.iter());
        let senders = senders(inbox.items.iter(), inbox.mailbox.api());
        look_alikes_of(ctx, &inbox.account, &*inbox.mailbox, senders)
    });
    let found = join_all(looks).await;
    for (inbox, look_alikes) in mail.inboxes.iter_mut().zip(found) {
        inbox.look_alikes = look_alikes;
    }
    for (message, (owner, at)) in mail.messages.iter_mut().zip(&mail.places) {
        let Some(inbox) = mail.inboxes.get(*owner) else {
            continue;
        };
        let context = &RowContext::bare(inbox.mailbox.api());
        let sent = |item| inbox.look_alikes.sent(item, context);
        message.suspicious |= inbox.items.get(*at).is_some_and(sent);
    }
    Ok(mail)
}

async fn account_mail(
    ctx: &Context,
    account: &Account,
    label: &str,
    window: &BriefWindow,
) -> Result<AccountMail> {
    let mailbox = ctx.connect.mailbox(account)?;
    let mut columns = columns_of(&MESSAGE, ColumnLevel::Core, false);
    for field in fields(&MESSAGE, INBOX) {
        if !columns.contains(&field) {
            columns.push(field);
        }
    }
    let sent = fields(&MESSAGE, SENT);
    let mut draft = fields(&MESSAGE, DRAFT);
    draft.extend(MESSAGE.field("thread"));
    let (inbox, sent, drafts, aliases) = join4(
        message_list(&*mailbox, &window.inbox, &columns, ENOUGH),
        message_list(&*mailbox, &window.sent, &sent, ENOUGH),
        message_list(&*mailbox, &window.drafts, &draft, DRAFTS),
        aliases(&*mailbox),
    )
    .await;
    let (mut listed, sent) = (inbox?, sent?);
    let items = std::mem::take(&mut listed.items);
    let label = label.to_owned();
    let account = account.clone();
    let (drafted, look_alikes) = (Vec::new(), LookAlikes::default());
    let inbox = AccountInbox { account, label, mailbox, items, drafts: drafted, look_alikes };
    Ok(AccountMail { inbox, listed, sent, drafts, aliases })
}

/// The form of rows of messages.
#[derive(Clone, Copy)]
pub(super) struct RowForm<'a> {
    /// True if there are several accounts, so that rows name theirs.
    pub(super) several: bool,
    /// The zone of the times.
    pub(super) zone: &'a TimeZone,
}

/// Returns rows of some of the messages, by their positions, as a search shows them,
/// with the warnings about their senders.
pub(super) async fn message_rows(
    ctx: &Context,
    mail: &BriefMail,
    keep: &[usize],
    form: RowForm<'_>,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let columns = columns_of(&MESSAGE, ColumnLevel::Core, form.several);
    let places = keep.iter().filter_map(|at| mail.places.get(*at));
    let places: Vec<(usize, usize)> = places.copied().collect();
    let mut tables = Vec::new();
    for (number, inbox) in mail.inboxes.iter().enumerate() {
        let mine = places.iter().filter(|(owner, _)| *owner == number);
        let items: Vec<Value> = mine.filter_map(|(_, at)| inbox.items.get(*at).cloned()).collect();
        let (rows, own) = inbox_rows(ctx, inbox, &columns, &items, form).await?;
        tables.push(rows);
        notes.extend(own);
    }
    let order = places.iter().map(|(owner, _)| *owner);
    let mut rows =
        RowTable::interleave(tables, order).unwrap_or_else(|| RowTable::new(&MESSAGE, columns));
    rows.drop_empty();
    Ok(rows)
}

/// Returns rows of the drafts of all accounts, one account after the other.
pub(super) async fn draft_rows(
    ctx: &Context,
    mail: &BriefMail,
    form: RowForm<'_>,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let mut columns = fields(&MESSAGE, DRAFT);
    columns.extend(MESSAGE.fields.iter().filter(|field| form.several && field.is_account()));
    let mut all = RowTable::new(&MESSAGE, columns.clone());
    for inbox in &mail.inboxes {
        let (rows, own) = inbox_rows(ctx, inbox, &columns, &inbox.drafts, form).await?;
        all.append(rows);
        notes.extend(own);
    }
    Ok(all)
}

/// Returns rows of messages of one account, and notes on them.
async fn inbox_rows(
    ctx: &Context,
    inbox: &AccountInbox,
    columns: &[&'static TableColumn],
    items: &[Value],
    form: RowForm<'_>,
) -> Result<(RowTable, Vec<Note>)> {
    let context = ctx.context_for(inbox.mailbox.api(), &inbox.label, &inbox.account);
    let context = RowContext { zone: form.zone, ..context };
    let mut own = Vec::new();
    let mut rows = rows_of(&context, &MESSAGE, columns, items, &mut own);
    assign_handles(ctx, &mut rows, &inbox.account).await?;
    if columns.iter().any(|field| field.name == WARNINGS) {
        own.extend(inbox.look_alikes.noted(&mut rows, items, &context, |_| None));
    }
    let notes = own.into_iter().map(name_account(form.several, &inbox.label));
    Ok((rows, notes.collect()))
}

impl BriefMail {
    /// Returns the number of drafts.
    pub(super) fn drafts(&self) -> usize {
        self.inboxes.iter().map(|inbox| inbox.drafts.len()).sum()
    }

    fn add(&mut self, found: AccountMail, label: &str, window: &BriefWindow) {
        let AccountMail { mut inbox, listed, sent, drafts, aliases } = found;
        let number = self.inboxes.len();
        let context = &RowContext::bare(inbox.mailbox.api());
        for (at, item) in inbox.items.iter().enumerate() {
            let message = ColumnReader { item, context }.brief_message(number, window);
            if message.draft {
                self.own.drafted.insert(message.thread.clone());
            }
            self.messages.push(message);
            self.places.push((number, at));
        }
        for item in &sent.items {
            let item = ColumnReader { item, context };
            // A draft in the sent mail is not a reply.
            if item.texts("flags").iter().any(|flag| flag == "draft") {
                self.own.drafted.insert((number, item.text("thread")));
                continue;
            }
            let wrote = self.own.wrote.entry((number, item.text("thread")));
            let last = wrote.or_default();
            *last = (*last).max(item.date());
            let people = item.addresses("to").into_iter().chain(item.addresses("cc"));
            self.own.people.extend(people.map(|one| one.to_lowercase()));
        }
        match aliases {
            Ok(aliases) => self.own.addresses.extend(aliases),
            // A shared mailbox has no addresses of its own to fetch.
            Err(error) if error.kind() == ErrorKind::Argument => {}
            Err(error) => self.notes.push(note!(
                "{}: your other addresses are unknown: {}",
                ours(&label),
                error
            )),
        }
        match drafts {
            Ok(list) => {
                let thread = |item| (number, ColumnReader { item, context }.text("thread"));
                self.own.drafted.extend(list.items.iter().map(thread));
                if list.cut {
                    self.notes.push(note!(
                        "{}: only the newest {} drafts are shown",
                        ours(&label),
                        DRAFTS
                    ));
                }
                inbox.drafts = list.items;
            }
            Err(error) => {
                let line = note!("{}: drafts are unknown: {}", ours(&label), error);
                self.notes.push(line.with_key(NoteKey::Missing));
            }
        }
        for (what, list) in [("the inbox", listed), ("sent mail", sent)] {
            if list.cut {
                self.notes.push(note!(
                    "{}: in {}, only the newest {} messages of that time were checked",
                    ours(&label),
                    ours(&what),
                    ENOUGH
                ));
            }
            if let Some(error) = list.failed.first() {
                let line = note!(
                    "{}: {} in {} could not be fetched: {}",
                    ours(&label),
                    counted(list.failed.len(), "message", "messages"),
                    ours(&what),
                    error
                );
                self.notes.push(line.with_key(NoteKey::Missing));
            }
            let notes = list.notes.into_iter().map(|note| note.under(ours(&label)));
            self.notes.extend(notes);
        }
        self.inboxes.push(inbox);
    }
}

fn fields(table: &'static Table, names: &[&str]) -> Vec<&'static TableColumn> {
    names.iter().filter_map(|name| table.field(name)).collect()
}

/// Fetches the newest messages that a query finds.
async fn message_list(
    mailbox: &dyn Mailbox,
    query: &Query,
    columns: &[&'static TableColumn],
    enough: usize,
) -> Result<MessageList> {
    let mut listed =
        MessageList { items: Vec::new(), notes: Vec::new(), failed: Vec::new(), cut: false };
    let mut ask = ListRequest {
        query: Some(query.clone()),
        folder: None,
        projection: project(mailbox.api(), columns),
        limit: PAGE.min(enough),
        oldest: false,
        cursor: None,
        hidden: false,
    };
    let context = RowContext::bare(mailbox.api());
    let mut seen = HashSet::new();
    for page in 1.. {
        let found = mailbox.messages(&ask).await?;
        for item in found.items {
            // A page may repeat items of the page before.
            if flatten::key(&MESSAGE, &item, &context).is_some_and(|id| seen.insert(id)) {
                listed.items.push(item);
            }
        }
        listed.failed.extend(found.failed.into_iter().map(|one| one.error));
        for note in found.notes {
            if !listed.notes.contains(&note) {
                listed.notes.push(note);
            }
        }
        // A page that names itself as the next would be fetched without end.
        let more = found.next.is_some() && found.next != ask.cursor;
        ask.cursor = found.next;
        listed.cut = more && (listed.items.len() >= enough || page == PAGES);
        if !more || listed.cut {
            break;
        }
    }
    listed.cut |= listed.items.len() > enough;
    listed.items.truncate(enough);
    Ok(listed)
}

/// Returns the reader's addresses in an account, in lower case.
async fn aliases(mailbox: &dyn Mailbox) -> Result<Vec<String>> {
    let columns = fields(&ALIAS, &["email"]);
    let projection = project(mailbox.api(), &columns);
    let page = mailbox.lookup(&ALIAS, &PeopleQuery::default(), &projection).await?;
    let context = RowContext::bare(mailbox.api());
    let items = page.items.iter();
    let found = items.flat_map(|item| {
        let texts = columns.iter().map(|field| flatten::texts(field, item, &context));
        texts.flatten().collect::<Vec<_>>()
    });
    Ok(found.map(|address| address.to_lowercase()).collect())
}

/// Reads the registry's columns from an object.
struct ColumnReader<'a> {
    item: &'a Value,
    context: &'a RowContext<'a>,
}

impl ColumnReader<'_> {
    fn brief_message(&self, inbox: usize, window: &BriefWindow) -> BriefMessage {
        let flags = self.texts("flags");
        let has = |word: &str| flags.iter().any(|flag| flag == word);
        BriefMessage {
            // A message without a thread is a thread of its own.
            thread: (
                inbox,
                [self.text("thread"), self.text("id")]
                    .into_iter()
                    .find(|id| !id.is_empty())
                    .unwrap_or_default(),
            ),
            date: self.date(),
            from: self.addresses("from").into_iter().next().unwrap_or_default(),
            to: self.addresses("to"),
            unread: has("unread"),
            draft: has("draft"),
            bulk: self.texts("bulk"),
            starred: has("starred"),
            // `injection` is a warning about the text, and texts do not decide on the order.
            suspicious: self.texts(WARNINGS).iter().any(|word| word != "injection"),
            soon: window
                .soon(&[self.text("subject"), self.text("snippet")].join("; "), self.date()),
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let field = MESSAGE.field(name);
        field.map_or_else(Vec::new, |field| flatten::texts(field, self.item, self.context))
    }

    fn text(&self, name: &str) -> String {
        self.texts(name).into_iter().next().unwrap_or_default()
    }

    fn date(&self) -> Option<Timestamp> {
        flatten::instant(MESSAGE.field("date")?, self.item, self.context)
    }

    /// Returns the addresses of a column of people, without their names.
    fn addresses(&self, name: &str) -> Vec<String> {
        let people = self.texts(name).into_iter();
        people.filter_map(|person| address(&person)).collect()
    }
}

/// Returns the address in `Name <address>`, or the address alone.
fn address(person: &str) -> Option<String> {
    // From the right, because a name may contain `<`.
    let address = match person.rsplit_once('<') {
        Some((_, rest)) => rest.split('>').next().unwrap_or_default(),
        None => person,
    };
    let address = address.trim();
    address.contains('@').then(|| address.to_owned())
}
