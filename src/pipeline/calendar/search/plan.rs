//! The request for an agenda: its query, its columns and its position.

use daysheet_core::error::{Error, Result};
use daysheet_core::ids::CalendarId;
use daysheet_core::provider::Account;
use daysheet_core::query::DateContext;
use daysheet_core::schemas::{ColumnLevel, EVENT, TableColumn};
use daysheet_core::text::{Note, note, ours};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::matching::{self, EventQuery};
use super::merge::MergedRows;
use super::pages::{AgendaPart, EventRow};
use super::position::{AccountPosition, EventPosition, IdDigests};
use super::range::TimeRange;
use crate::pipeline::rows::{MissingAccount, missing_line, name_account};
use crate::tools::ColumnChoice;

/// The maximum number of marks of shown events in a cursor.
const MAX_MARKS: usize = 4_096;

/// The search and its position; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgendaPlan {
    pub(super) range: TimeRange,
    pub(super) q: Option<String>,
    pub(super) calendars: Vec<String>,
    pub(super) series: bool,
    pub(super) tz: Option<String>,
    /// True for an iCalendar document instead of rows.
    #[serde(default)]
    pub(super) ics: bool,
    pub(super) level: Option<String>,
    pub(super) fields: Option<Vec<String>>,
    pub(super) limit: u32,
    /// The number of rows on the earlier pages.
    pub(super) shown: usize,
    /// The accounts that may have more.
    pub(super) places: Vec<AccountPosition>,
    /// True if several accounts are searched.
    pub(super) merged: bool,
    /// The position that the earlier pages have reached.
    pub(super) reached: EventPosition,
    /// Marks of shown events that would come again.
    pub(super) seen: IdDigests,
}

impl AgendaPlan {
    /// Returns the errors of the calendars of a part that could not be read.
    pub(super) fn failures(&self, part: &AgendaPart) -> impl Iterator<Item = Error> {
        part.gathered.sheets.iter().filter_map(|sheet| {
            let error = sheet.error.clone()?.context(&sheet.calendar.name);
            Some(if self.merged { error.context(&part.label) } else { error })
        })
    }

    /// Returns the plan of the first page of a range over some accounts, with the
    /// default columns of a search.
    pub(super) fn new(range: TimeRange, accounts: Vec<Account>, limit: u32) -> Self {
        Self {
            range,
            q: None,
            calendars: Vec::new(),
            series: false,
            tz: None,
            ics: false,
            level: None,
            fields: None,
            limit,
            shown: 0,
            merged: accounts.len() > 1,
            places: accounts.into_iter().map(|one| AccountPosition::first(one.id)).collect(),
            reached: EventPosition::FIRST,
            seen: IdDigests::default(),
        }
    }

    pub(super) fn with(mut self, columns: Option<ColumnChoice>) -> Self {
        match columns {
            None => {}
            Some(ColumnChoice::Level(level)) => {
                self.fields = None;
                self.level = Some(level.word().to_owned());
            }
            Some(ColumnChoice::Named(names)) => {
                self.level = None;
                self.fields = Some(names);
            }
        }
        self
    }

    pub(super) fn query(&self, zone: &TimeZone) -> Result<Option<EventQuery>> {
        // No condition on events depends on the current time, so any fixed time will do.
        let clock = DateContext { now: self.range.from(), zone: zone.clone() };
        self.q.as_deref().map(|q| matching::read_query(q, &clock)).transpose()
    }

    /// Returns true if the query has words to search for.
    fn has_words(&self, zone: &TimeZone) -> bool {
        matches!(self.query(zone), Ok(Some(query)) if query.has_words())
    }

    fn level(&self) -> ColumnLevel {
        let word = self.level.as_deref();
        [ColumnLevel::Key, ColumnLevel::More]
            .into_iter()
            .find(|level| word == Some(level.word()))
            .unwrap_or(ColumnLevel::Core)
    }

    /// Returns true if all columns are requested, and with them all guests of an event.
    pub(super) fn is_full(&self) -> bool {
        self.fields.is_none() && self.level() == ColumnLevel::More
    }

