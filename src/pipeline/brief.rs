//! `brief`: a day, or any range, in one answer.
//!
//! It combines the events of a range (`calendar/search/ranged.rs`) with the mail of some days
//! (`brief/mail.rs`), fetched at the same time: per account one list of its calendars (cached for a
//! minute), the events of the range and of the following day at once, and four lists of mail.
//! `brief/rules.rs` selects the messages that need the reader, `calendar/clashes.rs` the events
//! that clash. If not everything fits, the budget selects; this module only states the priorities.

mod mail;
mod rules;

use std::collections::{BTreeMap, HashSet};

use daysheet_core::budget::plan::PlacementTier;
use daysheet_core::budget::value::ValueHint;
use daysheet_core::budget::{AnswerItem, RowLegend, WholeAnswer};
use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::event::time::{EventTime, weekday};
use daysheet_core::provider::Account;
use daysheet_core::query::{self, DateContext};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{
    ColumnLevel, DRAFTS, INVITED, NEEDS_ME, NEXT_DAY, TODAY, TOMORROW, UNREAD,
};
use daysheet_core::text::{Note, NoteKey, counted, note, ours};
use daysheet_core::time_parse::TimeContext;
use futures_util::future::join;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use self::mail::{BriefMail, BriefWindow, RowForm, brief_mail, draft_rows, message_rows};
use self::rules::{AttentionReason, BriefMessage, SortedMail};
use super::calendar::clashes::{clashes, is_declined};
use super::calendar::search::range::{self, TimeRange};
use super::calendar::search::ranged::RangedEvents;
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::calendar::search::ranged::{
    ShownEvents, clash_rows, ranged_agenda, ranged_rows,
};
use crate::pipeline::context::Context;
use crate::pipeline::rows::zone_line;
use crate::tools::brief::BriefRequest;

/// The number of days back for which unanswered mail is considered.
const MAIL_DAYS: i32 = 21;
/// The number of days back for which other unread mail is listed for a day.
const UNREAD_DAYS: i32 = 7;
/// The number of days back for which sent mail shows the people that the reader writes to.
const SENT_DAYS: i32 = 30;

/// The number of days ahead for which unanswered invitations are shown.
const INVITED_DAYS: i32 = 21;

/// The range of a brief.
struct BriefSpan {
    range: TimeRange,
    /// The day, if the range is a single day.
    day: Option<Date>,
    /// True if that is today.
    today: bool,
    /// Events that end before this are left out.
    over: Option<Timestamp>,
    /// The possible starts of unanswered invitations; `None` for a range that is over, or far
    /// ahead.
    invited: Option<TimeRange>,
    /// The search for received mail.
    inbox: String,
    /// The condition ` before:…` of the searches; empty unless the range is over.
    before: String,
    /// The search for the reader's sent mail.
    sent: String,
    sent_since: Date,
    /// The first day of which unread mail is listed.
    unread_since: Date,
    /// The range as the argument of a call.
    range_text: String,
    /// ` account=…`, as given in the call.
    account: String,
    /// ` tz=…`, likewise.
    tz: String,
}

/// The most events and clashes of a day that have to be shown at once.
const MAX_CRITICAL: usize = 40;
/// The maximum number of clashes reported.
const MAX_CLASHES: usize = 50;

/// The positions of the events by section.
#[derive(Default)]
struct EventSections {
    today: Vec<usize>,
    tomorrow: Vec<usize>,
    /// Unanswered invitations; of a series only the first occurrence.
    invited: Vec<usize>,
    declined: usize,
}

/// The data of a brief, before it becomes tables.
struct BriefData<'a> {
    /// The accounts that the brief covers.
    accounts: &'a [Account],
    /// The zone of the times.
    zone: &'a TimeZone,
    /// The period of the brief.
    span: BriefSpan,
    /// The fetched events.
    agenda: RangedEvents,
    /// The events by section.
    days: EventSections,
    /// The fetched messages.
    mail: BriefMail,
    /// The messages by section.
    sorted: SortedMail,
}

