//! Meetings with several people of the sandbox.
//!
//! A change of the organizer's event is carried to the copies in the guests' main calendars, and
//! the guests' answers are returned to the organizer. All copies have the same UID.

use daysheet_core::event::{EventGuest, InvitationAnswer};
use serde_json::Map;

use super::{GuestAnswer, SandboxCalendars, StoredEvent, instance_id, same};

/// The key in [`StoredEvent::more`] of a copy that the organizer withdrew, named as Graph names the
/// property.
pub(crate) const CALLED_OFF: &str = "isCancelled";

impl SandboxCalendars {
    /// Answers an invitation, and all exceptions if it is a series. With `tell`, the organizer's
    /// copy and the other guests' copies show the answer.
    pub fn answer(
        &mut self,
        place: usize,
        answer: Option<InvitationAnswer>,
        reply: Option<GuestAnswer>,
        tell: bool,
    ) {
        let Some((event, owner)) = self.with_owner(place) else {
            return;
        };
        let mut places: Vec<usize> = self
            .overrides(event.calendar, &event.id)
            .filter(|(_, it)| !it.deleted)
            // A guest answers a series as a whole, so the answer replaces earlier ones to its
            // exceptions.
            .map(|(place, _)| place)
            .collect();
        places.insert(0, place);
        for place in places {
            self.note(place, &owner, answer, reply.clone());
            if tell {
                self.send_back(place, &owner, answer, reply.clone());
            }
        }
    }

    /// Carries a change of an event to the other people's calendars.
    pub(super) fn share(&mut self, place: usize, tell: bool) {
        let Some((event, owner)) = self.with_owner(place) else {
            return;
        };
        // Only the organizer's copy is authoritative: a guest's changes stay in their own calendar.
        if !calls(&event, &owner) {
            return;
        }
        for guest in &event.guests {
            if guest.address.is(&owner) {
                continue;
            }
            if let Some(main) = self.main_of(guest.address.as_str()) {
                self.bring(&event, main, guest, tell);
            }
        }
        self.withdraw(place, &event, &owner);
    }

    /// Carries the removal of an event to the other people's calendars. The organizer's removal
    /// withdraws it from everyone; with `tell`, a guest's removal declines it.
    pub(super) fn share_removal(&mut self, place: usize, tell: bool) {
        let Some((event, owner)) = self.with_owner(place) else {
            return;
        };
        if calls(&event, &owner) {
            self.withdraw(place, &event, &owner);
        } else if tell {
            self.send_back(place, &owner, Some(InvitationAnswer::Declined), None);
        }
    }

    /// Creates or updates a guest's copy.
    fn bring(&mut self, event: &StoredEvent, main: usize, guest: &EventGuest, tell: bool) {
        if let Some(copy) = self.copy_in(main, event) {
            let deleted = self.event(copy).is_some_and(|copy| copy.deleted);
            // A guest who declined by deleting the event does not get it back with every change,
            // only with a new invitation.
            if !deleted || (tell && guest.answer.is_none()) {
                self.alter(copy, |copy| follow(copy, event, guest.address.as_str()));
            }
            return;
        }
        if !tell {
            // Without notification, no new copy appears, except for an exception of a series that
            // the guest already has.
            let series = self.series_in(main, event);
            if series.is_none_or(|series| self.event(series).is_none_or(|it| it.deleted)) {
                return;
            }
        }
        // A newly invited guest needs the exceptions as well, or the rule would show them
        // unchanged.
        let mut copies = vec![event.clone()];
        let overrides = self.overrides(event.calendar, &event.id);
        copies.extend(overrides.map(|(_, event)| event.clone()));
        for event in copies {
            let mut copy = self.copy_into(&event, main);
            // A guest of the series who is not a guest of this occurrence gets its tombstone.
            copy.deleted |= event.guest(&guest.address).is_none();
            match self.copy_in(main, &event) {
                None => {
                    self.load(copy);
                }
                Some(place) => {
                    self.alter(place, |copy| follow(copy, &event, guest.address.as_str()));
                }
            }
        }
    }

    /// Removes an event from the calendars of people who are no longer guests.
    fn withdraw(&mut self, place: usize, event: &StoredEvent, owner: &str) {
        // A deleted event has no guests left, so all copies are withdrawn.
        let is_guest = |address: &str| !event.deleted && event.guest(address).is_some();
        let lost: Vec<usize> = self
            .with_uid(&event.uid)
            .filter(|(other, it)| {
                let owner_of = self.owner_of(it);
                *other != place
                    && !it.deleted
                    && owner_of.is_some_and(|it| !same(it, owner) && !is_guest(it))
            })
            // For an exception, its one counterpart. For a series, all of it, except the
            // occurrences whose own guest list still includes the person.
            .filter(|(_, it)| match (event.original(), it.original()) {
                (None, Some(original)) if !event.deleted => {
                    let own = self.override_of(event.calendar, &event.id, original);
                    let own = own.and_then(|place| self.event(place));
                    let owner_of = self.owner_of(it);
                    let guest = own.zip(owner_of).and_then(|(own, who)| own.guest(who));
                    guest.is_none()
                }
                (None, _) => true,
                (own, other) => own == other,
            })
            .map(|(place, _)| place)
            .collect();
        for place in lost {
            self.alter(place, call_off);
        }
        let Some(original) = event.original() else {
            return;
        };
        // A guest of the series has no entry for this occurrence yet; it is created to be
        // withdrawn.
        let series: Vec<usize> = self
            .with_uid(&event.uid)
            .filter(|(_, it)| it.repeat.is_some() && !it.deleted && it.calendar != event.calendar)
            .filter(|(_, it)| {
                let owner_of = self.owner_of(it);
                owner_of.is_some_and(|it| !same(it, owner) && !is_guest(it))
            })
            .map(|(place, _)| place)
            .collect();
        for series in series {
            if let Some(copy) = self.exception(series, original) {
                self.alter(copy, call_off);
            }
        }
    }

