//! Outlook behind the mailbox port.
//!
//! Graph lists messages with any of their properties, so a page costs one request, and a batch if
//! it needs folder names or the trash. Requests select only what the projection reads (`$select`).
//! The registry defines the columns; `list.rs` requests lists, `query/mod.rs` translates queries,
//! `threads.rs` assembles threads, `message.rs` reads messages, `folders.rs` names folders, and
//! `changes.rs` has the changes since a cursor.

mod changes;
mod draft;
mod drafts;
mod folders;
mod folders_write;
mod list;
mod manage;
mod message;
mod modify;
mod onward;
pub mod query;
mod threads;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::mail::SendAlias;
use daysheet_core::provider::{Account, ServiceSettings, TokenSource};
use daysheet_core::provider::{
    BodyForm, FailedItem, ListPage, ListRequest, Mailbox, MessageContent, PeopleQuery, SearchTotal,
    ThreadMessage, WholeThread, no_list,
};
use daysheet_core::schemas::{Service, Table};
use daysheet_core::text::note;
use draft::MADE;
use folders::FolderTree;
use list::{ListQuery, OVERLAP, moved_up};
use serde_json::{Value, json};
use tokio::sync::{Mutex, OnceCell};

use super::client::GraphAccount;
use super::people;
use crate::json::text;
use crate::oldest;

/// The time for which folder names are cached.
const NAMES_LAST: Duration = Duration::from_secs(60);
/// The maximum number of categories that are read, and of pages; people have a few dozen.
const CATEGORIES: usize = 5_000;
const CATEGORY_PAGES: usize = 100;
/// The maximum number of categories whose messages are counted, 20 per round trip.
const COUNTED: usize = 60;
/// The columns that count a category's messages, each with its additional condition.
const COUNTS: [(&str, &str); 2] = [("total", ""), ("unread", " and isRead eq false")];

/// One Outlook mailbox: the account's own, or a shared one.
pub struct OutlookMailbox {
    graph: GraphAccount,
    /// The mailbox's address.
    address: String,
    folders: Mutex<Option<(Instant, Arc<FolderTree>)>>,
    /// The owner's addresses.
    aliases: OnceCell<Vec<String>>,
    /// The addresses to send from.
    senders: OnceCell<Vec<SendAlias>>,
}

impl OutlookMailbox {
    /// Connects `account` to the configured endpoint.
    ///
    /// # Errors
    /// See [`GraphAccount::new`].
    pub fn new(services: &ServiceSettings, tokens: TokenSource, account: &Account) -> Result<Self> {
        let shared = account.via.is_some().then_some(account.email.as_str());
        Ok(Self {
            graph: GraphAccount::new(services, tokens, shared)?,
            address: account.email.clone(),
            folders: Mutex::new(None),
            aliases: OnceCell::new(),
            senders: OnceCell::new(),
        })
    }

    /// Returns the account's Graph client.
    pub(crate) fn graph(&self) -> &GraphAccount {
        &self.graph
    }

    /// Returns the mailbox's address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the folders, cached for [`NAMES_LAST`].
    pub(super) async fn tree(&self) -> Result<Arc<FolderTree>> {
        let mut known = self.folders.lock().await;
        if let Some((when, tree)) = known.as_ref()
            && when.elapsed() < NAMES_LAST
        {
            return Ok(tree.clone());
        }
        let tree = Arc::new(FolderTree::load(&self.graph, &[]).await?);
        *known = Some((Instant::now(), tree.clone()));
        Ok(tree)
    }

    /// Drops the cached folders after a change of one.
    pub(super) async fn forget_tree(&self) {
        *self.folders.lock().await = None;
    }

    async fn folder_page(&self, projection: &Projection) -> Result<ListPage> {
        let counts: Vec<&str> = projection
            .roots()
            .into_iter()
            .filter(|root| !matches!(*root, "id" | "displayName" | folders::KIND))
            .collect();
        let tree = Arc::new(FolderTree::load(&self.graph, &counts).await?);
        *self.folders.lock().await = Some((Instant::now(), tree.clone()));
        let items = tree.items();
        let mut notes = Vec::new();
        if tree.is_cut() {
            notes.push("the mailbox has too many folders; some are missing".into());
        }
        if tree.leaves_out_own() {
            notes.push("empty Outbox, Sync Issues and the like are left out".into());
        }
        Ok(ListPage {
            total: (!tree.is_cut()).then(|| SearchTotal::Exactly(count(items.len()))),
            items,
            names: tree.names().clone(),
            notes,
            ..ListPage::default()
        })
    }

