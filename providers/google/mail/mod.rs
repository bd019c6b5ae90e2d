//! Gmail behind the mailbox port.
//!
//! Gmail's lists contain only ids, so a page costs one list call and, if the columns need more, one
//! `get` per item, several at a time. Requests name only what the projection reads (`format`,
//! `metadataHeaders`, `fields`). The registry defines the columns, `parts.rs` reads a message's
//! MIME tree, and `query.rs` writes queries.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::body;
use daysheet_core::call::progress::counted;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::mail::SendAlias;
use daysheet_core::provider::{
    BodyForm, FailedItem, ListPage, ListRequest, Mailbox, MessageContent, PeopleQuery, SearchTotal,
    ThreadMessage, WholeThread,
};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use daysheet_core::query::{NOTHING, Query, QueryTerm};
use daysheet_core::schemas::{Service, Table};
use daysheet_core::text::brief;
use daysheet_core::text::{Note, note, ours};
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use google_gmail1::Gmail as Hub;
use google_gmail1::api::Scope;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use self::parts::DecodedData;
use super::client::{self, GMAIL, GoogleClient, GoogleTokens, IN_FLIGHT};
use super::wire::{self, LoopbackConnector};
use crate::json::text;
use crate::labels::same_label;
use crate::net::ResponsePermit;
use crate::oldest;

/// The user id of the token's owner.
const ME: &str = "me";
/// The fields of a message that lists contain.
const LISTED: &[&str] = &["id", "threadId"];
/// The fields of a label that lists contain.
const LABEL_LISTED: &[&str] = &["id", "name", "type"];
/// The maximum number of ids on a page of a list.
const MAX_IDS: usize = 500;
/// The time for which label names are cached.
const NAMES_LAST: Duration = Duration::from_secs(60);
/// The maximum number of messages fetched at the same time; each may have some megabytes.
const MESSAGES_AT_ONCE: usize = 8;
/// The maximum size of a message that is shown raw, in bytes.
const RAW_LIMIT: u64 = 5 << 20;
/// The minimum length of an id that a caller may give.
const SHORTEST_ID: usize = 12;

/// Makes a generated call with our delegate, a `fields` mask and the scope. A macro, because the
/// generated builders have these setters in common, but no trait.
macro_rules! call {
    ($gmail:expr, $fields:expr, |$users:ident| $build:expr) => {
        $gmail
            .google
            .call(|mut watch| async move {
                let $users = $gmail.hub.users();
                $build
                    .param("fields", $fields)
                    .add_scope(Scope::Readonly)
                    .delegate(&mut watch)
                    .doit()
                    .await
            })
            .await
    };
}

/// Restricts a generated list call to the requested page.
macro_rules! page {
    ($call:expr, $ask:expr, $q:expr) => {{
        let mut call = $call.max_results(limit($ask));
        if !$q.is_empty() {
            call = call.q($q);
        }
        if let Some(folder) = &$ask.folder {
            call = call.add_label_ids(folder).include_spam_trash(is_left_out(folder));
        }
        if let Some(token) = &$ask.cursor {
            call = call.page_token(token);
        }
        call
    }};
}

/// Names the header fields that a generated `get` requests.
macro_rules! with_headers {
    ($call:expr, $projection:expr) => {{
        let mut call = $call;
        for header in &$projection.headers {
            call = call.add_metadata_headers(header);
        }
        call
    }};
}

mod changes;
mod counts;
mod draft;
mod labels;
mod lists;
mod manage;
mod messages;
mod modify;
mod parts;
pub mod query;
mod requests;
mod states;

/// One Gmail account.
pub struct GmailMailbox {
    hub: Hub<LoopbackConnector>,
    google: GoogleClient,
    /// Gmail's endpoint.
    base: Url,
    /// The endpoint of the People API.
    people: Url,
    /// True once the search index of the People API has been refreshed.
    people_warm: AtomicBool,
    labels: Mutex<Option<(Instant, Vec<Value>)>>,
    /// Labels of messages that were read for a change.
    known_labels: Mutex<modify::KnownLabels>,
    counts: Mutex<Option<counts::LabelCounts>>,
    /// The addresses to send from, with the time of reading them.
    senders: Mutex<Option<(Instant, Vec<SendAlias>)>>,
}

