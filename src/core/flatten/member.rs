//! Lists within a cell: their members, and the parts that may be cut.
//!
//! For a person, the name is cut, never the address; for a list, the first members are shown with
//! a count of the rest. The locations of lists in a provider's JSON, and the choice of columns,
//! are in `flatten.rs` and the registry.

use serde_json::Value;

use super::{RowContext, RowRoom, at, clip};
use crate::event_time::{self, EventTime};
use crate::row::{CutCell, RowCell};
use crate::schemas::{GuestNames, TableColumn, wire};
use crate::text;
use crate::text::deceptive::{DisarmedText, inert_cell};

/// The maximum number of members that a cell shows before `+N`, and the maximum width of each.
const SAMPLE: u16 = 5;
const MEMBER: u16 = 80;
/// The maximum width of a guest's comment.
const REMARK: usize = 80;

/// A member of a list: a head that may be cut, and a tail that is kept, such as a person's
/// address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListMember {
    head: String,
    tail: String,
}

impl ListMember {
    pub(super) fn text(text: &str) -> Self {
        Self { head: text::cell(text), tail: String::new() }
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
    let whole = |list: &[ListMember]| -> String {
        let members: Vec<String> = list.iter().map(ListMember::whole).collect();
        members.join(between)
    };
    let Some(cap) = field.untrusted else {
        return (RowCell::Text(whole(list)), None);
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
    let all = whole(&list);
    if list.len() > shown {
        text.push_str(&format!(" +{}", list.len() - shown));
    } else if text == all {
        return (RowCell::Text(text), None);
    }
    let members: Vec<String> = list.iter().map(|one| one.within(each)).collect();
    let cut = CutCell { column: field.name, whole: all, members: Some(members.join(between)) };
    (RowCell::Text(text), Some(cut))
}

/// Returns the guests of a meeting without rooms, the account's owner first.
pub(super) fn guests(
    list: &[Value],
    names: &GuestNames,
    short: bool,
    context: &RowContext,
) -> Vec<ListMember> {
    let own = context.address;
    let text = |guest: &Value, path: &str| {
        at(guest, path).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let says = |guest: &Value, (path, word): (&str, &str)| match at(guest, path) {
        Some(Value::Bool(flag)) => *flag && word == "true",
        Some(Value::String(text)) => text == word,
        _ => false,
    };
    let (mut me, mut others) = (Vec::new(), Vec::new());
    for guest in list {
        let (name, email) = (text(guest, names.name), text(guest, names.address));
        // Graph does not mark the owner, so the address is compared, too.
        let own = says(guest, (names.me, "true"))
            || (!email.is_empty() && email.eq_ignore_ascii_case(own));
        let organizer = says(guest, names.organizer);
        // The organizer has a column of their own in short rows.
        if says(guest, names.room) || (short && organizer) {
            continue;
        }
        let answer = text(guest, names.answer);
        let (mark, word) = wire::ANSWERS
            .iter()
            .find(|(known, ..)| *known == answer)
            .map_or(('?', "no answer"), |(_, mark, word)| (*mark, *word));
        let optional = says(guest, names.optional);
        let shown = if short {
            let head = if own { "me".to_owned() } else { text::cell(&short_name(&name, &email)) };
            let tail = format!("{mark}{}", if optional { "*" } else { "" });
            ListMember { head, tail }
        } else {
            let who = text::MailAddress::new(Some(&name), &email);
            let word = if organizer { "organizer" } else { word };
            let mut tail = format!(" {word}");
            if optional {
                tail.push_str(", optional");
            }
            if !names.comment.is_empty() {
                tail.push_str(&remark(&text(guest, names.comment)));
            }
            if let Some(span) = proposed(guest, names.proposed, context) {
                tail.push_str(&format!(", proposes {span}"));
            }
            ListMember::person(&who, &tail)
        };
        if own { &mut me } else { &mut others }.push(shown);
    }
    me.append(&mut others);
    me
}

/// Formats a guest's comment in quotes, without characters that could end the quotes or begin an
/// address.
fn remark(comment: &str) -> String {
    let plain: String = comment.chars().filter(|char| !"\"<>@".contains(*char)).collect();
    match text::clip(text::cell(&plain), REMARK).0 {
        empty if empty.is_empty() => String::new(),
        comment => format!(", \"{comment}\""),
    }
}

/// Formats the time proposed by a guest.
fn proposed(guest: &Value, path: &str, context: &RowContext) -> Option<String> {
    let span = at(guest, path).filter(|_| !path.is_empty())?;
    let (_, date_time, zone) = wire::WHEN;
    let time = |end: &str| {
        let part = |key: &str| span.get(end)?.get(key)?.as_str();
        event_time::local(part(date_time)?, part(zone).unwrap_or("UTC")).map(EventTime::At)
    };
    let (from, to) = (time(wire::SPAN.0)?, time(wire::SPAN.1)?);
    let (start, end) =
        (event_time::start(from, context.zone), event_time::end(from, to, context.zone));
    Some(format!("{start} to {end}"))
}

/// Returns the part of an address before the @, or the name if there is no address.
fn short_name(name: &str, email: &str) -> String {
    // A name that could be taken for the owner, or for several people, is shown in full.
    let own = |name: &str| text::sender_auth::looks_like(name, "me");
    let plain = |local: &str| {
        !local.is_empty()
            && !own(local)
            && !local.contains(|char: char| char.is_whitespace() || "+~?*,\"".contains(char))
    };
    match email.split_once('@') {
        Some((local, _)) if plain(local) => local.to_owned(),
        _ if !email.is_empty() && !own(email) => email.split_whitespace().collect(),
        _ if own(name) || own(email) => "(no address)".to_owned(),
        _ => name.split_whitespace().collect(),
    }
}

/// Returns the member for a Graph recipient; `None` if it has neither name nor address.
pub(super) fn recipient(value: &Value) -> Option<ListMember> {
    let inner = value.get(wire::RECIPIENT)?;
    let (name, address) = wire::ADDRESS;
    let part = |key| inner.get(key).and_then(Value::as_str);
    let person = text::MailAddress::new(part(name), part(address).unwrap_or_default());
    let known = person.name.is_some() || !person.email.is_empty();
    known.then(|| ListMember::person(&person, ""))
}
