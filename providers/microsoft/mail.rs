//! Outlook behind the mailbox port.
//!
//! Graph lists messages with any of their properties, so a page costs one request, and a batch if
//! it needs folder names or the trash. Requests select only what the projection reads (`$select`).
//! The registry defines the columns; `mailbox.rs` has the mailbox, `list.rs` requests lists,
//! `query.rs` translates queries, `threads.rs` assembles threads, `message.rs` reads messages,
//! `folders.rs` names folders, `lookup.rs` lists them, and `changes.rs` has the changes since a
//! cursor. This file implements the port; no other file of the folder uses it.

mod changes;
mod draft;
mod drafts;
mod folders;
mod folders_write;
mod list;
mod lookup;
mod mailbox;
mod manage;
mod message;
mod modify;
mod onward;
pub mod query;
mod threads;

use std::collections::HashMap;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::Projection;
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::{
    BodyForm, FailedItem, ListPage, ListRequest, Mailbox, MessageContent, PeopleQuery, SearchTotal,
    ThreadMessage, WholeThread, no_list,
};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use daysheet_core::schemas::{Service, Table};

use self::draft::find::MADE;
use self::list::{ListQuery, OVERLAP, moved_up};
pub use self::mailbox::OutlookMailbox;
use self::mailbox::{count, main_address};
use super::client::GraphAccount;
use super::ids::check_mail_id;
use super::people;
use crate::json::text;
use crate::oldest;

impl OutlookMailbox {
    /// Returns a page of a search, oldest first. Graph refuses to sort search results, so all of
    /// them are listed by id.
    async fn oldest_found(&self, ask: &ListRequest) -> Result<ListPage> {
        let (all, notes) = self.list_all(ask, &["id", "receivedDateTime"]).await?;
        let total = Some(SearchTotal::Exactly(count(all.len())));
        let (found, next) = oldest::page(all, ask, |item| text(item, "id"));
        let ids: Vec<MessageId> = found.iter().map(|item| text(item, "id").into()).collect();
        let named: Vec<&MessageId> = ids.iter().collect();
        let messages = message::fetch(self.graph(), &named, &ask.projection, BodyForm::None).await;
        let mut page = ListPage { next, total, notes, ..ListPage::default() };
        for (at, (id, message)) in ids.into_iter().zip(messages).enumerate() {
            match message {
                Ok(message) => page.items.push(message.item),
                // If the sign-in fails, no other message can be fetched.
                Err(error) if error.kind() == ErrorKind::Auth => return Err(error),
                Err(error) => page.failed.push(FailedItem { at, id: id.into(), error }),
            }
        }
        if ask.projection.names && !page.items.is_empty() {
            page.names = self.names().await?;
        }
        Ok(page)
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
            "contact" => people::find(self.graph(), people, projection).await,
            _ => Err(no_list(table)),
        }
    }

    async fn read_messages(
        &self,
        ids: &[MessageId],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let mut good = Vec::new();
        let checked: Vec<Result<()>> = ids.iter().map(|id| check_mail_id(id.as_str())).collect();
        for (id, checked) in ids.iter().zip(&checked) {
            if checked.is_ok() {
                good.push(id);
            }
        }
        let mut messages = message::fetch(self.graph(), &good, projection, form).await.into_iter();
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
        id: &ThreadId,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<Option<WholeThread>> {
        check_mail_id(id.as_str())?;
        threads::whole(self, id, projection, form).await
    }

    async fn thread(&self, id: &ThreadId) -> Result<Vec<ThreadMessage>> {
        check_mail_id(id.as_str())?;
        threads::thread(self, id).await
    }

    async fn open_drafts(&self, thread: &ThreadId) -> Result<Vec<MessageId>> {
        check_mail_id(thread.as_str())?;
        let mut drafts = self.drafts_of(thread).await?;
        drafts.sort_by(|one, other| text(one, MADE).cmp(text(other, MADE)));
        Ok(drafts.iter().map(|draft| text(draft, "id").into()).collect())
    }

    async fn thread_states(&self, ids: &[ThreadId]) -> Vec<Result<Vec<ThreadMessage>>> {
        threads::states(self, ids).await
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        Ok(self.tree().await?.names().clone())
    }

    async fn changes(&self, cursor: Option<&str>, projection: &Projection) -> Result<ChangeFeed> {
        changes::changes(self, cursor, projection, self.graph().now()).await
    }

    fn check_id(&self, id: &str) -> Result<()> {
        check_mail_id(id)
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
