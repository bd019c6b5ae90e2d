//! The port's `Mailbox` over plain JMAP (RFC 8620, RFC 8621), read-only.

use std::collections::HashMap;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::mail::{Drafts, MailboxSettings, MessageActions};
use daysheet_core::provider::{
    BodyForm, ListPage, ListRequest, MailCapabilities, Mailbox, MessageContent, PeopleQuery,
    SearchTotal, ServiceSettings, ThreadMessage, TokenSource, no_list,
};
use daysheet_core::schemas::{Service, Table};
use serde_json::{Value, json};

use super::client::{JmapClient, from};
use super::objects::text;
use super::query::FolderNames;
use super::{mapping, objects, query};

/// The features of JMAP mail.
const MAIL: MailCapabilities = MailCapabilities {
    name: "JMAP",
    scheduled_send: false,
    signatures: false,
    rule_names: false,
    task_flags: false,
    spam_reports: false,
    reply_subjects: false,
    system_labels: &[],
};
/// The maximum number of messages or changes per request, and of conversations.
const MESSAGES: usize = 100;
const THREADS: usize = 25;

/// One mailbox.
pub struct JmapMailbox {
    client: JmapClient,
}

impl JmapMailbox {
    /// Connects to the server with this session URL.
    ///
    /// # Errors
    /// See [`JmapClient::new`].
    pub fn new(services: &ServiceSettings, tokens: TokenSource, session: &str) -> Result<Self> {
        Ok(Self { client: JmapClient::new(services, tokens, session)? })
    }

    async fn folders(&self) -> Result<(Vec<Value>, FolderNames)> {
        let found = list(&self.client.call_one("Mailbox/get", json!({"ids": null})).await?, "list");
        let folders = FolderNames::new(&found);
        Ok((found, folders))
    }

    /// Finds messages, or one message per conversation, and calls the methods `then` on them in the
    /// same request. Returns the ids, the page without items, and the responses of `then`.
    async fn find(
        &self,
        request: &ListRequest,
        most: usize,
        then: &[(&str, Value)],
    ) -> Result<(Vec<String>, ListPage, Vec<Value>)> {
        let (_, folders) = self.folders().await?;
        let (filter, notes) =
            query::filter(request.query.as_ref(), request.folder.as_ref(), &folders)?;
        let sort = json!([{"property": "receivedAt", "isAscending": request.oldest}]);
        let mut arguments = json!({"filter": filter, "sort": sort, "calculateTotal": true,
            "limit": request.limit.clamp(1, most), "collapseThreads": most == THREADS});
        // Paging by anchor (RFC 8620, 5.5) keeps its place when new mail arrives.
        if let (Some(cursor), Some(arguments)) = (&request.cursor, arguments.as_object_mut()) {
            // The cursor is the id of the last row, so new mail does not shift pages.
            self.check_id(cursor)?;
            arguments.insert("anchor".to_owned(), json!(cursor));
            arguments.insert("anchorOffset".to_owned(), json!(1));
        }
        let calls = [&[("Email/query", arguments)], then].concat();
        let mut answers = self.client.call(&calls).await?.into_iter();
        let found = answers.next().unwrap_or_default();
        let number = |key: &str| found.get(key).and_then(Value::as_u64);
        let ids = texts(&found, "ids");
        let end = number("position").unwrap_or_default() + ids.len() as u64;
        let page = ListPage {
            next: ids.last().filter(|_| number("total").is_some_and(|all| end < all)).cloned(),
            total: number("total").map(SearchTotal::Exactly),
            names: folders.0,
            notes,
            ..ListPage::default()
        };
        Ok((ids, page, answers.collect()))
    }

    /// Returns no changes, and the cursor to continue from.
    async fn now(&self, started_over: bool) -> Result<ChangeFeed> {
        let nothing = self.client.call_one("Email/get", json!({"ids": []})).await?;
        let cursor = text(&nothing, "state").to_owned();
        Ok(ChangeFeed { cursor, started_over, ..ChangeFeed::default() })
    }
}

/// Read-only: the default implementations refuse every write.
impl Drafts for JmapMailbox {}
impl MessageActions for JmapMailbox {}
impl MailboxSettings for JmapMailbox {}

#[async_trait]
impl Mailbox for JmapMailbox {
    fn api(&self) -> Service {
        Service::Other(&mapping::MAPPING)
    }

