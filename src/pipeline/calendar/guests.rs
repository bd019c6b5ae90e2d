//! Guests: their addresses, read as strictly as recipients of mail, and their lists, combined
//! without losing an answer.

use daysheet_core::compose::people;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::{Event, EventGuest};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::provider::mail::MailPerson;
use daysheet_core::provider::{Account, CalendarCapabilities};
use daysheet_core::text::{Note, brief, note, ours};

use crate::pipeline::context::Context;
use crate::pipeline::known_people::mistyped_notes;
use crate::tools::calendar_save::EventWords;

/// The maximum number of guests that one call may invite to one event.
const OURS: usize = 250;
/// The word for the user in a list of people.
const ME: &str = "me";
/// The number of notified guests that an answer names.
const NOTIFIED: usize = 3;
/// The number of guests that an error names.
const NAMED: usize = 12;

/// An argument that names guests.
#[derive(Clone, Copy)]
pub(crate) enum GuestField {
    /// The guests of an event.
    People,
    /// The guests to remove.
    Remove,
    /// The recipients of a forwarded invitation.
    To,
}

impl GuestField {
    /// Returns the name of the argument.
    fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Remove => "remove",
            Self::To => "to",
        }
    }
}

/// Reads `Name <a@b>` or `a@b`, as strictly as recipients of mail; a trailing `*` marks
/// optional attendance, and the signs of answers that rows show are passed over.
/// Warnings go into `notes`.
pub(crate) fn guest(field: GuestField, text: &str, notes: &mut Vec<Note>) -> Result<EventGuest> {
    let field = field.name();
    let (who, optional) = without_signs(text);
    let mut read = people::read(field, &[who.to_owned()])?;
    notes.append(&mut read.warnings);
    match read.people.as_slice() {
        [one] => Ok(EventGuest {
            address: one.address.clone(),
            name: one.name.clone(),
            optional,
            ..EventGuest::default()
        }),
        many => {
            Err(Error::argument(format!("`{field}` {} has {} addresses", brief(text), many.len()))
                .next("give name@example.com or Name <name@example.com>, one per item"))
        }
    }
}

/// Returns a guest's text without the signs behind it, and whether one was `*`.
fn without_signs(text: &str) -> (&str, bool) {
    let who = text.trim().trim_end_matches(['*', '+', '-', '~', '?']);
    (who.trim_end(), text.trim().get(who.len()..).is_some_and(|signs| signs.contains('*')))
}

/// Reads guests, each once; the last mark of optional attendance counts.
fn guests(texts: &[String], notes: &mut Vec<Note>) -> Result<Vec<EventGuest>> {
    let mut found: Vec<EventGuest> = Vec::new();
    for one in texts {
        // Only the organizer can write the guests of an event, so `me` is the organizer.
        if without_signs(one).0.eq_ignore_ascii_case(ME) {
            notes.push("`me` was left out of the guests: you are the organizer".into());
            continue;
        }
        let guest = guest(GuestField::People, one, notes)?;
        match found.iter_mut().find(|known| is_same(known, &guest)) {
            Some(known) => *known = guest,
            None => found.push(guest),
        }
    }
    Ok(found)
}

/// Checks the guests of an imported document: an invalid or deceptive address is left
/// out, and so is a name that contains another address.
pub(super) fn check_guests(list: &mut Option<Vec<EventGuest>>, notes: &mut Vec<Note>) {
    let Some(all) = list.take() else {
        return;
    };
    let mut guests = Vec::new();
    for one in all {
        let person = MailPerson { name: one.name.clone(), address: one.address.clone() };
        if let Some(person) = people::known_person(&person, notes) {
            guests.push(EventGuest { address: person.address, name: person.name, ..one });
        }
    }
    *list = Some(guests).filter(|guests| !guests.is_empty());
}

fn is_same(one: &EventGuest, other: &EventGuest) -> bool {
    let sent = |guest: &EventGuest| {
        if guest.address.as_str().is_ascii() {
            guest.address.clone()
        } else {
            // The domain may be written in Unicode instead of its ASCII form.
            people::ascii(guest.address.as_str()).unwrap_or_default().into()
        }
    };
    let is_plain = one.address.as_str().is_ascii() && other.address.as_str().is_ascii();
    one.address.is(&other.address) || !is_plain && sent(one).is(sent(other))
}