    pub(crate) async fn categories(&self, projection: &Projection) -> Result<ListPage> {
        let mut roots = projection.roots();
        let counts: Vec<_> =
            COUNTS.into_iter().filter(|(column, _)| roots.contains(column)).collect();
        roots.retain(|root| COUNTS.iter().all(|(column, _)| column != root));
        if !counts.is_empty() && !roots.contains(&"displayName") {
            roots.push("displayName");
        }
        let select = roots.join(",");
        let request = self.graph.mailbox_url("outlook/masterCategories", &[("$select", &select)]);
        let answer = self.graph.get(&request).await?;
        let (mut items, all) = self.graph.all(answer, CATEGORIES, CATEGORY_PAGES).await?;
        items.sort_by_key(|item| text(item, "displayName").to_lowercase());
        let uncounted =
            if counts.is_empty() { 0 } else { self.count_categories(&mut items, &counts).await };
        let mut page = whole(items);
        if uncounted > 0 {
            page.notes.push(note!("categories without a count: {}", uncounted));
        }
        if !all {
            page.total = None;
            page.notes.push("there are too many categories; some are missing".into());
        }
        Ok(page)
    }

    /// Adds `counts` of messages to the first [`COUNTED`] categories; returns the number of
    /// categories without a count.
    async fn count_categories(&self, items: &mut [Value], counts: &[(&str, &str)]) -> usize {
        let request = |item: &Value, condition: &str| {
            let name = text(item, "displayName").replace('\'', "''");
            let filter = format!("categories/any(c:c eq '{name}'){condition}");
            let query = [
                ("$filter", filter.as_str()),
                ("$count", "true"),
                ("$top", "1"),
                ("$select", "id"),
            ];
            self.graph.mailbox_url("messages", &query)
        };
        let requests: Vec<String> = counts
            .iter()
            .flat_map(|(_, condition)| {
                items.iter().take(COUNTED).map(|item| request(item, condition))
            })
            .collect();
        let mut answers = self.graph.batch(&requests).await.into_iter();
        for (column, _) in counts {
            for (item, answer) in items.iter_mut().take(COUNTED).zip(answers.by_ref()) {
                let count = answer.ok().and_then(|answer| answer.get("@odata.count")?.as_u64());
                if let (Some(count), Some(item)) = (count, item.as_object_mut()) {
                    item.insert((*column).to_owned(), count.into());
                }
            }
        }
        let lacks = |item: &&Value| counts.iter().any(|(column, _)| item.get(column).is_none());
        items.iter().filter(lacks).count()
    }

    /// Returns a page of a search, oldest first. Graph refuses to sort search results, so all of
    /// them are listed by id.
    async fn oldest_found(&self, ask: &ListRequest) -> Result<ListPage> {
        let (all, notes) = self.list_all(ask, &["id", "receivedDateTime"]).await?;
        let total = Some(SearchTotal::Exactly(count(all.len())));
        let (found, next) = oldest::page(all, ask, |item| text(item, "id"));
        let ids: Vec<&str> = found.iter().map(|item| text(item, "id")).collect();
        let messages = message::fetch(&self.graph, &ids, &ask.projection, BodyForm::None).await;
        let mut page = ListPage { next, total, notes, ..ListPage::default() };
        for (at, (id, message)) in ids.into_iter().zip(messages).enumerate() {
            match message {
                Ok(message) => page.items.push(message.item),
                // If the sign-in fails, no other message can be fetched.
                Err(error) if error.kind() == ErrorKind::Auth => return Err(error),
                Err(error) => page.failed.push(FailedItem { at, id: id.to_owned(), error }),
            }
        }
        if ask.projection.names && !page.items.is_empty() {
            page.names = self.names().await?;
        }
        Ok(page)
    }

    async fn aliases(&self) -> Result<ListPage> {
        let item = |(address, primary)| json!({"address": address, "primary": primary});
        Ok(whole(self.user_addresses().await?.into_iter().map(item).collect()))
    }

