//! Outlook's threads, assembled from messages.
//!
//! Graph has no list of conversations. A page of messages is grouped by conversation in the order
//! of the list, and the messages of each conversation are fetched by its id, in batches. The
//! service refuses to sort them, so they are sorted here.
//!
//! A conversation reappears wherever the list has another of its messages. The cursor therefore has
//! short hashes of the conversations shown so far, and the page to continue on: the same page again
//! if it has more conversations than were requested.

use std::collections::{HashMap, HashSet};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::Projection;
use daysheet_core::provider::{
    BodyForm, FailedItem, ListPage, ListRequest, SearchTotal, ThreadMessage, ThreadRole,
    WholeThread,
};
use daysheet_core::text::note;
use futures_util::future::join3;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::folders::FolderTree;
use super::list::ListQuery;
use super::mailbox::{OutlookMailbox, count};
use super::message;
use crate::json::{is, text};
use crate::microsoft::client::GraphAccount;
use crate::microsoft::response::too_long;
use crate::oldest;
use crate::written::hash;

/// The maximum number of conversations in a cursor; the oldest entries are dropped first.
const REMEMBERED: usize = 4_000;
/// The page size for the messages of one conversation.
const TOP: &str = "100";
/// The page size for the messages of one conversation with their texts.
const WHOLE: &str = "25";
/// The maximum number of pages of a conversation: for summing it up in a row, and for reading it.
const PAGES: usize = 10;
const ALL_PAGES: usize = 50;

/// The position in a list of threads.
#[derive(Debug, Serialize, Deserialize)]
struct ThreadCursor {
    /// The request for the page of messages.
    link: String,
    /// Hashes of the conversations that were shown.
    shown: Vec<String>,
}

/// Returns a page of threads.
pub async fn page(outlook: &OutlookMailbox, ask: &ListRequest) -> Result<ListPage> {
    if ask.oldest {
        return oldest_page(outlook, ask).await;
    }
    let mut cursor = ask.cursor.as_deref().map(read).transpose()?;
    let link = cursor.as_ref().map(|cursor| cursor.link.as_str());
    let list_query = ListQuery {
        select: &["conversationId", "receivedDateTime"],
        // About half of a mailbox's messages are replies, so twice as many are listed.
        top: ask.limit.saturating_mul(2),
        count: false,
        cursor: link,
    };
    let plan = outlook.plan(ask, list_query).await?;
    let listed = outlook.list_page(&plan).await?;

    let mut shown = cursor.take().map(|cursor| cursor.shown).unwrap_or_default();
    // Conversations, each with the date of its newest message that matches.
    let mut found: Vec<(String, String)> = Vec::new();
    let mut left = false;
    for item in &listed.items {
        let id = text(item, "conversationId");
        if id.is_empty() || shown.contains(&hash(id)) || found.iter().any(|(known, _)| known == id)
        {
            continue;
        }
        if found.len() == ask.limit.max(1) {
            left = true;
            break;
        }
        found.push((id.to_owned(), text(item, "receivedDateTime").to_owned()));
    }
    shown.extend(found.iter().map(|(id, _)| hash(id)));
    let excess = shown.len().saturating_sub(REMEMBERED);
    shown.drain(..excess);

    let link = if left { Some(plan.again()) } else { listed.next };
    let next = link.map(|link| write(&ThreadCursor { link, shown })).transpose()?;
    let mut page = ListPage {
        next,
        notes: plan.notes.into_iter().chain(listed.note).collect(),
        ..ListPage::default()
    };
    let (ids, dates): (Vec<String>, Vec<String>) = found.into_iter().unzip();
    let listed_by: HashMap<String, String> = ids.iter().cloned().zip(dates).collect();
    fill(outlook.graph(), ask, ids.into_iter().map(ThreadId::from).collect(), &mut page).await?;
    // A row shows the date of its newest message, whether or not that matches the query.
    page.items.sort_by(|one, other| newest(other).cmp(newest(one)));
    let moved = |item: &Value| {
        let listed = listed_by.get(text(item, "id"));
        listed.is_some_and(|listed| newest(item) > listed.as_str())
    };
    let several = page.next.is_some() || ask.cursor.is_some();
    if several && page.items.iter().any(moved) {
        page.notes.push("threads are listed by their newest matching message".into());
    }
    if page.next.is_none() && ask.cursor.is_none() {
        let all = page.items.len() + page.failed.len();
        page.total = Some(SearchTotal::Exactly(count(all)));
    }
    Ok(page)
}