impl BriefData<'_> {
    /// Formats `brief of Sat 2026-11-21, 2 accounts: 3 events left, 1 clash, 2 unanswered
    /// invitations to events within 21 days, 4 need you, 1 draft, 6 other unread, 7 newsletters`.
    fn headline(&self, clashes: usize) -> Note {
        let Self { span, agenda, days, mail, sorted, .. } = self;
        let mut parts = Vec::new();
        if agenda.is_unknown() {
            parts.push("events unknown".to_owned());
        } else {
            let left = if span.over.is_some() { " left" } else { "" };
            let events = counted(days.today.len(), "event", "events");
            parts.push(format!("{events}{left}"));
            parts.push(counted(clashes, "clash", "clashes").to_string());
            if span.invited.is_some() {
                let count =
                    counted(days.invited.len(), "unanswered invitation", "unanswered invitations");
                parts.push(format!("{count} to events within {INVITED_DAYS} days"));
            }
        }
        if mail.inboxes.is_empty() {
            parts.push("mail unknown".to_owned());
        } else {
            parts.push(counted(sorted.needs_me.len(), "needs you", "need you").to_string());
            parts.push(counted(mail.drafts(), "draft", "drafts").to_string());
            parts.push(format!("{} other unread", sorted.unread.len()));
            parts.push(counted(sorted.newsletters, "newsletter", "newsletters").to_string());
        }
        note!(
            "brief of {}, {}: {}",
            ours(span.range.in_words(self.zone)),
            counted(self.accounts.len(), "account", "accounts"),
            ours(parts.join(", "))
        )
    }
}

/// Returns the brief of a day, or of another range.
pub(super) async fn brief(ctx: &Context, request: BriefRequest) -> Result<WholeAnswer> {
    let zone = &ctx.requested_zone(request.tz.as_deref())?;
    let clock = DateContext { zone: zone.clone(), ..ctx.date_context() };
    let span = BriefSpan::from_request(&request, &clock)?;
    let accounts = named_or_all(ctx, request.account.as_deref()).await?;
    let window = BriefWindow {
        inbox: query::parse(&span.inbox, &clock)?,
        sent: query::parse(&span.sent, &clock)?,
        drafts: query::parse(&span.drafts(), &clock)?,
        clock,
    };
    let (agenda, mail) = join(
        ranged_agenda(ctx, span.looked_at(zone), &accounts, zone),
        brief_mail(ctx, &accounts, &window),
    )
    .await;
    let (agenda, mail) = (agenda?, mail?);
    // Either half alone is still an answer.
    if agenda.is_unknown() && mail.inboxes.is_empty() {
        return Err(all_failed(&mail.missing, accounts.len()));
    }

    let unread_since = EventTime::Day(span.unread_since).instant(zone);
    let data = &BriefData {
        accounts: &accounts,
        sorted: rules::sort(&mail.messages, &mail.own, unread_since),
        days: span.days(&agenda, zone),
        span,
        agenda,
        mail,
        zone,
    };
    let BriefData { span, agenda, days, mail, sorted, .. } = data;
    let mut sections = BriefSections::default();
    let mut notes = Vec::new();
    let found = event_tables(ctx, data, &mut sections, &mut notes).await?;
    if !mail.inboxes.is_empty() {
        let whys = mail_tables(ctx, data, &mut sections, &mut notes).await?;
        notes.splice(0..0, whys);
    }
    if !agenda.is_unknown() && !days.tomorrow.is_empty() {
        let rows = ranged_rows(ctx, agenda, &days.tomorrow, zone, &mut notes);
        let call = span.calendar_search(span.next_day());
        sections.push(
            rows.await?.section(if span.today { TOMORROW } else { NEXT_DAY }),
            PlacementTier::Medium,
            None,
            call,
        );
    }

    let mut response = sections.response;
    zone_line(&mut response.document, zone);
    if sorted.newsletters > 0 {
        let count = i64::try_from(sorted.newsletters).unwrap_or(i64::MAX);
        let scalars = &mut response.document.scalars;
        scalars.push(("newsletters", RowCell::Count(count)));
    }
    response.notes = vec![
        data.headline(found),
        note!(
            "mail: {}; needs_me: unanswered since then; unread: since {}; people you write \
             to: to and cc of mail sent since {}",
            ours(&span.inbox),
            ours(&span.unread_since),
            ours(&span.sent_since)
        ),
    ];
    // A caller who chose the zone needs no note on the zone of their calendar.
    if request.tz.is_none() {
        response.notes.extend(agenda.other_zone(zone));
    }
    response.notes.append(&mut notes);
    response.notes.extend(left_out(mail, agenda));
    response.notes.extend(mail.notes.iter().cloned());
    response.notes.extend(agenda.notes.iter().cloned());
    Ok(response)
}

