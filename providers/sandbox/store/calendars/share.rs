//! Meetings of several people of the sandbox: a change of the organizer's event
//! goes to the copies in the others' main calendars, and their answers come
//! back. All copies have one UID.

use daysheet_core::provider::calendar::{EventGuest, InvitationAnswer};
use serde_json::Map;

use super::{GuestAnswer, SandboxCalendars, StoredEvent, instance_id, same};

/// What an event has among its `more` that was called off by somebody else.
pub(crate) const CALLED_OFF: &str = "isCancelled";

impl SandboxCalendars {
    /// Answers an invitation, a series with all that stands for its
    /// occurrences. With `tell`, the organizer's copy and the others' hear of
    /// it.
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
        if !calls(&event, &owner) {
            return;
        }
        for guest in &event.guests {
            if same(&guest.address, &owner) {
                continue;
            }
            if let Some(main) = self.main_of(&guest.address) {
                self.bring(&event, main, guest, tell);
            }
        }
        self.withdraw(place, &event, &owner);
    }

    /// Carries the removal of an event to the other people's calendars: one's
    /// own meeting is gone for all; an invitation is declined.
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

    /// Makes or updates a guest's copy.
    fn bring(&mut self, event: &StoredEvent, main: usize, guest: &EventGuest, tell: bool) {
        if let Some(copy) = self.copy_in(main, event) {
            let deleted = self.event(copy).is_some_and(|copy| copy.deleted);
            // What they have declined by deleting it stays deleted.
            if !deleted || (tell && guest.answer.is_none()) {
                self.alter(copy, |copy| follow(copy, event, &guest.address));
            }
            return;
        }
        if !tell {
            // An occurrence of a series they have follows all the same.
            let series = self.series_in(main, event);
            if series.is_none_or(|series| self.event(series).is_none_or(|it| it.deleted)) {
                return;
            }
        }
        let mut copies = vec![event.clone()];
        let overrides = self.overrides(event.calendar, &event.id);
        copies.extend(overrides.map(|(_, event)| event.clone()));
        for event in copies {
            let mut copy = self.copy_into(&event, main);
            // An occurrence that they are not asked to.
            copy.deleted |= event.guest(&guest.address).is_none();
            match self.copy_in(main, &event) {
                None => {
                    self.load(copy);
                }
                Some(place) => {
                    self.alter(place, |copy| follow(copy, &event, &guest.address));
                }
            }
        }
    }

    /// Takes an event away from those who are not asked any more.
    fn withdraw(&mut self, place: usize, event: &StoredEvent, owner: &str) {
        let is_guest = |address: &str| !event.deleted && event.guest(address).is_some();
        let lost: Vec<usize> = self
            .with_uid(&event.uid)
            .filter(|(other, it)| {
                let owner_of = self.calendar(it.calendar).map(|calendar| &calendar.owner);
                *other != place
                    && !it.deleted
                    && owner_of.is_some_and(|it| !same(it, owner) && !is_guest(it))
            })
            // The one occurrence, or the whole series but for what they are
            // asked to besides.
            .filter(|(_, it)| match (event.original(), it.original()) {
                (None, Some(original)) if !event.deleted => {
                    let own = self.override_of(event.calendar, &event.id, original);
                    let own = own.and_then(|place| self.event(place));
                    let owner_of = self.calendar(it.calendar).map(|calendar| &calendar.owner);
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
        // Those who have the series lose the occurrence by a tombstone of it.
        let series: Vec<usize> = self
            .with_uid(&event.uid)
            .filter(|(_, it)| it.repeat.is_some() && !it.deleted && it.calendar != event.calendar)
            .filter(|(_, it)| {
                let owner_of = self.calendar(it.calendar).map(|calendar| &calendar.owner);
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

    /// Brings an answer to the organizer's copy.
    fn send_back(
        &mut self,
        place: usize,
        owner: &str,
        answer: Option<InvitationAnswer>,
        reply: Option<GuestAnswer>,
    ) {
        if let Some(target) = self.at_organizer(place) {
            self.note(target, owner, answer, reply);
            self.share(target, false);
        }
    }

    /// Lets somebody who is asked ask others: through the organizer, if they
    /// are in the sandbox.
    pub fn ask_more(&mut self, place: usize, more: Vec<EventGuest>, tell: bool) {
        let target = self.at_organizer(place).unwrap_or(place);
        self.change(target, tell, |event| {
            for guest in more {
                if event.guest(&guest.address).is_none() {
                    event.guests.push(guest);
                }
            }
        });
    }

    /// The organizer's copy of an event; an occurrence of it becomes an event
    /// of its own there, too.
    fn at_organizer(&mut self, place: usize) -> Option<usize> {
        let event = self.event(place).cloned()?;
        let at_organizer = |agenda: &Self, it: &StoredEvent| {
            let calendar = agenda.calendar(it.calendar);
            calendar.is_some_and(|calendar| same(&calendar.owner, &event.organizer.address))
        };
        let mut copies =
            self.with_uid(&event.uid).filter(|(_, it)| !it.deleted && at_organizer(self, it));
        let theirs: Vec<(usize, Option<_>)> =
            copies.by_ref().map(|(place, it)| (place, it.original())).collect();
        drop(copies);
        let exact = theirs.iter().find(|(_, at)| *at == event.original());
        match (exact, event.original()) {
            (Some((place, _)), _) => Some(*place),
            (None, Some(original)) => theirs
                .iter()
                .find(|(_, at)| at.is_none())
                .and_then(|(series, _)| self.exception(*series, original)),
            (None, None) => None,
        }
    }

    /// Writes down an answer.
    fn note(
        &mut self,
        place: usize,
        who: &str,
        answer: Option<InvitationAnswer>,
        reply: Option<GuestAnswer>,
    ) {
        self.alter(place, |event| {
            if same(&event.organizer.address, who) {
                event.organizer.answer = answer;
            }
            for guest in event.guests.iter_mut().filter(|it| same(&it.address, who)) {
                guest.answer = answer;
            }
            if let Some(reply) = reply {
                event.replies.retain(|known| !same(&known.address, who));
                event.replies.push(reply);
            }
        });
    }

    /// An event as it comes into another calendar.
    fn copy_into(&self, event: &StoredEvent, main: usize) -> StoredEvent {
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
        // Where the series is there under another id, so is the occurrence.
        if let Some((_, original)) = event.instead_of
            && let Some(series) = self.series_in(main, event).and_then(|it| self.event(it))
        {
            copy.id = instance_id(&series.id, original);
            copy.instead_of = Some((series.id.clone(), original));
        }
        copy
    }

    /// The copy of an event in a calendar, a tombstone too.
    fn copy_in(&self, calendar: usize, event: &StoredEvent) -> Option<usize> {
        let mut copies = self.with_uid(&event.uid);
        let found =
            copies.find(|(_, it)| it.calendar == calendar && it.original() == event.original());
        found.map(|(place, _)| place)
    }

    /// The series of an occurrence in another calendar.
    fn series_in(&self, calendar: usize, event: &StoredEvent) -> Option<usize> {
        let mut copies = self.with_uid(&event.uid);
        let found = copies.find(|(_, it)| it.calendar == calendar && it.repeat.is_some());
        found.map(|(place, _)| place)
    }

    fn with_owner(&self, place: usize) -> Option<(StoredEvent, String)> {
        let event = self.event(place)?;
        let owner = &self.calendar(event.calendar)?.owner;
        Some((event.clone(), owner.clone()))
    }
}

/// Takes a copy away from somebody who did not request it. Outlook goes on
/// to show it, as cancelled.
fn call_off(copy: &mut StoredEvent) {
    copy.deleted = true;
    copy.more.insert(CALLED_OFF.to_owned(), true.into());
}

/// True for an event that an address has called, or that nobody has.
fn calls(event: &StoredEvent, address: &str) -> bool {
    let organizer = &event.organizer.address;
    organizer.is_empty() || same(organizer, address)
}

/// Makes a copy what the organizer's event is, but for what is the guest's own
/// affair.
fn follow(copy: &mut StoredEvent, event: &StoredEvent, guest: &str) {
    // Who is asked again has not answered yet.
    let own = copy.guest(guest).filter(|_| !copy.deleted);
    let own = own.and_then(|guest| guest.answer);
    let old = copy.clone();
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
    // An answer that was kept from the organizer is still theirs.
    for guest in copy.guests.iter_mut().filter(|it| same(&it.address, guest)) {
        guest.answer = guest.answer.or(own);
    }
}
