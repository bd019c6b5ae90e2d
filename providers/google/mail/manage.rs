//! Settings of a Gmail mailbox: filters, the automatic reply, labels, signatures, the language, and
//! contacts.

mod contacts;
mod filters;

use std::collections::BTreeSet;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{
    AutoReply, FolderKind, LabelLook, MailRule, MailboxSettings, ReplyAudience, RuleStep,
    SettingsChange,
};
use daysheet_core::text::brief;
use filters::{criteria, rule};
use hyper::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::fetch::list;
use super::mailbox::GmailMailbox;
use super::messages::as_html;
use super::requests::check;
use crate::google::client;
use crate::json::text;
use crate::limiter::rehearse;
use crate::written::has_values;

const FILTERS: [&str; 2] = ["settings", "filters"];
const VACATION: [&str; 2] = ["settings", "vacation"];

#[async_trait]
impl MailboxSettings for GmailMailbox {
    async fn rules(&self) -> Result<Vec<MailRule>> {
        let answer = self.get(&FILTERS, &[]).await?;
        let names = self.label_names().await?;
        let filters = list(&answer, "filter");
        Ok(filters.iter().map(|filter| rule(filter, &names)).collect())
    }

    async fn auto_reply(&self) -> Result<AutoReply> {
        Ok(reply(&self.get(&VACATION, &[]).await?))
    }

    async fn rehearse(&self, change: &SettingsChange) -> Result<()> {
        rehearse(self.apply_settings(change)).await
    }

    async fn apply_settings(&self, change: &SettingsChange) -> Result<Option<Value>> {
        match change {
            SettingsChange::CreateFolder { name } => {
                self.new_label(name, &LabelLook::default()).await.map(Some)
            }
            SettingsChange::CreateCategory { name, look } => {
                self.new_label(name, look).await.map(Some)
            }
            SettingsChange::RenameFolder { id, name } => {
                self.change_label(id, Some(name), &LabelLook::default()).await.map(Some)
            }
            SettingsChange::UpdateCategory { id, name, look } => {
                self.change_label(id, name.as_deref(), look).await.map(Some)
            }
            SettingsChange::DeleteFolder { id } | SettingsChange::DeleteCategory { id } => {
                self.delete_label(id).await.map(|()| None)
            }
            SettingsChange::CreateRule(rule) => self.new_filter(rule).await.map(Some),
            SettingsChange::UpdateRule(rule) => self.replace_filter(rule).await.map(Some),
            SettingsChange::DeleteRule { id } => self.delete_filter(id).await.map(|()| None),
            SettingsChange::AutoReply(reply) => self.answer_by_itself(reply).await,
            SettingsChange::Signature { address, html } => {
                self.sign(address.as_ref(), html).await.map(Some)
            }
            SettingsChange::Settings { language, time_zone } => {
                self.speak(language.as_deref(), time_zone.as_deref()).await
            }
            SettingsChange::CreateContact(card) => self.new_contact(card).await.map(Some),
            SettingsChange::UpdateContact { id, card } => {
                self.change_contact(id, card).await.map(Some)
            }
            SettingsChange::DeleteContact { id } => self.delete_contact(id).await.map(|()| None),
        }
    }
}

impl GmailMailbox {
    async fn new_label(&self, name: &str, look: &LabelLook) -> Result<Value> {
        let name = name.trim().trim_matches('/');
        let labels = self.labels().await?;
        let there =
            labels.iter().any(|label| text(label, "name").to_lowercase() == name.to_lowercase());
        if there {
            return Err(Error::argument(format!("a label `{}` already exists", brief(name)))
                .next("use it, or choose another name"));
        }
        let made = self.make_label(name, look).await?;
        // The response to a creation has fewer properties than the label itself.
        self.label(&text(&made, "id").into()).await.or(Ok(made))
    }

    async fn new_filter(&self, rule: &MailRule) -> Result<Value> {
        let filter = self.filter_of(rule).await?;
        self.add_filter(&filter).await
    }

