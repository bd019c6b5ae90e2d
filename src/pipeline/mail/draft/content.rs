//! The content of a draft: a new message, or an existing one with the changes of a call.
//!
//! Writing is left to the parent module.

use std::sync::Arc;

use daysheet_core::compose::text::{self, TextForms};
use daysheet_core::compose::{quote, reply, without_remote_pictures};
use daysheet_core::error::{Error, Result};
use daysheet_core::ids::EmailAddress;
use daysheet_core::provider::mail::{
    MailPerson, OutgoingMessage, SendAlias, SourceMessage, StoredDraft,
};
use daysheet_core::text::{Note, is_invisible, note, ours};

use super::attachments::{self, check_sizes, fetch_attachments, forwarded_attachments};
use super::people::{self, doubtful_recipients, sending_aliases};
use super::signatures::signature_of_alias;
use super::steps::{DraftContext, NewDraft, off_loop};
use crate::pipeline::context::Context;
use crate::pipeline::write::confirm::{check_allow_list, everybody};
use crate::tools::mail::{BodyFormat, DraftMode, MailDraft};

/// The way to set a missing signature.
const SIGN: &str = "write it into `body`, or set one with manage kind=signature";
/// The longest subject, in bytes.
const MAX_SUBJECT: usize = 1_000;

/// The message that a new draft is based on, and the addresses that it can be sent from.
pub(super) struct DraftSource {
    /// The mailbox of the new draft.
    pub(super) context: DraftContext,
    /// The message that is answered or forwarded.
    pub(super) original: Option<SourceMessage>,
    /// The addresses, as the provider lists them.
    pub(super) aliases: Vec<SendAlias>,
}

/// The recipients of a draft.
#[derive(Default)]
struct DraftRecipients {
    /// The primary recipients.
    to: Vec<MailPerson>,
    /// The recipients of copies.
    cc: Vec<MailPerson>,
    /// The recipients of copies that the others do not see.
    bcc: Vec<MailPerson>,
}

/// Builds the message of a new draft.
pub(super) async fn new_content(
    ctx: &Context,
    request: &MailDraft,
    source: &DraftSource,
    mut notes: Vec<Note>,
) -> Result<NewDraft> {
    let DraftSource { context, aliases, .. } = source;
    let alias = people::sender(aliases, request.from.as_deref(), source.original.as_ref())?;
    let forward = request.mode == DraftMode::Forward;
    let own = people::own(aliases, &context.account);
    let original = source.original.as_ref().map(|original| Arc::new(marked_own(original, &own)));
    let original = original.as_ref();
    let answered = original.filter(|_| !forward);
    let DraftRecipients { to, cc, bcc } = recipients(request, answered, &own, &mut notes)?;
    notes.extend(doubtful_recipients(ctx, request, context, [&to, &cc, &bcc]).await);

    let subject = subject(request, original)?;
    let quote = match original.filter(|_| request.quotes()) {
        Some(original) => Some(quote_of(ctx, Arc::clone(original), forward).await?),
        None => None,
    };
    let (in_reply_to, references) = match answered {
        Some(original) => reply::references(original),
        None => (None, Vec::new()),
    };
    let mut files = fetch_attachments(ctx, &request.attach, context).await?;
    let mut body = body(request)?.unwrap_or_default();
    let message_id = people::message_id(alias.person.address.as_str())?;
    attachments::inline(&mut body, &mut files, &message_id)?;
    // After `inline`, because the body of the call refers only to the call's own files.
    if let (true, Some(original)) = (forward && request.quotes(), original) {
        files.append(&mut forwarded_attachments(ctx, original, context).await?);
    }
    check_sizes(ctx, &files)?;
    let signature = signature_of_alias(ctx, context, alias).await?.map(|(_, both)| both);
    let whole = join_body(ctx, body, signature, quote, &mut notes).await?;
    let content = OutgoingMessage {
        message_id,
        from: alias.person.clone(),
        to,
        cc,
        bcc,
        reply_to: alias.reply_to.iter().cloned().collect(),
        subject,
        text: whole.text,
        html: whole.html,
        importance: request.importance.unwrap_or_default(),
        in_reply_to,
        references,
        files,
    };
    // Checked again before sending, because a draft can be changed elsewhere.
    check_allow_list(ctx, everybody(&content))?;
    Ok(NewDraft { content, notes, own: true })
}