    /// Returns the columns that may be shown.
    pub(super) fn requested_columns(&self) -> Result<Vec<&'static TableColumn>> {
        if let Some(fields) = &self.fields {
            return ColumnChoice::Named(fields.clone()).columns_of(&EVENT);
        }
        let level = self.level();
        Ok(EVENT
            .fields
            .iter()
            .filter(|field| field.is_at(level) || matches!(field.name, "calendar" | "account"))
            .collect())
    }

    /// Returns the columns to show: the account if there are several, the calendar if
    /// some events are in another than the main one, unless the columns were named.
    pub(super) fn columns(
        &self,
        shown: &[(usize, EventRow)],
        parts: &[AgendaPart],
    ) -> Result<Vec<&'static TableColumn>> {
        let mut columns = self.requested_columns()?;
        if self.fields.is_some() {
            return Ok(columns);
        }
        let calendars = shown.iter().any(|(part, row)| {
            let sheets = parts.get(*part).map(|part| &part.gathered.sheets);
            let sheet = sheets.and_then(|all| Some((all.len(), all.get(row.calendar)?)));
            sheet.is_some_and(|(count, sheet)| count > 1 && !sheet.calendar.main)
        });
        let level = self.level();
        columns.retain(|field| match field.name {
            "account" => self.merged,
            "calendar" => level == ColumnLevel::More || calendars && level == ColumnLevel::Core,
            _ => true,
        });
        Ok(columns)
    }

    /// Returns the plan of the next page, if there is one.
    pub(super) fn after(
        &self,
        merged: &MergedRows,
        parts: &[AgendaPart],
        missing: &[MissingAccount<AccountPosition>],
    ) -> Option<Self> {
        let mut next = self.clone();
        next.shown += merged.shown.len();
        next.places.clear();
        let last = merged.shown.last().map(|(_, row)| row.at);
        let end = merged.end.or(last).unwrap_or(EventPosition::FIRST);
        next.reached = self.reached.max(end);
        for (number, part) in parts.iter().enumerate() {
            let Some(old) = self.places.iter().find(|old| old.account == part.account.id) else {
                continue;
            };
            let more = part.gathered.is_open() || merged.rest.contains(&number);
            let mut reached: Vec<(CalendarId, EventPosition)> = Vec::new();
            let mut again = false;
            for sheet in &part.gathered.sheets {
                let id = sheet.calendar.id.clone();
                match &sheet.error {
                    None => reached.push((id, sheet.at.max(end))),
                    // The next page reads it again, from its old position.
                    Some(error) if error.is_passing() => {
                        again = true;
                        reached.push((id, sheet.at));
                    }
                    // It would fail again on every page.
                    Some(_) => {}
                }
            }
            if more || again {
                // The account continues where its furthest calendar does; the others are listed as
                // late.
                let at = reached.iter().map(|(_, at)| *at).max().unwrap_or(old.at);
                reached.retain(|(_, one)| *one < at);
                next.places.push(AccountPosition {
                    account: part.account.id.clone(),
                    at,
                    late: reached,
                });
            }
        }
        let again = missing.iter().filter_map(|(_, place)| place.clone());
        next.places.extend(again);
        next.seen = self.marks(merged, &next.places);
        (!next.places.is_empty()).then_some(next)
    }

    /// Returns the marks needed to recognise events shown before.
    fn marks(&self, merged: &MergedRows, places: &[AccountPosition]) -> IdDigests {
        let hindmost = places.iter().map(AccountPosition::hindmost).min();
        let shown = merged.shown.iter();
        let mut marks = self.seen.list();
        // Only events from the position furthest behind on can be listed again.
        marks.extend(
            shown
                .filter(|(_, row)| hindmost.is_some_and(|at| row.at >= at))
                .map(|(_, row)| row.mark),
        );
        if hindmost > Some(self.reached) {
            // All events shown on earlier pages are now before every position.
            marks.drain(..self.seen.list().len().min(marks.len()));
        }
        let start = marks.len().saturating_sub(MAX_MARKS);
        IdDigests::new(marks.get(start..).unwrap_or_default())
    }

    /// Formats `events: 50 of 73, by start, Tue 2026-02-03 to Mon 2026-02-09, after 50 on earlier
    /// pages`.
    pub(super) fn count(
        &self,
        merged: &MergedRows,
        parts: &[AgendaPart],
        zone: &TimeZone,
    ) -> String {
        let open = parts.iter().any(|part| part.gathered.is_open());
        let total = if open {
            String::new()
        } else {
            format!(" of {}", self.shown + merged.shown.len() + merged.left)
        };
        let earlier = match self.shown {
            0 => String::new(),
            before => format!(", after {before} on earlier pages"),
        };
        let looked: usize = parts.iter().map(|part| part.gathered.looked).sum();
        let looked = if self.has_words(zone) {
            format!("; words searched in {looked}")
        } else {
            String::new()
        };
        let form = if self.ics { ", as iCalendar" } else { "" };
        format!(
            "events: {}{total}{form}, by start, {}{earlier}{looked}",
            merged.shown.len(),
            self.range.in_words(zone),
        )
    }

    /// Returns the other notes.
    pub(super) fn remarks(
        &self,
        merged: &MergedRows,
        parts: &[AgendaPart],
        zone: &TimeZone,
    ) -> Vec<Note> {
        let mut notes = Vec::new();
        if merged.copies > 0 {
            notes.push(match merged.copies {
                1 => "1 copy of a meeting in several calendars left out".into(),
                many => note!("{} copies of meetings in several calendars left out", many),
            });
        }
        for part in parts {
            let named = name_account(self.merged, &part.label);
            for error in self.failures(part) {
                let again = error.is_passing().then_some(());
                notes.push(missing_line((error, again)));
            }
            if part.gathered.odd > 0 {
                notes.push(named(note!("{} entries without a time left out", part.gathered.odd)));
            }
            notes.extend(part.gathered.notes.iter().cloned().map(named));
        }
        // An account may have no chosen calendar.
        let searched = parts.iter().filter(|part| !part.gathered.sheets.is_empty());
        let mut ports = searched.map(|part| part.port.capabilities());
        let has_words = self.has_words(zone);
        if has_words && let Some(can) = ports.find(|can| can.preview.is_some()) {
            notes
                .push(note!("only the beginning of {}'s descriptions is searched", ours(can.name)));
        }
        if self.series && !self.ics {
            notes.push(
                "series are rows with `repeats`, and `start` is that of their first event; other \
                 events are listed, too"
                    .into(),
            );
        }
        if matches!(self.query(zone), Ok(Some(query)) if query.is_unanswered()) {
            notes.push("unanswered by you; `people` says who of the guests has answered".into());
        }
        if merged.shown.is_empty() && merged.end.is_none() {
            notes.push(match self.q {
                Some(_) if has_words => {
                    "nothing matches: try fewer words, or a longer range".into()
                }
                Some(_) => "nothing matches: try a longer range".into(),
                None => "no events in that time".into(),
            });
        }
        notes
    }
}