    async fn add_filter(&self, filter: &Value) -> Result<Value> {
        // Gmail refuses a second filter that is equal, so an equal one is ours.
        let made = async || {
            let answer = self.get(&FILTERS, &[]).await?;
            let same = |other: &Value| has_values(Some(other), filter);
            Ok(list(&answer, "filter").into_iter().find(same))
        };
        let done = self.change_for_sure(Method::POST, &FILTERS, Some(filter), made);
        done.await.map_err(|error| {
            let known =
                error.kind() == ErrorKind::Provider(400) && error.message().contains("exists");
            if known {
                Error::argument("Gmail already has this rule").next("see lookup kind=rules")
            } else {
                error
            }
        })
    }

    /// Creates the changed filter and deletes the old one, because Gmail cannot change filters.
    async fn replace_filter(&self, requested: &MailRule) -> Result<Value> {
        check(&requested.id)?;
        let old = self.get(&["settings", "filters", &requested.id], &[]).await?;
        let now = rule(&old, &self.label_names().await?);
        let sends_on = now.then.iter().any(|step| matches!(step, RuleStep::Forward(_)));
        if sends_on || !now.other.is_empty() {
            return Err(Error::argument(
                "the rule has parts not supported here, and was left as it is",
            )
            .next("change it in Gmail's settings"));
        }
        let filter = self.filter_of(requested).await?;
        let same = ["criteria", "action"].iter().all(|key| old.get(*key) == filter.get(*key));
        if same {
            return Ok(old);
        }
        // Created first, so that a failure leaves one filter, never none.
        let made = self.add_filter(&filter).await?;
        let error = match self.delete_filter(&requested.id).await {
            Ok(()) => return Ok(made),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(made),
            Err(error) => error,
        };
        if error.is_open() {
            // The deletion may still take effect, and deleting the new filter would leave none.
            return Err(
                error.context("the new rule was created, and the old one may still be active")
            );
        }
        // Otherwise both would be active; the old one is kept.
        match self.delete_filter(text(&made, "id")).await {
            Ok(()) => Err(error.context("the old rule could not be deleted, and stays")),
            Err(back) => Err(Error::new(
                ErrorKind::Network,
                format!(
                    "the new rule was created, but the old one could not be deleted ({}), nor \
                     perhaps the new one removed ({})",
                    error.message(),
                    back.message()
                ),
            )),
        }
    }

    async fn delete_filter(&self, id: &str) -> Result<()> {
        check(id)?;
        let path = ["settings", "filters", id];
        let was_deleted = || self.confirm_absent(&path);
        let done = self.change_for_sure(Method::DELETE, &path, None, was_deleted);
        done.await.map(drop)
    }

    /// Converts a rule to a filter, and refuses parts that Gmail cannot express.
    async fn filter_of(&self, rule: &MailRule) -> Result<Value> {
        let refuse = |what: &str, next: &str| Err(Error::argument(what).next(next));
        if rule.name.is_some() {
            return refuse("Gmail's rules have no names", "leave out the name");
        }
        if !rule.enabled {
            return refuse(
                "Gmail's rules cannot be switched off",
                "delete the rule, and create it again later",
            );
        }
        if rule.stop {
            return refuse("Gmail applies every matching rule", "leave out stop");
        }
        if !rule.other.is_empty() {
            return refuse(
                "the rule has parts not supported here",
                "create it in Gmail's settings",
            );
        }
        let Some(when) = &rule.when else {
            return refuse("the rule has no condition", "give one, such as from:news@example.com");
        };
        let criteria = criteria(when)?;
        let (mut add, mut remove) = (BTreeSet::new(), BTreeSet::new());
        let own = str::to_owned;
        for step in &rule.then {
            match step {
                RuleStep::Read => drop(remove.insert(own("UNREAD"))),
                RuleStep::Star => drop(add.insert(own("STARRED"))),
                RuleStep::Archive => drop(remove.insert(own("INBOX"))),
                RuleStep::Trash => drop(add.insert(own("TRASH"))),
                RuleStep::NeverSpam => drop(remove.insert(own("SPAM"))),
                RuleStep::Important => drop(add.insert(own("IMPORTANT"))),
                RuleStep::Label(name) | RuleStep::Move(name) => {
                    let place = self.find_label(name, FolderKind::Label, false).await?;
                    let moves = matches!(step, RuleStep::Move(_));
                    match place.id.as_str() {
                        "" if moves => {}
                        "TRASH" if moves => drop(add.insert(own("TRASH"))),
                        "" | "TRASH" | "INBOX" | "SPAM" | "SENT" | "DRAFT" | "UNREAD" => {
                            return refuse(
                                "a Gmail rule cannot put mail there",
                                "name a user label",
                            );
                        }
                        id => drop(add.insert(own(id))),
                    }
                    if moves {
                        remove.insert(own("INBOX"));
                    }
                }
                RuleStep::Forward(_) => {
                    return refuse(
                        "forwarding rules are not created here",
                        "create it in Gmail's settings, where the address is verified",
                    );
                }
            }
        }
        if add.is_empty() && remove.is_empty() {
            return refuse("the rule has no action", "give one, such as archive");
        }
        let mut action = json!({});
        for (key, labels) in [("addLabelIds", add), ("removeLabelIds", remove)] {
            if let (false, Some(action)) = (labels.is_empty(), action.as_object_mut()) {
                action.insert(key.to_owned(), json!(labels));
            }
        }
        Ok(json!({ "criteria": criteria, "action": action }))
    }

