//! The lists of `lookup` at Gmail: labels with their counts, aliases and settings.

use std::collections::HashMap;

use daysheet_core::error::Result;
use daysheet_core::project::Projection;
use daysheet_core::provider::{ListPage, PeopleQuery, SearchTotal, no_list};
use daysheet_core::schemas::Table;
use futures_util::future::join;
use serde_json::{Value, json};

use super::fetch::{LABEL_LISTED, mask};
use super::labels::{name_in_rows, place_of};
use super::mailbox::{GmailMailbox, ME, call};
use crate::google::{client, people};
use crate::json::text;
use crate::net;

impl GmailMailbox {
    /// Returns a table's rows, as [`Mailbox::lookup`](daysheet_core::provider::Mailbox::lookup).
    pub(super) async fn list(
        &self,
        table: &Table,
        people: &PeopleQuery,
        projection: &Projection,
    ) -> Result<ListPage> {
        match table.name {
            "folder" => self.folders(projection).await,
            "category" => self.categories(projection).await,
            "alias" => self.aliases().await,
            "setting" => self.settings().await,
            "contact" => people::find(&self.google, &self.people, people, &self.people_warm).await,
            _ => Err(no_list(table)),
        }
    }

    async fn folders(&self, projection: &Projection) -> Result<ListPage> {
        let (listed, known) = join(self.labels(), self.known_counts(projection)).await;
        let mut listed = listed?;
        // Gmail's other system labels are flags and categories, not folders.
        listed.retain(|label| text(label, "type") == "user" || place_of(label).is_some());
        let mut page = self.labels_of(listed, known, projection).await?;
        for label in &mut page.items {
            if let Some(name) = place_of(label) {
                rename(label, name);
            }
        }
        page.items.sort_by_key(|label| {
            let system = text(label, "type") == "system";
            let inbox = text(label, "id") == "INBOX";
            (!inbox, !system, text(label, "name").to_lowercase())
        });
        let count = page.items.len() + page.failed.len();
        page.total = Some(SearchTotal::Exactly(u64::try_from(count).unwrap_or(u64::MAX)));
        Ok(page)
    }

    /// Returns the user's labels, and Gmail's categories as messages show them.
    pub(super) async fn categories(&self, projection: &Projection) -> Result<ListPage> {
        let (listed, known) = join(self.labels(), self.known_counts(projection)).await;
        let mut listed = listed?;
        listed.retain(|label| name_in_rows(label).is_some());
        let mut page = self.labels_of(listed.clone(), known, projection).await?;
        // A label that could not be counted still has a name.
        for failed in std::mem::take(&mut page.failed) {
            page.items.extend(listed.iter().find(|label| text(label, "id") == failed.id).cloned());
        }
        for label in &mut page.items {
            if let Some((_, name)) = name_in_rows(label) {
                rename(label, &name);
            }
        }
        page.items.sort_by_key(|label| text(label, "name").to_lowercase());
        Ok(page)
    }

    /// Returns listed labels with the fields of the projection. Labels in `known` are not requested
    /// again.
    async fn labels_of(
        &self,
        listed: Vec<Value>,
        mut known: HashMap<String, Value>,
        projection: &Projection,
    ) -> Result<ListPage> {
        // The id and the type determine a label's name in rows.
        let mut fields = mask(projection);
        for field in ["id", "type"] {
            if !fields.split(',').any(|known| known == field) {
                fields = format!("{fields},{field}");
            }
        }
        let fields = &fields;
        // A label may have been renamed since it was counted.
        known.retain(|id, label| {
            let same =
                |one: &&Value| text(one, "id") == id && text(one, "name") == text(label, "name");
            listed.iter().any(|one| same(&one))
        });
        let (counted, open): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|label| known.contains_key(text(label, "id")));
        let page = self.each(open, LABEL_LISTED, projection, |id| async move {
            let id = &net::path_segment(&id);
            call!(self, fields, |users| users.labels_get(ME, id))
        });
        let mut page = page.await?;
        self.keep_counts(projection, &page.items).await;
        page.items.extend(counted.iter().filter_map(|label| known.remove(text(label, "id"))));
        Ok(page)
    }

    pub(super) async fn aliases(&self) -> Result<ListPage> {
        let fields = "sendAs(sendAsEmail,displayName,isPrimary)";
        let answer = call!(self, fields, |users| users.settings_send_as_list(ME))?;
        Ok(ListPage { items: client::items_of(answer, "sendAs")?, ..ListPage::default() })
    }

    /// Returns the primary address to send from, or an empty text.
    pub(super) async fn primary_address(&self) -> Result<String> {
        let aliases = self.aliases().await?;
        Ok(aliases
            .items
            .iter()
            .find(|alias| alias.get("isPrimary") == Some(&Value::Bool(true)))
            .map(|alias| text(alias, "sendAsEmail").to_owned())
            .unwrap_or_default())
    }

    /// Returns the settings that rows show, each under a key of its own.
    pub(super) async fn settings(&self) -> Result<ListPage> {
        let vacation = async {
            let fields = "enableAutoReply,startTime,endTime";
            call!(self, fields, |users| users.settings_get_vacation(ME))
        };
        let language =
            async { call!(self, "displayLanguage", |users| users.settings_get_language(ME)) };
        let (vacation, language) = join(vacation, language).await;
        let mut vacation = vacation?;
        let is_on = vacation.get("enableAutoReply") == Some(&true.into());
        if let Some(members) = vacation.as_object_mut() {
            // Gmail returns 0 for an unset time, and keeps the times of a reply that is off.
            members.retain(|key, value| key == "enableAutoReply" || is_on && value != "0");
        }
        Ok(ListPage {
            items: vec![json!({"vacation": vacation, "language": language?})],
            ..ListPage::default()
        })
    }
}

/// Sets the name that messages show for a label.
fn rename(label: &mut Value, name: &str) {
    if let Some(label) = label.as_object_mut() {
        label.insert("name".to_owned(), name.into());
    }
}
