//! `calendar_search`: the requested events.

use daysheet_core::error::{Error, Result};
use daysheet_core::schemas::EVENT;
use daysheet_core::words;

use super::args::CallArguments;
use super::columns::{ColumnChoice, RowDetail};
use super::kinds::{ANY_ACCOUNT, IDS, LIST, SWITCH, TEXT, choice, columns, default, limit, tool};
use super::view::AnswerView;

/// The maximum number of ids in one call.
const MAX_IDS: usize = 50;

tool! {
    /// List events, meetings, appointments and who answered, by start (default: the next 7 days),
    /// words or ids.
    calendar_search(Read, Read) => CalendarSearch(CalendarSearch::checked);
    // Arguments that are not given are `None`, because a cursor may have them. Times stay as
    // written: they depend on the current time and on the zone.
    pub struct CalendarSearch {
        /// 2026-02-03 18h05, 2026-02-03, tomorrow 9am, +7d
        from: Option<String> = TEXT,
        // A day includes all of its hours.
        to: Option<String> = TEXT,
        /// Words, "phrase", OR -not, is:unanswered; or is:clash alone
        q: Option<String> = TEXT,
        ids: Vec<String> = IDS,
        account: Option<String> = ANY_ACCOUNT,
        // Empty means all calendars that are shown.
        /// Names or ids
        calendars: Vec<String> = LIST,
        /// Each series once
        series: bool = SWITCH,
        tz: Option<String> = TEXT,
        fields: Option<Vec<String>> = columns(&[&EVENT]),
        detail: Option<RowDetail> = choice(),
        form as "as": EventForm = default(),
        sort: Option<EventSort> = choice(),
        limit: Option<u32> = limit(1, 500, 50),
        cursor: Option<String> = TEXT,
        ..AnswerView { budget, chunk, known, format }
    }
}

words! {
    /// The order of events: the services list them in no other.
    pub enum EventSort {
        /// By their start.
        Start = "start",
    }
}

words! {
    /// In which form events are shown.
    #[derive(Default)]
    pub enum EventForm {
        /// As rows.
        #[default]
        Rows = "rows",
        /// As an iCalendar document.
        Ics = "ics",
    }
}

impl CalendarSearch {
    fn checked(self, args: &CallArguments) -> Result<Self> {
        // Checked before the accounts are known, so that the error does not depend on them.
        if let (Some(columns), None) = (self.columns(), &self.cursor) {
            columns.columns_of(&EVENT)?;
        }
        if let Some(cursor) = &self.cursor {
            // Clients may send defaults, which do not contradict the cursor.
            let says = |name: &str| match name {
                "ids" => !self.ids.is_empty(),
                "calendars" => !self.calendars.is_empty(),
                "series" => self.series,
                "as" => self.form != EventForm::Rows,
                name => args.has(name),
            };
            let all = ["from", "to", "q", "ids", "account", "calendars", "series", "tz", "as"];
            if let Some(name) = all.into_iter().find(|name| says(name)) {
                args.refuse_beside_cursor(&[name], cursor, "search")?;
            }
        }
        if self.ids.len() > MAX_IDS {
            return Err(Error::argument(format!(
                "`ids` has {} ids, more than {MAX_IDS}",
                self.ids.len()
            ))
            .next("ask for them in several calls"));
        }
        if !self.ids.is_empty() {
            let next = "give `ids` alone, or search without them";
            args.refuse_beside(&["from", "to", "q", "calendars"], "`ids`", next)?;
        }
        Ok(self)
    }

    /// Returns the requested columns, or `None` for the default ones.
    pub fn columns(&self) -> Option<ColumnChoice> {
        ColumnChoice::from_arguments(self.fields.as_ref(), self.detail)
    }
}
