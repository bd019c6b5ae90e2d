//! `calendar_search q=is:clash`: the events of a range that compete for the reader's time.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::EventTime;
use daysheet_core::event::{Event, ShowAs};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::ColumnLevel;
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use daysheet_core::time_parse::TimeContext;
use jiff::tz::TimeZone;

use super::matching::QUERY;
use super::range;
use super::ranged::{ShownEvents, clash_rows, ranged_agenda, ranged_rows};
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::calendar::clashes::{
    TimeClaim, absences, away, clashes, first_events, is_declined, meets_absence, not_competing,
    overlap,
};
use crate::pipeline::context::Context;
use crate::pipeline::rows::zone_line;
use crate::tools::calendar_search::{CalendarSearch, EventForm, EventSort};

/// Returns the table `clashes` of a range.
pub(super) async fn clash_search(ctx: &Context, request: &CalendarSearch) -> Result<WholeAnswer> {
    refuse_other_arguments(request)?;
    let zone = ctx.requested_zone(request.tz.as_deref())?;
    let here = TimeContext { now: ctx.now(), zone: zone.clone(), named: false };
    let range = range::search(request.from.as_deref(), request.to.as_deref(), false, &here)?;
    let accounts = named_or_all(ctx, request.account.as_deref()).await?;
    let ranged = ranged_agenda(ctx, range, &accounts, &zone).await?;
    if let (true, Some(error)) = (ranged.is_unknown(), ranged.missing.first()) {
        return Err(error.clone());
    }
    let own = ranged.events().enumerate();
    let own = own.filter(|(_, (facts, place))| place.is_writable() && !is_declined(facts));
    let own: Vec<_> = own.map(|(at, (facts, place))| (at, facts, place.main)).collect();
    let mut found = clashes(&own, &zone);
    let all = found.len();
    found.truncate(request.limit.map_or(all, |limit| limit as usize));
    let competing = competing(&own, &zone);
    let away = absent(&own, &competing, &zone);
    let beside = beside(&own, &competing, &zone);
    let mut positions: Vec<usize> =
        found.iter().flat_map(|one| one.with.iter().copied().chain([one.first])).collect();
    // Events that the notes mention need handles, too.
    positions.extend(away.iter().map(|(at, _)| *at).chain(beside.iter().copied()));
    positions.sort_unstable();
    positions.dedup();
    // These rows only provide ids and titles and are not shown, so their notes are dropped.
    let rows = ranged_rows(ctx, &ranged, &positions, &zone, &mut Vec::new()).await?;
    let shown = ShownEvents { ranged: &ranged, positions: &positions, rows: &rows };
    let table = clash_rows(ctx, &shown, &found, ColumnLevel::More, &zone);
    let count =
        if found.len() < all { format!("{} of {all}", found.len()) } else { all.to_string() };
    let mut notes = vec![note!(
        "clashes: {} in {}, by start, {}",
        ours(count),
        counted(competing.len(), "event of yours", "events of yours"),
        ours(range.in_words(&zone))
    )];
    notes.extend(ranged.fixed_by_level(&found, &ctx.config));
    notes.extend(notes_on_columns(request, &table));
    notes.push(note!(
        "not counted: declined events, calendars you cannot write to, {}",
        ours(not_competing())
    ));
    notes.extend(notes_on_others(ctx, &shown, (beside, away), &zone));
    let missing = ranged.missing.iter();
    notes.extend(missing.map(|error| Note::from(error).with_key(NoteKey::Missing)));
    notes.extend(ranged.notes);
    let sort = Some(EventSort::Start.word());
    let mut response = WholeAnswer { sort, notes, ..WholeAnswer::default() };
    response.document.tables.push(table);
    zone_line(&mut response.document, &zone);
    Ok(response)
}

/// Refuses arguments of other searches.
fn refuse_other_arguments(request: &CalendarSearch) -> Result<()> {
    let other = [
        ("calendars", !request.calendars.is_empty()),
        ("series", request.series),
        ("as", request.form != EventForm::Rows),
    ];
    match other.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::argument(format!("`{name}` does not apply to q={QUERY}"))
            .next("give only from, to, account, tz and limit with it")),
        None => Ok(()),
    }
}

/// Returns notes on arguments about columns, and on titles that are cut.
fn notes_on_columns(request: &CalendarSearch, table: &RowTable) -> Vec<Note> {
    let mut notes = Vec::new();
    if request.fields.is_some() || request.detail.is_some() {
        notes.push(note!(
            "`fields` and `detail` do not apply to q={}: calendar_search ids=ID shows more",
            QUERY
        ));
    }
    if has_short_titles(table) {
        let more = "long titles in `with` are shortened: calendar_search ids=ID has them whole";
        notes.push(more.into());
    }
    notes
}

/// Returns notes on events that do not compete: those at the same time, and those by which the
/// reader is away.
fn notes_on_others(
    ctx: &Context,
    shown: &ShownEvents<'_>,
    (beside, away): (Vec<usize>, Vec<(usize, &'static str)>),
    zone: &TimeZone,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let beside: Vec<String> = beside.into_iter().filter_map(|at| shown.mention(at, zone)).collect();
    if !beside.is_empty() {
        let events = first_events(beside);
        notes.push(note!("at the same time, but not counted: {}", ours(events)));
    }
    let away = away
        .into_iter()
        .filter_map(|(at, word)| Some(format!("{}: {word}", shown.mention(at, zone)?)));
    notes.extend(absences(away.collect()));
    if !notes.is_empty() {
        // The notes quote titles; the check of the answer looks only at rows and long texts.
        note_untrusted_quote(ctx);
    }
    notes
}

/// Returns true if a title within the cells of `with` is cut; no output has it whole.
fn has_short_titles(clashes: &RowTable) -> bool {
    let is_cut =
        |at| matches!(clashes.cell(at, "with"), Some(RowCell::Text(text)) if text.contains("…`"));
    (0..clashes.len()).any(is_cut)
}

/// Returns the times of the events that compete for the reader's time.
fn competing(own: &[(usize, &Event, bool)], zone: &TimeZone) -> Vec<(EventTime, EventTime)> {
    own.iter()
        .map(|(_, facts, main)| ((facts.start, facts.end), TimeClaim::new(facts, *main)))
        .filter(|(time, claim)| claim.competes(*time, zone))
        .map(|(time, _)| time)
        .collect()
}

/// Returns the events by which the reader is away at one of these times, by their positions, each
/// with its word.
fn absent(
    own: &[(usize, &Event, bool)],
    times: &[(EventTime, EventTime)],
    zone: &TimeZone,
) -> Vec<(usize, &'static str)> {
    own.iter()
        .filter(|(_, facts, _)| times.iter().any(|time| meets_absence(*time, facts, zone)))
        .filter_map(|(at, facts, _)| Some((*at, away(facts)?)))
        .collect()
}

/// Returns the events that are too long to compete and overlap one of these times.
fn beside(
    own: &[(usize, &Event, bool)],
    times: &[(EventTime, EventTime)],
    zone: &TimeZone,
) -> Vec<usize> {
    let is_beside = |facts: &Event, main: bool| {
        let (time, claim) = ((facts.start, facts.end), TimeClaim::new(facts, main));
        matches!(claim.show, ShowAs::Busy | ShowAs::Tentative)
            && claim.is_container(time, zone)
            && times.iter().any(|one| overlap(*one, time, zone))
    };
    own.iter().filter(|(_, facts, main)| is_beside(facts, *main)).map(|(at, ..)| *at).collect()
}
