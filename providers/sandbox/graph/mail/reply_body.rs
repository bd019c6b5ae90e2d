//! What Exchange puts into an answer by itself: subject, recipients and the chain
//! of Message-IDs. The body, which Exchange begins with what is answered, is empty
//! here: every client of ours writes it anew.

use super::body::EditableMessage;
use super::context::MailContext;
use crate::graph::error::GraphError;
use crate::graph::people::EmailAddress;
use crate::graph::user;
use crate::store::message::Message;

/// How a message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    Reply,
    ReplyAll,
    Forward,
}

/// Begins an answer to a message.
pub(super) fn begin(
    context: &MailContext<'_>,
    editable: &mut EditableMessage,
    message: &Message,
    how: ReplyKind,
) -> Result<(), GraphError> {
    let original = EditableMessage::of(message);
    let prefix = match how {
        ReplyKind::Forward => "FW: ",
        ReplyKind::Reply | ReplyKind::ReplyAll => "RE: ",
    };
    editable.subject = prefixed(&original.subject, prefix);
    if how != ReplyKind::Forward {
        recipients(context, editable, &original, how)?;
    }
    if !original.message_id.is_empty() {
        editable.in_reply_to = vec![original.message_id.clone()];
        let chain = if original.references.is_empty() {
            &original.in_reply_to
        } else {
            &original.references
        };
        editable.references = chain.clone();
        editable.references.retain(|id| *id != original.message_id);
        editable.references.push(original.message_id.clone());
    }
    // Whoever answers writes the body, and what it quotes.
    editable.html = true;
    // Files go on; pictures that the quoted text shows stay with it.
    editable.files = original.files;
    editable.files.retain(|file| how == ReplyKind::Forward || file.inline);
    for file in &mut editable.files {
        file.number = None;
    }
    Ok(())
}

/// A subject under a prefix that it does not have yet.
fn prefixed(subject: &str, prefix: &str) -> String {
    let known = subject
        .get(..prefix.len() - 1)
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix.trim_end()));
    if known { subject.to_owned() } else { format!("{prefix}{subject}") }
}

/// Whom an answer goes to.
fn recipients(
    context: &MailContext<'_>,
    editable: &mut EditableMessage,
    original: &EditableMessage,
    how: ReplyKind,
) -> Result<(), GraphError> {
    let own = user::addresses(context.store()?);
    let is_own = |person: &EmailAddress| {
        let mut own = own.iter();
        own.any(|address| address.eq_ignore_ascii_case(&person.address))
    };
    editable.to = if original.reply_to.is_empty() {
        original.from.iter().cloned().collect()
    } else {
        original.reply_to.clone()
    };
    if how == ReplyKind::ReplyAll {
        let mut all: Vec<EmailAddress> = Vec::new();
        let mut take = |people: &[EmailAddress]| {
            let mut taken = Vec::new();
            for person in people {
                let known =
                    all.iter().any(|known| known.address.eq_ignore_ascii_case(&person.address));
                if !known && !is_own(person) {
                    all.push(person.clone());
                    taken.push(person.clone());
                }
            }
            taken
        };
        let to = [editable.to.as_slice(), &original.to].concat();
        let taken = take(&to);
        editable.cc = take(&original.cc);
        // Who answers only themselves does so.
        if !taken.is_empty() || !editable.cc.is_empty() {
            editable.to = taken;
        }
    }
    Ok(())
}