impl GmailMailbox {
    /// Connects the owner of these tokens to the configured endpoint.
    pub fn new(services: &ServiceSettings, tokens: TokenSource) -> Result<Self> {
        let google = GoogleClient::new(services, tokens, GMAIL);
        let hub = hub(services, google.bearer());
        Ok(Self {
            hub,
            google,
            base: services.endpoints.gmail.clone(),
            people: services.endpoints.google_people.clone(),
            people_warm: AtomicBool::new(false),
            labels: Mutex::new(None),
            known_labels: Mutex::default(),
            counts: Mutex::new(None),
            senders: Mutex::new(None),
        })
    }

    /// Returns the listed objects if they suffice; otherwise fetches each object, in order, several
    /// at a time.
    async fn each<F>(
        &self,
        listed: Vec<Value>,
        has: &[&str],
        projection: &Projection,
        get: impl Fn(String) -> F,
    ) -> Result<ListPage>
    where
        F: Future<Output = Result<Value>>,
    {
        // The list already contains everything that is read.
        if projection.within(has) {
            return Ok(ListPage { items: listed, ..ListPage::default() });
        }
        let ids = ids(&listed);
        let calls: Vec<F> = ids.iter().cloned().map(get).collect();
        let calls = stream::iter(counted("items", calls));
        let answers: Vec<_> = calls.buffered(IN_FLIGHT).collect().await;
        let mut page = ListPage::default();
        for (at, (id, answer)) in ids.into_iter().zip(answers).enumerate() {
            match answer {
                Ok(item) => page.items.push(item),
                // If the sign-in fails, no other item can be fetched.
                Err(error) if error.kind() == ErrorKind::Auth => return Err(error),
                Err(error) => page.failed.push(FailedItem { at, id, error }),
            }
        }
        match page.failed.first() {
            // If everything fails, the page would look empty. Missing items alone are no failure:
            // they were deleted after the list.
            Some(one) if page.items.is_empty() && one.error.kind() != ErrorKind::NotFound => {
                Err(one.error.clone())
            }
            _ => Ok(page),
        }
    }

    async fn message(&self, id: &str, projection: &Projection, format: &str) -> Result<Value> {
        Ok(self.message_in_turn(id, projection, format).await?.0)
    }

    /// Returns a message like [`GmailMailbox::message`], with the turn of a long response.
    async fn message_in_turn(
        &self,
        id: &str,
        projection: &Projection,
        format: &str,
    ) -> Result<(Value, Option<ResponsePermit>)> {
        check(id)?;
        let fields = mask(projection);
        let headers = projection.headers.iter().map(|name| ("metadataHeaders", *name));
        let params = [("format", format), ("fields", fields.as_str())];
        let params: Vec<_> = params.into_iter().chain(headers).collect();
        // Other formats contain no bodies.
        let most = if matches!(format, "full" | "raw") { wire::MESSAGES } else { wire::LISTS };
        self.google.get_as(&self.at(&["messages", id], &params)?, most, &client::json).await
    }

    async fn conversation(&self, id: &str, projection: &Projection, format: &str) -> Result<Value> {
        check(id)?;
        let fields = &mask(projection);
        call!(self, fields, |users| with_headers!(
            users.threads_get(ME, id).format(format),
            projection
        ))
    }

    /// Returns the account's labels as Gmail lists them, cached for [`NAMES_LAST`].
    async fn labels(&self) -> Result<Vec<Value>> {
        let mut known = self.labels.lock().await;
        if let Some((when, labels)) = known.as_ref()
            && when.elapsed() < NAMES_LAST
        {
            return Ok(labels.clone());
        }
        let answer = call!(self, "labels(id,name,type)", |users| users.labels_list(ME))?;
        let labels = client::items_of(answer, "labels")?;
        *known = Some((Instant::now(), labels.clone()));
        Ok(labels)
    }

