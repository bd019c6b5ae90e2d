//! Gmail's short lists: labels with counts, labels alone, aliases, settings.

use serde_json::json;

use super::{Gmail, LABEL_LISTED, ME, Scope, mask};
use crate::google::client;
use crate::json::text;
use crate::net;
use daysheet_core::error::Result;
use daysheet_core::project::Projection;
use daysheet_core::provider::{Page, Total};

impl Gmail {
    pub(super) async fn folders(&self, projection: &Projection) -> Result<Page> {
        let listed = self.labels().await?;
        let fields = &mask(projection);
        let mut page = self
            .each(listed, LABEL_LISTED, projection, |id| async move {
                let id = &net::path_segment(&id);
                call!(self, fields, |users| users.labels_get(ME, id))
            })
            .await?;
        page.items.sort_by_key(|label| {
            let system = text(label, "type") == "system";
            let inbox = text(label, "id") == "INBOX";
            (!inbox, !system, text(label, "name").to_lowercase())
        });
        let count = page.items.len() + page.failed.len();
        page.total = Some(Total::Exactly(u64::try_from(count).unwrap_or(u64::MAX)));
        Ok(page)
    }

    /// Returns the user's own labels.
    pub(super) async fn categories(&self) -> Result<Page> {
        let mut items = self.labels().await?;
        items.retain(|label| text(label, "type") == "user");
        items.sort_by_key(|label| text(label, "name").to_lowercase());
        Ok(Page { items, ..Page::default() })
    }

    pub(super) async fn aliases(&self) -> Result<Page> {
        let fields = "sendAs(sendAsEmail,displayName,isPrimary)";
        let answer = call!(self, fields, |users| users.settings_send_as_list(ME))?;
        Ok(Page { items: client::items_of(answer, "sendAs")?, ..Page::default() })
    }

    /// Returns the settings that rows show, each under its own key.
    pub(super) async fn settings(&self) -> Result<Page> {
        let vacation = call!(self, "enableAutoReply", |users| users.settings_get_vacation(ME))?;
        let language = call!(self, "displayLanguage", |users| users.settings_get_language(ME))?;
        Ok(Page {
            items: vec![json!({"vacation": vacation, "language": language})],
            ..Page::default()
        })
    }
}
