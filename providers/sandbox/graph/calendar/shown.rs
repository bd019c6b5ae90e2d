//! Events as a calendar shows them: what each is in its series, and the id it
//! goes by.

use daysheet_core::event_time::EventTime;
use jiff::tz::TimeZone;

use super::context::CalendarContext;
use crate::store::calendars::expand::EventOccurrence;

/// What an event is in its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Single,
    Master,
    Occurrence,
    Exception,
}

impl EventKind {
    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "singleInstance",
            Self::Master => "seriesMaster",
            Self::Occurrence => "occurrence",
            Self::Exception => "exception",
        }
    }
}

/// An event as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownEvent<'a> {
    /// What is shown.
    pub it: EventOccurrence<'a>,
    /// What it is in its series.
    pub kind: EventKind,
    /// The place of the series, for what is part of one.
    pub series: Option<usize>,
}

impl<'a> ShownEvent<'a> {
    /// An event, a series, or an occurrence.
    pub fn of(context: &CalendarContext<'_>, it: EventOccurrence<'a>) -> Self {
        let series = it.event.instead_of.as_ref();
        let series = series.and_then(|(id, _)| context.agenda.find(it.event.calendar, id));
        let kind = match series {
            _ if it.event.repeat.is_some() => EventKind::Master,
            None => EventKind::Single,
            Some(series) if series == it.place => EventKind::Occurrence,
            Some(_) => EventKind::Exception,
        };
        Self { it, kind, series }
    }

    /// Its id.
    pub fn id(&self, context: &CalendarContext<'_>) -> String {
        let immutable = context.base.prefer.immutable;
        let original = self.it.event.original().map(second);
        match self.series {
            Some(series) => context.ids().event(series, original, immutable),
            None => context.ids().event(self.it.place, None, immutable),
        }
    }

    /// Its version.
    pub fn change_key(&self, context: &CalendarContext<'_>) -> String {
        context.ids().version(self.it.event.mark)
    }

    /// Its etag.
    pub fn etag(&self, context: &CalendarContext<'_>) -> String {
        format!("W/\"{}\"", self.change_key(context))
    }
}

/// The second that an occurrence's id carries.
pub(crate) fn second(original: EventTime) -> i64 {
    original.instant(&TimeZone::UTC).as_second()
}