/// Returns the guests of a new event: `people` and `add` mean the same here.
pub(crate) fn guests_of(words: &EventWords, notes: &mut Vec<Note>) -> Result<Vec<EventGuest>> {
    if let Some(nobody) = words.remove.first() {
        return Err(Error::argument(format!(
            "`remove` names {}, but a new event has no guests yet",
            brief(nobody)
        ))
        .next("leave it out"));
    }
    let mut texts = words.people.clone().unwrap_or_default();
    texts.extend(words.add.iter().cloned());
    guests(&texts, notes)
}

/// Returns the guests after a change, if they differ from those before.
pub(crate) fn changed(
    words: &EventWords,
    now: &Event,
    notes: &mut Vec<Note>,
) -> Result<Option<Vec<EventGuest>>> {
    let mut list = now.guests.clone();
    if let Some(texts) = &words.people {
        let texts = guests(texts, notes)?;
        // Rooms are not people: a new list of people keeps the room.
        let rooms = now
            .guests
            .iter()
            .filter(|one| one.room && !texts.iter().any(|guest| is_same(one, guest)));
        let rooms: Vec<EventGuest> = rooms.cloned().collect();
        list = texts.iter().map(|one| combine(one, now)).collect();
        list.extend(rooms);
    }
    for one in guests(&words.add, notes)? {
        match list.iter_mut().find(|known| is_same(known, &one)) {
            Some(known) => known.optional = one.optional,
            None => list.push(combine(&one, now)),
        }
    }
    for texts in &words.remove {
        let at = find_guest(texts, &list)?;
        let mut number = 0..;
        list.retain(|_| number.next() != Some(at));
    }
    Ok((list != now.guests).then_some(list))
}

/// Combines a guest of the call with the known facts about them.
fn combine(guest: &EventGuest, now: &Event) -> EventGuest {
    match now.guests.iter().find(|known| is_same(known, guest)) {
        Some(known) => EventGuest { optional: guest.optional, ..known.clone() },
        None => guest.clone(),
    }
}

/// Finds the guest that is meant: by address, by the short name that rows show, or by the name.
fn find_guest(text: &str, list: &[EventGuest]) -> Result<usize> {
    let needle = without_signs(text).0.to_lowercase();
    let address = guest(GuestField::Remove, text, &mut Vec::new()).ok();
    // Only an unambiguous match counts.
    let by = |fits: &dyn Fn(&EventGuest) -> bool| {
        let found: Vec<usize> =
            (0..).zip(list).filter(|(_, one)| fits(one)).map(|(at, _)| at).collect();
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    };
    let lower = |guest: &EventGuest| guest.address.lower();
    // From the strictest comparison on, because a short name may fit several guests.
    by(&|one| lower(one) == needle || address.as_ref().is_some_and(|text| is_same(one, text)))
        .or_else(|| by(&|one| lower(one).split('@').next() == Some(&needle)))
        .or_else(|| {
            by(&|one| one.name.as_ref().map(|name| name.to_lowercase()) == Some(needle.clone()))
        })
        .ok_or_else(|| {
            let who = format!("`{}` is not a guest, or several are called so", brief(text));
            Error::argument(who).next(if list.is_empty() {
                "there are no guests: leave out `remove`".to_owned()
            } else {
                format!("name one of: {}", guest_line(list))
            })
        })
}

/// Lists the first addresses.
pub(super) fn guest_line(list: &[EventGuest]) -> String {
    let shown: Vec<String> =
        list.iter().take(NAMED).map(|one| brief(one.address.as_str())).collect();
    let more = list.len().saturating_sub(NAMED);
    match more {
        0 => shown.join(", "),
        more => format!("{} +{more}", shown.join(", ")),
    }
}

/// Refuses more guests than a service allows for one event.
pub(super) fn not_too_many(list: &[EventGuest], can: &CalendarCapabilities) -> Result<()> {
    let many = list.len();
    let (most, provider) = match (can.max_guests, can.name) {
        (most @ ..=OURS, name) => (most, format!("{name} takes at most {most}")),
        (most, name) => (OURS, format!("one call adds at most {OURS}, {name} takes {most} in all")),
    };
    if many > most {
        Err(Error::argument(format!("{many} people are too many for one event: {provider}"))
            .next("invite a group's address instead"))
    } else {
        Ok(())
    }
}

