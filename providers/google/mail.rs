//! Gmail behind the mailbox port.
//!
//! Gmail's lists contain only ids, so a page costs one list call and, if the columns need more, one
//! `get` per item, several at a time. Requests name only what the projection reads (`format`,
//! `metadataHeaders`, `fields`). The registry defines the columns. `mailbox.rs` has the account,
//! `search.rs` lists ids, `fetch.rs` reads objects, `contents.rs` and `parts.rs` read the contents
//! of messages, and `query.rs` writes queries. This file implements the port; no other file of the
//! folder uses it.

mod changes;
mod contents;
mod counts;
mod draft;
mod fetch;
mod labels;
mod lists;
mod mailbox;
mod manage;
mod messages;
mod modify;
mod parts;
pub mod query;
mod requests;
mod search;
mod states;

use std::collections::HashMap;

use async_trait::async_trait;
use daysheet_core::call::progress::counted;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::Projection;
use daysheet_core::provider::MailCapabilities;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::provider::{
    BodyForm, ListPage, ListRequest, Mailbox, MessageContent, PeopleQuery, ThreadMessage,
    WholeThread,
};
use daysheet_core::provider::{ServiceSettings, TokenSource};
use daysheet_core::schemas::{Service, Table};
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};

use self::contents::requested;
use self::fetch::{LISTED, format, list};
pub use self::mailbox::GmailMailbox;
use self::mailbox::{ME, call};
use self::requests::{check, not_gmails};
use super::client::IN_FLIGHT;
use crate::json::text;

/// The maximum number of messages fetched at the same time; each may have some megabytes.
const MESSAGES_AT_ONCE: usize = 8;
/// The minimum length of an id that a caller may give.
const SHORTEST_ID: usize = 12;

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
            self.fetch_message(&id.into(), &ask.projection, format).await
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
                self.fetch_thread(&id.into(), &ask.projection, format).await
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
        ids: &[MessageId],
        projection: &Projection,
        form: BodyForm,
    ) -> Vec<Result<MessageContent>> {
        let calls: Vec<_> = ids.iter().map(|id| self.read_message(id, projection, form)).collect();
        stream::iter(counted("messages", calls)).buffered(MESSAGES_AT_ONCE).collect().await
    }

    async fn whole_thread(
        &self,
        id: &ThreadId,
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
        let answer = match self.fetch_thread(id, &projection, format).await {
            // The thread is too large to be read in one response.
            Err(error) if error.kind() == ErrorKind::Argument => return Ok(None),
            answer => answer?,
        };
        let items = list(&answer, "messages");
        let mut thread = WholeThread { messages: states::thread(&items), ..WholeThread::default() };
        for item in items {
            let id = MessageId::from(text(&item, "id"));
            // A message that cannot be completed is read again on its own, which reports its error.
            if let Ok(content) = self.content(&id, item, None, form).await {
                thread.contents.insert(id, content);
            }
        }
        Ok(Some(thread))
    }

    async fn thread(&self, id: &ThreadId) -> Result<Vec<ThreadMessage>> {
        let paths = ["messages/id", "messages/labelIds", "messages/internalDate"];
        let projection =
            Projection { paths: paths.map(str::to_owned).to_vec(), ..Projection::default() };
        let answer = self.fetch_thread(id, &projection, "minimal").await?;
        Ok(states::thread(&list(&answer, "messages")))
    }

    async fn thread_states(&self, ids: &[ThreadId]) -> Vec<Result<Vec<ThreadMessage>>> {
        let calls: Vec<_> = ids.iter().map(|id| self.thread(id)).collect();
        stream::iter(counted("threads", calls)).buffered(IN_FLIGHT).collect().await
    }

    async fn names(&self) -> Result<HashMap<String, String>> {
        self.label_names().await
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
