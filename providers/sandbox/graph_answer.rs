//! Graph's answers to requests that were let in.
//!
//! Each method's answer is put together here; what it is made of is known
//! elsewhere. Lists of messages have a file of their own, `graph_list.rs`.

use serde_json::{Map, Value};

use super::contacts::Person;
use super::graph::{self, Body, Call, Part};
use super::graph_attachments;
use super::graph_calendar_places;
use super::graph_categories;
use super::graph_contacts;
use super::graph_error::{Refusal, bad_request, invalid_filter, not_found};
use super::graph_filter;
use super::graph_folders;
use super::graph_json;
use super::graph_list::{self, DEFAULT_TOP, meets_texts};
use super::graph_pages;
use super::graph_params::{Options, Prefer, unquoted};
use super::graph_people;
use super::graph_rules;
use super::graph_store::Store;
use super::graph_user;
use super::http::Request;
use super::state::State;

/// A request that was let in.
pub(super) struct Asked<'a> {
    /// All there is.
    pub state: &'a State,
    /// The request, for what an answer repeats of it.
    pub request: &'a Request,
    /// The mailbox.
    pub store: Store<'a>,
    /// Its options.
    pub options: &'a Options<'a>,
    /// Its preferences.
    pub prefer: &'a Prefer,
    /// The age of pages.
    pub epoch: u64,
}

