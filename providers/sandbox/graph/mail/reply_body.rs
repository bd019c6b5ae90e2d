//! The parts of a reply that Exchange fills in: subject, recipients, and the chain of Message-IDs.
//! Unlike Exchange's, its body is empty instead of quoting the original, because our clients write
//! it themselves.

use super::body::EditableMessage;
use crate::graph::error::GraphError;
use crate::graph::people::EmailAddress;
use crate::graph::request::RequestContext;
use crate::graph::user;
use crate::store::message::Message;

/// The kind of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    Reply,
    ReplyAll,
    Forward,
}

/// Begins a reply to a message.
pub(super) fn begin(
    context: &RequestContext<'_>,
    editable: &mut EditableMessage,
    message: &Message,
    how: ReplyKind,
) -> Result<(), GraphError> {
    let original = EditableMessage::from_message(message);
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
        // RFC 5322, 3.6.4: References of the original, or else its In-Reply-To, followed by its
        // Message-ID.
        let chain = if original.references.is_empty() {
            &original.in_reply_to
        } else {
            &original.references
        };
        editable.references = chain.clone();
        editable.references.retain(|id| *id != original.message_id);
        editable.references.push(original.message_id.clone());
    }
    // The client writes the body, including the quoted text.
    editable.html = true;
    // A forward keeps all files, a reply only the pictures that the quoted text shows.
    editable.files = original.files;
    editable.files.retain(|file| how == ReplyKind::Forward || file.inline);
    for file in &mut editable.files {
        // The numbers belong to the original's attachment ids.
        file.number = None;
    }
    Ok(())
}

/// Returns a subject with a prefix, unless it has it already.
fn prefixed(subject: &str, prefix: &str) -> String {
    let known = subject
        .get(..prefix.len() - 1)
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix.trim_end()));
    if known { subject.to_owned() } else { format!("{prefix}{subject}") }
}

/// Sets the recipients of a reply.
fn recipients(
    context: &RequestContext<'_>,
    editable: &mut EditableMessage,
    original: &EditableMessage,
    how: ReplyKind,
) -> Result<(), GraphError> {
    let own = user::addresses(context.present()?);
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
        // A reply to one's own message, with no one else on it, goes to oneself.
        if !taken.is_empty() || !editable.cc.is_empty() {
            editable.to = taken;
        }
    }
    Ok(())
}
