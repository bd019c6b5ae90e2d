//! The subject, recipients and references that a reply or forward takes from the original.

use std::collections::HashSet;

use super::ids::{self, is_id};
use super::people::{self, has_address};
use crate::error::{Error, Result};
use crate::ids::EmailAddress;
use crate::provider::mail::{MailPerson, SourceMessage};
use crate::text;
use crate::text::{Note, note, quoted_end};

/// The maximum number of recipients of a reply.
const MAX_PEOPLE: usize = 500;
/// The maximum width of a subject taken from the original.
const MAX_SUBJECT: usize = 400;

/// Prefixes of replies' subjects in many languages, in lower case.
const ANSWERS: &[&str] = &[
    "re", "aw", "antw", "antwort", "sv", "vs", "odp", "ynt", "res", "回复", "答复", "回覆", "返信",
    "ref", "rif", "atb", "απ", "ha",
];
/// Prefixes of forwards' subjects in many languages, in lower case.
const FORWARDS: &[&str] = &[
    "fwd", "fw", "wg", "tr", "rv", "enc", "vl", "doorst", "i", "pd", "转发", "轉寄", "転送", "vb",
];

/// Returns the subject of a reply: a single `Re: `, replacing any prefix of the original.
pub fn subject(of: &str) -> String {
    marked("Re: ", of, ANSWERS)
}

/// Returns the subject of a forward: a single `Fwd: `, replacing any prefix of the original.
pub fn forwarded(of: &str) -> String {
    marked("Fwd: ", of, FORWARDS)
}

fn marked(mark: &str, of: &str, known: &[&str]) -> String {
    let subject = text::cell(of);
    let mut rest = subject.as_str();
    while let Some(after) = without_mark(rest, known) {
        rest = after;
    }
    let (rest, _) = text::clip(rest.to_owned(), MAX_SUBJECT);
    format!("{mark}{rest}").trim_end().to_owned()
}

/// Strips one of these prefixes, such as `Re:`, `RE[2]:`, `Aw (3) :`.
fn without_mark<'a>(subject: &'a str, known: &[&str]) -> Option<&'a str> {
    let (before, after) = subject.split_once([':', '：'])?;
    let word = before.trim_end();
    let word = ["[]", "()"]
        .iter()
        .find_map(|pair| {
            let (open, close) = pair.split_at(1);
            let (word, number) = word.strip_suffix(close)?.rsplit_once(open)?;
            number.bytes().all(|byte| byte.is_ascii_digit()).then_some(word)
        })
        .unwrap_or(word);
    let word = word.trim_end().to_lowercase();
    known.contains(&word.as_str()).then(|| after.trim_start())
}

/// Returns the recipients of a reply: `To` and `Cc`.
///
/// `own` are the user's addresses, which receive no copy of the user's own messages. Oddities of
/// recipients are added to `warnings`.
///
/// # Errors
/// [`ErrorKind::Argument`](crate::error::ErrorKind::Argument) if there are more recipients than a
/// message may have; in this case none of them is checked.
pub fn recipients(
    original: &SourceMessage,
    own: &[EmailAddress],
    all: bool,
    warnings: &mut Vec<Note>,
) -> Result<(Vec<MailPerson>, Vec<MailPerson>)> {
    let authors = if original.reply_to.is_empty() { &original.from } else { &original.reply_to };
    let first = if original.own { &original.to } else { authors };
    let others = if !all {
        0
    } else if original.own {
        original.cc.len()
    } else {
        original.to.len() + original.cc.len()
    };
    let many = first.len() + others;
    if many > MAX_PEOPLE {
        let next = if all { "use mode=reply, or give `to` and `cc`" } else { "give `to`" };
        let error = format!("a reply would go to {many} people, more than {MAX_PEOPLE}");
        return Err(Error::argument(error).next(next));
    }
    let first = reachable(first, warnings);
    let mut to: Vec<MailPerson> = Vec::new();
    let mut known: HashSet<String> = own.iter().map(EmailAddress::lower).collect();
    let mut add = |list: &mut Vec<MailPerson>, people: Vec<MailPerson>| {
        for person in people {
            if known.insert(person.address.lower()) {
                list.push(person);
            }
        }
    };
    add(&mut to, first.clone());
    let mut cc = Vec::new();
    if all {
        if !original.own {
            add(&mut to, reachable(&original.to, warnings));
        }
        add(&mut cc, reachable(&original.cc, warnings));
    }
    // A reply to a message to oneself goes to oneself.
    if to.is_empty() && cc.is_empty() {
        for person in first {
            if !has_address(&to, &person.address) {
                to.push(person);
            }
        }
    }
    // A reply to one's own message goes to its recipients, whatever its Reply-To.
    if !original.own {
        elsewhere(original, warnings);
    }
    Ok((to, cc))
}

fn reachable(list: &[MailPerson], warnings: &mut Vec<Note>) -> Vec<MailPerson> {
    list.iter().filter_map(|one| people::known_person(one, warnings)).collect()
}

/// Notes that a reply goes to another address than the one the message came from.
fn elsewhere(original: &SourceMessage, warnings: &mut Vec<Note>) {
    let (Some(from), Some(reply)) = (original.from.first(), original.reply_to.first()) else {
        return;
    };
    if !from.address.is(&reply.address) {
        warnings.push(note!(
            "its Reply-To sends replies to {}, but it came from {}",
            quoted_end(reply.address.as_str()),
            quoted_end(from.address.as_str())
        ));
    }
}

/// Returns the `In-Reply-To` of a reply, and its `References`, oldest first. Of a long list, the
/// first and the newest are kept.
pub fn references(original: &SourceMessage) -> (Option<String>, Vec<String>) {
    let parent = Some(original.message_id.clone()).filter(|id| is_id(id));
    let list = ids::ends(original.references.iter().chain(&parent).map(String::as_str));
    (parent, list)
}
