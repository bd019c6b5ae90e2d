//! Writes in words, such as "Sent a message to 2 people at example.com".

use super::writes::{ShownWrite, WriteKind, WriteState};
use crate::http::pages::layout::capitalized;
use crate::store::AuditRecord;

/// Tool, operation, and the write in words, after "have" and after "did not". `{}` is its object.
const VERBS: &[(&str, &str, &str, &str)] = &[
    ("mail_send", "send", "sent {}", "send {}"),
    ("mail_draft", "new", "drafted {}", "draft {}"),
    ("mail_draft", "reply", "drafted a reply {}", "draft a reply {}"),
    ("mail_draft", "reply_all", "drafted a reply {}", "draft a reply {}"),
    ("mail_draft", "forward", "drafted a forwarded message {}", "draft a forwarded message {}"),
    ("mail_draft", "edit", "edited a draft {}", "edit a draft {}"),
    ("mail_draft", "undo", "restored a draft {}", "restore a draft {}"),
    ("mail_draft", "discard", "discarded a draft {}", "discard a draft {}"),
    ("mail_modify", "read", "marked {} as read", "mark {} as read"),
    ("mail_modify", "unread", "marked {} as unread", "mark {} as unread"),
    ("mail_modify", "archive", "archived {}", "archive {}"),
    ("mail_modify", "trash", "moved {} to the trash", "move {} to the trash"),
    ("mail_modify", "restore", "restored {}", "restore {}"),
    ("mail_modify", "spam", "moved {} to spam", "move {} to spam"),
    ("mail_modify", "star", "starred {}", "star {}"),
    ("mail_modify", "unstar", "unstarred {}", "unstar {}"),
    ("mail_modify", "done", "marked the flag of {} as done", "mark the flag of {} as done"),
    ("mail_modify", "move", "moved {}", "move {}"),
    ("mail_modify", "copy", "copied {}", "copy {}"),
    ("mail_modify", "label", "labelled {}", "label {}"),
    ("mail_modify", "unlabel", "removed labels from {}", "remove labels from {}"),
    ("mail_modify", "categorize", "categorized {}", "categorize {}"),
    ("mail_modify", "uncategorize", "removed categories from {}", "remove categories from {}"),
    ("mail_modify", "unsubscribe", "left the mailing list of {}", "leave the mailing list of {}"),
    ("mail_modify", "delete", "permanently deleted {}", "permanently delete {}"),
    ("mail_modify", "undo", "reversed a change to {}", "reverse a change to {}"),
    ("calendar_save", "create", "created {}", "create {}"),
    ("calendar_save", "update", "changed {}", "change {}"),
    ("calendar_save", "delete", "deleted {}", "delete {}"),
    ("calendar_save", "undo", "reversed a change to {}", "reverse a change to {}"),
    ("calendar_delete", "delete", "deleted {}", "delete {}"),
    ("calendar_respond", "answer", "answered an invitation", "answer an invitation"),
    ("calendar_respond", "forward", "forwarded an invitation", "forward an invitation"),
    ("calendar_respond", "create", "added an invitation", "add an invitation"),
];

/// The first words of operations of `manage`, likewise. `{}` is the kind of the object.
const LIST_VERBS: &[(&str, &str, &str)] = &[
    ("create", "created {}", "create {}"),
    ("update", "changed {}", "change {}"),
    ("rename", "renamed {}", "rename {}"),
    ("delete", "deleted {}", "delete {}"),
    ("run", "applied {}", "apply {}"),
];

/// The number of domains that a sentence names.
const DOMAINS: usize = 3;

