//! The columns of events and of invitations, read from the event.
//!
//! Missing texts are empty, as for other objects; unknown and inapplicable values are null.

use jiff::Timestamp;

use super::context::RowContext;
use super::forms::plain;
use super::member::ListMember;
use super::reader::{ReadValue, RowReader};
use crate::choice::WordChoice;
use crate::event::recurrence::EventRecurrence;
use crate::event::time::{self, EventTime};
use crate::event::{Event, EventGuest, EventVisibility, Invitation, InvitationAnswer, ShowAs};
use crate::text;
use crate::text::MailAddress;
use crate::text::sender_auth::looks_like;

/// The maximum width of a guest's comment.
const REMARK: usize = 80;

/// Reads the property of an event that a column of the table `event` shows.
pub(super) fn property(reader: &mut RowReader, event: &Event, column: &str) -> ReadValue {
    match column {
        "id" => ReadValue::Text(event.id.as_str().to_owned()),
        "series" => event.series.as_ref().map_or(ReadValue::Nothing, |id| id.as_str().into()),
        "start" => start(event),
        "end" => ReadValue::Until(event.start, event.end),
        "title" => reader.text(&event.title),
        "where" => reader.text(&event.place),
        "organizer" => organizer(reader, event),
        "organizer_address" => {
            reader.text(event.organizer.as_ref().map_or("", |one| one.address.as_str()))
        }
        "people" => people(reader, event),
        "attendees" => attendees(reader, event),
        "flags" => ReadValue::Words(flags(event)),
        "calendar" => {
            let named =
                event.calendar.as_ref().and_then(|id| reader.context.names.get(id.as_str()));
            named.map_or(ReadValue::Nothing, |name| ReadValue::Text(name.clone()))
        }
        "link" => reader.text(event.link.as_deref().unwrap_or_default()),
        "page" => reader.text(event.page.as_deref().unwrap_or_default()),
        "repeats" => reader.text(&event.repeat.as_ref().map(rule).unwrap_or_default()),
        "show" => event.show.word().into(),
        "visibility" => event.visibility.word().into(),
        "reminder" => {
            event.reminder.map_or(ReadValue::Nothing, |minutes| ReadValue::Count(minutes.into()))
        }
        "category" => {
            event.categories.iter().for_each(|name| reader.see_text(name));
            let names = event.categories.iter();
            ReadValue::List(names.map(|name| ListMember::text(name)).collect())
        }
        "zone" => reader.text(event.zone.as_deref().unwrap_or_default()),
        "notes" => reader.text(event.notes.as_deref().unwrap_or_default()).map_text(plain),
        "updated" => event.updated.map_or(ReadValue::Nothing, ReadValue::Time),
        "uid" => reader.text(event.uid.as_deref().unwrap_or_default()),
        _ => ReadValue::Nothing,
    }
}

/// Reads the value that a column of the table `invitation` shows.
pub(super) fn invitation(reader: &mut RowReader, found: &Invitation, column: &str) -> ReadValue {
    let event = &found.event;
    match column {
        "message" => found.message.as_str().into(),
        "kind" => reader.text(&found.kind),
        "event" => found.known.as_ref().map_or(ReadValue::Nothing, |id| id.as_str().into()),
        "clashes" => {
            ReadValue::List(found.clashes.iter().map(|line| ListMember::text(line)).collect())
        }
        "start" | "end" if found.is_timeless => ReadValue::Nothing,
        // The reader's own zone: the invitation's may be any text.
        "start" => ReadValue::When(event.start),
        // The address is shown, because a name alone proves nothing.
        "organizer" => match &event.organizer {
            None => ReadValue::Nothing,
            Some(one) => {
                see_guest(reader, one);
                let person = MailAddress::new(one.name.as_deref(), one.address.as_str());
                ReadValue::List(vec![ListMember::person(&person, "")])
            }
        },
        "where" | "repeats" => match property(reader, event, column) {
            ReadValue::Text(text) if text.is_empty() => ReadValue::Nothing,
            value => value,
        },
        _ => property(reader, event, column),
    }
}

/// Reads the start, and the event's own zone to show it in.
fn start(event: &Event) -> ReadValue {
    match event.zone.as_deref().and_then(time::find_zone) {
        Some(zone) => ReadValue::Beside(event.start, zone),
        None => ReadValue::When(event.start),
    }
}

/// Reads the organizer: `me` for the account's owner, else the name, else the address. A name that
/// could be taken for `me` is left out.
fn organizer(reader: &mut RowReader, event: &Event) -> ReadValue {
    match &event.organizer {
        None => reader.text(""),
        Some(one) if one.me => "me".into(),
        Some(one) => {
            see_guest(reader, one);
            let name = one.name.as_deref().filter(|name| !looks_like(name, "me"));
            name.unwrap_or(one.address.as_str()).into()
        }
    }
}

