//! The preview of a draft: all recipients, in full.

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::{LongText, WholeAnswer};
use daysheet_core::compose::quote::{self, DraftParts};
use daysheet_core::provider::mail::{
    Importance, MailPerson, OutgoingAttachment, OutgoingMessage, StoredDraft,
};
use daysheet_core::row::RowCell;
use daysheet_core::text::opening::opening;
use daysheet_core::text::{self, MailAddress, deceptive};
use daysheet_core::text::{Note, note, ours, quoted, quoted_list};

use super::attachments;
use super::steps::{DraftContext, NewDraft, off_loop};
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::context::Context;
use crate::pipeline::handles::number_after;
use crate::store::HandleKind;

/// A text of at most so many characters is shown without a fence.
const SHORT: usize = 400;
/// The columns of the beginning of a quote.
const QUOTED: usize = 30;
/// With more recipients, addresses are shown without names.
const NAMED: usize = 40;

/// A draft that was written.
pub(super) struct WrittenDraft<'a> {
    /// The draft as its provider has it.
    pub(super) stored: &'a StoredDraft,
    /// The draft as it was requested.
    pub(super) draft: &'a NewDraft,
    /// True if it answers a message.
    pub(super) is_reply: bool,
    /// The number for undoing the write.
    pub(super) undo: Option<u64>,
}

/// Returns the preview of a draft that was written, as its provider has it.
pub(super) async fn draft_preview(
    ctx: &Context,
    context: &DraftContext,
    written: WrittenDraft<'_>,
) -> WholeAnswer {
    let mut response = WholeAnswer::default();
    let content = &written.stored.content;
    let mut late = Vec::new();
    let handle = add_header(ctx, context, &written, &mut response, &mut late).await;
    let (text, html) = (content.text.clone(), content.html.clone());
    let work = move || quote::parts(&text, &html);
    let parts = match off_loop(content.text.len() + content.html.len(), work).await {
        Ok(parts) => parts,
        // The draft is written, so a failure here is only a note.
        Err(error) => {
            late.push(note!("{}", error));
            DraftParts::default()
        }
    };
    if written.is_reply || parts.quote.is_some() {
        // The subject, the people and the quote come from the other message.
        note_untrusted_quote(ctx);
    }
    add_text(&written, parts, &mut response);
    response.notes = draft_notes(&written);
    response.notes.push(next_step(ctx, &written, &handle));
    response.notes.append(&mut late);
    response
}

/// Adds the id, the people, the subject, the files, the thread and the undo of a draft; returns the
/// id by which a call names it.
async fn add_header(
    ctx: &Context,
    context: &DraftContext,
    written: &WrittenDraft<'_>,
    response: &mut WholeAnswer,
    late: &mut Vec<Note>,
) -> String {
    let stored = written.stored;
    let content = &stored.content;
    let kind = HandleKind::Draft;
    let number = number_after(ctx, &context.account, kind, stored.id.as_str(), late).await;
    let (cell, handle) = match number {
        Some(number) => (RowCell::Handle('d', number), kind.handle(number)),
        None => (RowCell::Id(stored.id.to_string()), stored.id.to_string()),
    };
    let scalars = &mut response.document.scalars;
    scalars.push(("draft", cell));
    scalars.push(("from", RowCell::Text(people_line(std::slice::from_ref(&content.from)))));
    let lists = [("to", &content.to), ("cc", &content.cc), ("bcc", &content.bcc)];
    for (name, people) in lists {
        if !people.is_empty() {
            scalars.push((name, RowCell::Text(people_line(people))));
        }
    }
    scalars.push(("subject", RowCell::Text(deceptive::line(&content.subject))));
    if !content.files.is_empty() {
        scalars.push(("attached", RowCell::Text(attached(&content.files))));
    }
    if written.is_reply && !stored.thread.is_empty() {
        let kind = HandleKind::Thread;
        let number = number_after(ctx, &context.account, kind, stored.thread.as_str(), late).await;
        if let Some(number) = number {
            scalars.push(("thread", RowCell::Handle('t', number)));
        }
    }
    if let Some(undo) = written.undo {
        scalars.push(("undo", RowCell::Handle(HandleKind::Undo.prefix(), undo)));
    }
    handle
}

