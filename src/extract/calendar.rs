//! iCalendar files, as rows of events and the texts of their descriptions.
//!
//! A row has only the recurrence rule. Added and excluded dates, and the occurrence that an event
//! replaces, are listed below the rows under their names in RFC 5545. Tasks and journal entries are
//! not events and are listed there, too.

use daysheet_core::event::Event;
use daysheet_core::event::time::{EventTime, find_zone};
use daysheet_core::ical;
use jiff::tz::TimeZone;

use crate::{
    ContentBlock, Finding, OutputSink, ReadFailure, RowsOf, StopReason, TextBlock, TextPiece, plain,
};

/// Events on a page.
const EVENTS: usize = 200;
/// Maximum dates of a series that are shown.
const DATES: usize = 50;
/// The properties of a task or journal entry that are shown, in this order.
const SHOWN: [&str; 9] = [
    "DTSTART", "DUE", "DURATION", "RRULE", "STATUS", "PERCENT-COMPLETE", "COMPLETED", "LOCATION",
    "DESCRIPTION",
];

/// Reads an iCalendar file.
pub fn read(bytes: &[u8], out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let text = plain::decoded(bytes, out);
    // The server validates the zone, so the fallback is for other callers.
    let zone =
        find_zone(&out.request.zone).or_else(|| find_zone("UTC")).ok_or(ReadFailure::Broken)?;
    let document = ical::read(&text, &zone).map_err(|_| ReadFailure::Broken)?;
    let kind = document.method.as_deref().unwrap_or("publish").to_lowercase();
    let timed = document.entries.iter().map(|event| (event, false));
    let timeless = document.timeless.iter().map(|event| (event, true));
    let all: Vec<_> = timed.chain(timeless).collect();
    let mut tasks = tasks(&text);
    if all.is_empty() && tasks.is_empty() {
        return Err(ReadFailure::Empty.into());
    }
    if tasks.len() > EVENTS {
        tasks.truncate(EVENTS);
        out.find(Finding::Full);
    }
    let (all, more, next) = out.page(all, EVENTS)?;
    let (mut objects, mut pieces) = (Vec::new(), Vec::new());
    for (event, is_timeless) in all {
        objects
            .extend(serde_json::to_value(event.clone().invitation(&kind, is_timeless).of_file()));
        // Meeting services repeat their link in the description.
        let notes = event.notes.as_deref().unwrap_or_default();
        let link = event.link.clone().filter(|link| !notes.contains(link));
        let mut about = dates(event, &zone);
        about.extend([notes.trim().to_owned(), link.unwrap_or_default()]);
        about.retain(|text| !text.is_empty());
        if !about.is_empty() {
            pieces.push(TextPiece::Text(format!("{}\n{}\n", event.title, about.join("\n"))));
        }
    }
    // Tasks follow the last event, so they are shown once.
    if next.is_none() {
        pieces.extend(tasks.into_iter().map(TextPiece::Text));
    }
    if !objects.is_empty() {
        out.block(ContentBlock::Rows { table: RowsOf::Invitation, objects, more, next })?;
    }
    if !pieces.is_empty() {
        out.block(ContentBlock::Text(TextBlock { pieces, of: None }))?;
    }
    Ok(())
}

/// Returns the dates of a series that its rule does not generate, and the occurrence that an event
/// replaces.
fn dates(event: &Event, zone: &TimeZone) -> Vec<String> {
    let shown = |at: &EventTime| match at {
        EventTime::Day(day) => day.to_string(),
        EventTime::At(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    };
    let line = |name: &str, dates: &[EventTime]| {
        let listed: Vec<String> = dates.iter().take(DATES).map(shown).collect();
        let more = if dates.len() > DATES { ", …" } else { "" };
        (!dates.is_empty()).then(|| format!("{name}: {}{more}", listed.join(", ")))
    };
    let one: Vec<EventTime> = event.original.into_iter().collect();
    let repeat = event.repeat.clone().unwrap_or_default();
    let lines =
        [line("RECURRENCE-ID", &one), line("EXDATE", &repeat.except), line("RDATE", &repeat.extra)];
    lines.into_iter().flatten().collect()
}

/// Returns the tasks and journal entries of a file, each as text.
// Long lines are folded: a line break and one space or tab (RFC 5545, 3.1).
fn tasks(text: &str) -> Vec<String> {
    let unfolded = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "");
    let mut tasks = Vec::new();
    // The open task, its lines, and the number of open components (such as alarms) within it.
    let mut open: Option<(String, Vec<(String, String)>)> = None;
    let mut within = 0_usize;
    for line in unfolded.lines() {
        let Some((head, value)) = line.split_once(':') else { continue };
        let name = head.split(';').next().unwrap_or_default().trim().to_ascii_uppercase();
        let kind = value.trim().to_ascii_uppercase();
        match (name.as_str(), &mut open) {
            ("BEGIN", None) if matches!(kind.as_str(), "VTODO" | "VJOURNAL") => {
                open = Some((kind, Vec::new()));
            }
            ("BEGIN", Some(_)) => within += 1,
            ("END", Some(_)) if within > 0 => within -= 1,
            ("END", Some(_)) => tasks.extend(open.take().map(|(kind, lines)| task(&kind, &lines))),
            (_, Some((_, lines))) if within == 0 => {
                // The zone is a parameter of the name; it is shown after the time.
                let zone = head.split(';').find_map(|part| part.strip_prefix("TZID="));
                let zone = zone.map(|zone| format!(" {}", zone.trim_matches('"')));
                lines.push((name, plain_text(value) + &zone.unwrap_or_default()));
            }
            _ => {}
        }
    }
    tasks
}

/// Returns a task as text: its kind and title, then its properties.
fn task(kind: &str, lines: &[(String, String)]) -> String {
    let of = |name: &str| {
        let found = lines.iter().find(|(own, _)| own == name).map(|(_, value)| value.trim());
        found.filter(|value| !value.is_empty())
    };
    let known = SHOWN.into_iter().filter_map(|name| Some(format!("{name}: {}\n", of(name)?)));
    format!("{kind}: {}\n{}", of("SUMMARY").unwrap_or_default(), known.collect::<String>())
}

/// Undoes the escaping of a text value (RFC 5545, 3.3.11).
fn plain_text(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => text.push('\n'),
                Some(c) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    text
}
