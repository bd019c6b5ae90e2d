//! The context of requests for calendars: the authorized request, the calendars of its mailbox, and
//! the one in its path.

use crate::graph::error::{GraphError, malformed_id, not_found};
use crate::graph::ids::MailboxIds;
use crate::graph::people::display_name;
use crate::graph::request::RequestContext;
use crate::graph::zones::RequestedZone;
use crate::store::calendars::{self, SandboxCalendars};

/// The calendar in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarRef<'a> {
    /// No calendar in the path: the main one.
    Any,
    /// The calendar with this id.
    Id(&'a str),
}

/// An authorized request for calendars.
pub(crate) struct CalendarContext<'a> {
    /// The request.
    pub base: &'a RequestContext<'a>,
    /// All calendars.
    pub agenda: &'a mut SandboxCalendars,
    /// The zone to return times in.
    pub zone: RequestedZone,
}

impl<'a> CalendarContext<'a> {
    /// Creates the context of a request. Times are returned in UTC unless it prefers a zone.
    pub fn new(
        base: &'a RequestContext<'a>,
        agenda: &'a mut SandboxCalendars,
    ) -> Result<Self, GraphError> {
        let zone = base.prefer.zone.as_deref().map(RequestedZone::from_name).transpose()?;
        Ok(Self { base, agenda, zone: zone.unwrap_or_else(RequestedZone::utc) })
    }

    /// Returns the address of the calendars' owner.
    pub fn owner(&self) -> &'a str {
        self.base.address()
    }

    /// Returns the ids of the owner's mailbox.
    pub fn ids(&self) -> &'a MailboxIds {
        self.base.store.ids()
    }

    /// Returns the place of the calendar in a path.
    pub fn calendar_at(&self, at: CalendarRef<'_>) -> Result<usize, GraphError> {
        match at {
            CalendarRef::Any => self.agenda.main_of(self.owner()).ok_or_else(not_found),
            CalendarRef::Id(id) => {
                if !MailboxIds::is_folder(id) {
                    return Err(malformed_id());
                }
                let mut all = self.agenda.calendars_of(self.owner());
                let found = all.find(|(_, calendar)| self.ids().calendar(&calendar.id) == id);
                found.map(|(place, _)| place).ok_or_else(not_found)
            }
        }
    }

    /// Returns the name of a person, or the address if the name is unknown.
    pub fn name_of(&self, address: &str) -> String {
        let people = self.base.store.people();
        let name = if calendars::same(address, self.owner()) {
            people.owner.as_deref()
        } else {
            let known = people.others.iter();
            let mut known = known.filter(|person| calendars::same(&person.email, address));
            known.next().map(display_name)
        };
        name.unwrap_or(address).to_owned()
    }

    /// Returns the address of a calendar, as links have it.
    pub fn calendar_link(&self, place: usize) -> Option<String> {
        let id = self.ids().calendar(&self.agenda.calendar(place)?.id);
        Some(self.base.location(&format!("calendars('{id}')")))
    }
}
