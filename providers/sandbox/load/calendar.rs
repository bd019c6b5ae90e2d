//! Calendars from a folder of `.ics` files, or from the samples.
//!
//! The owner: files below a top-level folder with an `@` in its name belong to that address, with
//! or without a mailbox (a colleague whose free/busy times are queried). Any other file belongs to
//! the address in its `X-WR-CALNAME`, as exports of main calendars have it, or else to the first
//! mailbox.
//!
//! The calendar: a file is the owner's main calendar if it is the owner's only file, or is named
//! `calendar`, `main` or after the owner. Any other file is a further calendar, named by
//! `X-WR-CALNAME` or after the file. The owner can only read calendars from files that end in
//! `.readonly.ics`. `ADDRESS.shared.ics` is a calendar that ADDRESS shares with the owner, who
//! may write events. Every mailbox has a main calendar, which may be empty.
//!
//! Files and events that cannot be used are reported and skipped. Only a path that does not exist
//! is an error.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use daysheet_core::clock::Clock;
use daysheet_core::error::Result;
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::event::{Event, EventGuest};
use daysheet_core::ical::{self, CalendarDocument};
use daysheet_core::text;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::files::{self, FileFilter, unreadable};
use super::shift::WeekShift;
use crate::store::calendars::{
    CalendarAccess, SandboxCalendars, StoredCalendar, StoredEvent, event_id, instance_id,
};

/// The sample calendars of the mailboxes' owner and other people: the path below the samples'
/// folder, and the content.
const SAMPLES: [(&str, &str); 8] = [
    ("jonas@example.com/calendar.ics", include_str!("../samples/jonas@example.com/calendar.ics")),
    ("mira@example.com/Family.ics", include_str!("../samples/mira@example.com/Family.ics")),
    (
        "mira@example.com/Holidays.readonly.ics",
        include_str!("../samples/mira@example.com/Holidays.readonly.ics"),
    ),
    ("mira@example.com/calendar.ics", include_str!("../samples/mira@example.com/calendar.ics")),
    (
        "mira@lindqvist-lamps.example/Kiln.ics",
        include_str!("../samples/mira@lindqvist-lamps.example/Kiln.ics"),
    ),
    (
        "mira@lindqvist-lamps.example/calendar.ics",
        include_str!("../samples/mira@lindqvist-lamps.example/calendar.ics"),
    ),
    ("priya@example.com/calendar.ics", include_str!("../samples/priya@example.com/calendar.ics")),
    (
        "yusuf@lindqvist-lamps.example/calendar.ics",
        include_str!("../samples/yusuf@lindqvist-lamps.example/calendar.ics"),
    ),
];

/// The zone of calendars that name none, where the sample people live.
pub const SAMPLE_ZONE: &str = "Europe/Berlin";

/// Names of a main calendar that do not mention its owner.
const MAIN: [&str; 2] = ["calendar", "main"];

/// The source of calendars.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CalendarSource<'a> {
    /// A folder of files, or one file.
    Path(&'a Path),
    /// The samples, with their dates moved to a day if one is given.
    Samples(Option<Date>),
    /// No source: the main calendars are empty.
    Nothing,
}

/// The result of loading.
#[derive(Debug)]
pub(crate) struct LoadedCalendars {
    /// The calendars.
    pub agenda: SandboxCalendars,
    /// The number of their entries.
    pub events: usize,
    /// Skipped files and entries, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Addresses without a mailbox that a given path has calendars of.
    pub colleagues: Vec<String>,
}

/// Loads the calendars for mailboxes with these addresses.
pub(crate) fn load(
    from: CalendarSource<'_>,
    addresses: &[String],
    clock: &Clock,
) -> Result<LoadedCalendars> {
    let mut loader = CalendarLoader { files: Vec::new(), skipped: Vec::new(), addresses };
    match from {
        CalendarSource::Path(path) => loader.path(path)?,
        CalendarSource::Samples(today) => {
            let shift = WeekShift::to(today);
            for (name, content) in SAMPLES {
                let moved = match shift {
                    // Holidays have fixed dates.
                    Some(shift) if !name.ends_with(".readonly.ics") => {
                        shift.text(content.as_bytes())
                    }
                    _ => content.as_bytes().to_vec(),
                };
                loader.file(name, files::owner(name), &String::from_utf8_lossy(&moved));
            }
        }
        CalendarSource::Nothing => {}
    }
    let mut loaded = loader.agenda(clock);
    // Those of the samples are meant to have none.
    if !matches!(from, CalendarSource::Path(_)) {
        loaded.colleagues.clear();
    }
    Ok(loaded)
}

/// The files read so far.
struct CalendarLoader<'a> {
    files: Vec<CalendarFile>,
    skipped: Vec<(String, String)>,
    addresses: &'a [String],
}

