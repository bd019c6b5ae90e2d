//! The lists of `lookup` at Outlook: folders, categories, aliases and settings.

use std::sync::Arc;

use daysheet_core::error::Result;
use daysheet_core::project::Projection;
use daysheet_core::provider::{ListPage, SearchTotal};
use daysheet_core::text::note;
use serde_json::{Value, json};

use super::folders::{self, FolderTree};
use super::mailbox::{OutlookMailbox, count};
use crate::json::text;

/// The maximum number of categories that are read, and of pages; people have a few dozen.
const CATEGORIES: usize = 5_000;
const CATEGORY_PAGES: usize = 100;
/// The maximum number of categories whose messages are counted, 20 per round trip.
const COUNTED: usize = 60;
/// The columns that count a category's messages, each with its additional condition.
const COUNTS: [(&str, &str); 2] = [("total", ""), ("unread", " and isRead eq false")];

impl OutlookMailbox {
    /// Returns the folders, with the counts that the projection reads.
    pub(super) async fn folder_page(&self, projection: &Projection) -> Result<ListPage> {
        let counts: Vec<&str> = projection
            .roots()
            .into_iter()
            .filter(|root| !matches!(*root, "id" | "displayName" | folders::KIND))
            .collect();
        let tree = Arc::new(FolderTree::load(self.graph(), &counts).await?);
        self.keep_tree(tree.clone()).await;
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

    /// Returns the categories, with the counts that the projection reads.
    pub(super) async fn categories(&self, projection: &Projection) -> Result<ListPage> {
        let mut roots = projection.roots();
        let counts: Vec<_> =
            COUNTS.into_iter().filter(|(column, _)| roots.contains(column)).collect();
        roots.retain(|root| COUNTS.iter().all(|(column, _)| column != root));
        if !counts.is_empty() && !roots.contains(&"displayName") {
            roots.push("displayName");
        }
        let select = roots.join(",");
        let request = self.graph().mailbox_url("outlook/masterCategories", &[("$select", &select)]);
        let answer = self.graph().get(&request).await?;
        let (mut items, all) = self.graph().all(answer, CATEGORIES, CATEGORY_PAGES).await?;
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
            self.graph().mailbox_url("messages", &query)
        };
        let requests: Vec<String> = counts
            .iter()
            .flat_map(|(_, condition)| {
                items.iter().take(COUNTED).map(|item| request(item, condition))
            })
            .collect();
        let mut answers = self.graph().batch(&requests).await.into_iter();
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

    /// Returns the addresses to send from.
    pub(super) async fn aliases(&self) -> Result<ListPage> {
        let item = |(address, primary)| json!({"address": address, "primary": primary});
        Ok(whole(self.user_addresses().await?.into_iter().map(item).collect()))
    }

    /// Returns the settings of the mailbox.
    pub(super) async fn settings(&self) -> Result<ListPage> {
        let settings = self.graph().get(&self.graph().mailbox_url("mailboxSettings", &[])).await?;
        Ok(whole(vec![settings]))
    }
}

/// Returns the only page of a list.
fn whole(items: Vec<Value>) -> ListPage {
    ListPage { total: Some(SearchTotal::Exactly(count(items.len()))), items, ..ListPage::default() }
}