/// Adds the signature, the quote and the text of a draft.
fn add_text(written: &WrittenDraft<'_>, parts: DraftParts, response: &mut WholeAnswer) {
    let scalars = &mut response.document.scalars;
    let signature = match (parts.signature, written.undo) {
        (true, _) => "yes",
        (false, Some(_)) => "none",
        // Reported once, when the draft is new.
        (false, None) => "none (manage kind=signature sets one)",
    };
    scalars.push(("signature", RowCell::Text(signature.to_owned())));
    match parts.quote {
        Some(chars) => {
            let subject = &written.stored.content.subject;
            let begins = deceptive::line(&opening(&parts.quoted, subject));
            let (begins, _) = text::clip(begins, QUOTED);
            let text = format!("{chars} characters, {begins}");
            scalars.push(("quote", RowCell::Text(text.trim_end_matches(", ").to_owned())));
        }
        None if written.is_reply => scalars.push(("quote", RowCell::Text("none".to_owned()))),
        None => {}
    }
    let own = written.draft.own;
    match parts.text.chars().count() {
        0 => {}
        // A text that another program wrote may not be the user's alone.
        chars if own && chars <= SHORT => scalars.push(("text", RowCell::Text(parts.text))),
        _ => {
            let name = "b1".to_owned();
            scalars.push(("text", RowCell::Text(name.clone())));
            let text = LongText { name, text: parts.text, own, ..LongText::default() };
            response.texts.push(text);
        }
    }
}

/// Returns the notes on a draft: its differences from the request, the notes on the request, and
/// its importance.
fn draft_notes(written: &WrittenDraft<'_>) -> Vec<Note> {
    let content = &written.stored.content;
    let mut notes = differences(&written.draft.content, content);
    for note in &written.draft.notes {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    match content.importance {
        Importance::High => notes.push("importance: high".into()),
        Importance::Low => notes.push("importance: low".into()),
        Importance::Normal => {}
    }
    notes
}

/// Returns the note on how a draft, named by its id, is sent.
fn next_step(ctx: &Context, written: &WrittenDraft<'_>, id: &str) -> Note {
    let content = &written.stored.content;
    let nobody = [&content.to, &content.cc, &content.bcc].iter().all(|list| list.is_empty());
    if nobody {
        note!("nothing was sent; it has no recipients: mail_draft mode=edit id={} to=…", ours(id))
    } else if !differences(&written.draft.content, content).is_empty() {
        note!("nothing was sent; correct it first: mail_draft mode=edit id={}", ours(id))
    } else if ctx.config.access < AccessLevel::Send {
        "nothing was sent; sending needs access `send`: the user can send the draft".into()
    } else {
        note!("nothing was sent; mail_send id={} sends it", ours(id))
    }
}

/// Lists people on one line, every address in full.
fn people_line(people: &[MailPerson]) -> String {
    let named = people.len() <= NAMED;
    let one = |person: &MailPerson| {
        let name = person.name.as_deref().filter(|_| named).map(text::cell);
        match name {
            // A comma in a name must not look like a further recipient.
            Some(name) if name.contains([',', ';', '"']) => {
                format!("\"{}\" <{}>", name.replace('"', "'"), person.address)
            }
            name => MailAddress::new(name.as_deref(), person.address.as_str()).to_string(),
        }
    };
    people.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Formats `offer.pdf 12 KB, logo.png 800 B (shown)`.
fn attached(files: &[OutgoingAttachment]) -> String {
    let one = |file: &OutgoingAttachment| {
        let name = text::cell(&file.name);
        let mark = match file.cid {
            Some(_) => " (shown)",
            None => "",
        };
        format!("{name} {}{mark}", amount(attachments::size(&file.content)))
    };
    files.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn amount(bytes: u64) -> String {
    match bytes {
        0..=1_023 => format!("{bytes} B"),
        1_024..=1_048_575 => format!("{} KB", bytes.div_ceil(1_024)),
        _ => format!("{} MB", bytes.div_ceil(1 << 20)),
    }
}

/// Returns notes on the differences between the provider's draft and the request.
fn differences(request: &OutgoingMessage, stored: &OutgoingMessage) -> Vec<Note> {
    let mut lines = Vec::new();
    let addresses = |people: &[MailPerson]| {
        let mut list: Vec<String> = people.iter().map(|one| one.address.lower()).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let lists = [
        ("to", &request.to, &stored.to),
        ("cc", &request.cc, &stored.cc),
        ("bcc", &request.bcc, &stored.bcc),
    ];
    for (name, request, stored) in lists {
        if addresses(request) != addresses(stored) {
            let request = if request.is_empty() {
                note!("nobody")
            } else {
                note!("{}", quoted_list(addresses(request)))
            };
            lines.push(note!(
                "WRONG RECIPIENTS: the service stored a different `{}` than requested ({}); do not \
                 send it before fixing that",
                name,
                request
            ));
        }
    }
    if !request.from.address.is(&stored.from.address) {
        lines.push(note!("WRONG SENDER: {} was requested", quoted(request.from.address.as_str())));
    }
    if request.files.len() != stored.files.len() {
        lines.push(note!(
            "FILES DIFFER: {} requested, {} attached",
            request.files.len(),
            stored.files.len()
        ));
    }
    lines
}
