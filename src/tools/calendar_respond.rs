//! The arguments of `calendar_respond`.

use daysheet_core::error::{Error, Result};
use daysheet_core::event::InvitationAnswer;
use daysheet_core::provider::calendar::GuestNotice;
use daysheet_core::words;

use super::args::CallArguments;
use super::calendar_save::SeriesScope;
use super::kinds::{LIST, NEEDED, TEXT, needed, some_of, tool};
use super::view::AnswerView;

tool! {
    /// Accept, decline or answer an invitation, by event or message; or forward it.
    calendar_respond(Outward, Send) => CalendarRespond(CalendarRespond::checked);
    pub struct CalendarRespond {
        /// Event or message id
        id: String = NEEDED,
        response: InvitationReply = needed(),
        scope: Option<SeriesScope> = some_of(&["this", "series"]),
        // To the organizer, or with what is forwarded.
        comment: Option<String> = TEXT,
        /// Another time: start, or start/end
        propose: Option<String> = TEXT,
        /// Forward to
        to: Vec<String> = LIST,
        notify: Option<GuestNotice> = some_of(&["all", "none"]),
        ..AnswerView { format }
    }
}

words! {
    /// What to do with an invitation.
    #[expect(missing_docs, reason = "the words say it")]
    pub enum InvitationReply {
        Accept = "accept",
        Decline = "decline",
        Tentative = "tentative",
        /// Send it on.
        Forward = "forward",
    }
}

impl InvitationReply {
    /// Returns the answer that it is, unless the invitation is sent on.
    pub const fn answer(self) -> Option<InvitationAnswer> {
        match self {
            Self::Accept => Some(InvitationAnswer::Accepted),
            Self::Decline => Some(InvitationAnswer::Declined),
            Self::Tentative => Some(InvitationAnswer::Tentative),
            Self::Forward => None,
        }
    }
}

impl CalendarRespond {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        match (self.response, self.to.is_empty()) {
            (InvitationReply::Forward, true) => {
                Err(Error::argument("forwarding needs `to`").next("give addresses in `to`"))
            }
            (
                InvitationReply::Accept | InvitationReply::Decline | InvitationReply::Tentative,
                false,
            ) => Err(Error::argument("`to` is for response=forward")
                .next("leave it out: the organizer gets the answer")),
            _ => Ok(self),
        }
    }

    /// True to notify the organizer, which is the default.
    pub fn notifies(&self) -> bool {
        self.notify != Some(GuestNotice::Nobody)
    }
}
