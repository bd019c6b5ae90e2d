//! Answers to requests that read mail or the owner's data.
//!
//! Each is put together here from parts built elsewhere. Lists of messages are in
//! `mail/read/list.rs`, rules in `mail/rules.rs`.

use super::error::{GraphError, bad_request, unsupported_filter};
use super::exchange::folders;
use super::filter::{FilterCondition, FilterExpression};
use super::mail::categories;
use super::mail::contacts::{self, read_contact};
use super::mail::read::attachments::{self, read_attachment};
use super::mail::read::list::DEFAULT_TOP;
use super::mail::read::message;
use super::params::unquote;
use super::people;
use super::request::RequestContext;
use super::response::GraphBody;
use super::types::mail::{CATEGORY, CONTACT, FOLDER, MESSAGE};
use super::user;
use crate::store::mailbox::person::MailboxPerson;

/// An answer, or a refusal.
type Answer = Result<GraphBody, GraphError>;

/// Answers with the owner's settings.
pub(super) fn settings(context: &RequestContext<'_>) -> Answer {
    let zone = user::mailbox_zone(context.state, context.store);
    let settings = user::settings(context.store, &zone);
    Ok(context.single(context.options.cut(settings), "mailboxSettings"))
}

/// Answers with the categories.
pub(super) fn categories(context: &RequestContext<'_>) -> Answer {
    context.options.check_type(&CATEGORY)?;
    let all = categories::all(context.store);
    // The whole list is one page unless the client requests fewer rows.
    context.list(&all, all.len().max(1), "outlook/masterCategories", |_, category| {
        context.options.cut(category.clone()).into()
    })
}

/// Answers with a contact.
pub(super) fn contact(context: &RequestContext<'_>, id: &str) -> Answer {
    context.options.check_type(&CONTACT)?;
    let contact = read_contact(context.store, id)?;
    Ok(context.single(context.options.cut(contact), "contacts"))
}

/// Answers with the contacts.
pub(super) fn contacts(context: &RequestContext<'_>) -> Answer {
    context.options.check_type(&CONTACT)?;
    let mut contacts = contacts::all(context.store);
    match context.filter()? {
        None => {}
        // Graph does not filter contacts by parts of names or addresses.
        Some(FilterExpression::Test(FilterCondition::Member(path, inside, expected)))
            if path == "emailAddresses" && inside == "address" =>
        {
            contacts.retain(|contact| user::has_address(contact, &expected));
        }
        Some(_) => return Err(unsupported_filter()),
    }
    context.list(&contacts, DEFAULT_TOP, "contacts", |_, contact| {
        context.options.cut(contact.clone()).into()
    })
}

/// Answers with the people whom the owner writes with.
pub(super) fn people(context: &RequestContext<'_>) -> Answer {
    context.options.check_select(&people::PERSON, "person")?;
    let search = context.options.search.map(unquote).transpose().map_err(bad_request)?;
    let people = context.store.people().others.iter();
    let people: Vec<&MailboxPerson> = people
        .filter(|person| search.as_ref().is_none_or(|search| person.matches(search)))
        .collect();
    context.list(&people, DEFAULT_TOP, "people", |place, person| {
        context.options.cut(people::relevant(person, place)).into()
    })
}

/// Answers with a folder.
pub(super) fn folder(context: &RequestContext<'_>, id: &str) -> Answer {
    context.options.check_type(&FOLDER)?;
    let folder = context.store.folder(id)?;
    let members = context.options.cut(context.store.folder_json(&folder));
    Ok(context.single(members, "mailFolders"))
}

/// Answers with the folders inside a folder, or inside the root.
pub(super) fn folders(context: &RequestContext<'_>, parent: Option<&str>) -> Answer {
    let (store, options) = (context.store, context.options);
    options.check_type(&FOLDER)?;
    let parent = parent.map(|id| store.folder(id)).transpose()?;
    let folders = folders::children(&store.folders(), parent.as_ref(), options.hidden);
    context.list(&folders, DEFAULT_TOP, "mailFolders", |_, folder| {
        options.cut(store.folder_json(folder)).into()
    })
}

/// Answers with a message.
pub(super) fn message(context: &RequestContext<'_>, id: &str) -> Answer {
    let message = context.store.message(id)?;
    context.options.check_type(&MESSAGE)?;
    let json = message::json(context.store, message, context.options, context.prefer);
    Ok(context.single(json, "messages"))
}

/// Answers with a message as MIME.
pub(super) fn raw_message(context: &RequestContext<'_>, id: &str) -> Answer {
    let message = context.store.message(id)?;
    // Graph labels the MIME content `text/plain`, not `message/rfc822`.
    Ok(GraphBody::Bytes("text/plain", message.raw.to_vec()))
}

/// Answers with the attachments of a message.
pub(super) fn attachments(context: &RequestContext<'_>, id: &str) -> Answer {
    let message = context.store.message(id)?;
    context.options.check_select(&attachments::PROPERTIES, "attachment")?;
    let all = attachments::list(context.store, message, context.options, context.prefer);
    let of = format!("messages('{id}')/attachments");
    context.list(&all, all.len().max(1), &of, |_, row| row.clone())
}

/// Answers with an attachment of a message.
pub(super) fn attachment(context: &RequestContext<'_>, id: &str, attachment: &str) -> Answer {
    let message = context.store.message(id)?;
    context.options.check_select(&attachments::PROPERTIES, "attachment")?;
    let found = read_attachment(context.store, message, attachment, context.options)?;
    Ok(context.single(found, &format!("messages('{id}')/attachments")))
}

/// Answers with the content of an attachment.
pub(super) fn file(context: &RequestContext<'_>, id: &str, attachment: &str) -> Answer {
    let bytes = attachments::bytes(context.store, context.store.message(id)?, attachment)?;
    Ok(GraphBody::Bytes("application/octet-stream", bytes))
}