    /// Writes the query in Gmail's language, after checking the labels in it.
    async fn compile(&self, ask: &ListRequest) -> Result<query::GmailQuery> {
        let Some(query) = &ask.query else {
            return Ok(query::GmailQuery::default());
        };
        if !query.alternatives().iter().any(|(term, _)| query::label_of(term).is_some()) {
            return Ok(query::compile(query));
        }
        let labels = self.labels().await?;
        let is_known = |name: &str| {
            labels
                .iter()
                .any(|label| same_label(text(label, "name"), name) || text(label, "id") == name)
        };
        // Rows show categories beside labels, so a query may call a category a label.
        let as_category = |term: &QueryTerm| {
            let name = query::label_of(term).filter(|name| !is_known(name))?;
            let found = labels::resolve_label(&labels, name)?;
            found.id.starts_with("CATEGORY_").then_some(QueryTerm::Category(found.name))
        };
        let query = &query.map(&|term| as_category(term).unwrap_or_else(|| term.clone()));
        let named_labels = query.alternatives().into_iter();
        let named_labels: Vec<(&str, bool)> = named_labels
            .filter_map(|(term, other)| Some((query::label_of(term)?, other)))
            .collect();
        let unknown = |name: &str| format!("there is no label or folder `{}`", brief(name));
        let refused = |name: &str| {
            Error::new(ErrorKind::NotFound, unknown(name))
                .next(labels::instead(&labels, name, "folders"))
        };
        let mut notes = Vec::new();
        for (name, other) in named_labels.iter().filter(|(name, _)| !is_known(name)) {
            // Gmail silently finds nothing for an unknown label; within an OR, other conditions may
            // match.
            if *other {
                notes.push(note!("{}: {}", ours(unknown(name)), NOTHING));
            } else {
                return Err(refused(name));
            }
        }
        let lacks = |term: &QueryTerm| query::label_of(term).is_some_and(|name| !is_known(name));
        let query = &query.without(&lacks);
        if let (true, Some((name, _))) = (
            *query == Query::Any(Vec::new()),
            named_labels.iter().find(|(name, _)| !is_known(name)),
        ) {
            return Err(refused(name));
        }
        let by_id = |id: &str| {
            let label = labels.iter().find(|label| text(label, "id") == id)?;
            Some(text(label, "name").to_owned())
        };
        let mut compiled = query::compile(&query::rename(query, &by_id));
        notes.dedup();
        compiled.notes.append(&mut notes);
        Ok(compiled)
    }

    /// Fetches a part that Gmail left out for its size, with the turn of a long response.
    async fn fetch_part(
        &self,
        message: &str,
        attachment: &str,
    ) -> Result<(DecodedData, Option<ResponsePermit>)> {
        let path = ["messages", message, "attachments", attachment];
        let url = self.at(&path, &[("fields", "data,size")])?;
        self.google.get_as(&url, wire::FILES, &DecodedData::of_part).await
    }

    async fn primary_address(&self) -> Result<String> {
        let aliases = self.aliases().await?;
        Ok(aliases
            .items
            .iter()
            .find(|alias| alias.get("isPrimary") == Some(&Value::Bool(true)))
            .map(|alias| text(alias, "sendAsEmail").to_owned())
            .unwrap_or_default())
    }

    async fn raw(&self, id: &str, projection: &Projection) -> Result<MessageContent> {
        let mut sized = projection.clone();
        sized.paths.push("sizeEstimate".to_owned());
        // The size comes first, because a raw response cannot be cut.
        let item = self.message(id, &sized, "metadata").await?;
        let size = item.get("sizeEstimate").and_then(Value::as_u64);
        if let Some(size) = size.filter(|size| *size > RAW_LIMIT) {
            return Err(Error::argument(format!(
                "the message is {size} bytes, too many to show raw ({RAW_LIMIT})"
            ))
            .next("read it with body=text or body=headers"));
        }
        let only_raw = Projection { paths: vec!["raw".to_owned()], ..Projection::default() };
        let answer = self.message(id, &only_raw, "raw").await?;
        let DecodedData { bytes, damaged } = DecodedData::of(text(&answer, "raw"));
        let mut notes = Vec::new();
        if damaged {
            notes.push("the raw message is damaged base64; it is shown up to the damage".into());
        }
        Ok(MessageContent {
            item,
            source: Some(String::from_utf8_lossy(&bytes).into_owned()),
            notes,
            ..MessageContent::default()
        })
    }
}

#[async_trait]
impl Mailbox for GmailMailbox {
    fn api(&self) -> Service {
        Service::Google
    }

