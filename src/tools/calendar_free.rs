//! `calendar_free`: the people and the range.

use daysheet_core::error::{Error, Result};
use daysheet_core::text::brief;
use daysheet_core::words;

use super::args::CallArguments;
use super::kinds::{ANY_ACCOUNT, LIST, TEXT, default, limit, tool};
use super::view::AnswerView;

/// The maximum number of people in one call.
const MAX_PEOPLE: usize = 50;

tool! {
    /// Free and busy times of people and rooms, and the best slots for a meeting.
    calendar_free(Read, Read) => CalendarFree(CalendarFree::checked);
    // Times stay as written.
    pub struct CalendarFree {
        /// Addresses; default you; slots always count you
        who: Vec<String> = LIST,
        from: Option<String> = TEXT,
        to: Option<String> = TEXT,
        // Without a duration, the busy times are returned, or the free ones within `hours`.
        /// 30m, 1h
        duration: Option<String> = TEXT,
        /// Working hours, 9-17
        hours: Option<String> = TEXT,
        sort: SlotSort = default(),
        tz: Option<String> = TEXT,
        account: Option<String> = ANY_ACCOUNT,
        limit: Option<u32> = limit(1, 50, 5),
        ..AnswerView { format }
    }
}

words! {
    /// The order of slots.
    #[derive(Default)]
    pub enum SlotSort {
        /// By their start.
        #[default]
        Time = "time",
        /// Those for which the fewest people are missing first.
        Best = "best",
    }
}

impl CalendarFree {
    fn checked(mut self, _: &CallArguments) -> Result<Self> {
        self.who.retain(|one| !one.is_empty());
        if self.who.len() > MAX_PEOPLE {
            return Err(Error::argument(format!(
                "{} people are more than {MAX_PEOPLE}",
                self.who.len()
            ))
            .next("ask about fewer"));
        }
        Ok(self)
    }

    /// Refuses names where addresses are needed.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument), which names them.
    pub fn check_people(&self) -> Result<()> {
        let names: Vec<&String> = self.who.iter().filter(|one| !is_address(one)).collect();
        let shown: Vec<String> = names.iter().map(|name| format!("`{}`", brief(name))).collect();
        let what = match names.len() {
            0 => return Ok(()),
            1 => "is not an address",
            _ => "are not addresses",
        };
        let error = Error::argument(format!("{} {what}", shown.join(", ")))
            .next("give whole addresses, or `me`; lookup kind=contacts finds them by name");
        Err(names.into_iter().fold(error, Error::naming))
    }
}

/// Returns true for `me` and for a plausible address.
fn is_address(text: &str) -> bool {
    let whole = |(local, domain): (&str, &str)| !local.is_empty() && !domain.is_empty();
    let plain = !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>,;".contains(c));
    text.eq_ignore_ascii_case("me") || plain && text.rsplit_once('@').is_some_and(whole)
}