    /// Brings an answer to the organizer's copy, and from there to the other guests' copies.
    fn send_back(
        &mut self,
        place: usize,
        owner: &str,
        answer: Option<InvitationAnswer>,
        reply: Option<GuestAnswer>,
    ) {
        if let Some(target) = self.at_organizer(place) {
            self.note(target, owner, answer, reply);
            // The other guests' copies show the answer, but no one new is invited.
            self.share(target, false);
        }
    }

    /// Returns the place of the organizer's copy of an event. For an occurrence, an exception is
    /// created there if necessary.
    pub(super) fn at_organizer(&mut self, place: usize) -> Option<usize> {
        let event = self.event(place).cloned()?;
        let organizer = &event.organizer.address;
        let at_organizer =
            |it: &StoredEvent| self.owner_of(it).is_some_and(|owner| organizer.is(owner));
        let copies = self.with_uid(&event.uid).filter(|(_, it)| !it.deleted && at_organizer(it));
        let theirs: Vec<(usize, Option<_>)> =
            copies.map(|(place, it)| (place, it.original())).collect();
        let exact = theirs.iter().find(|(_, at)| *at == event.original());
        match (exact, event.original()) {
            (Some((place, _)), _) => Some(*place),
            // The guest has an exception, but the organizer still has only the series.
            (None, Some(original)) => theirs
                .iter()
                .find(|(_, at)| at.is_none())
                .and_then(|(series, _)| self.exception(*series, original)),
            (None, None) => None,
        }
    }

    /// Records an answer in one copy.
    fn note(
        &mut self,
        place: usize,
        who: &str,
        answer: Option<InvitationAnswer>,
        reply: Option<GuestAnswer>,
    ) {
        self.alter(place, |event| {
            if event.organizer.address.is(who) {
                event.organizer.answer = answer;
            }
            for guest in event.guests.iter_mut().filter(|it| it.address.is(who)) {
                guest.answer = answer;
            }
            if let Some(reply) = reply {
                // Only the latest answer of a person counts.
                event.replies.retain(|known| !same(&known.address, who));
                event.replies.push(reply);
            }
        });
    }

    /// Returns a copy of an event for another calendar.
    fn copy_into(&self, event: &StoredEvent, main: usize) -> StoredEvent {
        // Reminders, colours and categories are personal in Google Calendar and in Outlook.
        let mut copy = StoredEvent {
            calendar: main,
            reminder: None,
            colour: None,
            categories: Vec::new(),
            private: Map::new(),
            created: self.now(),
            updated: self.now(),
            ..event.clone()
        };
        // The guest's series may have another id, and its occurrences derive their ids from it.
        if let Some((_, original)) = event.instead_of
            && let Some(series) = self.series_in(main, event).and_then(|it| self.event(it))
        {
            copy.id = instance_id(&series.id, original);
            copy.instead_of = Some((series.id.clone(), original));
        }
        copy
    }

    /// Returns the place of an event's copy in a calendar, or of its tombstone.
    fn copy_in(&self, calendar: usize, event: &StoredEvent) -> Option<usize> {
        let mut copies = self.with_uid(&event.uid);
        let found =
            copies.find(|(_, it)| it.calendar == calendar && it.original() == event.original());
        found.map(|(place, _)| place)
    }

    /// Returns the place of an occurrence's series in another calendar.
    fn series_in(&self, calendar: usize, event: &StoredEvent) -> Option<usize> {
        let mut copies = self.with_uid(&event.uid);
        let found = copies.find(|(_, it)| it.calendar == calendar && it.repeat.is_some());
        found.map(|(place, _)| place)
    }

    fn owner_of(&self, event: &StoredEvent) -> Option<&String> {
        self.calendar(event.calendar).map(|calendar| &calendar.owner)
    }

    fn with_owner(&self, place: usize) -> Option<(StoredEvent, String)> {
        let event = self.event(place)?;
        Some((event.clone(), self.owner_of(event)?.clone()))
    }
}

/// Withdraws a copy from a person who did not delete it. Outlook continues to show it, as
/// cancelled.
fn call_off(copy: &mut StoredEvent) {
    copy.deleted = true;
    copy.more.insert(CALLED_OFF.to_owned(), true.into());
}

/// Returns true if an address is the organizer of an event, or the event has no organizer.
fn calls(event: &StoredEvent, address: &str) -> bool {
    let organizer = &event.organizer.address;
    organizer.is_empty() || organizer.is(address)
}

/// Updates a guest's copy from the organizer's event, except for personal properties.
fn follow(copy: &mut StoredEvent, event: &StoredEvent, guest: &str) {
    // A person who is invited again has not answered yet.
    let own = copy.guest(guest).filter(|_| !copy.deleted);
    let own = own.and_then(|guest| guest.answer);
    let old = copy.clone();
    // `alter` compares with the copy before, so mark and time of change must not differ yet.
    *copy = StoredEvent {
        id: old.id,
        calendar: old.calendar,
        instead_of: old.instead_of,
        show: old.show,
        reminder: old.reminder,
        colour: old.colour,
        categories: old.categories,
        private: old.private,
        created: old.created,
        updated: old.updated,
        mark: old.mark,
        ..event.clone()
    };
    // An answer that was not sent to the organizer is kept in the guest's copy.
    for guest in copy.guests.iter_mut().filter(|it| it.address.is(guest)) {
        guest.answer = guest.answer.or(own);
    }
}
