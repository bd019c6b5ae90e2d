//! People: recipients, organizers, and the guests of a meeting with their answers.
//!
//! The addresses in mail header fields are left to `headers.rs`.

use serde_json::Value;

use super::context::RowContext;
use super::member::ListMember;
use super::reader::{ReadValue, RowReader, at};
use crate::event::time::{self, EventTime};
use crate::schemas::{GuestNames, wire};
use crate::text;
use crate::text::MailAddress;
use crate::text::sender_auth::looks_like;

/// The maximum width of a guest's comment.
const REMARK: usize = 80;

/// Returns the label of the account.
pub(super) fn account(context: &RowContext) -> ReadValue {
    ReadValue::Text(context.account.to_owned())
}

/// Returns the account's owner.
pub(super) fn owner(context: &RowContext) -> ReadValue {
    ReadValue::List(vec![ListMember::text(context.address)])
}

/// Reads a person's name. `me` in an answer is the account's owner, and anyone may choose that
/// name, so it is null.
pub(super) fn name(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.scalar(object, path) {
        ReadValue::Text(name) if looks_like(&name, "me") => ReadValue::Nothing,
        found => found,
    }
}

/// Reads the Graph recipient at a path.
pub(super) fn recipient(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.seen(object, path).and_then(to_recipient) {
        Some(person) => ReadValue::List(vec![person]),
        None => ReadValue::Nothing,
    }
}

/// Reads the list of Graph recipients at a path.
pub(super) fn recipients(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    match reader.seen(object, path) {
        Some(Value::Array(list)) => ReadValue::List(list.iter().filter_map(to_recipient).collect()),
        other => reader.unexpected(other),
    }
}

/// Returns the member for a Graph recipient; `None` if it has neither name nor address.
fn to_recipient(value: &Value) -> Option<ListMember> {
    let inner = value.get(wire::RECIPIENT)?;
    let (name, address) = wire::ADDRESS;
    let part = |key| inner.get(key).and_then(Value::as_str);
    let person = MailAddress::new(part(name), part(address).unwrap_or_default());
    let known = person.name.is_some() || !person.email.is_empty();
    known.then(|| ListMember::person(&person, ""))
}

/// Reads the guests of a meeting in short form, with marks for their answers. The organizer has a
/// column of their own and is left out.
pub(super) fn people(reader: &mut RowReader, object: &Value, names: &GuestNames) -> ReadValue {
    guests(reader, object, names, true)
}

/// Reads all people of a meeting with their addresses, answers, comments and proposals.
pub(super) fn attendees(reader: &mut RowReader, object: &Value, names: &GuestNames) -> ReadValue {
    guests(reader, object, names, false)
}

/// Reads the people of a meeting without rooms, the account's owner first; null for an empty
/// list.
fn guests(reader: &mut RowReader, object: &Value, names: &GuestNames, short: bool) -> ReadValue {
    let list = match reader.seen(object, names.list) {
        Some(Value::Array(list)) => list,
        other => return reader.unexpected(other),
    };
    let (mut me, mut others) = (Vec::new(), Vec::new());
    for value in list {
        let guest = MeetingGuest::read(value, names, reader.context);
        if guest.is_room || (short && guest.is_organizer) {
            continue;
        }
        let member = if short { guest.short() } else { guest.long(value, names, reader.context) };
        if guest.is_own { &mut me } else { &mut others }.push(member);
    }
    me.append(&mut others);
    if me.is_empty() {
        ReadValue::Nothing
    } else if short {
        ReadValue::Marked(me)
    } else {
        ReadValue::List(me)
    }
}

/// One person, or room, of a meeting.
struct MeetingGuest {
    /// The name; empty if missing.
    name: String,
    /// The address; empty if missing.
    email: String,
    /// The mark of the answer.
    mark: char,
    /// The word for the answer.
    word: &'static str,
    /// True for the account's owner.
    is_own: bool,
    /// True for the organizer.
    is_organizer: bool,
    /// True if attendance is optional.
    is_optional: bool,
    /// True for a room.
    is_room: bool,
}

impl MeetingGuest {
    /// Reads an attendee.
    fn read(guest: &Value, names: &GuestNames, context: &RowContext) -> Self {
        let email = text_at(guest, names.address);
        // Graph does not mark the owner, so the address is compared, too.
        let is_own = says(guest, (names.me, "true"))
            || (!email.is_empty() && email.eq_ignore_ascii_case(context.address));
        let answer = text_at(guest, names.answer);
        let (mark, word) = wire::ANSWERS
            .iter()
            .find(|(known, ..)| *known == answer)
            .map_or(('?', "no answer"), |(_, mark, word)| (*mark, *word));
        Self {
            name: text_at(guest, names.name),
            email,
            mark,
            word,
            is_own,
            is_organizer: says(guest, names.organizer),
            is_optional: says(guest, names.optional),
            is_room: says(guest, names.room),
        }
    }

    /// Returns a short name with the mark of the answer.
    fn short(&self) -> ListMember {
        let mark = format!("{}{}", self.mark, if self.is_optional { "*" } else { "" });
        if self.is_own {
            ListMember::marked("me", mark)
        } else {
            ListMember::marked(&short_name(&self.name, &self.email), mark)
        }
    }

    /// Returns name and address with the answer, the comment and the proposed time.
    fn long(&self, guest: &Value, names: &GuestNames, context: &RowContext) -> ListMember {
        let word = if self.is_organizer { "organizer" } else { self.word };
        let mut answer = format!(" {word}");
        if self.is_optional {
            answer.push_str(", optional");
        }
        if !names.comment.is_empty() {
            answer.push_str(&remark(&text_at(guest, names.comment)));
        }
        if let Some(span) = proposed(guest, names.proposed, context) {
            answer.push_str(&format!(", proposes {span}"));
        }
        ListMember::person(&MailAddress::new(Some(&self.name), &self.email), &answer)
    }
}

/// Returns the trimmed text at a path; empty if missing.
fn text_at(guest: &Value, path: &str) -> String {
    at(guest, path).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

/// Returns true if the value at a path is the word, or true for the word `true`.
fn says(guest: &Value, (path, word): (&str, &str)) -> bool {
    match at(guest, path) {
        Some(Value::Bool(flag)) => *flag && word == "true",
        Some(Value::String(text)) => text == word,
        _ => false,
    }
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
        time::local(part(date_time)?, part(zone).unwrap_or("UTC")).map(EventTime::At)
    };
    let (from, to) = (time(wire::SPAN.0)?, time(wire::SPAN.1)?);
    let (start, end) = (time::start(from, context.zone), time::end(from, to, context.zone));
    Some(format!("{start} to {end}"))
}

/// Returns the part of an address before the @, or the name if the address is missing.
fn short_name(name: &str, email: &str) -> String {
    // A name that could be taken for the owner, or for several people, is shown in full.
    let own = |name: &str| looks_like(name, "me");
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
