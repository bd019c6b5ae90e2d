//! The arguments of `calendar_delete`.

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::calendar::GuestNotice;

use super::args::CallArguments;
use super::calendar_save::{MAX_EVENTS, SeriesScope};
use super::kinds::{NEEDED_IDS, SWITCH, TEXT, choice, tool};
use super::view::AnswerView;

tool! {
    /// Delete events; a meeting you organize is cancelled.
    calendar_delete(Outward, Organize) => CalendarDelete(CalendarDelete::checked);
    pub struct CalendarDelete {
        ids: Vec<String> = NEEDED_IDS,
        scope: Option<SeriesScope> = choice(),
        /// To the guests; Outlook only
        message: Option<String> = TEXT,
        notify: Option<GuestNotice> = choice(),
        dry_run: bool = SWITCH,
        ..AnswerView { format }
    }
}

impl CalendarDelete {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        match self.ids.len() {
            0..=MAX_EVENTS => Ok(self),
            many => Err(Error::argument(format!("{many} events are more than {MAX_EVENTS}"))
                .next("delete them in several calls")),
        }
    }
}