    async fn user_addresses(&self) -> Result<Vec<(String, bool)>> {
        let select = [("$select", "mail,userPrincipalName,proxyAddresses")];
        Ok(addresses(&self.graph.get(&self.graph.user_url(&select)).await?))
    }

    /// Returns the mailbox's addresses, fetched once. Of a shared mailbox, or after an error, only
    /// the main one is known.
    async fn own_addresses(&self) -> &[String] {
        let main = std::slice::from_ref(&self.address);
        if self.graph.is_shared() {
            return main;
        }
        let fetched = self.aliases.get_or_try_init(async || {
            let found = self.user_addresses().await?.into_iter().map(|(address, _)| address);
            Ok::<_, Error>(found.chain(main.iter().cloned()).collect())
        });
        fetched.await.map_or(main, Vec::as_slice)
    }

    /// Refuses requests in a shared mailbox that Microsoft allows only for one's own.
    pub(crate) fn own(&self, what: &str) -> Result<()> {
        if !self.graph.is_shared() {
            return Ok(());
        }
        Err(Error::argument(format!("{what} are not available for a shared mailbox"))
            .next("name the account of the person who signed in"))
    }

    async fn settings(&self) -> Result<ListPage> {
        let settings = self.graph.get(&self.graph.mailbox_url("mailboxSettings", &[])).await?;
        Ok(whole(vec![settings]))
    }
}

#[async_trait]
impl Mailbox for OutlookMailbox {
    fn api(&self) -> Service {
        Service::Microsoft
    }

    fn capabilities(&self) -> &'static MailCapabilities {
        &crate::microsoft::MAIL
    }

    async fn messages(&self, ask: &ListRequest) -> Result<ListPage> {
        let list_query = ListQuery {
            select: &ask.projection.roots(),
            top: ask.limit,
            count: true,
            cursor: ask.cursor.as_deref(),
        };
        let plan = self.plan(ask, list_query).await?;
        // Graph sorts search results only newest first.
        if ask.oldest && plan.searches() {
            return self.oldest_found(ask).await;
        }
        let listed = self.list_page(&plan).await?;
        let shown = count(listed.items.len());
        let mut page = ListPage {
            total: match (&listed.next, listed.count) {
                (None, _) if !plan.later => Some(SearchTotal::Exactly(shown)),
                // The service counts before the checks that are made here.
                (_, Some(count)) if plan.checks() => Some(SearchTotal::About(count)),
                (_, counted) => counted.map(SearchTotal::Exactly),
            },
            items: listed.items,
            hidden: listed.hidden,
            next: listed.next.map(|next| {
                if plan.searches() { next } else { moved_up(&next, &plan, ask.limit.min(OVERLAP)) }
            }),
            notes: plan.notes.into_iter().chain(listed.note).collect(),
            ..ListPage::default()
        };
        if ask.projection.names && !page.items.is_empty() {
            page.names = self.names().await?;
        }
        Ok(page)
    }

    async fn threads(&self, ask: &ListRequest) -> Result<ListPage> {
        threads::page(self, ask).await
    }

    async fn lookup(
        &self,
        table: &'static Table,
        people: &PeopleQuery,
        projection: &Projection,
    ) -> Result<ListPage> {
        match table.name {
            "folder" => self.folder_page(projection).await,
            "category" => {
                self.own("categories")?;
                self.categories(projection).await
            }
            "alias" => {
                self.own("aliases")?;
                self.aliases().await
            }
            "setting" => {
                self.own("settings")?;
                self.settings().await
            }
            "contact" => people::find(&self.graph, people, projection).await,
            _ => Err(no_list(table)),
        }
    }

    async fn read_messages(
        &self,
        ids: &[String],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let mut good = Vec::new();
        let checked: Vec<Result<()>> = ids.iter().map(|id| check(id)).collect();
        for (id, checked) in ids.iter().zip(&checked) {
            if checked.is_ok() {
                good.push(id.as_str());
            }
        }
        let mut messages = message::fetch(&self.graph, &good, projection, form).await.into_iter();
        checked
            .into_iter()
            .map(|checked| {
                checked?;
                let lost = || Err(Error::new(ErrorKind::Internal, "a message was left out"));
                messages.next().unwrap_or_else(lost)
            })
            .collect()
    }

    async fn whole_thread(
        &self,
        id: &str,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<Option<WholeThread>> {
        check(id)?;
        threads::whole(self, id, projection, form).await
    }

    async fn thread(&self, id: &str) -> Result<Vec<ThreadMessage>> {
        check(id)?;
        threads::thread(self, id).await
    }

    async fn open_drafts(&self, thread: &str) -> Result<Vec<String>> {
        check(thread)?;
        let mut drafts = self.drafts_of(thread).await?;
        drafts.sort_by(|one, other| text(one, MADE).cmp(text(other, MADE)));
        Ok(drafts.iter().map(|draft| text(draft, "id").to_owned()).collect())
    }

    async fn thread_states(&self, ids: &[String]) -> Vec<Result<Vec<ThreadMessage>>> {
        threads::states(self, ids).await
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(self.tree().await?.names().clone())
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        changes::changes(self, cursor, projection, self.graph.now()).await
    }

    fn check_id(&self, id: &str) -> Result<()> {
        check(id)
    }
}

