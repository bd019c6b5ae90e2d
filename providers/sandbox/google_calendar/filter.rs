//! Which events a list is asked for by what they say: words, types, UIDs,
//! properties.

use super::error::bad_value;
use super::event::{TYPES, View, own, properties};
use super::pages::Item;
use crate::google::params::Params;
use crate::http::Answer;
use crate::store::agenda::{Access, Event};
use daysheet_core::provider::calendar::Show;

/// Keeps what was asked for by its contents.
pub(super) fn retain(
    items: &mut Vec<Item<'_>>,
    params: &Params<'_>,
    view: &View<'_>,
) -> Result<(), Answer> {
    if let Some(uid) = params.one("iCalUID") {
        items.retain(|item| item.event.uid == uid);
    }
    let types: Vec<&str> = params.all("eventTypes").filter(|it| !it.is_empty()).collect();
    let known = |name: &&str| {
        let own = TYPES.iter().any(|(_, known, _)| known == name);
        own || ["default", "birthday", "fromGmail"].contains(name)
    };
    if !types.iter().all(known) {
        return Err(bad_value("eventTypes"));
    }
    if !types.is_empty() {
        items.retain(|item| types.contains(&type_of(item.event.show)));
    }
    for (name, side) in
        [("privateExtendedProperty", "private"), ("sharedExtendedProperty", "shared")]
    {
        for wanted in params.all(name) {
            let (key, value) = wanted.split_once('=').ok_or_else(|| bad_value(name))?;
            items.retain(|item| {
                let all = properties(&item.event);
                let known = all.get(side).and_then(|all| all.get(key));
                known.is_some_and(|known| known == value)
            });
        }
    }
    // Nobody finds what they may not read.
    if let Some(q) = params.one("q") {
        let words: Vec<String> = q.split_whitespace().map(str::to_lowercase).collect();
        let readable = view.calendar.access != Access::Busy;
        items.retain(|item| readable && speaks_of(&item.event, &words));
    }
    Ok(())
}

/// The word for an event's type.
fn type_of(show: Show) -> &'static str {
    let own = TYPES.iter().find(|(known, ..)| *known == show);
    own.map_or("default", |(_, name, _)| name)
}

/// True for an event in which all words stand.
fn speaks_of(event: &Event, words: &[String]) -> bool {
    let mut text = vec![event.title.as_str(), &event.notes, &event.place];
    for person in event.guests.iter().chain([&event.organizer]) {
        text.push(&person.address);
        text.extend(person.name.as_deref());
    }
    let text: Vec<String> = text.into_iter().map(str::to_lowercase).collect();
    let place = own(event).and_then(|own| own.get("workingLocationProperties"));
    let place = place.map(|place| place.to_string().to_lowercase());
    words.iter().all(|word| {
        let mut all = text.iter().chain(&place);
        all.any(|text| text.contains(word))
    })
}
