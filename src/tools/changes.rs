//! `changes`: the cursor and the sources.

use daysheet_core::error::{Error, Result};
use daysheet_core::text::brief;

use super::args::CallArguments;
use super::kinds::{ANY_ACCOUNT, LIST, TEXT, limit, tool};
use super::view::AnswerView;

tool! {
    /// What is new, changed (and how) or gone in mail and calendars since a cursor; the first call
    /// gives one.
    changes(Read, Read) => Changes(ChangesRequest::checked);
    pub struct ChangesRequest {
        // The starting point; by default, changes from now on.
        cursor: Option<String> = TEXT,
        /// mail, events; default both
        kinds: Vec<String> = LIST,
        account: Option<String> = ANY_ACCOUNT,
        limit: Option<u32> = limit(1, 500, 100),
        tz: Option<String> = TEXT,
        ..AnswerView { budget, chunk, format }
    }
}

/// The accepted words for each kind.
const MAIL: &[&str] = &["mail", "messages"];
const EVENTS: &[&str] = &["events", "calendar"];

impl ChangesRequest {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        match self.kinds.iter().find(|kind| !is(MAIL, kind) && !is(EVENTS, kind)) {
            None => Ok(self),
            Some(other) => Err(Error::argument(format!("`{}` is not a kind", brief(other)))
                .next("use some of: mail, events")),
        }
    }

    /// Returns true if changes of mail are requested.
    pub fn mail(&self) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| is(MAIL, kind))
    }

    /// Returns true if changes of calendars are requested.
    pub fn events(&self) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| is(EVENTS, kind))
    }
}

fn is(words: &[&str], kind: &str) -> bool {
    words.contains(&kind)
}
