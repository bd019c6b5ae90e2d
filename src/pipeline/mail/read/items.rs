//! What of a read belongs together: a letter's row, its text, its files and the
//! meetings it is about; and what matters of it.
//!
//! Whether a letter waits for an answer is told by the others of its
//! conversation: what the reader wrote is settled, and so is what came before.
//! A draft is no answer.

use crate::budget::value::Hint;
use crate::budget::{Draft, Item};
use crate::row::Cell;

/// Where a message lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The account's id and its address.
    pub(super) account: (String, String),
    /// The conversation's id at the provider, if it says one.
    pub(super) conversation: Option<String>,
}

impl Place {
    fn is_beside(&self, other: &Self) -> bool {
        self.conversation.is_some() && self == other
    }
}

/// An item per message, in their order; `places` are theirs.
pub(super) fn items(draft: &Draft, places: &[Place]) -> Vec<Item> {
    let tables = &draft.document.tables;
    let Some(letters) = tables.first() else {
        return Vec::new();
    };
    let count = letters.len();
    let sent: Vec<bool> = (0..count)
        .map(|at| match (letters.cell(at, "from"), places.get(at)) {
            (Some(Cell::Text(from)), Some(place)) => {
                is_from(from, &place.account.1) && !has_flag(draft, at, "draft")
            }
            _ => false,
        })
        .collect();
    // Times are told so that their texts stand in their order.
    let dates: Vec<&str> = (0..count)
        .map(|at| match letters.cell(at, "date") {
            Some(Cell::Text(date)) => date,
            _ => "",
        })
        .collect();
    (0..count)
        .map(|at| {
            let mut rows = vec![(0, at)];
            let id = letters.cell(at, "id");
            for (number, table) in tables.iter().enumerate().skip(1) {
                // Files and meetings name the letter; texts have its id.
                let key = match table.columns().iter().any(|field| field.name == "message") {
                    true => "message",
                    false => "id",
                };
                let mine =
                    (0..table.len()).filter(|row| id.is_some() && table.cell(*row, key) == id);
                rows.extend(mine.map(|row| (number, row)));
            }
            let text =
                draft.texts.iter().position(|text| text.row.is_some_and(|row| rows.contains(&row)));
            let later = |other: &usize| dates.get(*other) > dates.get(at);
            let beside: Vec<usize> = (0..count)
                .filter(|other| match (places.get(at), places.get(*other)) {
                    (Some(one), Some(other)) => one.is_beside(other),
                    _ => false,
                })
                .collect();
            let answered =
                beside.iter().any(|other| later(other) && sent.get(*other) == Some(&true));
            let open = match sent.get(at) {
                Some(true) => Some(false),
                _ if answered => Some(false),
                _ if has_flag(draft, at, "unread") => Some(true),
                _ => None,
            };
            let ends = [beside.first(), beside.last()];
            Item {
                rows,
                text,
                hint: Hint {
                    position: at,
                    of: count,
                    open,
                    end: beside.len() > 2 && ends.contains(&Some(&at)),
                    ..Hint::default()
                },
                ..Item::default()
            }
        })
        .collect()
}

/// True when an address cell, `Name <address>` or the address alone, is of `owner`.
fn is_from(from: &str, owner: &str) -> bool {
    let address = from.rsplit_once('<').map_or(from, |(_, rest)| rest);
    address.trim_end_matches('>').eq_ignore_ascii_case(owner)
}

fn has_flag(draft: &Draft, at: usize, wanted: &str) -> bool {
    let flags = draft.document.tables.first();
    match flags.and_then(|letters| letters.cell(at, "flags")) {
        Some(Cell::Text(flags)) => flags.split(' ').any(|flag| flag == wanted),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Document;
    use crate::row::{Extra, RowTable};
    use crate::schemas::MESSAGE;

    /// Messages from the newest: when, from whom, flags, conversation; and what
    /// is thought of each.
    #[test]
    fn who_waits_is_told_by_the_conversation() {
        let me = "Mira <mira@example.com>";
        let cases = [
            // A draft of one's own settles nothing, and is not settled.
            ("05", me, "draft", "a", None, true),
            ("04", "ann@far.example", "unread", "a", Some(true), false),
            // What was sent settles what came before, in its conversation alone.
            ("03", me, "", "a", Some(false), false),
            ("02", "ann@far.example", "unread", "a", Some(false), true),
            ("02", "bob@far.example", "unread", "b", Some(true), false),
            ("01", "bob@far.example", "", "b", None, false),
            // Nobody knows what these belong to.
            ("01", "cat@far.example", "unread", "", Some(true), false),
            ("00", "cat@far.example", "unread", "", Some(true), false),
        ];
        let columns = ["id", "date", "from", "flags"];
        let columns = columns.iter().filter_map(|name| MESSAGE.field(name));
        let mut rows = RowTable::new(&MESSAGE, columns.collect());
        let mut places = Vec::new();
        for (at, (date, from, flags, conversation, ..)) in cases.iter().enumerate() {
            let text = |text: &str| Cell::Text(text.to_owned());
            rows.push(
                vec![
                    Cell::Handle('m', at as u64 + 1),
                    text(&format!("2026-02-{date} 10h00")),
                    text(from),
                    text(flags),
                ],
                Extra::default(),
            );
            places.push(Place {
                account: ("g".to_owned(), "mira@example.com".to_owned()),
                conversation: Some((*conversation).to_owned()).filter(|id| !id.is_empty()),
            });
        }
        // The same conversation in another account is another one.
        if let Some(last) = places.get_mut(5) {
            last.account.0 = "m".to_owned();
        }
        let draft = Draft {
            document: Document { tables: vec![rows], ..Document::default() },
            ..Draft::default()
        };
        let found: Vec<_> =
            items(&draft, &places).iter().map(|item| (item.hint.open, item.hint.end)).collect();
        let wanted = cases.map(|(.., open, end)| (open, end));
        assert_eq!(found, wanted);
    }
}
