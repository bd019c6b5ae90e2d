//! Groups the parts of a read that belong together: a message's row, its text, its
//! attachments and its meetings; and rates them.
//!
//! The rest of the thread shows whether a message needs a reply: the reader's own
//! messages are settled, and so are those before them. A draft is no reply, and never takes the
//! place of the message that it answers.

use daysheet_core::budget::value::ValueHint;
use daysheet_core::budget::{AnswerItem, WholeAnswer};
use daysheet_core::ids::{AccountId, EmailAddress, ThreadId};
use daysheet_core::row::RowCell;

/// The account and thread of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageLocation {
    /// The account's id and its address.
    pub account: (AccountId, EmailAddress),
    /// The provider's id of the thread, if reported.
    pub conversation: Option<ThreadId>,
}

impl MessageLocation {
    /// Returns true for a message of the same thread.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.conversation.is_some() && self == other
    }

    /// Returns true if an address cell, `Name <address>` or the address alone, is of the account's
    /// owner.
    fn is_owner(&self, cell: &str) -> bool {
        let address = cell.rsplit_once('<').map_or(cell, |(_, rest)| rest);
        self.account.1.is(address.trim_end_matches('>'))
    }
}

/// Returns one item per message, in their order; `places` has their threads.
pub fn items(response: &WholeAnswer, places: &[MessageLocation]) -> Vec<AnswerItem> {
    let tables = &response.document.tables;
    let Some(messages) = tables.first() else {
        return Vec::new();
    };
    let count = messages.len();
    let sent: Vec<bool> = (0..count)
        .map(|at| match (messages.cell(at, "from"), places.get(at)) {
            (Some(RowCell::Text(from)), Some(place)) => {
                place.is_owner(from) && !has_flag(response, at, "draft")
            }
            _ => false,
        })
        .collect();
    // The text form of times sorts in their order.
    let dates: Vec<&str> = (0..count)
        .map(|at| match messages.cell(at, "date") {
            Some(RowCell::Text(date)) => date,
            _ => "",
        })
        .collect();
    (0..count)
        .map(|at| {
            let mut rows = vec![(0, at)];
            let id = messages.cell(at, "id");
            for (number, table) in tables.iter().enumerate().skip(1) {
                // Attachments and meetings name the message; texts have its id.
                let key = if table.columns().iter().any(|field| field.name == "message") {
                    "message"
                } else {
                    "id"
                };
                let mine =
                    (0..table.len()).filter(|row| id.is_some() && table.cell(*row, key) == id);
                rows.extend(mine.map(|row| (number, row)));
            }
            let text = response
                .texts
                .iter()
                .position(|text| text.row.is_some_and(|row| rows.contains(&row)));
            let later = |other: &usize| dates.get(*other) > dates.get(at);
            let beside: Vec<usize> = (0..count)
                .filter(|other| !has_flag(response, *other, "draft"))
                .filter(|other| match (places.get(at), places.get(*other)) {
                    (Some(one), Some(other)) => one.is_beside(other),
                    _ => false,
                })
                .collect();
            let answered =
                beside.iter().any(|other| later(other) && sent.get(*other) == Some(&true));
            let open = match sent.get(at) {
                Some(true) => Some(false),
                _ if answered || has_flag(response, at, "draft") => Some(false),
                _ if has_flag(response, at, "unread") => Some(true),
                _ => None,
            };
            let ends = [beside.first(), beside.last()];
            AnswerItem {
                rows,
                text,
                hint: ValueHint {
                    position: at,
                    of: count,
                    open,
                    end: beside.len() > 2 && ends.contains(&Some(&at)),
                    ..ValueHint::default()
                },
                ..AnswerItem::default()
            }
        })
        .collect()
}

fn has_flag(response: &WholeAnswer, at: usize, name: &str) -> bool {
    let flags = response.document.tables.first();
    match flags.and_then(|messages| messages.cell(at, "flags")) {
        Some(RowCell::Text(flags)) => flags.split(' ').any(|flag| flag == name),
        _ => false,
    }
}
