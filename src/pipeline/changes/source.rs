//! The sources of changes: the mail and the calendars of each account, fetched page by page.

use daysheet_core::choice::words;
use daysheet_core::error::Result;
use daysheet_core::event::Event;
use daysheet_core::flatten::RowObject;
use daysheet_core::ids::AccountId;
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::ChangeFeed;
use daysheet_core::schemas::{EVENT, MESSAGE, Service, Table, TableColumn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pipeline::context::Context;

/// The maximum number of pages that one call fetches from one source.
const MAX_PAGES: usize = 10;

/// The position of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangePosition {
    /// The account's id.
    pub(super) account: AccountId,
    /// The content of the source.
    pub(super) of: SourceKind,
    /// The provider's mark; `None` before the first query.
    pub(super) mark: Option<String>,
    /// Digests of the rows after the mark that have been shown: a page of changes may have more
    /// than `limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) shown: Vec<String>,
}

impl ChangePosition {
    /// Returns the position of a source that is tracked from now on.
    pub(super) fn new(account: &Account, of: SourceKind) -> Self {
        Self { account: account.id.clone(), of, mark: None, shown: Vec::new() }
    }
}

words! {
    /// The content of a source.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum SourceKind {
        Mail = "mail",
        Events = "calendars",
    }
}

impl SourceKind {
    /// Returns the table of its objects.
    pub(super) fn table(self) -> &'static Table {
        match self {
            Self::Mail => &MESSAGE,
            Self::Events => &EVENT,
        }
    }

    /// Returns the columns that the rows of changes are made of: key, time, person,
    /// subject, flags, folder.
    pub(super) fn columns(self) -> Vec<&'static TableColumn> {
        let names = match self {
            Self::Mail => ["id", "date", "from", "subject", "flags", "folder"],
            Self::Events => ["id", "start", "organizer", "title", "flags", "calendar"],
        };
        let table = self.table();
        names.iter().filter_map(|name| table.field(name)).collect()
    }
}

/// A message, as its service has it, or an event.
pub(super) enum ChangedItem {
    Message(Value),
    Event(Box<Event>),
}

impl<'a> From<&'a ChangedItem> for RowObject<'a> {
    fn from(item: &'a ChangedItem) -> Self {
        match item {
            ChangedItem::Message(message) => message.into(),
            ChangedItem::Event(event) => Self::Event(event),
        }
    }
}

/// The result of one source.
pub(super) struct SourceChanges {
    /// The account that it belongs to.
    pub(super) account: Account,
    /// The service that its objects come from.
    pub(super) api: Service,
    /// The content of the source.
    pub(super) of: SourceKind,
    /// The pages of changes, the earliest first.
    pub(super) pages: Vec<ChangeFeed<ChangedItem>>,
}

impl SourceChanges {
    /// Returns true if the source has changed since its mark.
    pub(super) fn has_changes(&self) -> bool {
        self.pages.iter().any(|page| count(page) > 0)
    }
}

/// Queries one source, page by page, until its end or until there is enough.
pub(super) async fn fetch_source(
    ctx: &Context,
    place: &ChangePosition,
    limit: usize,
) -> Result<SourceChanges> {
    let account = ctx.accounts.by_id(&place.account).await?;
    let columns = place.of.columns();
    let mut pages: Vec<ChangeFeed<ChangedItem>> = Vec::new();
    let mut mark = place.mark.clone();
    let api = loop {
        let (api, page) = match place.of {
            SourceKind::Mail => {
                let mailbox = ctx.connect.mailbox(&account)?;
                let api = mailbox.api();
                let projection = project(api, &columns);
                let page = mailbox.changes(mark.as_deref(), &projection).await?;
                (api, page.filter_map(|message| Some(ChangedItem::Message(message))))
            }
            SourceKind::Events => {
                let calendars = ctx.connect.calendars(&account)?;
                let api = calendars.api();
                let projection = project(api, &columns);
                let page = calendars.changes(mark.as_deref(), &projection).await?;
                (api, page.filter_map(|event| Some(ChangedItem::Event(Box::new(event)))))
            }
        };
        mark = Some(page.cursor.clone());
        let more = page.more;
        pages.push(page);
        let count: usize = pages.iter().map(count).sum();
        // Enough for one answer or one call; the rest follows with the next cursor.
        if !more || count >= limit || pages.len() >= MAX_PAGES {
            break api;
        }
    };
    Ok(SourceChanges { account, api, of: place.of, pages })
}

/// Returns the number of objects that a page of changes names.
fn count(page: &ChangeFeed<ChangedItem>) -> usize {
    let items = [&page.new, &page.changed, &page.sent, &page.deleted];
    let ids = [&page.gone, &page.gone_drafts];
    let items: usize = items.map(Vec::len).iter().sum();
    items + ids.map(Vec::len).iter().sum::<usize>()
}