impl Asked<'_> {
    /// Makes the answer's body; `folder` is the one a message is looked for in.
    pub fn carry_out(&self, call: &Call<'_>, folder: Option<&str>) -> Result<Body, Refusal> {
        let (store, options) = (self.store, self.options);
        match call {
            Call::User => {
                options.check_select(&graph_user::USER, "user")?;
                Ok(self.user(graph_user::user(store, options)))
            }
            Call::Settings(name) => self.settings(*name, &graph::mailbox_zone(self.state, store)),
            Call::Zones(segment) => graph_calendar_places::zones(self, segment),
            Call::Categories => {
                options.check_select(&graph_categories::PROPERTIES, "outlookCategory")?;
                let all = graph_categories::all(store);
                // The whole list is one page, unless the client wants less.
                let rows = all.len().max(1);
                self.list(&all, rows, "outlook/masterCategories", |_, category| {
                    options.cut(category.clone()).into()
                })
            }
            Call::Category(id) => {
                options.check_select(&graph_categories::PROPERTIES, "outlookCategory")?;
                let category = graph_categories::one(store, id)?;
                Ok(self.single(options.cut(category), "outlook/masterCategories"))
            }
            Call::Rules(folder) => graph_rules::list(self, folder),
            Call::Rule(folder, id) => graph_rules::one(self, folder, id),
            Call::Contact(id) => {
                options.check_select(&graph_people::CONTACT, "contact")?;
                let contact = graph_contacts::one(store, id)?;
                Ok(self.single(options.cut(contact), "contacts"))
            }
            Call::Contacts => self.contacts(),
            Call::People => self.people(),
            Call::Folders(parent) => self.folders(*parent),
            Call::Folder(id) => {
                options.check_select(&graph_folders::PROPERTIES, "mailFolder")?;
                let folder = store.folder(id)?;
                Ok(self.single(options.cut(graph_folders::json(store, &folder)), "mailFolders"))
            }
            Call::Messages(folder) => {
                let folder = folder.map(|id| store.folder(id)).transpose()?;
                let list = graph_list::messages(
                    self.request,
                    store,
                    folder.as_ref(),
                    options,
                    self.prefer,
                    self.epoch,
                )?;
                Ok(Body::Json(list))
            }
            Call::Message(id, part) => self.message(id, part, folder),
        }
    }

    /// The settings of the mailbox, or one of them by itself.
    fn settings(&self, name: Option<&str>, zone: &str) -> Result<Body, Refusal> {
        let mut settings = graph_user::settings(self.store, zone);
        let Some(name) = name else {
            return Ok(self.single(self.options.cut(settings), "mailboxSettings"));
        };
        let of = format!("mailboxSettings/{name}");
        let address = &self.store.mailbox.address;
        let context = graph_pages::context(self.request, address, &of, self.options, false);
        Ok(match settings.remove(name) {
            Some(Value::Object(members)) => with_context(context, members),
            value => Body::Json(serde_json::json!({ "@odata.context": context, "value": value })),
        })
    }

    fn message(&self, id: &str, part: &Part<'_>, folder: Option<&str>) -> Result<Body, Refusal> {
        let (store, options) = (self.store, self.options);
        let folder = folder.map(|id| store.folder(id)).transpose()?;
        let letter = store.letter(id)?;
        if folder.is_some_and(|folder| folder.number != graph_folders::number_of(letter)) {
            return Err(not_found());
        }
        match part {
            Part::Itself => {
                options.check_select(&graph_json::PROPERTIES, "message")?;
                let message = graph_json::message(store, letter, options, self.prefer)?;
                Ok(self.single(message, "messages"))
            }
            Part::Raw => Ok(Body::Bytes("text/plain", letter.raw.to_vec())),
            Part::Attachments => {
                options.check_select(&graph_attachments::PROPERTIES, "attachment")?;
                let all = graph_attachments::list(store, letter, options, self.prefer);
                let of = format!("messages('{id}')/attachments");
                self.list(&all, all.len().max(1), &of, |_, row| row.clone())
            }
            Part::Attachment(attachment) => {
                options.check_select(&graph_attachments::PROPERTIES, "attachment")?;
                let found = graph_attachments::one(store, letter, attachment, options)?;
                Ok(self.single(found, &format!("messages('{id}')/attachments")))
            }
            Part::File(attachment) => {
                let bytes = graph_attachments::bytes(store, letter, attachment)?;
                Ok(Body::Bytes("application/octet-stream", bytes))
            }
        }
    }

    fn folders(&self, parent: Option<&str>) -> Result<Body, Refusal> {
        let (store, options) = (self.store, self.options);
        options.check_select(&graph_folders::PROPERTIES, "mailFolder")?;
        let parent = parent.map(|id| store.folder(id)).transpose()?;
        let all = store.folders();
        let mut folders = graph_folders::children(&all, parent.as_ref(), options.hidden);
        if let Some(filter) = self.filter()? {
            folders = kept(folders, |folder| {
                let text = |path: &str| (path == "displayName").then(|| folder.name.to_string());
                meets_texts(&filter, "mailFolder", &text, &|_, _| None)
            })?;
        }
        self.list(&folders, DEFAULT_TOP, "mailFolders", |_, folder| {
            options.cut(graph_folders::json(store, folder)).into()
        })
    }

    fn contacts(&self) -> Result<Body, Refusal> {
        let (store, options) = (self.store, self.options);
        options.check_select(&graph_people::CONTACT, "contact")?;
        let mut contacts = graph_contacts::all(store);
        if let Some(filter) = self.filter()? {
            contacts = kept(contacts, |contact| {
                meets_texts(
                    &filter,
                    "contact",
                    &|path| graph_user::contact_text(contact, path),
                    &|path, inside| graph_user::contact_members(contact, path, inside),
                )
            })?;
        }
        self.list(&contacts, DEFAULT_TOP, "contacts", |_, contact| {
            options.cut(contact.clone()).into()
        })
    }

    fn people(&self) -> Result<Body, Refusal> {
        let (store, options) = (self.store, self.options);
        options.check_select(&graph_people::PERSON, "person")?;
        let search = options.search.map(unquoted).transpose();
        let search = search.map_err(bad_request)?;
        let people = store.people().others.iter();
        let people: Vec<&Person> = people
            .filter(|person| search.as_ref().is_none_or(|search| person.matches(search)))
            .collect();
        self.list(&people, DEFAULT_TOP, "people", |place, person| {
            options.cut(graph_people::relevant(person, place)).into()
        })
    }

    /// The filter, where there is one.
    pub fn filter(&self) -> Result<Option<graph_filter::Filter>, Refusal> {
        let filter = self.options.filter.map(graph_filter::parse).transpose();
        filter.map_err(|why| invalid_filter(&why))
    }

    /// A page of a list that is all here.
    pub fn list<T>(
        &self,
        all: &[T],
        default: usize,
        of: &str,
        row: impl Fn(usize, &T) -> Value,
    ) -> Result<Body, Refusal> {
        let (request, options) = (self.request, self.options);
        let page = graph_pages::page(request, options, self.prefer, self.epoch, default)?;
        let rows = all.iter().enumerate();
        let rows = rows.skip(page.rows.start).take(page.rows.len());
        let rows = rows.map(|(place, item)| row(place, item)).collect();
        let address = &self.store.mailbox.address;
        let context = graph_pages::context(request, address, of, options, false);
        Ok(Body::Json(graph_pages::answer(
            request,
            options,
            self.epoch,
            &page,
            all.len(),
            context,
            rows,
        )))
    }

    /// One entity, under the address that says what it is.
    pub fn single(&self, members: Map<String, Value>, of: &str) -> Body {
        let address = &self.store.mailbox.address;
        let context = graph_pages::context(self.request, address, of, self.options, true);
        with_context(context, members)
    }

    fn user(&self, members: Map<String, Value>) -> Body {
        let context = format!("{}/v1.0/$metadata#users/$entity", graph_pages::base(self.request));
        with_context(context, members)
    }
}

/// An entity under its context.
pub(super) fn with_context(context: String, members: Map<String, Value>) -> Body {
    let mut entity = Map::new();
    entity.insert("@odata.context".to_owned(), context.into());
    entity.extend(members);
    Body::Json(Value::Object(entity))
}

/// Those of a list that meet a condition, unless it cannot be decided.
pub(super) fn kept<T>(
    list: Vec<T>,
    meets: impl Fn(&T) -> Result<bool, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut kept = Vec::with_capacity(list.len());
    for item in list {
        if meets(&item)? {
            kept.push(item);
        }
    }
    Ok(kept)
}