/// Returns the original, marked as the user's own if it is from any of the `own` addresses.
fn marked_own(original: &SourceMessage, own: &[EmailAddress]) -> SourceMessage {
    let is_own = |sender: &MailPerson| own.iter().any(|address| sender.address.is(address));
    SourceMessage { own: original.own || original.from.iter().any(is_own), ..original.clone() }
}

/// Returns the recipients of a new draft, as the call names them. Lists that it does not name
/// follow from the `answered` message. `own` are the user's addresses.
fn recipients(
    request: &MailDraft,
    answered: Option<&Arc<SourceMessage>>,
    own: &[EmailAddress],
    notes: &mut Vec<Note>,
) -> Result<DraftRecipients> {
    let all = request.mode == DraftMode::ReplyAll;
    let given = request.to.is_some() && (request.cc.is_some() || !all);
    let (to, cc) = match answered {
        Some(original) if !given => {
            let mut odd = Vec::new();
            let found = reply::recipients(original, own, all, &mut odd)?;
            // Notes on recipients that the call replaces are of no use.
            if request.to.is_none() {
                notes.append(&mut odd);
            }
            found
        }
        _ => (Vec::new(), Vec::new()),
    };
    let to = people::recipients_of("to", request.to.as_deref(), to, notes)?;
    let cc = people::recipients_of("cc", request.cc.as_deref(), cc, notes)?;
    let bcc = people::recipients_of("bcc", request.bcc.as_deref(), Vec::new(), notes)?;
    let (to, cc, bcc) = people::once(to, cc, bcc);
    Ok(DraftRecipients { to, cc, bcc })
}

/// Returns the subject of a new draft, as the call or the original has it.
fn subject(request: &MailDraft, original: Option<&Arc<SourceMessage>>) -> Result<String> {
    match (&request.subject, original) {
        (Some(subject), _) => line(subject),
        (None, None) => Ok(String::new()),
        (None, Some(original)) if request.mode == DraftMode::Forward => {
            Ok(reply::forwarded(&original.subject))
        }
        (None, Some(original)) => Ok(reply::subject(&original.subject)),
    }
}

/// Returns an existing draft with only the given fields changed.
pub(super) async fn edited_content(
    ctx: &Context,
    request: &MailDraft,
    context: &DraftContext,
    stored: &StoredDraft,
) -> Result<NewDraft> {
    let mut notes = Vec::new();
    let mut content = stored.content.clone();
    let mut alias = None;
    if request.from.is_some() || request.body.is_some() {
        let aliases = sending_aliases(context, &mut notes).await;
        let from = request.from.as_deref().unwrap_or(content.from.address.as_str());
        match people::sender(&aliases, Some(from), None) {
            Ok(found) => alias = Some(found.clone()),
            Err(error) if request.from.is_some() => return Err(error),
            // The sender of an existing draft may no longer be an alias, and stays.
            Err(_) => {}
        }
    }
    if let (Some(alias), true) = (&alias, request.from.is_some()) {
        content.from = alias.person.clone();
        content.reply_to = alias.reply_to.iter().cloned().collect();
    }
    content.to = people::recipients_of("to", request.to.as_deref(), content.to, &mut notes)?;
    content.cc = people::recipients_of("cc", request.cc.as_deref(), content.cc, &mut notes)?;
    content.bcc = people::recipients_of("bcc", request.bcc.as_deref(), content.bcc, &mut notes)?;
    (content.to, content.cc, content.bcc) = people::once(content.to, content.cc, content.bcc);
    let lists = [&content.to, &content.cc, &content.bcc];
    notes.extend(doubtful_recipients(ctx, request, context, lists).await);
    if let Some(subject) = &request.subject {
        content.subject = line(subject)?;
    }
    if let Some(importance) = request.importance {
        content.importance = importance;
    }
    // Before new files are added, so that one call can replace a file by another of its name.
    attachments::without(&mut content.files, &request.detach)?;
    content.files.append(&mut fetch_attachments(ctx, &request.attach, context).await?);
    check_sizes(ctx, &content.files)?;
    if let Some(body) = body(request)? {
        let change = BodyChange { request, context, stored, alias: alias.as_ref() };
        replace_body(ctx, change, body, &mut content, &mut notes).await?;
    }
    if content == stored.content {
        return Err(Error::argument("there is nothing to change")
            .next("give to, cc, bcc, subject, body, attach, detach, from or importance"));
    }
    // All recipients, because another program may have added some of them to the draft.
    check_allow_list(ctx, everybody(&content))?;
    let own = request.body.is_some() || people::is_ours(&content.message_id);
    Ok(NewDraft { content, notes, own })
}

