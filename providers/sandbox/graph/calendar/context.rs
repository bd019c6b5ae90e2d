//! What all requests for calendars share: the one that was let in, the
//! calendars of its mailbox, and the one that its path names.

use crate::graph::error::{GraphError, malformed_id, not_found};
use crate::graph::ids::MailboxIds;
use crate::graph::pages;
use crate::graph::people::display_name;
use crate::graph::request::RequestContext;
use crate::graph::zones::RequestedZone;
use crate::store::calendars::{self, SandboxCalendars};

/// The calendar of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalendarRef<'a> {
    /// None is named: the main one, for what needs one.
    Any,
    /// The one of an id.
    Id(&'a str),
}

/// A request for calendars that was let in.
pub(crate) struct CalendarContext<'a> {
    /// The request.
    pub base: &'a RequestContext<'a>,
    /// All calendars.
    pub agenda: &'a mut SandboxCalendars,
    /// The zone that times are returned in.
    pub zone: RequestedZone,
}

impl<'a> CalendarContext<'a> {
    /// Whose calendars they are.
    pub fn owner(&self) -> &'a str {
        &self.base.store.mailbox.address
    }

    /// The ids of their mailbox.
    pub fn ids(&self) -> &'a MailboxIds {
        self.base.store.ids()
    }

    /// The place of the calendar of a path.
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

    /// What somebody is called; the address, where that is not known.
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

    /// The address of a calendar, as links name it.
    pub fn calendar_link(&self, place: usize) -> Option<String> {
        let id = self.ids().calendar(&self.agenda.calendar(place)?.id);
        Some(format!(
            "{}/v1.0/users('{}')/calendars('{id}')",
            pages::base(self.base.request),
            self.ids().mailbox()
        ))
    }
}