/// Adds the tables `today` (`events` of another range), `clashes` and `invited`; returns
/// the number of clashes.
async fn event_tables(
    ctx: &Context,
    data: &BriefData<'_>,
    sections: &mut BriefSections,
    notes: &mut Vec<Note>,
) -> Result<usize> {
    let BriefData { span, agenda, days, zone, .. } = data;
    if agenda.is_unknown() {
        return Ok(0);
    }
    let events: Vec<_> = agenda.events().collect();
    let shown = days.today.iter().filter_map(|at| Some((*at, *events.get(*at)?)));
    let own: Vec<(usize, &Event, bool)> = shown
        .filter(|(_, (_, calendar))| calendar.is_writable())
        .map(|(at, (facts, calendar))| (at, facts, calendar.main))
        .collect();
    let mut found = clashes(&own, zone);
    if found.len() > MAX_CLASHES {
        notes.push(note!(
            "clashes: {} found, {} shown: give a shorter range for the others",
            found.len(),
            MAX_CLASHES
        ));
        found.truncate(MAX_CLASHES);
    }
    let today = ranged_rows(ctx, agenda, &days.today, zone, notes).await?;
    let shown = ShownEvents { ranged: agenda, positions: &days.today, rows: &today };
    let clashing = clash_rows(ctx, &shown, &found, ColumnLevel::Core, zone);
    let call = span.calendar_search(span.range_text.clone());
    // A day is needed at once. A longer range may follow the mail that needs the reader.
    let tier = match span.day {
        Some(_) if today.len() + clashing.len() <= MAX_CRITICAL => PlacementTier::Critical,
        _ => PlacementTier::Medium,
    };
    let today = if span.today { today.section(TODAY) } else { today };
    sections.push(today, tier, None, call.clone());
    if !clashing.is_empty() {
        sections.push(clashing, tier, Some(true), call);
    }
    if !days.invited.is_empty() {
        let rows = ranged_rows(ctx, agenda, &days.invited, zone, notes).await?;
        sections.push(
            rows.section(INVITED),
            PlacementTier::Medium,
            Some(true),
            span.calendar_search(span.invited_days(zone)),
        );
    }
    if days.declined > 0 {
        let declined = counted(days.declined, "declined event", "declined events");
        notes.push(note!("{} not shown", declined));
    }
    Ok(found.len())
}

/// Adds the tables `needs_me` and `unread`; returns their notes.
async fn mail_tables(
    ctx: &Context,
    data: &BriefData<'_>,
    sections: &mut BriefSections,
    notes: &mut Vec<Note>,
) -> Result<Vec<Note>> {
    let BriefData { span, mail, sorted, .. } = data;
    let form = RowForm { several: data.accounts.len() > 1, zone: data.zone };
    let mut first = Vec::new();
    let needs: Vec<usize> = sorted.needs_me.iter().map(|(at, _)| *at).collect();
    let rows = message_rows(ctx, mail, &needs, form, notes).await?.section(NEEDS_ME);
    sections.response.legend = whys(&rows, sorted, &mail.messages);
    let call = span.mail_search(&span.inbox);
    sections.push(rows, PlacementTier::High, Some(true), call);
    let drafts = draft_rows(ctx, mail, form, notes).await?;
    if !drafts.is_empty() {
        let call = span.mail_search(&span.drafts());
        sections.push(drafts.section(DRAFTS), PlacementTier::Low, None, call);
    }
    let unread = format!("is:unread {}", span.inbox_since(span.unread_since));
    if !sorted.unread.is_empty() {
        let rows = message_rows(ctx, mail, &sorted.unread, form, notes);
        let call = span.mail_search(&unread);
        sections.push(rows.await?.section(UNREAD), PlacementTier::Medium, None, call);
    }
    if sorted.newsletters > 0 {
        // No search finds only these, because queries have no term for headers.
        first.push(note!(
            "newsletters and mailing lists: {} unread, not listed; to list them (`bulk` has \
             list or bulk): {} fields=from,subject,bulk",
            sorted.newsletters,
            ours(span.mail_search(&unread))
        ));
    }
    Ok(first)
}

