//! `mail_search`: the requested messages.

use daysheet_core::error::Result;
use daysheet_core::schemas::{MESSAGE, SENDER, THREAD};
use daysheet_core::words;

use super::args::CallArguments;
use super::columns::{ColumnChoice, RowDetail};
use super::kinds::{ANY_ACCOUNT, TEXT, choice, columns, limit, number, tool};
use super::view::AnswerView;

tool! {
    /// Find email (Gmail, Outlook), in the inbox or anywhere: messages or threads, newest first.
    /// Use the ids (m12, t4) with mail_read.
    mail_search(Read, Read) => MailSearch(MailSearch::checked);
    // Arguments that are not given are `None`, because a cursor may have them.
    pub struct MailSearch {
        // Unparsed, as its dates depend on the time at which the first page was requested.
        /// Words, "phrase", from: to: cc: subject: body: in: label: category:
        /// is:unread|read|starred|important|answered|unanswered|bulk|direct (to you alone)
        /// has:attachment filename: larger:5M smaller: before: after: (2026-02-03, 7d) OR -not ( )
        q: Option<String> = TEXT,
        account: Option<String> = ANY_ACCOUNT,
        /// Name or id
        folder: Option<String> = TEXT,
        by: Option<RowKind> = choice(),
        sort: Option<RowOrder> = choice(),
        fields: Option<Vec<String>> = columns(&[&MESSAGE, &THREAD, &SENDER]),
        detail: Option<RowDetail> = choice(),
        limit: Option<u32> = limit(1, 100, 20),
        /// 20 to 180
        snippet: Option<u32> = number(20, 180, 45),
        tz: Option<String> = TEXT,
        /// `next` of the last page
        cursor: Option<String> = TEXT,
        ..AnswerView { budget, chunk, known, format }
    }
}

words! {
    /// What a row is.
    pub enum RowKind {
        /// A message.
        Message = "message",
        /// A thread.
        Thread = "thread",
        /// A sender, with the number of messages.
        Sender = "sender",
    }
}

words! {
    /// Which rows come first.
    pub enum RowOrder {
        /// The newest.
        Newest = "newest",
        /// The oldest.
        Oldest = "oldest",
    }
}

impl MailSearch {
    fn checked(self, _: &CallArguments) -> Result<Self> {
        if let (Some(columns), None) = (self.columns(), &self.cursor) {
            // Checked before the accounts are known, so that the error does not depend on them.
            columns.columns_of(match self.by {
                Some(RowKind::Thread) => &THREAD,
                Some(RowKind::Sender) => &SENDER,
                Some(RowKind::Message) | None => &MESSAGE,
            })?;
        }
        Ok(self)
    }

    /// Returns the requested columns, or `None` for the default ones.
    pub fn columns(&self) -> Option<ColumnChoice> {
        ColumnChoice::from_arguments(self.fields.as_ref(), self.detail)
    }
}