/// Returns the words that apply to an event.
fn flags(event: &Event) -> Vec<&'static str> {
    let show = match event.show {
        ShowAs::Busy | ShowAs::Free => "",
        other => other.word(),
    };
    let is_over = event.cancelled || event.answer == Some(InvitationAnswer::Declined);
    let is_free = match event.show {
        ShowAs::Free => true,
        // Google's working locations take no time; Outlook's events elsewhere do.
        ShowAs::Elsewhere => !event.busy && !is_over,
        _ => false,
    };
    let is_private =
        matches!(event.visibility, EventVisibility::Private | EventVisibility::Confidential);
    [
        ("recurring", event.series.is_some() || event.repeat.is_some()),
        ("online", event.online),
        ("free", is_free),
        (show, !show.is_empty()),
        ("private", is_private),
        ("cancelled", event.cancelled),
        ("comment", event.guests.iter().any(|guest| guest.comment.is_some())),
        ("proposal", event.guests.iter().any(|guest| guest.proposal.is_some())),
    ]
    .into_iter()
    .filter_map(|(word, applies)| applies.then_some(word))
    .collect()
}

/// Formats a rule as the value of RRULE, with a count of single dates.
fn rule(repeat: &EventRecurrence) -> String {
    let dates = match repeat.extra.len() {
        0 => String::new(),
        1 => " +1 date".to_owned(),
        many => format!(" +{many} dates"),
    };
    format!("{}{dates}", repeat.rule).trim_start().to_owned()
}

/// Reads the guests in short form, with marks for their answers: the account's owner first, without
/// rooms; null without guests. The organizer has a column of their own.
fn people(reader: &mut RowReader, event: &Event) -> ReadValue {
    let members = event.guests.iter().map(|guest| (guest, short(guest)));
    match in_order(reader, members.collect()) {
        members if members.is_empty() => ReadValue::Nothing,
        members => ReadValue::Marked(members),
    }
}

/// Reads everybody invited with their addresses, answers, comments and proposals, the account's
/// owner first, without rooms; null without guests.
fn attendees(reader: &mut RowReader, event: &Event) -> ReadValue {
    let organizer = event.organizer.as_ref().filter(|_| event.organizer_listed);
    let organizer = organizer.map(|one| (one, "organizer"));
    let guests = event.guests.iter().map(|guest| (guest, answered(guest).1));
    let all = organizer.into_iter().chain(guests);
    let members = all.map(|(one, answer)| (one, person(one, answer, reader.context)));
    match in_order(reader, members.collect()) {
        members if members.is_empty() => ReadValue::Nothing,
        members => ReadValue::List(members),
    }
}

/// Returns the members without rooms, the account's owner first.
fn in_order(reader: &mut RowReader, members: Vec<(&EventGuest, ListMember)>) -> Vec<ListMember> {
    members.iter().for_each(|(guest, _)| see_guest(reader, guest));
    let people = members.into_iter().filter(|(guest, _)| !guest.room);
    let (own, others): (Vec<_>, Vec<_>) = people.partition(|(guest, _)| guest.me);
    own.into_iter().chain(others).map(|(_, member)| member).collect()
}

/// Records the invisible characters of a guest's texts.
fn see_guest(reader: &mut RowReader, guest: &EventGuest) {
    let texts = [guest.name.as_deref(), Some(guest.address.as_str()), guest.comment.as_deref()];
    texts.into_iter().flatten().for_each(|text| reader.see_text(text));
}

/// Returns the mark and the word for an answer.
fn answered(guest: &EventGuest) -> (char, &'static str) {
    match guest.answer {
        Some(InvitationAnswer::Accepted) => ('+', "yes"),
        Some(InvitationAnswer::Declined) => ('-', "no"),
        Some(InvitationAnswer::Tentative) => ('~', "perhaps"),
        None => ('?', "no answer"),
    }
}

/// Returns a short name with the mark of the answer.
fn short(guest: &EventGuest) -> ListMember {
    let mark = format!("{}{}", answered(guest).0, if guest.optional { "*" } else { "" });
    if guest.me {
        ListMember::marked("me", mark)
    } else {
        let name = guest.name.as_deref().unwrap_or_default();
        ListMember::marked(&short_name(name.trim(), guest.address.as_str().trim()), mark)
    }
}

/// Returns name and address, with the answer, the comment and the proposed time.
fn person(guest: &EventGuest, answer: &str, context: &RowContext) -> ListMember {
    let optional = if guest.optional { ", optional" } else { "" };
    let comment = guest.comment.as_deref().map(remark).unwrap_or_default();
    let proposal = guest.proposal.map(|(from, to)| proposed(from, to, context)).unwrap_or_default();
    let (name, address) = (guest.name.as_deref().map(str::trim), guest.address.as_str().trim());
    let answer = format!(" {answer}{optional}{comment}{proposal}");
    ListMember::person(&MailAddress::new(name, address), &answer)
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

/// Formats the time that a guest proposes.
fn proposed(from: Timestamp, to: Timestamp, context: &RowContext) -> String {
    let (from, to) = (EventTime::At(from), EventTime::At(to));
    let start = time::start(from, context.zone);
    format!(", proposes {start} to {}", time::end(from, to, context.zone))
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
