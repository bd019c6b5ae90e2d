//! People and rooms that events name, in addition to the lists of a service.

use std::collections::HashMap;

use daysheet_core::error::{ErrorKind, Result};
use daysheet_core::flatten::{self, RowContext, RowRoom};
use daysheet_core::ids::EmailAddress;
use daysheet_core::project::project;
use daysheet_core::provider::calendar::{EventListRequest, EventPage};
use daysheet_core::provider::{Account, ListPage, PeopleQuery};
use daysheet_core::schemas::{CONTACT, EVENT, ROOM, Service, Table};
use daysheet_core::text::{Note, NoteKey, note};
use futures_util::future::join_all;
use jiff::ToSpan;
use serde_json::{Value, json};

use super::plan::AccountList;
use crate::pipeline::calendar::save::destination::account_calendars;
use crate::pipeline::calendar::target::calendar_owner;
use crate::pipeline::context::Context;

/// The days back and ahead whose events are read.
const DAYS: i64 = 90;
/// Events of a calendar in one answer.
const PAGE: usize = 250;
/// The maximum number of answers that are read.
const PAGES: usize = 4;

/// A guest or organizer of events.
struct ListedGuest {
    name: Option<String>,
    address: EmailAddress,
    room: bool,
    events: u64,
}

impl ListedGuest {
    /// Returns the name, or the address of a guest without one.
    fn name(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(self.address.as_str())
    }
}

/// Returns the guests and organizers of an account's events, the most frequent first, and notes on
/// unreadable calendars.
async fn guests_of_events(
    ctx: &Context,
    account: &Account,
) -> Result<(Vec<ListedGuest>, Vec<Note>)> {
    let owner = calendar_owner(ctx, account.clone()).await?;
    let now = ctx.now();
    let range = (DAYS * 24).hours();
    let from = now.checked_sub(range).unwrap_or(now);
    let to = now.checked_add(range).unwrap_or(now);
    let key: Vec<_> = EVENT.fields.first().into_iter().collect();
    let places = account_calendars(ctx, &owner, false).await?;
    let shown = places.iter().filter(|place| place.is_shown());
    let mut calendars: Vec<_> = shown.map(|place| (place.id.clone(), None)).collect();
    let mut guests: Vec<ListedGuest> = Vec::new();
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut failed = 0;
    for _ in 0..PAGES {
        if calendars.is_empty() {
            break;
        }
        let request = EventListRequest {
            calendars: std::mem::take(&mut calendars),
            from,
            to,
            series: false,
            projection: project(owner.port.api(), &key),
            limit: PAGE,
        };
        let answers = owner.port.events(&request).await;
        for ((id, _), answer) in request.calendars.into_iter().zip(answers) {
            let Ok(EventPage { events, next, .. }) = answer else {
                failed += 1;
                continue;
            };
            calendars.extend(next.map(|next| (id, Some(next))));
            for event in events {
                // A calendar can be the organizer of its own events.
                let is_calendar = |address: &EmailAddress| {
                    let mut others = places.iter().filter(|place| place.person.is_none());
                    others.any(|place| address.is(place.id.as_str()))
                };
                let organizer = event.other_organizer().filter(|address| !is_calendar(address));
                let organizer = organizer.map(|address| (None, address.clone(), false));
                let others = event.guests.into_iter().filter(|guest| !guest.me);
                let others = others.map(|guest| (guest.name, guest.address, guest.room));
                for (name, address, room) in organizer.into_iter().chain(others) {
                    let place = *at.entry(address.lower()).or_insert(guests.len());
                    if place == guests.len() {
                        guests.push(ListedGuest { name: None, address, room, events: 0 });
                    }
                    if let Some(guest) = guests.get_mut(place) {
                        guest.events += 1;
                        guest.name = guest.name.take().or(name);
                    }
                }
            }
        }
    }
    guests.retain(|guest| !guest.address.is(&account.email));
    guests.sort_by_key(|guest| std::cmp::Reverse(guest.events));
    let mut notes = Vec::new();
    if failed > 0 {
        let line = note!("calendars that could not be read: {}", failed);
        notes.push(line.with_key(NoteKey::Missing));
    }
    if !calendars.is_empty() {
        notes.push("only the first events of the last and next 90 days were read".into());
    }
    Ok((guests, notes))
}

