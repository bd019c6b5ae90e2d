//! Writes of Outlook's saved contacts.
//!
//! They belong to the person who signed in, even if the mailbox belongs to someone else, so they
//! cannot be written through a shared mailbox. `microsoft/people.rs` reads them.

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::mail::ContactCard;
use graph_rs_sdk::http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::json::text;
use crate::microsoft::client::request;
use crate::microsoft::ids::check_as;
use crate::microsoft::mail::mailbox::OutlookMailbox;
use crate::microsoft::response::not_ours;
use crate::net;
use crate::written::has_values;

/// The page size, and the maximum number of pages, for looking up a new contact.
const TOP: &str = "1000";
const PAGES: usize = 20;
/// The maximum lag of the service's clock behind ours.
const BEHIND: SignedDuration = SignedDuration::from_secs(2);

/// The properties that the table `contact` reads.
const CONTACT: &str = "id,displayName,emailAddresses,companyName,jobTitle,mobilePhone";

/// Saves a contact, and returns it as the table `contact` reads it.
pub async fn create(outlook: &OutlookMailbox, card: &ContactCard) -> Result<Value> {
    outlook.own("contacts")?;
    if card.name.is_none() && card.emails.as_ref().is_none_or(Vec::is_empty) {
        return Err(Error::argument("a contact needs a name or an address")
            .next("give its name or its e-mail addresses"));
    }
    let body = properties(card);
    let since = outlook.graph().now();
    let made = async || {
        let select = format!("{CONTACT},businessPhones,createdDateTime");
        let query = [("$select", select.as_str()), ("$top", TOP)];
        let answer = outlook.graph().get(&request("me/contacts", &query)).await?;
        let (all, _) = outlook.graph().all(answer, usize::MAX, PAGES).await?;
        // A contact gets no id of ours, so a lost creation is recognized by time and content.
        let is_new = |one: &Value| {
            let made = text(one, "createdDateTime").parse::<Timestamp>();
            made.is_ok_and(|made| made + BEHIND >= since) && has_values(Some(one), &body)
        };
        Ok(all.into_iter().find(is_new))
    };
    let made =
        outlook.graph().write_for_sure(&Method::POST, "me/contacts", None, Some(&body), made);
    whole(made.await?.unwrap_or_default())
}

/// Changes the given fields of a contact; returns it as the table `contact` reads it.
pub async fn update(outlook: &OutlookMailbox, id: &str, card: &ContactCard) -> Result<Value> {
    outlook.own("contacts")?;
    let path = at(id)?;
    let body = properties(card);
    if body.as_object().is_some_and(Map::is_empty) {
        return Err(Error::argument("there is nothing to change").next("give a new value"));
    }
    let written = async || {
        let found = outlook.graph().there(&path).await?;
        Ok(found.filter(|found| has_values(Some(found), &body)))
    };
    let changed = outlook.graph().write_for_sure(&Method::PATCH, &path, None, Some(&body), written);
    match changed.await? {
        Some(contact) if !text(&contact, "id").is_empty() => Ok(contact),
        _ => {
            let read = request(&path, &[("$select", CONTACT)]);
            whole(outlook.graph().get(&read).await?)
        }
    }
}

/// Deletes a contact, which moves it to Deleted Items.
pub async fn delete(outlook: &OutlookMailbox, id: &str) -> Result<()> {
    outlook.own("contacts")?;
    let path = at(id)?;
    outlook.graph().delete(&path, None).await
}

fn at(id: &str) -> Result<String> {
    check_as(id, "one from lookup kind=contacts")?;
    Ok(format!("me/contacts/{}", net::path_segment(id)))
}

fn whole(contact: Value) -> Result<Value> {
    match text(&contact, "id") {
        "" => Err(not_ours("contact")),
        _ => Ok(contact),
    }
}

/// Returns the given fields of a contact. The first phone number becomes the mobile number, which
/// the table shows; the others become business numbers.
fn properties(card: &ContactCard) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    if let Some(name) = &card.name {
        put("displayName", name.as_str().into());
    }
    if let Some(emails) = &card.emails {
        let name = |address: &str| card.name.clone().unwrap_or_else(|| address.to_owned());
        let list = emails.iter().map(|address| json!({"address": address, "name": name(address)}));
        put("emailAddresses", list.collect());
    }
    if let Some(phones) = &card.phones {
        let first = phones.first().map(String::as_str);
        put("mobilePhone", first.map_or(Value::Null, Value::from));
        put("businessPhones", phones.iter().skip(1).cloned().collect());
    }
    if let Some(company) = &card.company {
        put("companyName", company.as_str().into());
    }
    if let Some(title) = &card.title {
        put("jobTitle", title.as_str().into());
    }
    body.into()
}
