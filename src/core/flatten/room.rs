//! The space for untrusted text in a cell, and cutting a text to it.

use crate::budget::count::tokens;
use crate::text;

/// The space for a row's untrusted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowRoom {
    /// A row of a list, with text cut at its column's cap.
    #[default]
    List,
    /// A row of a list whose message beginnings have this many columns.
    Beginning(u16),
    /// A row about one requested object, with four times the cap and four times as many members
    /// of a list.
    One,
}

impl RowRoom {
    /// Returns the maximum width of a text whose column has this cap.
    pub fn cap(self, cap: u16) -> usize {
        match self {
            Self::List | Self::Beginning(_) => usize::from(cap),
            Self::One => 4 * usize::from(cap),
        }
    }
}

/// Shortens a text to at most `room` columns, and to about as many tokens: rare characters take
/// several tokens each, and a row of them would not fit into a budget that any other row fits.
pub(super) fn clip(whole: String, room: usize) -> (String, bool) {
    let (shown, cut) = text::clip(whole, room);
    // A token is at least one byte, so short texts need no count.
    let cost = if shown.len() > room { tokens(&shown) } else { 0 };
    // Tokens per column are roughly even within a text, so the width shrinks in proportion.
    if cost > room {
        (text::clip(shown, (room * room / cost).max(1)).0, true)
    } else {
        (shown, cut)
    }
}
