//! The settings of an Outlook mailbox.
//!
//! A request is checked completely before anything is changed. Folders and categories are in
//! `mail/folders_write.rs`, rules in our words in `rules.rs`, automatic replies in `settings.rs`.

mod contacts;
mod rules;
mod settings;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::mail::{AutoReply, MailRule, MailboxSettings, SettingsChange};
use daysheet_core::text::brief;
use graph_rs_sdk::http::Method;
use serde_json::Value;

use super::folders_write;
use super::mailbox::OutlookMailbox;
use crate::json::text;
use crate::limiter::rehearse;
use crate::microsoft::response::not_ours;
use crate::net;
use crate::written::has_values;

/// The path of the rules.
const RULES: &str = "mailFolders/inbox/messageRules";
/// The maximum number of rules that are read, and of pages.
const MAX_RULES: usize = 1_000;
const PAGES: usize = 20;

#[async_trait]
impl MailboxSettings for OutlookMailbox {
    async fn rules(&self) -> Result<Vec<MailRule>> {
        let rules = self.raw_rules().await?;
        let tree = self.tree().await?;
        Ok(rules.iter().map(|rule| rules::rule(rule, &tree)).collect())
    }

    async fn auto_reply(&self) -> Result<AutoReply> {
        settings::auto_reply(self).await
    }

    async fn rehearse(&self, change: &SettingsChange) -> Result<()> {
        rehearse(self.apply_settings(change)).await
    }

    async fn apply_settings(&self, change: &SettingsChange) -> Result<Option<Value>> {
        match change {
            SettingsChange::CreateFolder { name } => folders_write::create_folder(self, name).await,
            SettingsChange::RenameFolder { id, name } => {
                folders_write::rename_folder(self, id, name).await
            }
            SettingsChange::DeleteFolder { id } => {
                return folders_write::delete_folder(self, id).await.map(|()| None);
            }
            SettingsChange::CreateCategory { name, look } => {
                folders_write::create_category(self, name, look).await
            }
            SettingsChange::UpdateCategory { id, name, look } => {
                folders_write::update_category(self, id, name.as_deref(), look).await
            }
            SettingsChange::DeleteCategory { id } => {
                return folders_write::delete_category(self, id).await.map(|()| None);
            }
            SettingsChange::CreateRule(rule) => self.create_rule(rule).await,
            SettingsChange::UpdateRule(rule) => self.update_rule(rule).await,
            SettingsChange::DeleteRule { id } => return self.delete_rule(id).await.map(|()| None),
            SettingsChange::AutoReply(reply) => settings::set_auto_reply(self, reply).await,
            SettingsChange::Signature { .. } => {
                Err(Error::argument("Microsoft gives no access to Outlook's signatures")
                    .next("change it in Outlook's settings"))
            }
            SettingsChange::Settings { language, time_zone } => {
                settings::set(self, language.as_deref(), time_zone.as_deref()).await
            }
            SettingsChange::CreateContact(card) => contacts::create(self, card).await,
            SettingsChange::UpdateContact { id, card } => contacts::update(self, id, card).await,
            SettingsChange::DeleteContact { id } => {
                return contacts::delete(self, id).await.map(|()| None);
            }
        }
        .map(Some)
    }
}

impl OutlookMailbox {
    /// Returns Graph's rules in the order in which they apply.
    async fn raw_rules(&self) -> Result<Vec<Value>> {
        self.own("rules")?;
        let answer = self.graph().get(&self.graph().mailbox_url(RULES, &[])).await?;
        let (mut rules, whole) = self.graph().all(answer, MAX_RULES, PAGES).await?;
        if !whole {
            return Err(Error::new(
                ErrorKind::Provider(200),
                "the mailbox has too many rules to read",
            )
            .next("see them in Outlook"));
        }
        rules.sort_by_key(sequence);
        Ok(rules)
    }

    async fn create_rule(&self, rule: &MailRule) -> Result<Value> {
        self.own("rules")?;
        let mut body = rules::body(rule, &*self.tree().await?)?;
        let before = self.raw_rules().await?;
        let last = before.iter().map(sequence).max();
        let place = last.unwrap_or(0).saturating_add(1);
        body.entry("displayName").or_insert_with(|| format!("Rule {place}").into());
        body.insert("sequence".to_owned(), place.into());
        // Null clears a part of an existing rule; a new rule has only the given parts.
        body.retain(|_, value| !value.is_null());
        let request = self.graph().mailbox_url(RULES, &[]);
        let body = Value::Object(body);
        let made = async || {
            let is_new = |rule: &Value| {
                let id = text(rule, "id");
                before.iter().all(|old| text(old, "id") != id) && has_values(Some(rule), &body)
            };
            Ok(self.raw_rules().await?.into_iter().find(is_new))
        };
        let made =
            self.graph().write_for_sure(&Method::POST, &request, None, Some(&body), made).await?;
        whole(made.unwrap_or_default())
    }

    async fn update_rule(&self, rule: &MailRule) -> Result<Value> {
        let request = self.rule_at(&rule.id)?;
        let tree = self.tree().await?;
        let now = self.graph().get(&request).await?;
        // The rule may have parts that we cannot express, and a change would lose them.
        if let Some(other) = rules::rule(&now, &tree).other.first() {
            return Err(Error::argument(format!(
                "the rule has parts not supported here: {}",
                brief(other)
            ))
            .next("change it in Outlook"));
        }
        let body = Value::Object(rules::body(rule, &tree)?);
        let written = async || {
            let found = self.graph().there(&request).await?;
            Ok(found.filter(|found| has_values(Some(found), &body)))
        };
        let changed = self
            .graph()
            .write_for_sure(&Method::PATCH, &request, None, Some(&body), written)
            .await?;
        match changed {
            Some(changed) if !text(&changed, "id").is_empty() => Ok(changed),
            _ => whole(self.graph().get(&request).await?),
        }
    }

    async fn delete_rule(&self, id: &str) -> Result<()> {
        let request = self.rule_at(id)?;
        self.graph().delete(&request, None).await
    }

    /// Returns the request for a rule. Ids of rules are shorter than ids of messages.
    fn rule_at(&self, id: &str) -> Result<String> {
        self.own("rules")?;
        let good = (1..=512).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-=+/".contains(&byte));
        if !good {
            return Err(Error::argument("the id is not an Outlook rule's")
                .next("use one from lookup kind=rules"));
        }
        Ok(self.graph().mailbox_url(&format!("{RULES}/{}", net::path_segment(id)), &[]))
    }
}

fn sequence(rule: &Value) -> i64 {
    rule.get("sequence").and_then(Value::as_i64).unwrap_or(0)
}

fn whole(rule: Value) -> Result<Value> {
    match text(&rule, "id") {
        "" => Err(not_ours("rule")),
        _ => Ok(rule),
    }
}
