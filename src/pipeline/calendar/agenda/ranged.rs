//! All events of a range, for callers that decide on them before they become rows.
//!
//! The same search as `calendar_search`, in one page. The caller chooses what is shown.

use jiff::tz::TimeZone;

use super::merge::merge;
use super::pages::{AgendaRequest, EventRow};
use super::{AgendaPart, AgendaPlan, range::Range};
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::provider::Account;
use crate::provider::calendar::EventData;
use crate::row::RowTable;
use crate::text::{Note, note, ours};

/// The maximum number of events.
const MOST: u32 = 500;

/// The events of a range, each once, by their start.
pub(in crate::pipeline) struct Ranged {
    plan: AgendaPlan,
    parts: Vec<AgendaPart>,
    rows: Vec<(usize, EventRow)>,
    /// Why calendars of some accounts are missing; each names the account.
    pub(in crate::pipeline) missing: Vec<Error>,
    /// Notes on what else is missing.
    pub(in crate::pipeline) notes: Vec<Note>,
}

impl Ranged {
    /// Returns true if no calendar could be read.
    pub(in crate::pipeline) fn is_unknown(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the events in order: the facts of each, and whether it is in a calendar
    /// that the account may write to.
    pub(in crate::pipeline) fn events(&self) -> impl Iterator<Item = (&EventData, bool)> {
        self.rows.iter().map(|(part, row)| {
            let sheets = self.parts.get(*part).map(|part| &part.gathered.sheets);
            let sheet = sheets.and_then(|sheets| sheets.get(row.calendar));
            let own = sheet.is_some_and(|sheet| sheet.calendar.is_writable());
            (&row.facts, own)
        })
    }
}

impl AgendaPart {
    /// Returns the errors of calendars that could not be read.
    pub(super) fn failures(&self, plan: &AgendaPlan) -> impl Iterator<Item = Error> {
        self.gathered.sheets.iter().filter_map(|sheet| {
            let error = sheet.error.clone()?.context(&sheet.calendar.name);
            Some(match plan.merged {
                true => error.context(&self.label),
                false => error,
            })
        })
    }
}

impl Pipeline {
    /// Fetches the events of a range over some accounts. A failed account is reported
    /// in the result.
    pub(in crate::pipeline) async fn ranged_agenda(
        &self,
        range: Range,
        accounts: &[Account],
        zone: &TimeZone,
    ) -> Result<Ranged> {
        let mut plan = AgendaPlan::of(range, accounts.to_vec(), MOST);
        // One account that fails is no error here either, and is named.
        plan.merged = true;
        let seen = plan.seen.set();
        let request = AgendaRequest {
            range,
            series: false,
            query: None,
            zone,
            seen: &seen,
            wanted: usize::try_from(MOST).unwrap_or(usize::MAX),
        };
        let (mut parts, missing) = self.agenda_parts(&plan, &[], &request).await?;
        plan.merged = accounts.len() > 1;
        let merged = merge(&mut parts, request.wanted);
        let mut notes = Vec::new();
        if merged.end.is_some() {
            notes.push(note!(
                "only the first {} events were checked: give a shorter range",
                merged.shown.len()
            ));
        }
        for part in &parts {
            notes.extend(part.failures(&plan).map(|error| note!("left out: {}", error)));
            let more = part.gathered.notes.iter();
            notes.extend(more.map(|note| note.under(ours(&part.label))));
        }
        Ok(Ranged {
            plan,
            parts,
            rows: merged.shown,
            missing: missing.into_iter().map(|(error, _)| error).collect(),
            notes,
        })
    }

    /// Returns rows of some of the events, by their positions, as a search shows them.
    pub(in crate::pipeline) async fn ranged_rows(
        &self,
        ranged: &Ranged,
        keep: &[usize],
        zone: &TimeZone,
        notes: &mut Vec<Note>,
    ) -> Result<RowTable> {
        let rows = keep.iter().filter_map(|at| ranged.rows.get(*at));
        let rows: Vec<_> = rows.cloned().collect();
        let columns = ranged.plan.columns(&rows, &ranged.parts)?;
        self.event_rows(&ranged.parts, &rows, &columns, zone, &ranged.plan, notes).await
    }
}