    fn capabilities(&self) -> &'static MailCapabilities {
        &crate::google::MAIL
    }

    async fn messages(&self, ask: &ListRequest) -> Result<ListPage> {
        let (listed, list) = self.listed("messages", ask).await?;
        let format = format(&ask.projection);
        let page = self.each(listed, LISTED, &ask.projection, |id| async move {
            self.message(&id, &ask.projection, format).await
        });
        let is_whole = ask.cursor.is_none() && list.next.is_none();
        let hidden = self.hidden(ask, ask.hidden && is_whole);
        let (page, hidden) = join(Box::pin(page), Box::pin(hidden)).await;
        self.finish(page?, ListPage { hidden, ..list }, ask).await
    }

    async fn threads(&self, ask: &ListRequest) -> Result<ListPage> {
        let (listed, list) = self.listed("threads", ask).await?;
        let format = format(&ask.projection);
        let page = self
            .each(listed, &["id"], &ask.projection, |id| async move {
                self.conversation(&id, &ask.projection, format).await
            })
            .await?;
        self.finish(page, list, ask).await
    }

    async fn lookup(
        &self,
        table: &'static Table,
        people: &PeopleQuery,
        projection: &Projection,
    ) -> Result<ListPage> {
        self.list(table, people, projection).await
    }

    async fn read_messages(
        &self,
        ids: &[String],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let calls: Vec<_> = ids.iter().map(|id| self.read_message(id, projection, form)).collect();
        stream::iter(counted("messages", calls)).buffered(MESSAGES_AT_ONCE).collect().await
    }

    async fn whole_thread(
        &self,
        id: &str,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<Option<WholeThread>> {
        let Some((mut projection, format)) = requested(projection, form) else {
            return Ok(None);
        };
        let state = ["id", "labelIds", "internalDate"].map(str::to_owned);
        projection.paths.retain(|path| !state.contains(path));
        projection.paths.extend(state);
        projection.paths.iter_mut().for_each(|path| path.insert_str(0, "messages/"));
        let answer = match self.conversation(id, &projection, format).await {
            // The thread is too large to be read in one response.
            Err(error) if error.kind() == ErrorKind::Argument => return Ok(None),
            answer => answer?,
        };
        let items = list(&answer, "messages");
        let mut thread = WholeThread { messages: states::thread(&items), ..WholeThread::default() };
        for item in items {
            let id = text(&item, "id").to_owned();
            // A message that cannot be completed is read again on its own, which reports its error.
            if let Ok(content) = self.content(&id, item, None, form).await {
                thread.contents.insert(id, content);
            }
        }
        Ok(Some(thread))
    }

    async fn thread(&self, id: &str) -> Result<Vec<ThreadMessage>> {
        let paths = ["messages/id", "messages/labelIds", "messages/internalDate"];
        let projection =
            Projection { paths: paths.map(str::to_owned).to_vec(), ..Projection::default() };
        let answer = self.conversation(id, &projection, "minimal").await?;
        Ok(states::thread(&list(&answer, "messages")))
    }

    async fn thread_states(&self, ids: &[String]) -> Vec<Result<Vec<ThreadMessage>>> {
        let calls: Vec<_> = ids.iter().map(|id| self.thread(id)).collect();
        stream::iter(counted("threads", calls)).buffered(IN_FLIGHT).collect().await
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        let labels = self.labels().await?;
        Ok(labels.iter().filter_map(name_in_rows).collect())
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        self.since(cursor, projection).await
    }

    fn check_id(&self, id: &str) -> Result<()> {
        check(id)?;
        // Message ids have 16 hexadecimal digits, draft ids more decimal ones.
        let is_id = id.len() >= SHORTEST_ID && id.bytes().any(|byte| byte.is_ascii_digit());
        is_id.then_some(()).ok_or_else(not_gmails)
    }
}