/// A request for a new body of an existing draft.
struct BodyChange<'a> {
    /// The arguments of the call.
    request: &'a MailDraft,
    /// The mailbox that the draft is in.
    context: &'a DraftContext,
    /// The draft before the change.
    stored: &'a StoredDraft,
    /// The address that the draft is sent from, if it is one of the user's.
    alias: Option<&'a SendAlias>,
}

/// Replaces the text of a draft, or adds to it; keeps the quote and the signature.
async fn replace_body(
    ctx: &Context,
    change: BodyChange<'_>,
    mut body: TextForms,
    content: &mut OutgoingMessage,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let BodyChange { request, context, stored, alias } = change;
    attachments::inline(&mut body, &mut content.files, &content.message_id)?;
    let (old, quote, stood) = old_parts(&stored.content).await?;
    if request.append {
        let ours = people::is_ours(&content.message_id);
        let old = old.filter(|_| ours).ok_or_else(|| {
            Error::argument("another program wrote this draft: where its text ends is unknown")
                .next("give the whole text as `body`, without `append`")
        })?;
        body = quote::together(&old, None, Some(&body));
    }
    let quote = quote.filter(|_| request.quotes());
    if request.quotes() && quote.is_none() && !content.references.is_empty() {
        notes.push("the old text had no quote below it: there is none now".into());
    }
    let own = match alias {
        Some(one) => signature_of_alias(ctx, context, one).await?.map(|(_, both)| both),
        None => None,
    };
    let from = content.from.address.as_str();
    // The same sender keeps the signature that the draft has.
    let signature = if stored.content.from.address.is(from) { stood.clone().or(own) } else { own };
    notes.extend(dropped(&stored.content, stood.as_ref(), signature.as_ref(), from));
    let whole = join_body(ctx, body, signature, quote, notes).await?;
    (content.text, content.html) = (whole.text, whole.html);
    Ok(())
}

/// Returns the text, the quote and the signature of an existing draft, if known.
async fn old_parts(
    content: &OutgoingMessage,
) -> Result<(Option<TextForms>, Option<TextForms>, Option<TextForms>)> {
    let (text, html) = (content.text.clone(), content.html.clone());
    off_loop(text.len() + html.len(), move || {
        let old = quote::own_text(&text, &html);
        (old, quote::own_quote(&text, &html), quote::signature(&text, &html))
    })
    .await
}

/// Quotes the original of a reply or a forward.
async fn quote_of(ctx: &Context, original: Arc<SourceMessage>, forward: bool) -> Result<TextForms> {
    let zone = ctx.config.zone.clone();
    let size = original.text.iter().chain(&original.html).map(String::len).sum();
    off_loop(size, move || {
        if forward {
            quote::sent_on(&original, &zone)
        } else {
            quote::reply_quote(&original, &zone)
        }
    })
    .await
}