/// Returns a page of threads, oldest first. All are listed by their newest message, because a list
/// from the other end would show each thread at its oldest message.
async fn oldest_page(outlook: &OutlookMailbox, ask: &ListRequest) -> Result<ListPage> {
    let (listed, notes) = outlook.list_all(ask, &["conversationId", "receivedDateTime"]).await?;
    let mut all: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for item in &listed {
        let id = text(item, "conversationId");
        if !id.is_empty() && known.insert(id) {
            all.push(id.to_owned());
        }
    }
    let total = Some(SearchTotal::Exactly(count(all.len())));
    let (ids, next) = oldest::page(all, ask, String::as_str);
    let mut page = ListPage { next, total, notes, ..ListPage::default() };
    fill(outlook.graph(), ask, ids.into_iter().map(ThreadId::from).collect(), &mut page).await?;
    page.items.sort_by(|one, other| newest(one).cmp(newest(other)));
    Ok(page)
}

/// Returns the time at which the newest message of a conversation was received; empty if only the
/// id is known. As in the column `date`, drafts count only without other messages.
fn newest(conversation: &Value) -> &str {
    let messages = conversation.get("messages").and_then(Value::as_array);
    let mut newest_first = messages.into_iter().flatten().rev();
    let last = newest_first.clone().find(|message| !is(message, "isDraft")).or(newest_first.next());
    last.map_or("", |message| text(message, "receivedDateTime"))
}

/// Adds conversations with the fields of their messages that the projection reads.
async fn fill(
    graph: &GraphAccount,
    ask: &ListRequest,
    ids: Vec<ThreadId>,
    page: &mut ListPage,
) -> Result<()> {
    let inner: Vec<&str> = ask
        .projection
        .paths
        .iter()
        .filter_map(|path| path.strip_prefix("messages/"))
        .map(|path| path.split('/').next().unwrap_or(path))
        .collect();
    if inner.is_empty() && ask.projection.within(&["id"]) {
        page.items = ids.into_iter().map(|id| json!({ "id": id })).collect();
        return Ok(());
    }
    let mut select = vec!["receivedDateTime", "isDraft"];
    for property in inner {
        if !select.contains(&property) {
            select.push(property);
        }
    }
    let requests: Vec<String> = ids.iter().map(|id| request(graph, id, &select, TOP)).collect();
    let answers = graph.batch(&requests).await;
    for (at, (id, answer)) in ids.into_iter().zip(answers).enumerate() {
        let messages = match answer {
            Ok(answer) => messages(graph, answer, PAGES).await,
            Err(error) => Err(error),
        };
        match messages {
            Ok((messages, whole)) => {
                if !whole {
                    page.notes.push(note!(
                        "a thread has more than {} messages; only those are summarized",
                        messages.len()
                    ));
                }
                page.items.push(json!({"id": id, "messages": messages}));
            }
            // If the sign-in fails, no other conversation can be fetched.
            Err(error) if error.kind() == ErrorKind::Auth => return Err(error),
            Err(error) => page.failed.push(FailedItem { at, id: id.into(), error }),
        }
    }
    match page.failed.first() {
        Some(one) if page.items.is_empty() && one.error.kind() != ErrorKind::NotFound => {
            Err(one.error.clone())
        }
        _ => Ok(()),
    }
}

/// The properties that determine a message's role for the mailbox's owner.
const STATE: [&str; 5] = ["id", "receivedDateTime", "isDraft", "parentFolderId", "from"];

/// Returns the messages of a conversation, oldest first.
pub async fn thread(outlook: &OutlookMailbox, id: &ThreadId) -> Result<Vec<ThreadMessage>> {
    let graph = outlook.graph();
    let list = request(graph, id, &STATE, TOP);
    let (answer, tree, own) =
        join3(graph.get(&list), outlook.tree(), outlook.own_addresses()).await;
    let messages = all_messages(graph, answer?).await?;
    if messages.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "Outlook has no messages left in this thread")
            .next("search again for its handle"));
    }
    let tree = tree?;
    Ok(messages.iter().map(|item| member(own, &tree, item)).collect())
}

