//! Events as a calendar shows them: what each is in its series, and the id it
//! goes by.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::Desk;
use super::event::{Maker, PROPERTIES};
use crate::providers::sandbox::store::agenda::expand::Occurrence;
use crate::when::When;

/// What an event is in its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Single,
    Master,
    Occurrence,
    Exception,
}

impl Kind {
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
pub(crate) struct Shown<'a> {
    /// What is shown.
    pub it: Occurrence<'a>,
    /// What it is in its series.
    pub kind: Kind,
    /// The place of the series, for what is part of one.
    pub series: Option<usize>,
}

impl<'a> Shown<'a> {
    /// An event, a series, or an occurrence.
    pub fn of(desk: &Desk<'_>, it: Occurrence<'a>) -> Self {
        let series = it.event.instead_of.as_ref();
        let series = series.and_then(|(id, _)| desk.agenda.find(it.event.calendar, id));
        let kind = match series {
            _ if it.event.repeat.is_some() => Kind::Master,
            None => Kind::Single,
            Some(series) if series == it.place => Kind::Occurrence,
            Some(_) => Kind::Exception,
        };
        Self { it, kind, series }
    }

    /// Its id.
    pub fn id(&self, desk: &Desk<'_>) -> String {
        let immutable = desk.asked.prefer.immutable;
        let original = self.it.event.original().map(second);
        match self.series {
            Some(series) => desk.ids().event(series, original, immutable),
            None => desk.ids().event(self.it.place, None, immutable),
        }
    }

    /// Its version.
    pub fn change_key(&self, desk: &Desk<'_>) -> String {
        desk.ids().version(self.it.event.mark)
    }

    /// Its etag.
    pub fn etag(&self, desk: &Desk<'_>) -> String {
        format!("W/\"{}\"", self.change_key(desk))
    }

    /// The properties that are wanted.
    pub fn json(&self, desk: &Desk<'_>) -> Map<String, Value> {
        let options = desk.asked.options;
        let maker = Maker::of(desk, self);
        let mut members = Map::new();
        members.insert("@odata.etag".to_owned(), self.etag(desk).into());
        for name in PROPERTIES {
            let wanted = match name {
                // Worked out for series alone, and only when it is asked for.
                "cancelledOccurrences" => options.names(name) && self.kind == Kind::Master,
                _ => name == "id" || options.wants(name),
            };
            if let Some(value) = wanted.then(|| maker.property(name)).flatten() {
                members.insert(name.to_owned(), value);
            }
        }
        members
    }

    /// The few properties of an occurrence among changes.
    pub fn sketch(&self, desk: &Desk<'_>) -> Map<String, Value> {
        let maker = Maker::of(desk, self);
        let mut members = Map::new();
        members.insert("@odata.etag".to_owned(), self.etag(desk).into());
        for name in ["seriesMasterId", "type", "id", "start", "end"] {
            members.extend(maker.property(name).map(|value| (name.to_owned(), value)));
        }
        members
    }
}

/// The second that an occurrence's id carries.
pub(crate) fn second(original: When) -> i64 {
    original.instant(&TimeZone::UTC).as_second()
}