impl GmailMailbox {
    async fn read_message(
        &self,
        id: &str,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<MessageContent> {
        match requested(projection, form) {
            None => self.raw(id, projection).await,
            Some((projection, format)) => {
                let (item, turn) = self.message_in_turn(id, &projection, format).await?;
                self.content(id, item, turn, form).await
            }
        }
    }

    /// Reads a message that was fetched as [`requested`] specifies. `turn` belongs to its response.
    async fn content(
        &self,
        id: &str,
        mut item: Value,
        turn: Option<ResponsePermit>,
        form: BodyForm,
    ) -> Result<MessageContent> {
        match form {
            BodyForm::None | BodyForm::Raw => {
                Ok(MessageContent { item, ..MessageContent::default() })
            }
            BodyForm::Headers => Ok(MessageContent {
                source: Some(parts::headers(&item)),
                item,
                ..MessageContent::default()
            }),
            BodyForm::Parts => {
                let mut tree = parts::read(id, &item);
                parts::strip(&mut item);
                tree.shorten();
                // Fetching a part may need a turn, which a call that holds one would never get.
                drop(turn);
                loop {
                    let part = tree.elsewhere().next();
                    let Some(part) = part else { break };
                    let (data, _turn) = self.fetch_part(id, part.attachment()).await?;
                    part.bring(data);
                    tree.shorten();
                }
                let mut message = tree.into_message(item);
                message.notes.extend(body::shorten(message.parts.iter_mut().flatten().flatten()));
                Ok(message)
            }
        }
    }

    /// Returns the ids of a page of messages or threads, and a page with everything else that the
    /// list contains.
    async fn listed(&self, key: &str, ask: &ListRequest) -> Result<(Vec<Value>, ListPage)> {
        let mut compiled = self.compile(ask).await?;
        let q = compiled.q.as_str();
        if !ask.oldest {
            let mut answer = self.id_page(key, ask, q).await?;
            let items = take_items(&mut answer, key, ask, &mut compiled.notes)?;
            let next = next_page(&answer);
            let total = match (&next, &ask.cursor) {
                (None, None) => Some(SearchTotal::Exactly(count(items.len()))),
                _ => {
                    answer.get("resultSizeEstimate").and_then(Value::as_u64).map(SearchTotal::About)
                }
            };
            return Ok((
                items,
                ListPage { next, total, notes: compiled.notes, ..ListPage::default() },
            ));
        }
        let mut all = Vec::new();
        let mut whole = ListRequest { limit: MAX_IDS, cursor: None, ..ask.clone() };
        loop {
            let mut answer = self.id_page(key, &whole, q).await?;
            all.extend(take_items(&mut answer, key, &whole, &mut compiled.notes)?);
            whole.cursor = next_page(&answer);
            match whole.cursor {
                None => break,
                // Gmail sorts only newest first, so finding the oldest means listing everything.
                Some(_) if all.len() >= oldest::MAX_ROWS => return Err(oldest::too_many("Gmail")),
                Some(_) => {}
            }
        }
        let total = Some(SearchTotal::Exactly(count(all.len())));
        let (items, next) = oldest::page(all, ask, |item| text(item, "id"));
        Ok((items, ListPage { next, total, notes: compiled.notes, ..ListPage::default() }))
    }

    async fn id_page(&self, key: &str, ask: &ListRequest, q: &str) -> Result<Value> {
        let answer = match key {
            "threads" => {
                let fields = "threads(id),nextPageToken,resultSizeEstimate";
                call!(self, fields, |users| page!(users.threads_list(ME), ask, q))
            }
            _ => {
                let fields = "messages(id,threadId),nextPageToken,resultSizeEstimate";
                call!(self, fields, |users| page!(users.messages_list(ME), ask, q))
            }
        };
        answer.map_err(|error| stale(error, ask))
    }

    /// Returns the ids of the matches in spam and trash, if `wanted` and if they fit on a page.
    async fn hidden(&self, ask: &ListRequest, wanted: bool) -> Option<Vec<String>> {
        if !wanted {
            return None;
        }
        let key = Projection { paths: vec!["id".to_owned()], ..Projection::default() };
        let (found, page) = self.listed("messages", &ask.in_hidden(key)).await.ok()?;
        page.next.is_none().then(|| ids(&found))
    }

    /// Completes a page with the data of its list, and with names.
    async fn finish(&self, page: ListPage, list: ListPage, ask: &ListRequest) -> Result<ListPage> {
        let names = if ask.projection.names && !page.items.is_empty() {
            self.names().await?
        } else {
            HashMap::new()
        };
        Ok(ListPage { items: page.items, failed: page.failed, names, ..list })
    }
}

/// Returns the address of the account that a new token belongs to.
///
/// The profile has it. A server without profiles has it as the primary send-as address, which the
/// same scope may read.
pub async fn address(services: &ServiceSettings, token: &str) -> Result<String> {
    let gmail = &GmailMailbox::new(services, TokenSource::fixed(token))?;
    let address = match call!(gmail, "emailAddress", |users| users.get_profile(ME)) {
        Ok(profile) => text(&profile, "emailAddress").to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => gmail.primary_address().await?,
        Err(error) => return Err(error),
    };
    if address.is_empty() {
        return Err(Error::new(ErrorKind::Provider(200), "Gmail did not say whose mailbox it is"));
    }
    Ok(address)
}

fn hub(services: &ServiceSettings, bearer: GoogleTokens) -> Hub<LoopbackConnector> {
    let mut hub = Hub::new(wire::client(services.share.clone()), bearer);
    let base = services.endpoints.gmail.as_str();
    hub.base_url(base.to_owned());
    hub.root_url(base.to_owned());
    hub
}

/// Checks an id, because the generated client puts ids into paths unescaped.
fn check(id: &str) -> Result<()> {
    let fits = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits { Ok(()) } else { Err(not_gmails()) }
}

fn not_gmails() -> Error {
    Error::argument("the id is not Gmail's (letters, digits, `_` and `-`)")
        .next("use a handle such as m12 from a search")
}

/// Returns the smaller of Gmail's formats that has all fields of the projection.
fn format(projection: &Projection) -> &'static str {
    let payload = |path: &String| path.split('/').any(|key| key == "payload");
    if projection.paths.iter().any(payload) { "metadata" } else { "minimal" }
}