/// Returns the address of the account that a new token belongs to. With `mailbox`, also checks
/// access to that mailbox.
pub async fn address(
    services: &ServiceSettings,
    token: &str,
    mailbox: Option<&str>,
) -> Result<String> {
    let own = GraphAccount::new(services, TokenSource::fixed(token), None)?;
    let user = own.user_url(&[("$select", "mail,userPrincipalName")]);
    let address = main_address(&own.get(&user).await?).to_owned();
    if address.is_empty() {
        return Err(Error::new(
            ErrorKind::Provider(200),
            "Microsoft did not say whose mailbox it is",
        ));
    }
    if let Some(mailbox) = mailbox {
        let shared = GraphAccount::new(services, TokenSource::fixed(token), Some(mailbox))?;
        let inbox = shared.mailbox_url("mailFolders/inbox", &[("$select", "id")]);
        shared.get(&inbox).await.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::Provider(403) => Error::new(
                ErrorKind::Provider(403),
                format!(
                    "the mailbox {} is not shared with {address}, or does not exist",
                    daysheet_core::text::brief(mailbox)
                ),
            )
            .next("ask its owner for access"),
            _ => error,
        })?;
    }
    Ok(address)
}

/// Returns a user's addresses, the main one first. The flag marks the main address.
pub(super) fn addresses(user: &Value) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = user
        .get("proxyAddresses")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // `SMTP:` marks the main address and `smtp:` others; further kinds are not mail addresses.
        .filter_map(|proxy| proxy.split_once(':'))
        .filter(|(kind, _)| kind.eq_ignore_ascii_case("smtp"))
        .map(|(kind, address)| (address.to_owned(), kind == "SMTP"))
        .collect();
    found.sort_by_key(|(_, primary)| !primary);
    let main = main_address(user);
    if found.is_empty() && !main.is_empty() {
        found.push((main.to_owned(), true));
    }
    found
}

/// Returns a user's address. Personal accounts may have only a sign-in name.
fn main_address(user: &Value) -> &str {
    match text(user, "mail") {
        "" => text(user, "userPrincipalName"),
        mail => mail,
    }
}

fn check(id: &str) -> Result<()> {
    check_as(id, "m12 from a search")
}

/// Checks an id. Graph's ids are base64 in either alphabet, usually 70 characters or longer.
pub(super) fn check_as(id: &str, handle: &str) -> Result<()> {
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=+/".contains(&byte);
    if !(16..=512).contains(&id.len()) || !id.bytes().all(alphabet) {
        return Err(Error::argument("the id is not Outlook's")
            .next(format!("use a handle such as {handle}")));
    }
    if id.len() <= 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::argument("the id looks like Gmail's, not Outlook's")
            .next(format!("name the Gmail account, or use a handle such as {handle}")));
    }
    Ok(())
}

/// Returns the only page of a list.
fn whole(items: Vec<Value>) -> ListPage {
    ListPage { total: Some(SearchTotal::Exactly(count(items.len()))), items, ..ListPage::default() }
}

pub(super) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
