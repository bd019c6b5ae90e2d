//! `calendar_save`: the events to write, as given.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::{EventVisibility, ShowAs};
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::words;

use super::args::CallArguments;
use super::declaration::ArgKind;
use super::kinds::{
    ACCOUNT, ArgumentKind, IDS, LIST, LIST_IF_GIVEN, SWITCH, SWITCH_IF_GIVEN, TEXT, WRITTEN,
    arguments, choice, default, objects, tool,
};
use super::view::AnswerView;

/// The maximum number of events in one call.
pub const MAX_EVENTS: usize = 50;

tool! {
    /// Schedule a meeting: create events, or change or move some, each with its `id`, or all of
    /// `ids` alike; only given fields change. Reports clashes and duplicates.
    calendar_save(Outward, Organize) => CalendarSave(CalendarSave::checked);
    derive(Default)
    pub struct CalendarSave {
        ids: Vec<String> = IDS,
        /// Required for a series
        scope: Option<SeriesScope> = choice(),
        account: Option<String> = ACCOUNT,
        // The main calendar by default.
        /// Name or id
        calendar: Option<String> = TEXT,
        // New events or changes; with `ids`, a single change.
        /// Up to 50
        events: Vec<EventWords> = objects(),
        /// iCalendar text, .ics path or message id to import
        ics: Option<String> = TEXT,
        /// Required with guests
        notify: Option<GuestNotice> = choice(),
        if_conflict: IfConflict = default(),
        dry_run: bool = SWITCH,
        /// u3, alone
        undo: Option<String> = TEXT,
        ..AnswerView { format }
    }
}

words! {
    /// How much of a recurring event is meant.
    pub enum SeriesScope {
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
    #[derive(Default)]
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
    /// An event as it was given; what is `None` was not.
    derive(Default, PartialEq, Eq)
    pub struct EventWords {
        id: Option<String> = TEXT,
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
        // Guests to remove.
        remove: Vec<String> = LIST,
        /// RRULE, or none
        repeats: Option<String> = TEXT,
        /// With Meet or Teams link
        online: Option<bool> = SWITCH_IF_GIVEN,
        show: Option<ShowAs> = choice(),
        visibility: Option<EventVisibility> = choice(),
        // `Some(None)` means no reminder.
        /// Minutes before, or none
        reminder: Option<Option<u32>> = ArgumentKind::new(ArgKind::Text, reminder),
        /// Colour or category
        category: Option<String> = WRITTEN,
    }
}

fn reminder(args: &CallArguments, name: &str) -> Result<Option<Option<u32>>> {
    Ok(match args.text(name)? {
        None => None,
        Some(none) if none.eq_ignore_ascii_case("none") => Some(None),
        Some(minutes) => Some(Some(daysheet_core::time_parse::minutes(&minutes)?)),
    })
}

impl CalendarSave {
    fn checked(self, args: &CallArguments) -> Result<Self> {
        // The other arguments would be ignored, so they are refused.
        if self.undo.is_some() {
            let others = ["ids", "scope", "account", "calendar", "events", "ics", "notify"];
            args.refuse_beside(&others, "`undo`", "give the undo id alone")?;
            return Ok(self);
        }
        let named = self.events.iter().filter(|event| event.id.is_some()).count();
        let changes = named + self.ids.len();
        let many = self.events.len().max(self.ids.len());
        let refused = match (self.events.len(), &self.ics) {
            (0, None) => Some((
                "calendar_save needs `events`, or `ics`",
                "give events=[{\"title\": …, \"start\": …}]",
            )),
            (_, Some(_)) if changes > 0 => Some((
                "`ics` is for new events, an id for an existing one",
                "leave one of them out",
            )),
            (1.., Some(_)) => {
                Some(("`ics` and `events` are both given", "import in a call of its own"))
            }
            _ if named > 0 && !self.ids.is_empty() => {
                Some(("`ids` and the `id` of an event are both given", "leave one of them out"))
            }
            (2.., None) if !self.ids.is_empty() => Some((
                "`ids` takes one change for all, and `events` has several",
                "give each event its own `id`, without `ids`",
            )),
            (count, None) if named > 0 && named < count => Some((
                "some of `events` have an `id`, and some have none",
                "change events and create new ones in separate calls",
            )),
            _ => None,
        };
        if let Some((what, next)) = refused {
            return Err(Error::argument(what).next(next));
        }
        if many > MAX_EVENTS {
            return Err(Error::argument(format!("{many} events are more than {MAX_EVENTS}"))
                .next("write them in several calls"));
        }
        // An event cannot change its calendar by an update, and its id already implies the account.
        if changes > 0 {
            let next = "leave it out: the event stays where it is; to copy it, call \
                        calendar_search ids=ID as=ics, then calendar_save with its text as `ics`";
            args.refuse_beside(&["calendar", "account"], "an id", next)?;
        }
        Ok(self)
    }

    /// Returns the ids of the events to change, each with its change. The list is empty for new
    /// events.
    pub fn changes(&self) -> Vec<(&str, &EventWords)> {
        match self.events.as_slice() {
            [words] if !self.ids.is_empty() => {
                self.ids.iter().map(|id| (id.as_str(), words)).collect()
            }
            events => {
                let named = events.iter();
                named.filter_map(|words| Some((words.id.as_deref()?, words))).collect()
            }
        }
    }
}
