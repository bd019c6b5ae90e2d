//! `calendar_save`: what is to be written, as it was said.

use serde::{Deserialize, Serialize};

use super::args::Args;
use crate::error::{Error, Result};
use crate::provider::calendar::{Notify, Show, Visibility};

/// The most events of one call.
pub const MOST_EVENTS: usize = 50;

/// A save as asked for.
#[derive(Debug, Clone)]
pub struct Save {
    /// The event to change; new ones without it.
    pub id: Option<String>,
    /// How much of a recurring event.
    pub scope: Option<Scope>,
    /// The account by address.
    pub account: Option<String>,
    /// A calendar by name or id; the main one if none.
    pub calendar: Option<String>,
    /// The events, or the one change.
    pub events: Vec<EventWords>,
    /// iCalendar text, the path of an `.ics` file, or the id of a message with
    /// an invitation.
    pub ics: Option<String>,
    /// Who is told.
    pub notify: Option<Notify>,
    /// What to do when it clashes.
    pub if_conflict: IfConflict,
    /// True to change nothing and tell what would happen.
    pub dry_run: bool,
}

/// How much of a recurring event is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The one occurrence.
    This,
    /// It and all that come later.
    Following,
    /// All of them.
    Series,
}

/// What to do when an event clashes with another, or is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfConflict {
    /// Write it and say so.
    Warn,
    /// Do not write it.
    Refuse,
    /// Do not look.
    Ignore,
}

/// An event as it was said; what is `None` was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventWords {
    /// What it is called.
    pub title: Option<String>,
    /// When it starts.
    pub start: Option<String>,
    /// When it ends; of all-day events the last day.
    pub end: Option<String>,
    /// How long it is.
    pub duration: Option<String>,
    /// The zone of its times.
    pub tz: Option<String>,
    /// Where it is.
    pub place: Option<String>,
    /// Its description.
    pub notes: Option<String>,
    /// Everybody who is asked.
    pub people: Option<Vec<String>>,
    /// Who is asked besides.
    pub add: Vec<String>,
    /// Who is not asked any more.
    pub remove: Vec<String>,
    /// The rule it recurs by, or `none`.
    pub repeats: Option<String>,
    /// With an online meeting.
    pub online: Option<bool>,
    /// How the time is shown.
    pub show: Option<Show>,
    /// Who may see it.
    pub visibility: Option<Visibility>,
    /// Minutes before the start; `Some(None)` for no reminder.
    pub reminder: Option<Option<u32>>,
    /// Colour or category.
    pub category: Option<String>,
}

pub(super) fn read(args: &Args) -> Result<Save> {
    let id = args.text("id")?;
    let events = args.objects("events")?;
    let ics = args.text("ics")?;
    match (events.len(), &ics, &id) {
        (0, None, _) => {
            return Err(Error::argument("calendar_save needs `events`, or `ics`")
                .next("give events=[{\"title\": …, \"start\": …}]"));
        }
        (_, Some(_), Some(_)) => {
            return Err(Error::argument("`ics` is for new events, `id` for one that is there")
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
    if id.is_some() {
        for name in ["calendar", "account"] {
            if args.arg(name).is_some() {
                return Err(Error::argument(format!("`{name}` is given beside `id`"))
                    .next("leave it out: the event stays where it is"));
            }
        }
    }
    Ok(Save {
        id,
        scope: scope(args)?,
        account: args.text("account")?,
        calendar: args.text("calendar")?,
        events: events.iter().map(words).collect::<Result<_>>()?,
        ics,
        notify: notify(args)?,
        if_conflict: match args.choice("if_conflict")? {
            Some("refuse") => IfConflict::Refuse,
            Some("ignore") => IfConflict::Ignore,
            _ => IfConflict::Warn,
        },
        dry_run: args.switch("dry_run")?,
    })
}

pub(super) fn scope(args: &Args) -> Result<Option<Scope>> {
    Ok(match args.choice("scope")? {
        Some("this") => Some(Scope::This),
        Some("following") => Some(Scope::Following),
        Some("series") => Some(Scope::Series),
        _ => None,
    })
}

pub(super) fn notify(args: &Args) -> Result<Option<Notify>> {
    Ok(match args.choice("notify")? {
        Some("all") => Some(Notify::All),
        Some("external") => Some(Notify::External),
        Some("none") => Some(Notify::Nobody),
        _ => None,
    })
}

fn words(args: &Args) -> Result<EventWords> {
    let reminder = match args.text("reminder")? {
        None => None,
        Some(none) if none.eq_ignore_ascii_case("none") => Some(None),
        Some(minutes) => Some(Some(crate::times::minutes(&minutes)?)),
    };
    Ok(EventWords {
        title: args.written("title")?,
        start: args.text("start")?,
        end: args.text("end")?,
        duration: args.text("duration")?,
        tz: args.text("tz")?,
        place: args.written("where")?,
        notes: args.written("notes")?,
        people: args.list("people")?,
        add: args.list("add")?.unwrap_or_default(),
        remove: args.list("remove")?.unwrap_or_default(),
        repeats: args.text("repeats")?,
        online: match args.arg("online") {
            None => None,
            Some(_) => Some(args.switch("online")?),
        },
        show: match args.choice("show")? {
            Some("busy") => Some(Show::Busy),
            Some("free") => Some(Show::Free),
            Some("tentative") => Some(Show::Tentative),
            Some("oof") => Some(Show::Oof),
            Some("focus") => Some(Show::Focus),
            Some("elsewhere") => Some(Show::Elsewhere),
            _ => None,
        },
        visibility: match args.choice("visibility")? {
            Some("default") => Some(Visibility::Default),
            Some("public") => Some(Visibility::Public),
            Some("private") => Some(Visibility::Private),
            Some("confidential") => Some(Visibility::Confidential),
            _ => None,
        },
        reminder,
        category: args.written("category")?,
    })
}