/// The sections so far, table by table.
#[derive(Default)]
struct BriefSections {
    response: WholeAnswer,
}

impl BriefSections {
    fn push(&mut self, rows: RowTable, tier: PlacementTier, open: Option<bool>, call: String) {
        let tables = &mut self.response.document.tables;
        let (number, of) = (tables.len(), rows.len());
        let items = (0..of).map(|row| AnswerItem {
            rows: vec![(number, row)],
            tier,
            hint: ValueHint { position: row, of, open, ..ValueHint::default() },
            ..AnswerItem::default()
        });
        self.response.items.get_or_insert_default().extend(items);
        self.response.calls.push((number, call));
        tables.push(rows);
    }
}

impl BriefSpan {
    /// Reads the range of a call, and the searches that it needs.
    fn from_request(request: &BriefRequest, clock: &DateContext) -> Result<Self> {
        let zone = &clock.zone;
        let here = TimeContext { now: clock.now, zone: zone.clone(), named: false };
        let range = range::days(request.from.as_deref(), request.to.as_deref(), &here)?;
        let (first, last) = range.dates(zone);
        let today = zone.to_datetime(clock.now).date();
        let running = range.from() <= clock.now && clock.now < range.to();
        // A brief of a future day is about the mail up to today.
        let back = |days: i32| first.min(today).saturating_sub(days.days());
        let since = back(MAIL_DAYS);
        let over = range.to() <= clock.now;
        let unread_since = match (over, first == last) {
            (false, _) => today.saturating_sub(UNREAD_DAYS.days()).min(first),
            (true, true) => back(UNREAD_DAYS),
            (true, false) => first,
        };
        let ahead_to = today.saturating_add((INVITED_DAYS + 1).days());
        let ahead_to = EventTime::Day(ahead_to).instant(zone);
        let before =
            if over { format!(" before:{}", query_bound(range.to(), zone)) } else { String::new() };
        let until = last.min(today);
        // At least as far back as the considered mail, because sent mail shows the answers to it.
        let sent_since = until.saturating_sub(SENT_DAYS.days()).min(since);
        let whole = |day: Date| EventTime::Day(day).instant(zone);
        let next = last.saturating_add(1.day());
        let range_text = if range.from() == whole(first) && range.to() == whole(next) {
            format!("from={first} to={last}")
        } else {
            format!("from={} to={}", local(range.from(), zone), local(range.to(), zone))
        };
        let account = request.account.as_ref();
        Ok(Self {
            range,
            day: (first == last).then_some(first),
            today: first == last && first == today,
            over: running.then_some(clock.now),
            invited: (!over && range.from() < ahead_to)
                .then(|| TimeRange::new(clock.now, ahead_to)),
            inbox: format!("in:inbox after:{since}{before}"),
            before,
            unread_since,
            sent: format!("in:sent after:{sent_since}"),
            sent_since,
            range_text,
            account: account.map_or_else(String::new, |name| format!(" account={name}")),
            tz: request.tz.as_ref().map_or_else(String::new, |name| format!(" tz={name}")),
        })
    }

    /// Returns the range to fetch: the range itself, the following day if it is a day, and the days
    /// of invitations.
    fn looked_at(&self, zone: &TimeZone) -> TimeRange {
        let next = self.day.map(|day| day.saturating_add(2.days()));
        let to = next.map_or(self.range.to(), |over| EventTime::Day(over).instant(zone));
        let invited = self.invited.map_or(self.range, |days| days);
        TimeRange::new(self.range.from().min(invited.from()), to.max(invited.to()))
    }

    /// Returns the days of invitations, as arguments of a call.
    fn invited_days(&self, zone: &TimeZone) -> String {
        let (first, last) = self.invited.unwrap_or(self.range).dates(zone);
        format!("from={first} to={last}")
    }

    /// Returns the day after it, as the argument of a call.
    fn next_day(&self) -> String {
        let next = self.day.unwrap_or_default().saturating_add(1.day());
        format!("from={next} to={next}")
    }