    fn capabilities(&self) -> &'static MailCapabilities {
        &MAIL
    }

    async fn messages(&self, request: &ListRequest) -> Result<ListPage> {
        let get = json!({"#ids": from(0, "Email/query", "/ids"),
                         "properties": objects::properties(&request.projection)});
        let (ids, page, answers) = self.find(request, MESSAGES, &[("Email/get", get)]).await?;
        let mut items = by_id(answers.first());
        let items = ids.iter().filter_map(|id| items.remove(id)).map(objects::message);
        Ok(ListPage { items: items.collect(), ..page })
    }

    async fn threads(&self, request: &ListRequest) -> Result<ListPage> {
        // The server can sort threads only by their oldest messages.
        if request.oldest {
            return Err(Error::argument("this account lists threads newest first only")
                .next("leave out `sort`, or search for messages"));
        }
        let get = json!({"#ids": from(0, "Email/query", "/ids"), "properties": ["threadId"]});
        let threads = json!({"#ids": from(1, "Email/get", "/list/*/threadId")});
        let all = json!({"#ids": from(2, "Thread/get", "/list/*/emailIds"),
                         "properties": objects::properties(&request.projection)});
        let calls = [("Email/get", get), ("Thread/get", threads), ("Email/get", all)];
        let (ids, page, answers) = self.find(request, THREADS, &calls).await?;
        let mut answers = answers.iter();
        let (first, threads) = (by_id(answers.next()), by_id(answers.next()));
        let mut items = by_id(answers.next());
        let conversation = |id: &String| {
            let id = text(first.get(id)?, "threadId");
            let members = list(threads.get(id)?, "emailIds");
            let members = members.iter().filter_map(|id| items.remove(id.as_str()?));
            let messages: Vec<Value> = members.map(objects::message).collect();
            Some(json!({"id": id, "messages": messages}))
        };
        let items = ids.iter().filter_map(conversation).collect();
        Ok(ListPage { items, ..page })
    }

    async fn lookup(
        &self,
        table: &'static Table,
        _: &PeopleQuery,
        _: &Projection,
    ) -> Result<ListPage> {
        if table.name != "folder" {
            return Err(no_list(table));
        }
        let (items, folders) = self.folders().await?;
        let total = Some(SearchTotal::Exactly(items.len() as u64));
        Ok(ListPage { items, total, names: folders.0, ..ListPage::default() })
    }

    async fn read_messages(
        &self,
        ids: &[MessageId],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let all = |error: Error| ids.iter().map(|_| Err(error.clone())).collect();
        if form == BodyForm::Raw {
            return all(Error::argument("JMAP messages are not shown raw")
                .next("read it with body=text or body=headers"));
        }
        let good: Vec<&str> =
            ids.iter().map(MessageId::as_str).filter(|id| self.check_id(id).is_ok()).collect();
        let arguments = objects::get_arguments(&good, projection, form);
        let items = match self.client.call_one("Email/get", arguments).await {
            Ok(found) => by_id(Some(&found)),
            Err(error) => return all(error),
        };
        let one = |id: &MessageId| {
            self.check_id(id.as_str())?;
            let not_found = || Error::new(ErrorKind::NotFound, "the server has no such message");
            Ok(objects::content(items.get(id.as_str()).cloned().ok_or_else(not_found)?, form))
        };
        ids.iter().map(one).collect()
    }

    async fn thread(&self, id: &ThreadId) -> Result<Vec<ThreadMessage>> {
        self.check_id(id.as_str())?;
        let found = self.client.call_one("Thread/get", json!({"ids": [id]})).await?;
        let not_found = || Error::new(ErrorKind::NotFound, "the server has no such conversation");
        let threads = by_id(Some(&found));
        // The keywords and mailboxes of the members are not requested here.
        let member = |id: String| ThreadMessage { id: id.into(), ..ThreadMessage::default() };
        let ids = texts(threads.get(id.as_str()).ok_or_else(not_found)?, "emailIds");
        Ok(ids.into_iter().map(member).collect())
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(self.folders().await?.1.0)
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        let Some(cursor) = cursor else {
            return self.now(false).await;
        };
        let get = |path| {
            json!({"#ids": from(0, "Email/changes", path),
                   "properties": objects::properties(projection)})
        };
        let (new, changed) = (get("/created"), get("/updated"));
        let changes = json!({"sinceState": cursor, "maxChanges": MESSAGES});
        let calls = [("Email/changes", changes), ("Email/get", new), ("Email/get", changed)];
        let answers = match self.client.call(&calls).await {
            // The server no longer knows the changes since this state.
            Err(error) if error.kind() == ErrorKind::Conflict => return self.now(true).await,
            answers => answers?,
        };
        let [changes, new, changed] = &answers[..] else {
            return Err(Error::new(ErrorKind::Internal, "a call was left out"));
        };
        let items = |found| list(found, "list").into_iter().map(objects::message).collect();
        Ok(ChangeFeed {
            new: items(new),
            changed: items(changed),
            gone: texts(changes, "destroyed"),
            names: self.names().await?,
            cursor: text(changes, "newState").to_owned(),
            more: changes.get("hasMoreChanges") == Some(&Value::Bool(true)),
            ..ChangeFeed::default()
        })
    }

    /// Checks an id by RFC 8620, 1.2.
    fn check_id(&self, id: &str) -> Result<()> {
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=255).contains(&id.len()) && id.bytes().all(safe);
        let refused = || Error::argument("the id is not one of JMAP's");
        fits.then_some(()).ok_or_else(|| refused().next("use a handle such as m12 from a search"))
    }
}

/// Returns the list under a key; empty if it is missing.
fn list(object: &Value, key: &str) -> Vec<Value> {
    object.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Returns the objects in a `/get` response, by id.
fn by_id(answer: Option<&Value>) -> HashMap<String, Value> {
    let items = answer.map(|answer| list(answer, "list")).unwrap_or_default();
    items.into_iter().map(|item| (text(&item, "id").to_owned(), item)).collect()
}

/// Returns the texts in the list under a key.
fn texts(object: &Value, key: &str) -> Vec<String> {
    list(object, key).iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}