/// Returns the guests and organizers of the accounts' events, by name and address. Accounts whose
/// events cannot be read are left out.
pub(super) async fn guests_of(ctx: &Context, accounts: &[Account]) -> Vec<(String, String)> {
    let read = accounts.iter().map(|account| guests_of_events(ctx, account));
    let all = join_all(read).await.into_iter().flatten().flat_map(|(guests, _)| guests);
    all.map(|guest| (guest.name().to_owned(), guest.address.into())).collect()
}

/// Adds matching people whom only events name.
pub(super) async fn add_people_of_events(
    ctx: &Context,
    account: &Account,
    people: &PeopleQuery,
    list: &mut AccountList,
) {
    let (guests, notes) = match guests_of_events(ctx, account).await {
        Ok(found) => found,
        Err(error) => {
            let line = note!("people of events: {}", &error);
            list.page.notes.push(line.with_key(NoteKey::Missing));
            return;
        }
    };
    list.page.notes.extend(notes);
    let known = texts(ctx, &CONTACT, "emails", list);
    let wanted = |guest: &ListedGuest| {
        let name = guest.name.as_deref().unwrap_or_default().to_lowercase();
        let address = guest.address.lower();
        // As services search: a word of `q` begins a word of the name or address.
        let starts = |text: &str, word: &str| {
            let after = |(at, _): (usize, &str)| {
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                !before.is_some_and(char::is_alphanumeric)
            };
            text.match_indices(word).any(after)
        };
        let named = |word: &str| starts(&name, word) || starts(&address, word);
        !guest.room
            && !known.contains(&address)
            && people.q.as_ref().is_none_or(|q| q.to_lowercase().split_whitespace().all(named))
            && (people.emails.is_empty()
                || people.emails.iter().any(|email| email.trim().to_lowercase() == address))
    };
    let object = |guest: &ListedGuest| json!({"name": guest.name(), "emails": [guest.address], "known": "event"});
    list.of_events = guests.iter().filter(|guest| wanted(guest)).map(object).collect();
}

/// Returns the rooms that a service lists, and those that only events name.
pub(super) async fn list_rooms(ctx: &Context, account: &Account) -> Result<AccountList> {
    let port = ctx.connect.calendars(account)?;
    let mut notes = Vec::new();
    let items = match port.rooms().await {
        // Without that permission, the rooms of events are still known.
        Err(error) if error.kind() == ErrorKind::Provider(403) => {
            notes.push(note!("{}", &error));
            Vec::new()
        }
        listed => listed?,
    };
    let page = ListPage { items, ..ListPage::default() };
    let mut list = AccountList { api: port.api(), page, of_events: Vec::new() };
    let guests = match guests_of_events(ctx, account).await {
        Ok((guests, failed)) => {
            notes.extend(failed);
            guests
        }
        Err(error) => {
            notes.push(note!("rooms of events: {}", &error).with_key(NoteKey::Missing));
            Vec::new()
        }
    };
    let known = texts(ctx, &ROOM, "email", &list);
    for guest in guests {
        let address = guest.address.lower();
        let place = known.iter().position(|known| *known == address);
        match place.and_then(|place| list.page.items.get_mut(place)?.as_object_mut()) {
            Some(room) => {
                room.insert("used".to_owned(), guest.events.into());
            }
            None if guest.room => list
                .of_events
                .push(json!({"name": guest.name(), "email": guest.address, "used": guest.events})),
            None => {}
        }
    }
    list.page.notes = notes;
    Ok(list)
}

/// Returns the lower-case texts of a column of all listed items.
pub(crate) fn texts(ctx: &Context, table: &Table, column: &str, list: &AccountList) -> Vec<String> {
    let context = |api: Service| RowContext { api, room: RowRoom::List, ..ctx.local() };
    let field = table.field(column);
    let read = |item: &Value, api: Service| {
        field.map(|field| flatten::texts(field, item, &context(api))).unwrap_or_default()
    };
    let listed = list.page.items.iter().flat_map(|item| read(item, list.api));
    let of_events = list.of_events.iter().flat_map(|item| read(item, Service::Local));
    listed.chain(of_events).map(|text| text.to_lowercase()).collect()
}