    async fn answer_by_itself(&self, requested: &AutoReply) -> Result<Option<Value>> {
        if let (Some(from), Some(to)) = (requested.from, requested.to)
            && from >= to
        {
            return Err(Error::argument("the automatic reply ends before it starts")
                .next("give an end after the start"));
        }
        let now = self.get(&VACATION, &[]).await?;
        let body = vacation(requested, &now);
        let says = |key: &str| !text(&body, key).trim().is_empty();
        if requested.on
            && !["responseSubject", "responseBodyHtml", "responseBodyPlainText"]
                .iter()
                .any(|key| says(key))
        {
            return Err(
                Error::argument("the automatic reply has no text").next("give a text or a subject")
            );
        }
        // Gmail may clean the text: any text that differs from the previous one counts as ours.
        let cleaned = |found: &Value| {
            let key = "responseBodyHtml";
            text(&body, key) == text(&now, key) || text(found, key) != text(&now, key)
        };
        let rest = without(&body, "responseBodyHtml");
        let put = async || {
            let found = self.get(&VACATION, &[]).await?;
            let is_ours = has_values(Some(&found), &rest) && cleaned(&found);
            Ok(Some(found).filter(|_| is_ours))
        };
        self.change_for_sure(Method::PUT, &VACATION, Some(&body), put).await?;
        self.settings_now().await
    }

    /// Returns the settings as one object, in the form that a lookup shows.
    async fn settings_now(&self) -> Result<Option<Value>> {
        Ok(self.settings().await?.items.pop())
    }

    async fn sign(&self, address: Option<&EmailAddress>, html: &str) -> Result<Value> {
        let aliases = self.aliases_for_signing().await?;
        let is = |alias: &Value, key: &str| alias.get(key) == Some(&Value::Bool(true));
        let found = aliases.iter().find(|alias| match address {
            Some(address) => {
                text(alias, "sendAsEmail").eq_ignore_ascii_case(address.as_str().trim())
            }
            None => is(alias, "isDefault"),
        });
        let Some(alias) = found else {
            return Err(Error::new(
                ErrorKind::NotFound,
                "the account cannot send from that address",
            )
            .next("lookup kind=aliases lists its addresses"));
        };
        if !is(alias, "isPrimary") {
            return Err(Error::argument(
                "Gmail lets programs change only the main address's signature",
            )
            .next("change the others in Gmail's settings"));
        }
        let path = ["settings", "sendAs", text(alias, "sendAsEmail")];
        let body = json!({ "signature": html });
        let signed = async || {
            let found = self.get(&path, &[]).await?;
            // Gmail may clean the text: any change counts as ours.
            let new = text(&found, "signature");
            let is_ours = new == html || new != text(alias, "signature");
            Ok(Some(found).filter(|_| is_ours))
        };
        let done = self.change_for_sure(Method::PATCH, &path, Some(&body), signed).await;
        // The cached senders have the old signature.
        *self.senders.lock().await = None;
        done
    }

