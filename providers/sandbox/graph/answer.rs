//! Answers to requests that read.
//!
//! Each method's answer is put together here from parts built elsewhere. Lists of messages are in
//! `mail/read/list.rs`.

use super::call::{MessagePart, ReadCall};
use super::error::{GraphError, bad_request, unsupported_filter};
use super::exchange::folders;
use super::filter::{FilterCondition, FilterExpression};
use super::mail::categories;
use super::mail::contacts;
use super::mail::read::attachments;
use super::mail::read::list::{self, DEFAULT_TOP};
use super::mail::read::message;
use super::mail::rules;
use super::params::unquote;
use super::people;
use super::request::RequestContext;
use super::response::GraphBody;
use super::types::mail::{CATEGORY, CONTACT, FOLDER, MESSAGE};
use super::user;
use crate::store::mailbox::person::MailboxPerson;

impl RequestContext<'_> {
    /// Builds the body of the answer.
    pub fn handle(&self, call: &ReadCall<'_>) -> Result<GraphBody, GraphError> {
        let (store, options) = (self.store, self.options);
        match call {
            ReadCall::User => {
                options.check_select(&user::USER, "user")?;
                Ok(self.one_user(user::user(store, options)))
            }
            ReadCall::Settings => {
                let settings = user::settings(store, &user::mailbox_zone(self.state, store));
                Ok(self.single(options.cut(settings), "mailboxSettings"))
            }
            ReadCall::Categories => {
                options.check_type(&CATEGORY)?;
                let all = categories::all(store);
                // The whole list is one page unless the client requests fewer rows.
                let rows = all.len().max(1);
                self.list(&all, rows, "outlook/masterCategories", |_, category| {
                    options.cut(category.clone()).into()
                })
            }
            ReadCall::Rules(folder) => rules::list(self, folder),
            ReadCall::Rule(folder, id) => rules::read_rule(self, folder, id),
            ReadCall::Contact(id) => {
                options.check_type(&CONTACT)?;
                let contact = contacts::read_contact(store, id)?;
                Ok(self.single(options.cut(contact), "contacts"))
            }
            ReadCall::Contacts => self.contacts(),
            ReadCall::People => self.people(),
            ReadCall::Folders(parent) => self.folders(*parent),
            ReadCall::Folder(id) => {
                options.check_type(&FOLDER)?;
                let folder = store.folder(id)?;
                Ok(self.single(options.cut(store.folder_json(&folder)), "mailFolders"))
            }
            ReadCall::Messages(folder) => {
                let folder = folder.map(|id| store.folder(id)).transpose()?;
                let list =
                    list::messages(self.request, store, folder.as_ref(), options, self.prefer)?;
                Ok(GraphBody::Json(list))
            }
            ReadCall::Message(id, part) => self.message(id, part),
        }
    }

    fn message(&self, id: &str, part: &MessagePart<'_>) -> Result<GraphBody, GraphError> {
        let (store, options) = (self.store, self.options);
        let message = store.message(id)?;
        match part {
            MessagePart::Itself => {
                options.check_type(&MESSAGE)?;
                let json = message::json(store, message, options, self.prefer)?;
                Ok(self.single(json, "messages"))
            }
            // Graph labels the MIME content `text/plain`, not `message/rfc822`.
            MessagePart::Raw => Ok(GraphBody::Bytes("text/plain", message.raw.to_vec())),
            MessagePart::Attachments => {
                options.check_select(&attachments::PROPERTIES, "attachment")?;
                let all = attachments::list(store, message, options, self.prefer);
                let of = format!("messages('{id}')/attachments");
                self.list(&all, all.len().max(1), &of, |_, row| row.clone())
            }
            MessagePart::Attachment(attachment) => {
                options.check_select(&attachments::PROPERTIES, "attachment")?;
                let found = attachments::read_attachment(store, message, attachment, options)?;
                Ok(self.single(found, &format!("messages('{id}')/attachments")))
            }
            MessagePart::File(attachment) => {
                let bytes = attachments::bytes(store, message, attachment)?;
                Ok(GraphBody::Bytes("application/octet-stream", bytes))
            }
        }
    }

    fn folders(&self, parent: Option<&str>) -> Result<GraphBody, GraphError> {
        let (store, options) = (self.store, self.options);
        options.check_type(&FOLDER)?;
        let parent = parent.map(|id| store.folder(id)).transpose()?;
        let all = store.folders();
        let folders = folders::children(&all, parent.as_ref(), options.hidden);
        self.list(&folders, DEFAULT_TOP, "mailFolders", |_, folder| {
            options.cut(store.folder_json(folder)).into()
        })
    }

    fn contacts(&self) -> Result<GraphBody, GraphError> {
        let (store, options) = (self.store, self.options);
        options.check_type(&CONTACT)?;
        let mut contacts = contacts::all(store);
        match self.filter()? {
            None => {}
            // Graph does not filter contacts by parts of names or addresses.
            Some(FilterExpression::Test(FilterCondition::Member(path, inside, expected)))
                if path == "emailAddresses" && inside == "address" =>
            {
                contacts.retain(|contact| user::has_address(contact, &expected));
            }
            Some(_) => return Err(unsupported_filter()),
        }
        self.list(&contacts, DEFAULT_TOP, "contacts", |_, contact| {
            options.cut(contact.clone()).into()
        })
    }

    fn people(&self) -> Result<GraphBody, GraphError> {
        let (store, options) = (self.store, self.options);
        options.check_select(&people::PERSON, "person")?;
        let search = options.search.map(unquote).transpose();
        let search = search.map_err(bad_request)?;
        let people = store.people().others.iter();
        let people: Vec<&MailboxPerson> = people
            .filter(|person| search.as_ref().is_none_or(|search| person.matches(search)))
            .collect();
        self.list(&people, DEFAULT_TOP, "people", |place, person| {
            options.cut(people::relevant(person, place)).into()
        })
    }
}
