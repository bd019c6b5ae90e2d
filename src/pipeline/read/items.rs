//! What of a read belongs together: a letter's row, its text, its files and the
//! meetings it is about; and what matters of it.
//!
//! Whether a letter waits for an answer is told by the letters around it: what
//! the reader wrote is settled, and so is what came before.

use crate::budget::value::Hint;
use crate::budget::{Draft, Item};
use crate::row::Cell;

/// An item per letter, in their order; `owners` are the addresses of the
/// accounts that they lie in.
pub(super) fn items(draft: &Draft, owners: &[String]) -> Vec<Item> {
    let tables = &draft.document.tables;
    let Some(letters) = tables.first() else {
        return Vec::new();
    };
    let count = letters.len();
    let own: Vec<bool> = (0..count)
        .map(|at| match (letters.cell(at, "from"), owners.get(at)) {
            (Some(Cell::Text(from)), Some(owner)) => is_from(from, owner),
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
            let text = draft
                .texts
                .iter()
                .position(|text| text.row.is_some_and(|row| rows.contains(&row)));
            let later = |other: &usize| dates.get(*other) > dates.get(at);
            let answered = (0..count)
                .filter(later)
                .any(|other| own.get(other) == Some(&true));
            let open = match own.get(at) {
                Some(true) => Some(false),
                _ if answered => Some(false),
                _ if is_unread(draft, at) => Some(true),
                _ => None,
            };
            Item {
                rows,
                text,
                hint: Hint {
                    position: at,
                    of: count,
                    age: (0..count).filter(later).count(),
                    open,
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

fn is_unread(draft: &Draft, at: usize) -> bool {
    let flags = draft.document.tables.first();
    match flags.and_then(|letters| letters.cell(at, "flags")) {
        Some(Cell::Text(flags)) => flags.split(' ').any(|flag| flag == "unread"),
        _ => false,
    }
}
