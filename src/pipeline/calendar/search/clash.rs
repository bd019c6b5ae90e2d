//! `calendar_search q=is:clash`: the events of a range that compete for the reader's time.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::event_time::EventTime;
use daysheet_core::provider::calendar::{EventData, ShowAs};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::ColumnLevel;
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use daysheet_core::time_parse::TimeContext;
use jiff::tz::TimeZone;

use super::matching::QUERY;
use super::range;
use super::ranged::{clash_rows, ranged_agenda, ranged_rows};
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::access::guard::note_untrusted_quote;
use crate::pipeline::calendar::clashes::{
    TimeClaim, absences, away, clashes, is_declined, meets_absence, named, not_competing, overlap,
};
use crate::pipeline::context::Context;
use crate::pipeline::rows::zone_line;
use crate::pipeline::times::requested_zone;
use crate::tools::calendar_search::{CalendarSearch, EventForm, EventSort};

/// Returns the table `clashes` of a range.
pub(super) async fn clash_search(ctx: &Context, request: &CalendarSearch) -> Result<WholeAnswer> {
    let other = [
        ("calendars", !request.calendars.is_empty()),
        ("series", request.series),
        ("as", request.form != EventForm::Rows),
    ];
    if let Some((name, _)) = other.into_iter().find(|(_, given)| *given) {
        return Err(Error::argument(format!("`{name}` does not apply to q={QUERY}"))
            .next("give only from, to, account, tz and limit with it"));
    }
    let zone = requested_zone(ctx, request.tz.as_deref())?;
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
    let mut shown: Vec<usize> =
        found.iter().flat_map(|one| one.with.iter().copied().chain([one.first])).collect();
    // Events that the notes mention need handles, too.
    shown.extend(away.iter().map(|(at, _)| *at).chain(beside.iter().copied()));
    shown.sort_unstable();
    shown.dedup();
    let mut response =
        WholeAnswer { sort: Some(EventSort::Start.word()), ..WholeAnswer::default() };
    // These rows only provide ids and titles and are not shown, so their notes are dropped.
    let rows = ranged_rows(ctx, &ranged, &shown, &zone, &mut Vec::new()).await?;
    let table = clash_rows(ctx, &found, &ranged, (&shown, &rows), ColumnLevel::More, &zone);
    let is_shortened = has_short_titles(&table);
    response.document.tables.push(table);
    zone_line(&mut response.document, &zone);
    let count =
        if found.len() < all { format!("{} of {all}", found.len()) } else { all.to_string() };
    response.notes.push(note!(
        "clashes: {} in {}, by start, {}",
        ours(count),
        counted(competing.len(), "event of yours", "events of yours"),
        ours(range.tell(&zone))
    ));
    response.notes.extend(ranged.fixed_by_level(&found, &ctx.config));
    if request.fields.is_some() || request.detail.is_some() {
        response.notes.push(note!(
            "`fields` and `detail` do not apply to q={}: calendar_search ids=ID shows more",
            QUERY
        ));
    }
    if is_shortened {
        let more = "long titles in `with` are shortened: calendar_search ids=ID has them whole";
        response.notes.push(more.into());
    }
    response.notes.push(note!(
        "not counted: declined events, calendars you cannot write to, {}",
        ours(not_competing())
    ));
    let beside: Vec<String> =
        beside.into_iter().filter_map(|at| ranged.mention(at, &shown, &rows, &zone)).collect();
    if !beside.is_empty() {
        // The note quotes titles; the check of the answer looks only at rows and long texts.
        note_untrusted_quote(ctx);
        response.notes.push(note!("at the same time, but not counted: {}", ours(named(beside))));
    }
    let away = away.into_iter().filter_map(|(at, word)| {
        Some(format!("{}: {word}", ranged.mention(at, &shown, &rows, &zone)?))
    });
    if let Some(note) = absences(away.collect()) {
        note_untrusted_quote(ctx);
        response.notes.push(note);
    }
    let missing = ranged.missing.iter();
    let missing = missing.map(|error| Note::from(error).with_key(NoteKey::Missing));
    response.notes.extend(missing);
    response.notes.extend(ranged.notes);
    Ok(response)
}

/// Returns true if a title within the cells of `with` is cut; no output has it whole.
fn has_short_titles(clashes: &RowTable) -> bool {
    let is_cut =
        |at| matches!(clashes.cell(at, "with"), Some(RowCell::Text(text)) if text.contains("…`"));
    (0..clashes.len()).any(is_cut)
}

/// Returns the times of the events that compete for the reader's time.
fn competing(own: &[(usize, &EventData, bool)], zone: &TimeZone) -> Vec<(EventTime, EventTime)> {
    own.iter()
        .map(|(_, facts, main)| ((facts.start, facts.end), TimeClaim::of(facts, *main)))
        .filter(|(time, claim)| claim.competes(*time, zone))
        .map(|(time, _)| time)
        .collect()
}

/// Returns the events by which the reader is away at one of these times, by their positions, each
/// with its word.
fn absent(
    own: &[(usize, &EventData, bool)],
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
    own: &[(usize, &EventData, bool)],
    times: &[(EventTime, EventTime)],
    zone: &TimeZone,
) -> Vec<usize> {
    let is_beside = |facts: &EventData, main: bool| {
        let (time, claim) = ((facts.start, facts.end), TimeClaim::of(facts, main));
        matches!(claim.show, ShowAs::Busy | ShowAs::Tentative)
            && claim.is_container(time, zone)
            && times.iter().any(|one| overlap(*one, time, zone))
    };
    own.iter().filter(|(_, facts, main)| is_beside(facts, *main)).map(|(at, ..)| *at).collect()
}