/// A file that was read.
struct CalendarFile {
    /// The path below the given one, for the report.
    path: String,
    /// The file name without its extensions.
    stem: String,
    owner: String,
    access: CalendarAccess,
    document: CalendarDocument,
}

impl CalendarFile {
    /// Returns the calendar's name.
    fn name(&self) -> &str {
        match self.document.name.as_deref() {
            Some(name) if !name.trim().is_empty() => name,
            _ => &self.stem,
        }
    }

    /// Returns true if the file is marked as its owner's main calendar.
    fn is_main(&self) -> bool {
        let says = |name: &str| {
            name.eq_ignore_ascii_case(&self.owner)
                || MAIN.iter().any(|main| name.eq_ignore_ascii_case(main))
        };
        says(&self.stem) || self.document.name.as_deref().is_some_and(says)
    }
}

impl CalendarLoader<'_> {
    /// Reads all files of a path.
    fn path(&mut self, path: &Path) -> Result<()> {
        let filter = FileFilter {
            what: "calendars",
            next: "name a folder of .ics files, or one such file",
            is: is_calendar,
        };
        for source in files::sources(path, &filter, &mut self.skipped)? {
            let mut bytes = Vec::new();
            let read = File::open(&source.path)
                // One byte over the limit, so that the reader notices files that exceed it.
                .and_then(|file| file.take(ical::MAX_DOCUMENT as u64 + 1).read_to_end(&mut bytes));
            match read {
                Ok(_) => self.file(&source.name, source.owner, &ical::decode(&bytes, None).0),
                Err(error) => self.skip(&source.name, unreadable(&error)),
            }
        }
        Ok(())
    }

    /// Reads a file.
    fn file(&mut self, path: &str, owner: Option<String>, content: &str) {
        let mut document = match ical::read(content, &default_zone()) {
            Ok(document) => document,
            Err(error) => return self.skip(path, error.message()),
        };
        for (at, entry) in (1..).zip(&mut document.entries) {
            // RFC 5545, 3.8.4.7, requires a UID. This one is the same on every run.
            entry.uid.get_or_insert_with(|| format!("{path}:{at}"));
        }
        for note in &document.notes {
            self.skipped.push((path.to_owned(), note.to_string()));
        }
        let (stem, access) = stem(path);
        let Some(owner) = owner.or_else(|| self.owner(&document)) else {
            return self.skip(path, "there is no mailbox that it could belong to");
        };
        self.files.push(CalendarFile {
            path: path.to_owned(),
            stem,
            owner: owner.to_lowercase(),
            access,
            document,
        });
    }

    /// Returns the owner of a calendar whose folder does not name one.
    fn owner(&self, document: &CalendarDocument) -> Option<String> {
        let name = document.name.as_deref().unwrap_or_default();
        let named = self.addresses.iter();
        let mut named = named.filter(|address| name.eq_ignore_ascii_case(address));
        named.next().or_else(|| self.addresses.first()).cloned()
    }

    /// Records a skipped file.
    fn skip(&mut self, path: &str, why: impl Into<String>) {
        self.skipped.push((path.to_owned(), why.into()));
    }

    /// Builds the calendars: mailboxes before other people, and each owner's main calendar first.
    fn agenda(mut self, clock: &Clock) -> LoadedCalendars {
        let mut files: BTreeMap<String, Vec<CalendarFile>> = BTreeMap::new();
        for file in std::mem::take(&mut self.files) {
            files.entry(file.owner.clone()).or_default().push(file);
        }
        let known: BTreeSet<String> = self.addresses.iter().map(|it| it.to_lowercase()).collect();
        let others = files.keys().filter(|owner| !known.contains(*owner)).cloned();
        let colleagues: Vec<String> = others.collect();
        let owners: Vec<String> = self.addresses.iter().chain(&colleagues).cloned().collect();
        let mut agenda = SandboxCalendars::new(clock.clone());
        let mut events = 0;
        for owner in owners {
            let mine = files.remove(&owner.to_lowercase()).unwrap_or_default();
            // A single file is the main calendar, whatever its name.
            let alone = mine.len() == 1;
            let (main, further): (Vec<_>, Vec<_>) =
                mine.into_iter().partition(|file| alone || file.is_main());
            let mut calendar = StoredCalendar::main(&owner, SAMPLE_ZONE);
            if let Some(first) = main.first() {
                dress(&mut calendar, first);
                calendar.name = first.name().to_owned();
            }
            let place = agenda.add_calendar(calendar);
            events += self.fill(&mut agenda, place, &owner, &main);
            // Files of the same name form one calendar.
            let mut named: BTreeMap<String, Vec<CalendarFile>> = BTreeMap::new();
            for file in further {
                named.entry(file.name().to_owned()).or_default().push(file);
            }
            for (at, (name, files)) in (1_usize..).zip(named) {
                let mut calendar = StoredCalendar::further(&owner, &name, SAMPLE_ZONE);
                // Google has 24 calendar colours.
                calendar.colour = u8::try_from(at % 24).unwrap_or_default() + 1;
                if let Some(first) = files.first() {
                    dress(&mut calendar, first);
                }
                let place = agenda.add_calendar(calendar);
                events += self.fill(&mut agenda, place, &owner, &files);
            }
        }
        LoadedCalendars { agenda, events, skipped: self.skipped, colleagues }
    }

    /// Adds the entries of files to a calendar and returns their number. Of several versions of an
    /// entry, the latest is used.
    fn fill(
        &mut self,
        agenda: &mut SandboxCalendars,
        calendar: usize,
        owner: &str,
        files: &[CalendarFile],
    ) -> usize {
        let mut entries: Vec<&Event> = Vec::new();
        let mut places: HashMap<(Option<&str>, Option<EventTime>), usize> = HashMap::new();
        for file in files {
            for entry in &file.document.entries {
                let place =
                    *places.entry((entry.uid.as_deref(), entry.original)).or_insert(entries.len());
                match entries.get_mut(place) {
                    None => entries.push(entry),
                    Some(before) => {
                        // RFC 5545, 3.8.7.4: the higher SEQUENCE is the later version.
                        if entry.sequence > before.sequence {
                            *before = entry;
                        }
                        let uid = text::brief(entry.uid.as_deref().unwrap_or_default());
                        self.skip(&file.path, format!("it holds the event {uid} twice"));
                    }
                }
            }
        }
        for entry in &entries {
            agenda.load(event(entry, calendar, owner, agenda.now()));
        }
        entries.len()
    }
}