    fn calendar_search(&self, range: String) -> String {
        format!("calendar_search {range}{}{}", self.account, self.tz)
    }

    fn mail_search(&self, q: &str) -> String {
        // Dates with a time are in quotes already.
        format!("mail_search q={}{}{} limit=100", Value::from(q), self.account, self.tz)
    }

    /// Returns the search of the drafts.
    fn drafts(&self) -> String {
        format!("in:drafts{}", self.before)
    }

    /// Returns the search of the mail since a day.
    fn inbox_since(&self, day: Date) -> String {
        format!("in:inbox after:{day}{}", self.before)
    }

    /// Assigns the events to sections.
    fn days(&self, agenda: &RangedEvents, zone: &TimeZone) -> EventSections {
        let mut days = EventSections::default();
        let mut series = HashSet::new();
        let next = self.day.map(|day| {
            let day = |more: i32| EventTime::Day(day.saturating_add(more.days())).instant(zone);
            TimeRange::new(day(1), day(2))
        });
        for (at, (facts, calendar)) in agenda.events().enumerate() {
            let (start, end) = (facts.start.instant(zone), facts.end.instant(zone));
            // An event without length that starts now is not over.
            let over = self.over.is_some_and(|now| end <= now && start < now);
            let today = self.range.has(start, end) && !over;
            let tomorrow = next.is_some_and(|next| next.has(start, end));
            if is_declined(facts) {
                days.declined += usize::from(today || tomorrow);
                continue;
            }
            // An invitation in a read-only calendar is someone else's.
            let waits = facts.unanswered && !facts.cancelled && calendar.is_writable();
            let ahead = self.invited.is_some_and(|days| start >= days.from() && start < days.to());
            if waits && ahead && series.insert(facts.series.as_ref().unwrap_or(&facts.id)) {
                days.invited.push(at);
            }
            days.today.extend(today.then_some(at));
            days.tomorrow.extend(tomorrow.then_some(at));
        }
        days
    }
}

/// Returns the reasons of each row, by their words, with the day that it names.
fn whys(rows: &RowTable, sorted: &SortedMail, messages: &[BriefMessage]) -> RowLegend {
    let mut groups: BTreeMap<(&[AttentionReason], Option<Date>), Vec<String>> = BTreeMap::new();
    for (at, (message, why)) in sorted.needs_me.iter().enumerate() {
        let soon = messages.get(*message).and_then(|message| message.soon);
        groups.entry((why, soon)).or_default().push(rows.row_name(at));
    }
    let groups = groups.into_iter().map(|((why, soon), rows)| {
        let words: Vec<_> = why.iter().map(|why| why.word()).collect();
        let day = soon.map(|day| format!("names {}:", weekday(day)));
        let line: Vec<String> = [words.join("+")].into_iter().chain(day).collect();
        (line.join(" "), rows)
    });
    RowLegend { name: "why", groups: groups.collect() }
}

/// Returns notes about accounts from which something is missing.
fn left_out(mail: &BriefMail, agenda: &RangedEvents) -> Vec<Note> {
    // An account that failed in both is reported once.
    let both = |error: &&Error| agenda.missing.contains(error);
    let mut notes: Vec<Note> = mail
        .missing
        .iter()
        .map(|error| if both(&error) { Note::from(error) } else { note!("mail: {}", error) })
        .collect();
    let calendars = agenda.missing.iter();
    let calendars = calendars.filter(|error| !mail.missing.contains(error));
    notes.extend(calendars.map(|error| note!("calendars: {}", error)));
    notes.into_iter().map(|note| note.with_key(NoteKey::Missing)).collect()
}

fn all_failed(missing: &[Error], accounts: usize) -> Error {
    let first = missing.first().cloned().unwrap_or_else(|| {
        Error::new(
            daysheet_core::error::ErrorKind::Internal,
            "an account was left without an answer",
        )
    });
    match accounts {
        1 => first,
        count => first.context(format!("all {count} accounts failed, the first")),
    }
}

/// Formats a time for a search of mail: a date if it is a midnight.
fn query_bound(at: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(at);
    if EventTime::Day(local.date()).instant(zone) == at {
        local.date().to_string()
    } else {
        at.to_string()
    }
}

/// Formats a time for a search of events.
fn local(at: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M").to_string()
}
