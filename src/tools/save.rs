//! `calendar_save`: what is to be written, as given.

use serde::{Deserialize, Serialize};

use super::ArgKind;
use super::args::Args;
use super::kinds::{
    ACCOUNT, Kind, LIST, LIST_IF_GIVEN, SWITCH, SWITCH_IF_GIVEN, TEXT, WRITTEN, arguments, choice,
    default, objects, tool,
};
use crate::error::{Error, Result};
use crate::provider::calendar::{Notify, Show, Visibility};
use crate::words;

/// The most events of one call.
pub const MOST_EVENTS: usize = 50;

tool! {
    /// Create events, or change one (`id`): only given fields change.
    /// Reports clashes and duplicates first.
    calendar_save(Outward, Organize) => Save(Save::checked);
    pub struct Save {
        id: Option<String> = TEXT,
        /// Required for a series
        scope: Option<Scope> = choice(),
        account: Option<String> = ACCOUNT,
        // The main one if none.
        /// Name or id
        calendar: Option<String> = TEXT,
        // The events, or the one change.
        /// Up to 50
        events: Vec<EventWords> = objects(),
        /// iCalendar text, .ics path or message id to import
        ics: Option<String> = TEXT,
        /// Required with guests
        notify: Option<Notify> = choice(),
        if_conflict: IfConflict = default(),
        dry_run: bool = SWITCH,
        ..format
    }
}

words! {
    /// How much of a recurring event is meant.
    pub enum Scope {
        /// The one occurrence.
        This = "this",
        /// It and all later ones.
        Following = "following",
        /// All of them.
        Series = "series",
    }
}

words! {
    /// What to do when an event clashes with another, or already exists.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum IfConflict {
        /// Write it, with a note.
        #[default]
        Warn = "warn",
        /// Do not write it.
        Refuse = "refuse",
        /// Do not look.
        Ignore = "ignore",
    }
}

arguments! {
    /// An event as it was said; what is `None` was not.
    derive(Default, PartialEq, Eq)
    pub struct EventWords {
        title: Option<String> = WRITTEN,
        /// 2026-02-03 18h05, 2026-02-03, tomorrow 9am, +7d
        start: Option<String> = TEXT,
        /// All-day: the last day
        end: Option<String> = TEXT,
        /// 45m
        duration: Option<String> = TEXT,
        tz: Option<String> = TEXT,
        place as "where": Option<String> = WRITTEN,
        notes: Option<String> = WRITTEN,
        /// All guests; `*` behind: optional
        people: Option<Vec<String>> = LIST_IF_GIVEN,
        /// Guests to add
        add: Vec<String> = LIST,
        // Who is not asked any more.
        remove: Vec<String> = LIST,
        /// RRULE, or none
        repeats: Option<String> = TEXT,
        /// With Meet or Teams link
        online: Option<bool> = SWITCH_IF_GIVEN,
        show: Option<Show> = choice(),
        visibility: Option<Visibility> = choice(),
        // `Some(None)` for no reminder.
        /// Minutes before, or none
        reminder: Option<Option<u32>> = Kind::new(ArgKind::Text, reminder),
        /// Colour or category
        category: Option<String> = WRITTEN,
    }
}

fn reminder(args: &Args, name: &str) -> Result<Option<Option<u32>>> {
    Ok(match args.text(name)? {
        None => None,
        Some(none) if none.eq_ignore_ascii_case("none") => Some(None),
        Some(minutes) => Some(Some(crate::time_parse::minutes(&minutes)?)),
    })
}

impl Save {
    fn checked(self, args: &Args) -> Result<Self> {
        match (self.events.len(), &self.ics, &self.id) {
            (0, None, _) => {
                return Err(Error::argument("calendar_save needs `events`, or `ics`")
                    .next("give events=[{\"title\": …, \"start\": …}]"));
            }
            (_, Some(_), Some(_)) => {
                return Err(Error::argument("`ics` is for new events, `id` for an existing one")
                    .next("leave one of them out"));
            }
            (1.., Some(_), _) => {
                return Err(Error::argument("`ics` and `events` are both given")
                    .next("import in a call of its own"));
            }
            (2.., None, Some(_)) => {
                return Err(Error::argument("`id` is one event, and `events` has several")
                    .next("change them in several calls"));
            }
            (many, ..) if many > MOST_EVENTS => {
                return Err(Error::argument(format!("{many} events are more than {MOST_EVENTS}"))
                    .next("write them in several calls"));
            }
            _ => {}
        }
        if self.id.is_some() {
            let next = "leave it out: the event stays where it is";
            args.refuse_beside(&["calendar", "account"], "`id`", next)?;
        }
        Ok(self)
    }
}