/// Returns the addresses of the people notified of a write to an event: its guests before and
/// after; empty with [`GuestNotice::Nobody`].
pub(crate) fn notified<'g>(
    before: &'g [EventGuest],
    after: Option<&'g Vec<EventGuest>>,
    own: &EmailAddress,
    notify: GuestNotice,
) -> Vec<&'g str> {
    if notify == GuestNotice::Nobody {
        return Vec::new();
    }
    let mut found: Vec<&str> = Vec::new();
    for list in [before, after.map_or(&[], Vec::as_slice)] {
        for guest in others(list, own) {
            if !found.iter().any(|one| guest.address.is(one)) {
                found.push(guest.address.as_str());
            }
        }
    }
    found
}

/// The people notified of the writes of a call, for a line of its answer.
#[derive(Debug, Default)]
pub(crate) struct NotifiedGuests {
    addresses: Vec<String>,
    /// True if the call notifies anyone.
    is_notifying: bool,
    /// True if the service notifies only people who use another service.
    is_external: bool,
    /// True if guests whom the service does not name were notified.
    has_unnamed: bool,
    /// True if an event that was written has guests.
    has_guests: bool,
    /// True if the writes are deletions.
    is_deletion: bool,
    /// True for a dry run.
    is_planned: bool,
}

impl NotifiedGuests {
    /// Creates an empty list, for a call that notifies as `notify` says.
    pub(crate) fn new(notify: Option<GuestNotice>) -> Self {
        Self {
            is_notifying: notify.is_some_and(|notify| notify != GuestNotice::Nobody),
            is_external: notify == Some(GuestNotice::External),
            ..Self::default()
        }
    }

    /// Marks the writes as deletions, which a dry run only plans.
    pub(super) fn of_deletion(self, is_planned: bool) -> Self {
        Self { is_deletion: true, is_planned, ..self }
    }

    /// Adds a write that notified `recipients` of an event with or without guests.
    pub(crate) fn add(&mut self, recipients: &[&str], has_guests: bool) {
        self.has_guests |= has_guests || !recipients.is_empty();
        for one in recipients {
            if !self.addresses.iter().any(|known| known.eq_ignore_ascii_case(one)) {
                self.addresses.push((*one).to_owned());
            }
        }
    }

    /// Returns true if a write to an event notifies guests whom the service does not name.
    pub(super) fn reaches_unnamed(&self, event: &Event) -> bool {
        self.is_notifying && event.own && event.omitted
    }

    /// Adds the guests of an event whom the service does not name.
    pub(super) fn add_unnamed(&mut self, event: &Event) {
        self.has_guests |= event.own && event.omitted;
        self.has_unnamed |= self.reaches_unnamed(event);
    }

    /// Returns the line, or none if no event has guests.
    pub(crate) fn note(&self) -> Option<Note> {
        let count = self.addresses.len();
        let named = self.addresses.iter().take(NOTIFIED).map(|one| brief(one));
        let named = named.collect::<Vec<_>>().join(", ");
        if count == 0 && !self.has_unnamed {
            let were = if self.is_planned { "would not be" } else { "were not" };
            return self.has_guests.then(|| note!("guests {} notified", were));
        }
        let would = if self.is_planned { "would be " } else { "" };
        let of_what = if self.is_deletion { " of the cancellation" } else { "" };
        let elsewhere = if self.is_external { ", if elsewhere" } else { "" };
        let more = match count.saturating_sub(NOTIFIED) {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let unnamed = match (self.has_unnamed, count) {
            (false, _) => "",
            (true, 0) => "guests the service does not name",
            (true, _) => " and guests the service does not name",
        };
        Some(note!(
            "{}notified{}{}, so no undo: {}{}{}",
            would,
            of_what,
            elsewhere,
            ours(named),
            ours(more),
            unnamed
        ))
    }
}

/// Returns notes on guests that a write adds, and whose addresses were perhaps mistyped.
pub(super) async fn doubtful_guests(
    ctx: &Context,
    account: &Account,
    before: &[EventGuest],
    after: Option<&Vec<EventGuest>>,
) -> Vec<Note> {
    let is_new = |one: &&EventGuest| !one.room && !before.iter().any(|old| is_same(old, one));
    let added = after.into_iter().flatten().filter(is_new);
    mistyped_notes(ctx, account, added.map(|one| &one.address).collect()).await
}

/// Returns the guests without the account's owner and rooms.
pub(crate) fn others<'g>(list: &'g [EventGuest], own: &EmailAddress) -> Vec<&'g EventGuest> {
    list.iter().filter(|one| !one.room && !one.me && !one.address.is(own)).collect()
}

/// Returns the error that an event with guests needs `notify`.
pub(crate) fn notify_missing() -> Error {
    Error::argument("an event with guests needs `notify`").next("give notify=all, external or none")
}