/// Returns a write as a sentence without a full stop.
pub(super) fn sentence_of(write: &ShownWrite) -> String {
    let record = &write.record;
    if record.tool.is_empty() {
        return "An entry of the log that cannot be read".to_owned();
    }
    let kind = WriteKind::of(record);
    if kind == WriteKind::Approval {
        let request = request_words(&record.tool);
        return match write.state {
            WriteState::Refused => format!("You refused a request to {request}"),
            WriteState::Done => format!("You approved a request to {request}"),
            _ => format!("You were asked to approve a request to {request}"),
        };
    }
    let Some((done, open)) = verbs(record) else {
        // An operation of another version, or a whole call that was interrupted.
        return format!("A call to {}", request_words(&record.tool));
    };
    let object = object(write, kind);
    let says = |verb: &str| verb.replace("{}", &object).trim_end().to_owned();
    let guests = match (kind, record.recipients) {
        (WriteKind::Calendar, 1..) => format!(" and informed {}", people(record)),
        _ => String::new(),
    };
    let (begin, verb, guests) = match write.state {
        WriteState::Done | WriteState::Partly { .. } if record.outcome == "scheduled" => {
            return format!("Scheduled {object}");
        }
        WriteState::Done | WriteState::Partly { .. } => return capitalized(&says(&done)) + &guests,
        WriteState::Unknown => ("May have", says(&done), guests.as_str()),
        WriteState::Begun => ("Began to", says(&open), ""),
        WriteState::Failed | WriteState::Refused | WriteState::Asked => {
            ("Did not", says(&open), "")
        }
    };
    format!("{begin} {verb}{guests}")
}

/// Returns the words for a state other than done.
pub(super) const fn state_words(state: WriteState) -> Option<&'static str> {
    match state {
        WriteState::Done => None,
        WriteState::Partly { .. } => Some("Partly done"),
        WriteState::Begun => Some("No outcome recorded"),
        WriteState::Asked => Some("Not answered"),
        WriteState::Refused => Some("Refused"),
        WriteState::Failed => Some("Not done"),
        WriteState::Unknown => Some("Outcome unknown"),
    }
}

/// Returns the templates of a write: after "have", and after "did not".
fn verbs(record: &AuditRecord) -> Option<(String, String)> {
    if record.tool == "manage" {
        let (verb, kind) = record.op.split_once(' ')?;
        let (_, done, open) = LIST_VERBS.iter().find(|(word, ..)| *word == verb)?;
        let kind = match kind {
            "auto_reply" => "the automatic reply".to_owned(),
            "signature" | "settings" => format!("the {kind}"),
            _ => format!("a {kind}"),
        };
        return Some((done.replace("{}", &kind), open.replace("{}", &kind)));
    }
    let (.., done, open) =
        VERBS.iter().find(|(tool, op, ..)| record.tool == *tool && record.op == *op)?;
    Some(((*done).to_owned(), (*open).to_owned()))
}

/// Returns the object of a write.
fn object(write: &ShownWrite, kind: WriteKind) -> String {
    let record = &write.record;
    let count = record.ids.len().max(1);
    match kind {
        WriteKind::Sent => format!("a message {}", to_people(record)),
        WriteKind::Draft if record.op == "new" => format!("a message {}", to_people(record)),
        WriteKind::Draft => to_people(record),
        WriteKind::Mail => match write.state {
            WriteState::Partly { done } => format!("{done} of {}", counted(count, "message")),
            _ => counted(count, "message"),
        },
        _ => counted(count, "event"),
    }
}

/// Returns the recipients of a message, such as `to 2 people at example.com`, or an empty text.
fn to_people(record: &AuditRecord) -> String {
    if record.recipients == 0 { String::new() } else { format!("to {}", people(record)) }
}

/// Returns the recipients of a write, such as `2 people at example.com`.
fn people(record: &AuditRecord) -> String {
    let number = match record.recipients {
        1 => "1 person".to_owned(),
        number => format!("{number} people"),
    };
    let Some(named) = record.domains.get(..record.domains.len().min(DOMAINS)) else {
        return number;
    };
    let rest = match record.domains.len() - named.len() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    if named.is_empty() { number } else { format!("{number} at {}{rest}", named.join(", ")) }
}

/// Returns the words for a request of a tool.
fn request_words(tool: &str) -> &'static str {
    match tool {
        "mail_send" => "send a message",
        "mail_draft" => "change a draft",
        "mail_modify" => "change messages",
        "manage" => "change settings or lists",
        _ => "change the calendar",
    }
}

/// Returns a number with its unit.
fn counted(number: usize, unit: &str) -> String {
    match (number, unit) {
        (1, "event") => "an event".to_owned(),
        (1, _) => format!("a {unit}"),
        _ => format!("{number} {unit}s"),
    }
}