/// Applies a file's properties to a calendar.
fn dress(calendar: &mut StoredCalendar, file: &CalendarFile) {
    if let Some(zone) = file.document.zone.as_deref().and_then(time::zone_name) {
        calendar.zone = zone;
    }
    calendar.access = file.access;
    if file.access == CalendarAccess::Writer {
        calendar.id.clone_from(&file.stem);
        calendar.shared_by = Some(file.stem.clone());
    }
}

/// Returns an entry as the sandbox's event, loaded at `now`. An occurrence names its series even if
/// the series is missing, as for people who are invited to a single occurrence.
fn event(entry: &Event, calendar: usize, owner: &str, now: Timestamp) -> StoredEvent {
    let uid = entry.uid.as_deref().unwrap_or_default();
    let series = event_id(uid);
    let id = match entry.original {
        Some(original) => instance_id(&series, original),
        None => series.clone(),
    };
    let mut event = StoredEvent::new(calendar, &id, uid, entry.zoned_times(), now);
    event.instead_of = entry.original.map(|original| (series, original));
    event.repeat = entry.repeat.clone();
    event.title.clone_from(&entry.title);
    event.place.clone_from(&entry.place);
    event.notes = entry.notes.clone().unwrap_or_default();
    event.organizer = entry
        .organizer
        .clone()
        .unwrap_or_else(|| EventGuest { address: owner.into(), ..EventGuest::default() });
    event.guests.clone_from(&entry.guests);
    event.show = entry.show;
    event.visibility = entry.visibility;
    event.reminder = entry.reminder.map(Some);
    event.categories.clone_from(&entry.categories);
    event.link.clone_from(&entry.link);
    event.deleted = entry.cancelled;
    event.sequence = entry.sequence.unwrap_or_default();
    // Two weeks before the event, so that it is the same on every run, but not later than the start
    // of today: events created during the run have to be newer.
    let made = created_at(entry.start.instant(&TimeZone::UTC)).min(start_of_day(now));
    (event.created, event.updated) = (made, made);
    event
}

fn created_at(start: Timestamp) -> Timestamp {
    start.checked_sub((14 * 24).hours()).unwrap_or(start)
}

/// Returns the beginning of the day of `now` in UTC.
fn start_of_day(now: Timestamp) -> Timestamp {
    let now = now.as_second();
    Timestamp::from_second(now - now.rem_euclid(86_400)).unwrap_or_default()
}

fn default_zone() -> TimeZone {
    time::find_zone(SAMPLE_ZONE).unwrap_or(TimeZone::UTC)
}

/// Returns true for the path of a calendar file.
fn is_calendar(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("ics"))
}

/// Returns a file's name without its extensions, and the access that these name.
fn stem(path: &str) -> (String, CalendarAccess) {
    const ACCESS: [(&str, CalendarAccess); 2] =
        [(".readonly", CalendarAccess::Reader), (".shared", CalendarAccess::Writer)];
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((stem, ending)) if ending.eq_ignore_ascii_case(".ics") => stem,
        _ => name,
    };
    let mut found =
        ACCESS.iter().filter_map(|(end, access)| Some((name.strip_suffix(end)?, access)));
    let (stem, access) = found.next().unwrap_or((name, &CalendarAccess::Owner));
    (stem.to_owned(), *access)
}
