//! Reads messages: rows about them, followed by their texts.
//!
//! One answer has at most [`MAX_MESSAGES`] messages; further ones are behind a cursor. Texts are complete
//! here, and none is dropped: the budget decides on the parts that are shown.

mod invitations;
pub mod items;
#[cfg(feature = "documents")]
mod large;
pub(super) mod lengths;
pub(crate) mod messages;
mod repeated;
mod reports;
pub(crate) mod targets;

use std::collections::HashMap;

use daysheet_core::body::{self, PartForm, ReadableText, ReadingOptions};
use daysheet_core::budget::LongText;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::{self, RowContext, RowRoom};
use daysheet_core::ids::{AccountId, MessageId, ThreadId};
use daysheet_core::project::project;
use daysheet_core::provider::{BodyForm, MessageContent};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{ATTACHMENT, BODY, ColumnLevel, MESSAGE};
use daysheet_core::text::{self, Note, TextKind, fence, note, ours, shown};
use futures_util::future::{join, join_all};
use jiff::tz::TimeZone;
use serde_json::json;

use self::invitations::add_invitations;
use self::items::MessageLocation;
#[cfg(feature = "documents")]
use self::large::read_large;
use self::reports::add_reports;
use self::targets::{FetchedTargets, read_targets};
use super::answered::{self, fill_answered, listed_threads};
use super::read::messages::{
    FetchedMessage, MessageTarget, ReadRest, by_account, by_owner, columns,
};
use super::senders::{look_alikes_of, needs_folders, senders};
use crate::pipeline::access::accounts::account_labels;
use crate::pipeline::answer::cursor::{load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{ObjectKey, assign_handle, assign_handles};
use crate::pipeline::rows::{failed_line, rows_of, zone_line};
use crate::store::HandleKind;
use crate::tools::mail::{BodyChoice, MailRead};

/// Messages in one answer.
const MAX_MESSAGES: usize = 25;
/// Messages fetched concurrently, before their length is known.
const AT_ONCE: usize = 8;
/// With less text than this so far, in bytes, the others are fetched at once.
const SHORT: usize = 1 << 20;
/// With more text than this, in bytes, the others are left to the cursor: no reader gets that far,
/// and each text is in memory several times.
const ENOUGH: usize = 4 << 20;
/// The column that groups messages.
const THREAD: &str = "thread";
/// The column that distinguishes answers from forwards.
const SUBJECT: &str = "subject";

/// The kind of its cursors.
const KIND: &str = "read";

pub(crate) async fn mail_read(ctx: &Context, read: MailRead) -> Result<WholeAnswer> {
    let mut hidden = Vec::new();
    let mut known = FetchedTargets::new(body_form(read.body));
    let (rest, failed_targets) = match &read.cursor {
        Some(cursor) => (load_cursor(ctx, KIND, cursor).await?, Vec::new()),
        None => read_targets(ctx, &read, &mut hidden, &mut known).await?,
    };
    let form = BodyChoice::from_word(&rest.body).unwrap_or_default();
    let zone = &ctx.requested_zone(rest.tz.as_deref())?;
    let (now, mut later) = split(rest.messages.clone());
    // Messages of one account stay together, regardless of how many are fetched at once.
    let groups = by_owner(now).into_iter();
    let mut now: Vec<MessageTarget> = groups.flat_map(|(_, targets)| targets).collect();
    let unread = now.iter().filter(|one| !known.contents.contains_key(one));
    let unread = by_owner(unread.cloned().collect()).into_iter();
    let unread: Vec<(AccountId, Vec<MessageId>)> = unread
        .map(|(account, those)| (account, those.into_iter().map(|one| one.id).collect()))
        .collect();
    let threads = listed_threads(ctx, &unread);
    let texts = fetch_until_enough(ctx, &mut now, form, &rest, &mut known.contents);
    // Boxed, because a thread's stack is small.
    let (texts, threads) = join(Box::pin(texts), Box::pin(threads)).await;
    let (mut fetched, mut failed) = texts?;
    for (account, threads) in threads {
        known.threads.entry(account).or_default().extend(threads);
    }
    // Messages that were not reached come first on the next page.
    later.splice(..0, now);
    if let (true, Some((name, error))) = (fetched.is_empty(), failed.first()) {
        return Err(error.clone().context(name));
    }
    failed.extend(failed_targets);

    let mut response = WholeAnswer::default();
    add_message_rows(ctx, &fetched, &known, zone, &mut response).await?;
    add_invitations(ctx, &fetched, zone, &mut response).await?;
    add_reports(ctx, &fetched, &mut response).await?;
    let places = threads_of(ctx, &fetched).await?;
    let folds =
        matches!(form, BodyChoice::Text | BodyChoice::Markdown | BodyChoice::None) && !rest.quoted;
    if let Some(rows) = response.document.tables.first().filter(|_| folds) {
        repeated::fold(&mut fetched, rows, &places);
    }
    add_bodies(ctx, &mut fetched, form, &mut response).await?;
    response.items = Some(items::items(&response, &places));
    zone_line(&mut response.document, zone);

    let mut count = format!("messages: {}", fetched.len());
    if !later.is_empty() {
        let further = later.len();
        let cursor = save_cursor(ctx, KIND, &ReadRest { messages: later, ..rest }).await?;
        response.document.scalars.push(("next", RowCell::Handle('p', cursor)));
        count.push_str(&format!("; {further} more messages: cursor=p{cursor}"));
    }
    response.notes.insert(0, note!("{}", ours(count)));
    response.notes.splice(1..1, hidden);
    response.notes.extend(failed_line(&failed));
    Ok(response)
}

/// Fetches messages in their order until there is enough text; the others stay in `now`.
async fn fetch_until_enough(
    ctx: &Context,
    now: &mut Vec<MessageTarget>,
    form: BodyChoice,
    rest: &ReadRest,
    known: &mut HashMap<MessageTarget, MessageContent>,
) -> Result<(Vec<FetchedMessage>, Vec<(String, Error)>)> {
    let (mut fetched, mut failed) = (Vec::new(), Vec::new());
    let mut at_once = AT_ONCE;
    while !now.is_empty() && at_once > 0 {
        let others = now.split_off(now.len().min(at_once));
        let these = std::mem::replace(now, others);
        let (mut some, mut errors) = fetch_messages(ctx, these, form, rest, known).await?;
        fetched.append(&mut some);
        failed.append(&mut errors);
        let text = fetched.iter().map(|one: &FetchedMessage| one.readable.text.len());
        // Near the limit one at a time, so that only one message can exceed it.
        at_once = match text.sum::<usize>() {
            short if short <= SHORT => MAX_MESSAGES,
            long if long <= ENOUGH => 1,
            _ => 0,
        };
    }
    Ok((fetched, failed))
}

/// Fetches messages, several concurrently, in their order.
async fn fetch_messages(
    ctx: &Context,
    targets: Vec<MessageTarget>,
    form: BodyChoice,
    rest: &ReadRest,
    known: &mut HashMap<MessageTarget, MessageContent>,
) -> Result<(Vec<FetchedMessage>, Vec<(String, Error)>)> {
    let columns = columns()?;
    let groups = by_owner(targets);
    let several = groups.len() > 1;
    let answers = join_all(groups.iter().map(|(account, targets)| {
        let columns = &columns;
        let known: Vec<_> = targets.iter().map(|target| known.remove(target)).collect();
        let request = async move {
            let account = ctx.accounts.by_id(account).await?;
            let mailbox = ctx.connect.mailbox(&account)?;
            let projection = project(mailbox.api(), columns);
            let unknown = targets.iter().zip(&known).filter(|(_, known)| known.is_none());
            let ids: Vec<MessageId> = unknown.map(|(target, _)| target.id.clone()).collect();
            let answers = if ids.is_empty() {
                Vec::new()
            } else {
                mailbox.read_messages(&ids, &projection, body_form(form)).await
            };
            let mut answers = answers.into_iter();
            let answers = known.into_iter().filter_map(|known| match known {
                Some(content) => Some(Ok(content)),
                None => answers.next(),
            });
            let context =
                RowContext { room: RowRoom::One, ..ctx.context_for(mailbox.api(), "", &account) };
            let named = |message: MessageContent| {
                let subject = text_of(SUBJECT, &message, &context);
                let subject = subject.unwrap_or_default();
                (message, text::cell(&text::header(&subject)))
            };
            Ok(answers.map(|answer| answer.map(named)).collect())
        };
        ctx.await_counted(several.then_some("mailboxes"), request)
    }))
    .await;
    let (mut fetched, mut failed) = (Vec::new(), Vec::new());
    for ((_, targets), answer) in groups.into_iter().zip(answers) {
        let answers: Vec<Result<_>> = answer
            .unwrap_or_else(|error: Error| targets.iter().map(|_| Err(error.clone())).collect());
        for (target, answer) in targets.into_iter().zip(answers) {
            match answer {
                Ok((message, subject)) => {
                    let (message, readable) =
                        make_readable(ctx, message, subject, form, rest).await?;
                    fetched.push(FetchedMessage { target, message, readable });
                }
                Err(error) => failed.push((handle_of(ctx, &target).await?, error)),
            }
        }
    }
    Ok((fetched, failed))
}

/// Returns the handle of a message.
async fn handle_of(ctx: &Context, target: &MessageTarget) -> Result<String> {
    let (account, id) = (&target.account, target.id.as_str());
    assign_handle(ctx, ObjectKey { account, kind: HandleKind::Message, id }).await
}

/// Returns the threads of the messages, in the order of their rows.
async fn threads_of(ctx: &Context, fetched: &[FetchedMessage]) -> Result<Vec<MessageLocation>> {
    let mut places = Vec::new();
    for messages in by_account(fetched) {
        let Some(first) = messages.first() else {
            continue;
        };
        let account = ctx.accounts.by_id(&first.target.account).await?;
        let context = RowContext {
            room: RowRoom::One,
            ..ctx.context_for(ctx.connect.mailbox(&account)?.api(), "", &account)
        };
        places.extend(messages.iter().map(|one| MessageLocation {
            account: (account.id.clone(), account.email.clone()),
            conversation: text_of(THREAD, &one.message, &context).map(ThreadId::from),
        }));
    }
    Ok(places)
}

/// Adds the tables of the messages and their attachments.
async fn add_message_rows(
    ctx: &Context,
    fetched: &[FetchedMessage],
    known: &FetchedTargets,
    zone: &TimeZone,
    response: &mut WholeAnswer,
) -> Result<()> {
    let labels = account_labels(ctx).await?;
    let several = by_account(fetched).count() > 1;
    let mut columns = columns()?;
    columns.extend(MESSAGE.field("account").filter(|_| several));
    let file_columns = ATTACHMENT.up_to(ColumnLevel::Core);
    let mut messages = RowTable::new(&MESSAGE, columns.clone());
    let mut files = RowTable::new(&ATTACHMENT, file_columns.clone());
    for group in by_account(fetched) {
        let Some(first) = group.first() else {
            continue;
        };
        let account = ctx.accounts.by_id(&first.target.account).await?;
        let (mailbox, label) = (ctx.connect.mailbox(&account)?, labels.label_of(&account.id));
        let context = ctx.context_for(mailbox.api(), &label, &account);
        let context = RowContext { zone, room: RowRoom::One, ..context };
        let items: Vec<_> = group.iter().map(|one| one.message.item.clone()).collect();
        let attached: Vec<_> =
            group.iter().flat_map(|one| one.message.attachments.clone()).collect();
        let names = if needs_folders(&items, &context) {
            mailbox.names().await.unwrap_or_default()
        } else {
            HashMap::new()
        };
        let context = RowContext { names: &names, ..context };
        let mut some = rows_of(&context, &MESSAGE, &columns, &items, &mut response.notes);
        assign_handles(ctx, &mut some, &account).await?;
        // An unknown answer stays null, because the message itself could be read.
        let threads = known.threads.get(&account.id);
        let (answers, unknown) =
            answered::look_up(&*mailbox, &MESSAGE, &items, &context, threads).await;
        response.notes.extend(unknown.map(|error| answered::unknown(&error)));
        fill_answered(ctx, &mut some, &answers, &account).await?;
        let senders = senders(items.iter(), mailbox.api());
        let look_alikes = look_alikes_of(ctx, &account, &*mailbox, senders).await;
        let text = |at: usize| group.get(at).map(|one| &one.readable);
        let noted = look_alikes.noted(&mut some, &items, &context, text);
        response.notes.extend(noted);
        messages.append(some);
        let mut some =
            rows_of(&context, &ATTACHMENT, &file_columns, &attached, &mut response.notes);
        assign_handles(ctx, &mut some, &account).await?;
        files.append(some);
    }
    messages.drop_empty();
    response.document.tables.push(messages);
    files.drop_empty();
    if !files.is_empty() {
        response.document.tables.push(files);
    }
    Ok(())
}

/// Adds the table of bodies, after the table of messages, and the texts.
async fn add_bodies(
    ctx: &Context,
    fetched: &mut [FetchedMessage],
    form: BodyChoice,
    response: &mut WholeAnswer,
) -> Result<()> {
    let table = 1.min(response.document.tables.len());
    let mut objects = Vec::new();
    let several = fetched.len() > 1;
    for (at, one) in fetched.iter_mut().enumerate() {
        // Moved and not copied, because it may be long.
        let text = std::mem::take(&mut one.readable.text);
        let shows = form != BodyChoice::None && !text.is_empty();
        let block = shows.then(|| format!("b{}", response.texts.len() + 1));
        let (shown, folded) = fence::lengths(&text);
        objects.push(json!({
            "message": one.target.id,
            "block": block,
            "type": one.readable.kind,
            "chars": shown + folded,
            "shown": if shows { shown } else { 0 },
        }));
        let inline = one.message.inline.len();
        let inline = match inline {
            0 => None,
            1 => Some("1 inline image, which mail_attachment lists".into()),
            many => Some(note!("{} inline images, which mail_attachment lists", many)),
        };
        let notes = inline.iter().chain(&one.message.notes).chain(&one.readable.notes);
        // Notes on a text that is not shown are of no use.
        let notes: Vec<&Note> = notes.filter(|_| form != BodyChoice::None).collect();
        let name = match &block {
            None if several && !notes.is_empty() => Some(handle_of(ctx, &one.target).await?),
            block => block.clone(),
        };
        response.notes.extend(notes.into_iter().map(|note| match &name {
            Some(name) => note.under(ours(name)),
            None => note.clone(),
        }));
        if let Some(name) = block {
            response.texts.push(LongText {
                name,
                text,
                row: Some((table, at)),
                tail: form == BodyChoice::Raw,
                ..LongText::default()
            });
        }
    }
    let columns = BODY.up_to(ColumnLevel::Core);
    let mut rows = RowTable::new(&BODY, columns.clone());
    let mut objects = objects.as_slice();
    for messages in by_account(fetched) {
        let (mine, others) = objects.split_at_checked(messages.len()).unwrap_or((objects, &[]));
        objects = others;
        let Some(first) = messages.first() else {
            continue;
        };
        let mut some = rows_of(&ctx.local(), &BODY, &columns, mine, &mut response.notes);
        let account = ctx.accounts.by_id(&first.target.account).await?;
        assign_handles(ctx, &mut some, &account).await?;
        rows.append(some);
    }
    response.document.tables.insert(table, rows);
    Ok(())
}

/// Returns the text in a column of a message, if there is one.
fn text_of(column: &str, message: &MessageContent, context: &RowContext) -> Option<String> {
    let field = MESSAGE.field(column)?;
    let texts = flatten::texts(field, &message.item, context);
    texts.into_iter().next().filter(|text| !text.is_empty())
}

/// Makes the text of a message readable, in a process of its own if its HTML is large.
#[cfg_attr(
    not(feature = "documents"),
    expect(unused_mut, unused_variables, reason = "nothing is read elsewhere")
)]
async fn make_readable(
    ctx: &Context,
    mut message: MessageContent,
    subject: String,
    form: BodyChoice,
    rest: &ReadRest,
) -> Result<(MessageContent, ReadableText)> {
    let reading = reading(subject, form, rest);
    #[cfg(feature = "documents")]
    if let Some(reading) = &reading
        && let Some(readable) = read_large(ctx, &mut message, reading).await
    {
        message.parts = Vec::new();
        return Ok((message, readable));
    }
    readable(message, reading, form).await
}