    async fn aliases_for_signing(&self) -> Result<Vec<Value>> {
        let fields = "sendAs(sendAsEmail,displayName,isPrimary,isDefault,signature)";
        let answer = self.get(&["settings", "sendAs"], &[("fields", fields)]).await?;
        client::items_of(answer, "sendAs")
    }

    async fn speak(&self, language: Option<&str>, zone: Option<&str>) -> Result<Option<Value>> {
        if zone.is_some() {
            return Err(Error::argument("a Gmail mailbox has no time zone")
                .next("leave out time_zone; calendars have one each"));
        }
        let Some(tag) = language.map(str::trim) else {
            return Err(Error::argument("there is nothing to change").next("give a language"));
        };
        let fits = (2..=35).contains(&tag.len())
            && tag.split('-').all(|part| {
                (1..=8).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_alphanumeric())
            });
        if !fits {
            return Err(Error::argument(format!("`{}` is not a language tag", brief(tag)))
                .next("give a BCP 47 tag, such as en-GB or de"));
        }
        let body = json!({ "displayLanguage": tag });
        let path = ["settings", "language"];
        let set = async || {
            let found = self.get(&path, &[]).await?;
            let is_ours = has_values(Some(&found), &body);
            Ok(Some(found).filter(|_| is_ours))
        };
        self.change_for_sure(Method::PUT, &path, Some(&body), set).await?;
        self.settings_now().await
    }
}

/// Returns an object without one of its members.
fn without(object: &Value, key: &str) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove(key);
    }
    object
}

/// Reads the automatic reply from Gmail's settings.
fn reply(vacation: &Value) -> AutoReply {
    let some = |key: &str| Some(text(vacation, key).to_owned()).filter(|text| !text.is_empty());
    let is = |key: &str| vacation.get(key) == Some(&Value::Bool(true));
    let time = |key: &str| {
        // Gmail returns 0 for an unset time.
        let millis = text(vacation, key).parse().ok().filter(|ms| *ms != 0)?;
        Timestamp::from_millisecond(millis).ok()
    };
    AutoReply {
        on: is("enableAutoReply"),
        from: time("startTime"),
        to: time("endTime"),
        subject: some("responseSubject"),
        html: some("responseBodyHtml")
            .or_else(|| some("responseBodyPlainText").map(|plain| as_html(&plain))),
        external: None,
        audience: Some(match (is("restrictToDomain"), is("restrictToContacts")) {
            (true, _) => ReplyAudience::Organization,
            (false, true) => ReplyAudience::Contacts,
            (false, false) => ReplyAudience::All,
        }),
    }
}

/// Returns the settings of the automatic reply. Text and audience stay unless given; times that are
/// not given are removed.
fn vacation(requested: &AutoReply, now: &Value) -> Value {
    let audience = requested.audience.or(reply(now).audience);
    let mut body = json!({
        "enableAutoReply": requested.on,
        "responseSubject": requested.subject.as_deref().unwrap_or(text(now, "responseSubject")),
        "restrictToContacts": audience == Some(ReplyAudience::Contacts),
        "restrictToDomain": audience == Some(ReplyAudience::Organization),
    });
    let mut set = |key: &str, value: Value| {
        if let Some(body) = body.as_object_mut() {
            body.insert(key.to_owned(), value);
        }
    };
    match &requested.html {
        Some(html) => set("responseBodyHtml", html.as_str().into()),
        None => {
            for key in ["responseBodyHtml", "responseBodyPlainText"] {
                if !text(now, key).is_empty() {
                    set(key, text(now, key).into());
                }
            }
        }
    }
    for (key, time) in [("startTime", requested.from), ("endTime", requested.to)] {
        if let Some(time) = time {
            set(key, time.as_millisecond().to_string().into());
        }
    }
    body
}
