//! Lists within a cell: their members, and the parts that may be cut.
//!
//! For a person, the name is cut, never the address; for a list, the first members are shown with
//! a count of the rest. Reading the members is left to the files by subject.

use super::room::{RowRoom, clip};
use crate::row::{CutCell, RowCell};
use crate::schemas::TableColumn;
use crate::text;
use crate::text::deceptive::{DisarmedText, inert_cell};

/// The maximum number of members that a cell shows before `+N`, and the maximum width of each.
const SAMPLE: u16 = 5;
const MEMBER: u16 = 80;

/// A member of a list: a head that may be cut, and a tail that is kept, such as a person's
/// address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListMember {
    head: String,
    tail: String,
}

impl ListMember {
    /// Creates a member that may be cut anywhere.
    pub(super) fn text(text: &str) -> Self {
        Self::marked(text, String::new())
    }

    /// Creates a member whose mark at the end is never cut.
    pub(super) fn marked(text: &str, mark: String) -> Self {
        Self { head: text::cell(text), tail: mark }
    }

    /// Creates the member for a person, with the guest's answer. The address, or at least its
    /// domain, is never cut.
    pub(super) fn person(person: &text::MailAddress, answer: &str) -> Self {
        let (head, tail) = match (&person.name, person.email.rsplit_once('@')) {
            (Some(name), _) if person.email.is_empty() => (name.as_str(), String::new()),
            (Some(name), _) => (name.as_str(), format!(" <{}>", person.email)),
            (None, Some((local, domain))) => (local, format!("@{domain}")),
            (None, None) => (person.email.as_str(), String::new()),
        };
        Self { head: head.to_owned(), tail: tail + answer }
    }

    /// Returns the complete member.
    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }

    /// Returns the member in the form in which it is shown, in which links do not work.
    fn inert(&self) -> Self {
        let inert = |text: &String| inert_cell(text.clone(), &mut DisarmedText::default());
        Self { head: inert(&self.head), tail: inert(&self.tail) }
    }

    /// Returns the member, cut to `most` columns.
    fn within(&self, most: usize) -> String {
        let tail = text::width(&self.tail);
        if text::width(&self.head) + tail <= most {
            return self.whole();
        }
        let bare = self.tail.trim_start();
        match most.checked_sub(tail) {
            Some(room @ 1..) => clip(self.head.clone(), room).0 + &self.tail,
            Some(_) => self.tail.clone(),
            None if text::width(bare) <= most => bare.to_owned(),
            // The end of an address has its domain, which tells more about the sender than
            // the beginning.
            None => text::clip_start(bare, most),
        }
    }
}

/// Returns the first members of a list and a count of the rest, within the column's cap.
pub(super) fn sample(
    field: &TableColumn,
    list: &[ListMember],
    between: &str,
    room: RowRoom,
) -> (RowCell, Option<CutCell>) {
    let Some(cap) = field.untrusted else {
        return (RowCell::Text(joined(list, between)), None);
    };
    let list: Vec<ListMember> = list.iter().map(ListMember::inert).collect();
    let most = room.cap(cap);
    let each = room.cap(MEMBER).min(most);
    let mut text = String::new();
    let (mut width, mut shown) = (0, 0);
    for member in list.iter().take(room.cap(SAMPLE)) {
        let member = member.within(each);
        let more = text::width(&member) + if shown == 0 { 0 } else { between.len() };
        // The first member is shown even if it exceeds the cap.
        if shown > 0 && width + more > most {
            break;
        }
        if shown > 0 {
            text.push_str(between);
        }
        text.push_str(&member);
        width += more;
        shown += 1;
    }
    let all = joined(&list, between);
    if list.len() > shown {
        text.push_str(&format!(" +{}", list.len() - shown));
    } else if text == all {
        return (RowCell::Text(text), None);
    }
    let members: Vec<String> = list.iter().map(|one| one.within(each)).collect();
    let cut = CutCell { column: field.name, whole: all, members: Some(members.join(between)) };
    (RowCell::Text(text), Some(cut))
}

/// Returns all complete members, separated by `between`.
fn joined(list: &[ListMember], between: &str) -> String {
    let members: Vec<String> = list.iter().map(ListMember::whole).collect();
    members.join(between)
}