/// Returns the projection and Gmail's format for reading a message in a form, or `None` for the raw
/// source, which is a request of its own.
fn requested(projection: &Projection, form: BodyForm) -> Option<(Projection, &'static str)> {
    let mut projection = projection.clone();
    let format = match form {
        BodyForm::None => format(&projection),
        BodyForm::Raw => return None,
        BodyForm::Headers => {
            projection.headers.clear();
            projection.paths.push("payload/headers".to_owned());
            "metadata"
        }
        BodyForm::Parts => {
            // The tree of parts includes the header fields.
            projection.headers.clear();
            projection.paths.retain(|path| !path.starts_with("payload"));
            projection.paths.push("payload".to_owned());
            "full"
        }
    };
    Some((projection, format))
}

/// Returns the `fields` mask for a projection.
fn mask(projection: &Projection) -> String {
    projection.paths.join(",")
}

fn limit(ask: &ListRequest) -> u32 {
    u32::try_from(ask.limit).unwrap_or(u32::MAX).clamp(1, 500)
}

fn next_page(answer: &Value) -> Option<String> {
    let token = text(answer, "nextPageToken");
    (!token.is_empty()).then(|| token.to_owned())
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Returns true if Gmail omits messages with this label from lists by default.
fn is_left_out(label: &str) -> bool {
    matches!(label, "SPAM" | "TRASH")
}

/// Turns the refusal of a page token into an error that says it has expired.
fn stale(error: Error, ask: &ListRequest) -> Error {
    if ask.cursor.is_some() && error.kind() == ErrorKind::Provider(400) {
        return Error::argument("Gmail's page cursor expired").next("search again without cursor");
    }
    error
}

/// Returns the id of a label and its name in rows; `None` for labels that are states.
fn name_in_rows(label: &Value) -> Option<(String, String)> {
    let id = text(label, "id");
    let name = if text(label, "type") == "user" {
        text(label, "name").to_owned()
    } else {
        match id.strip_prefix("CATEGORY_")? {
            // Gmail's search and its user interface use this name.
            "PERSONAL" => "primary".to_owned(),
            category => category.to_lowercase(),
        }
    };
    Some((id.to_owned(), name))
}

/// Returns the items of a page, at most as many as requested, because each costs a call. An empty
/// page has an estimated count instead of a list.
///
/// # Errors
/// [`ErrorKind::Provider`] if the response is not a list.
fn take_items(
    answer: &mut Value,
    key: &str,
    ask: &ListRequest,
    notes: &mut Vec<Note>,
) -> Result<Vec<Value>> {
    let mut items = match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        None if answer.get("resultSizeEstimate").is_some_and(Value::is_number) => Vec::new(),
        _ => return Err(client::not_ours("list")),
    };
    let most = limit(ask) as usize;
    if let more @ 1.. = items.len().saturating_sub(most) {
        notes.push(note!(
            "Gmail listed {} more than the {} requested: they were left out",
            ours(more),
            ours(most)
        ));
        items.truncate(most);
    }
    Ok(items)
}

fn list(answer: &Value, key: &str) -> Vec<Value> {
    answer.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
}

fn ids(items: &[Value]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| item.get("id").and_then(Value::as_str).map(str::to_owned))
        .collect()
}
