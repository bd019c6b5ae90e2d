//! Events as a calendar shows them: their role in a series, and their ids.

use daysheet_core::event::time::EventTime;
use jiff::tz::TimeZone;

use super::context::CalendarContext;
use crate::store::calendars::expand::EventOccurrence;

/// The role of an event in a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Single,
    Master,
    Occurrence,
    Exception,
}

impl EventKind {
    /// Returns Graph's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "singleInstance",
            Self::Master => "seriesMaster",
            Self::Occurrence => "occurrence",
            Self::Exception => "exception",
        }
    }
}

/// An event as a calendar shows it.
#[derive(Debug, Clone)]
pub(crate) struct ShownEvent<'a> {
    /// The event, with its times.
    pub it: EventOccurrence<'a>,
    /// The role in a series.
    pub kind: EventKind,
    /// The place of the series that it belongs to.
    pub series: Option<usize>,
}

impl<'a> ShownEvent<'a> {
    /// Determines the role of an event, a series or an occurrence.
    pub fn new(context: &CalendarContext<'_>, it: EventOccurrence<'a>) -> Self {
        let series = it.event.instead_of.as_ref();
        let series = series.and_then(|(id, _)| context.agenda.find(it.event.calendar, id));
        let kind = match series {
            _ if it.event.repeat.is_some() => EventKind::Master,
            None => EventKind::Single,
            // A regular occurrence is expanded from its series, so it is in the same place.
            Some(series) if series == it.place => EventKind::Occurrence,
            Some(_) => EventKind::Exception,
        };
        Self { it, kind, series }
    }

    /// Returns its id.
    pub fn id(&self, context: &CalendarContext<'_>) -> String {
        let immutable = context.base.prefer.immutable;
        let original = self.it.event.original().map(second);
        match self.series {
            // An exception keeps the id that it had as a regular occurrence, so handles to it stay
            // valid.
            Some(series) => context.ids().event(series, original, immutable),
            None => context.ids().event(self.it.place, None, immutable),
        }
    }

    /// Returns its version.
    pub fn change_key(&self, context: &CalendarContext<'_>) -> String {
        context.ids().version(self.it.event.mark)
    }

    /// Returns its etag.
    pub fn etag(&self, context: &CalendarContext<'_>) -> String {
        format!("W/\"{}\"", self.change_key(context))
    }
}

/// Returns the second that an occurrence's id contains.
pub(crate) fn second(original: EventTime) -> i64 {
    original.instant(&TimeZone::UTC).as_second()
}