/// Makes the text of a message readable, on a thread of its own: a message may have many megabytes,
/// and the session must respond meanwhile. Drops the source text.
pub(crate) async fn readable(
    mut message: MessageContent,
    reading: Option<ReadingOptions>,
    form: BodyChoice,
) -> Result<(MessageContent, ReadableText)> {
    let work = move || {
        let source = |kind| ReadableText {
            kind,
            text: shown(message.source.as_deref().unwrap_or_default(), TextKind::Source)
                .into_owned(),
            ..ReadableText::default()
        };
        let readable = match (reading, form) {
            (Some(reading), _) => body::readable(&message, &reading),
            (None, BodyChoice::Headers) => source("headers"),
            (None, _) => source("raw"),
        };
        message.parts = Vec::new();
        message.source = None;
        (message, readable)
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "a message could not be converted"))
}

/// Returns the form in which the parts of a message are read; `None` if its source is shown.
fn reading(subject: String, form: BodyChoice, rest: &ReadRest) -> Option<ReadingOptions> {
    let form = match form {
        BodyChoice::Raw | BodyChoice::Headers => return None,
        // `none` states the length of the text.
        BodyChoice::Text | BodyChoice::None => PartForm::Text,
        BodyChoice::Markdown => PartForm::Markdown,
        BodyChoice::Html => PartForm::Html,
    };
    let ReadRest { quoted, signature, links, .. } = *rest;
    Some(ReadingOptions { subject, form, quoted, signature, links })
}

fn body_form(form: BodyChoice) -> BodyForm {
    match form {
        BodyChoice::Raw => BodyForm::Raw,
        BodyChoice::Headers => BodyForm::Headers,
        BodyChoice::None | BodyChoice::Text | BodyChoice::Markdown | BodyChoice::Html => {
            BodyForm::Parts
        }
    }
}

/// Splits the messages into those read now and those behind a cursor.
fn split(mut messages: Vec<MessageTarget>) -> (Vec<MessageTarget>, Vec<MessageTarget>) {
    let later = messages.split_off(messages.len().min(MAX_MESSAGES));
    (messages, later)
}