/// Returns a conversation with its messages read in full; `None` if they do not fit on one page.
pub async fn whole(
    outlook: &OutlookMailbox,
    id: &ThreadId,
    projection: &Projection,
    form: BodyForm,
) -> Result<Option<WholeThread>> {
    let mut select = message::selected(projection, form);
    if matches!(form, BodyForm::Raw) || select.contains(&message::SIZE) {
        return Ok(None);
    }
    select.extend(STATE.iter().filter(|property| !projection.roots().contains(*property)));
    let graph = outlook.graph();
    let list = request(graph, id, &select, WHOLE);
    let (answer, tree, own) =
        join3(graph.get(&list), outlook.tree(), outlook.own_addresses()).await;
    let answer = match answer {
        Err(error) if too_long(&error) => return Ok(None),
        answer => answer?,
    };
    let (items, is_whole) = messages(graph, answer, 1).await?;
    if !is_whole || items.is_empty() {
        return Ok(None);
    }
    let tree = tree?;
    let members: Vec<ThreadMessage> = items.iter().map(|item| member(own, &tree, item)).collect();
    let ids: Vec<&MessageId> = members.iter().map(|one| &one.id).collect();
    let contents = message::complete(graph, &ids, items.into_iter().map(Ok), form).await;
    let contents = ids.into_iter().cloned().zip(contents);
    let contents = contents.filter_map(|(id, content)| Some((id, content.ok()?))).collect();
    Ok(Some(WholeThread { messages: members, contents }))
}

/// Returns the messages of conversations, one result for each id.
pub async fn states(outlook: &OutlookMailbox, ids: &[ThreadId]) -> Vec<Result<Vec<ThreadMessage>>> {
    let graph = outlook.graph();
    let requests: Vec<String> = ids.iter().map(|id| request(graph, id, &STATE, TOP)).collect();
    // The folders come last: a batch waits until no other call of the mailbox is in flight.
    let (answers, own, tree) =
        join3(graph.batch(&requests), outlook.own_addresses(), outlook.tree()).await;
    let tree = match tree {
        Ok(tree) => tree,
        Err(error) => return ids.iter().map(|_| Err(error.clone())).collect(),
    };
    let mut threads = Vec::new();
    for answer in answers {
        let found = match answer {
            Ok(answer) => all_messages(graph, answer).await,
            Err(error) => Err(error),
        };
        let thread =
            |items: Vec<Value>| items.iter().map(|item| member(own, &tree, item)).collect();
        threads.push(found.map(thread));
    }
    threads
}

/// Returns all messages of a conversation, oldest first.
async fn all_messages(graph: &GraphAccount, answer: Value) -> Result<Vec<Value>> {
    let (messages, whole) = messages(graph, answer, ALL_PAGES).await?;
    if whole {
        Ok(messages)
    } else {
        Err(Error::argument(format!(
            "the thread has more than {} messages, too many to read at once",
            messages.len()
        ))
        .next("search for its messages by subject and date, and read those"))
    }
}

/// Returns a message as a member of its conversation.
fn member(own: &[String], tree: &FolderTree, item: &Value) -> ThreadMessage {
    let folder = text(item, "parentFolderId");
    let from = item.pointer("/from/emailAddress/address").and_then(Value::as_str);
    let own = from.is_some_and(|from| own.iter().any(|one| from.eq_ignore_ascii_case(one)));
    ThreadMessage {
        id: text(item, "id").into(),
        date: text(item, "receivedDateTime").parse().unwrap_or_default(),
        role: match () {
            () if tree.is_hidden(folder) => ThreadRole::Hidden,
            () if is(item, "isDraft") => ThreadRole::Draft,
            () if own || tree.resolve("sent").is_ok_and(|sent| folder == sent) => ThreadRole::Sent,
            () => ThreadRole::Received,
        },
    }
}

fn request(graph: &GraphAccount, id: &ThreadId, select: &[&str], top: &str) -> String {
    let filter = format!("conversationId eq '{}'", id.as_str().replace('\'', "''"));
    let query = [("$filter", filter.as_str()), ("$select", &select.join(",")), ("$top", top)];
    graph.mailbox_url("messages", &query)
}

/// Returns the messages of a response and of its next pages, oldest first. The flag is true if
/// these are all.
async fn messages(graph: &GraphAccount, answer: Value, pages: usize) -> Result<(Vec<Value>, bool)> {
    let (mut messages, whole) = graph.all(answer, usize::MAX, pages).await?;
    // All times are in UTC and have the same length, so they sort as text.
    messages
        .sort_by(|one, other| text(one, "receivedDateTime").cmp(text(other, "receivedDateTime")));
    Ok((messages, whole))
}

fn read(cursor: &str) -> Result<ThreadCursor> {
    serde_json::from_str(cursor).map_err(|_opaque| {
        Error::argument("the cursor does not belong to a list of threads")
            .next("search again without cursor")
    })
}

fn write(cursor: &ThreadCursor) -> Result<String> {
    serde_json::to_string(cursor)
        .map_err(|_opaque| Error::new(ErrorKind::Internal, "a cursor could not be saved"))
}