/// Joins the text, the signature and the quote of a draft, without remote pictures unless
/// the settings allow them.
async fn join_body(
    ctx: &Context,
    body: TextForms,
    signature: Option<TextForms>,
    quote: Option<TextForms>,
    notes: &mut Vec<Note>,
) -> Result<TextForms> {
    let allowed = ctx.config.remote_pictures;
    let both = quote.iter().chain([&body]);
    let size = both.map(|both| both.text.len() + both.html.len()).sum();
    let work = move || -> Result<(TextForms, Option<Note>)> {
        let mut whole = quote::together(&body, signature.as_ref(), quote.as_ref());
        let note = if allowed { None } else { drop_remote_pictures(&mut whole.html)? };
        Ok((whole, note))
    };
    let (whole, note) = off_loop(size, work).await??;
    notes.extend(note);
    Ok(whole)
}

/// Removes remote pictures from HTML, unless the settings allow them; returns a
/// note. They would tell their server when the message is opened.
pub(crate) fn remove_remote_pictures(ctx: &Context, html: &mut String) -> Result<Option<Note>> {
    if ctx.config.remote_pictures {
        return Ok(None);
    }
    drop_remote_pictures(html)
}

/// Removes remote pictures from HTML; returns a note if it had any.
fn drop_remote_pictures(html: &mut String) -> Result<Option<Note>> {
    let tangled =
        || Error::argument("the HTML is too large or too deeply nested").next("send it as a file");
    let (clean, count) = without_remote_pictures(html).ok_or_else(tangled)?;
    if count == 0 {
        return Ok(None);
    }
    *html = clean;
    Ok(Some(note!("remote pictures left out: {} (setting `remote_pictures`)", count)))
}

/// Returns the text that the model wrote, in both forms; `None` without a `body`.
fn body(request: &MailDraft) -> Result<Option<TextForms>> {
    let Some(source) = &request.body else {
        return Ok(None);
    };
    Ok(Some(match request.body_format {
        BodyFormat::Markdown => text::markdown(source),
        BodyFormat::Text => text::from_plain(source),
        BodyFormat::Html => text::from_html(source)?,
    }))
}

/// Returns a note if an edit changes the signature of a draft, or drops it.
fn dropped(
    stored: &OutgoingMessage,
    stood: Option<&TextForms>,
    now: Option<&TextForms>,
    from: &str,
) -> Option<Note> {
    match (stood, now) {
        (Some(_), None) => Some(note!("no signature, because {} has none: {}", ours(from), SIGN)),
        (Some(before), Some(now)) if before.text != now.text => {
            Some(note!("the signature is now that of {}", ours(from)))
        }
        // A draft written elsewhere may have a signature that is not marked.
        (None, None) if !people::is_ours(&stored.message_id) && !stored.text.trim().is_empty() => {
            Some(note!("all text above the quote was replaced, including any signature: {}", SIGN))
        }
        _ => None,
    }
}

/// Returns a subject unchanged, if it is one line.
fn line(subject: &str) -> Result<String> {
    let odd = |c: char| c.is_control() || is_invisible(c);
    // Joiners and variation selectors are part of emoji and of some scripts.
    if let Some(c) =
        subject.chars().find(|c| odd(*c) && !matches!(c, '\u{200d}' | '\u{fe0f}' | '\u{200c}'))
    {
        return Err(match c {
            '\n' | '\r' => {
                Error::argument("`subject` has a line break").next("write it on one line")
            }
            _ => Error::argument(format!(
                "`subject` contains the invisible character U+{:04X}",
                u32::from(c)
            ))
            .next("leave it out"),
        });
    }
    if subject.len() > MAX_SUBJECT {
        return Err(Error::argument(format!(
            "`subject` is {} bytes, more than {MAX_SUBJECT}",
            subject.len()
        ))
        .next("shorten it"));
    }
    Ok(subject.trim().to_owned())
}
