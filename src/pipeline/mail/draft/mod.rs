//! Drafts: writing, changing, discarding, and previewing.
//!
//! Nothing is sent here. The answer shows the draft as the provider stores it after the write.
//! Sender and recipients are in [`people`], attachments in [`attachments`], the preview of a draft
//! in [`preview`]. The content that a change keeps for an undo is in [`kept`], the undo in
//! [`undo`], and shared parts in [`steps`].

pub(super) mod attachments;
pub(crate) mod kept;
pub(super) mod people;
mod preview;
pub(crate) mod steps;
pub(crate) mod undo;

use std::collections::HashSet;
use std::sync::Arc;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::compose::text::{self, TextForms};
use daysheet_core::compose::{quote, reply, without_remote_pictures};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::{
    DraftOrigin, OutgoingMessage, SendAlias, SourceMessage, StoredDraft,
};
use daysheet_core::row::RowCell;
use daysheet_core::text as words;
use daysheet_core::text::{Note, note, ours, quoted_list};
use futures_util::future::join;
use serde_json::{Value, json};

use self::attachments::{check_sizes, fetch_attachments, forwarded_attachments};
use self::kept::{discarded_before, keep_discard, keep_edit, record_discard, record_edit};
use self::people::{doubtful_recipients, named_message, sending_aliases};
use self::preview::draft_preview;
use self::steps::{DraftContext, NewDraft, off_loop};
use crate::pipeline::access::accounts::{account_named, owner_named};
use crate::pipeline::access::audit::{
    AuditEntry, BEGUN, audit_after, log_entry, outcome, run_logged,
};
use crate::pipeline::access::guard::{check_allow_list, everybody};
use crate::pipeline::answer::outcome::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{assign_handle, handle_after, resolve_handle};
use crate::pipeline::titles::short;
use crate::store::HandleKind;
use crate::tools::mail::{BodyFormat, DraftMode, MailDraft};

/// The tool, as the audit log names it.
const TOOL: &str = "mail_draft";
/// The way to set a missing signature.
const SIGN: &str = "write it into `body`, or set one with manage kind=signature";
/// The longest subject, in bytes.
const MAX_SUBJECT: usize = 1_000;

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

pub(crate) async fn mail_draft(
    ctx: &Context,
    request: MailDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    if request.append && (request.mode != DraftMode::Edit || request.body.is_none()) {
        return Err(Error::argument("`append` is for mode=edit with a `body`")
            .next("leave it out, or give both"));
    }
    match request.mode {
        DraftMode::Discard => discard_draft(ctx, &request).await,
        DraftMode::Edit => edit_draft(ctx, &request, caller).await,
        _ => new_draft(ctx, &request, caller).await,
    }
}

fn draft_context(ctx: &Context, account: Account) -> Result<DraftContext> {
    Ok(DraftContext { mailbox: ctx.connect.mailbox(&account)?, account })
}

async fn new_draft(
    ctx: &Context,
    request: &MailDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let (context, original, aliases) = match &request.id {
        None => {
            let account = account_named(ctx, request.account.as_deref()).await;
            let account = match (account, &request.account, &request.from) {
                // Of several accounts, it is the one with the sender's address.
                (Err(_), None, Some(from)) => {
                    let from = from.rsplit('<').next().unwrap_or_default();
                    account_named(ctx, Some(from.trim_end_matches('>'))).await?
                }
                (account, ..) => account?,
            };
            let context = draft_context(ctx, account)?;
            let aliases = sending_aliases(&context, &mut notes).await;
            (context, None, aliases)
        }
        Some(name) => {
            let (account, id) = named_message(ctx, name, request.account.as_deref()).await?;
            let context = draft_context(ctx, account)?;
            // Fetched together, because neither depends on the other.
            let original = context.mailbox.source_message(&id);
            let (original, aliases) = join(original, sending_aliases(&context, &mut notes)).await;
            let original = original.map_err(|error| error.context(name))?;
            if original.draft && request.mode != DraftMode::Forward {
                return Err(Error::argument(format!("{} is a draft", words::brief(name)))
                    .next("change it with mode=edit, or reply to a message that was sent"));
            }
            (context, Some(original), aliases)
        }
    };
    let original = original.as_ref();
    let mut draft = new_content(ctx, request, &context, original, &aliases, notes).await?;
    let origin = match (request.mode, original) {
        (DraftMode::Forward, Some(original)) => DraftOrigin::Forward { id: original.id.clone() },
        (_, Some(original)) => DraftOrigin::Reply {
            id: original.id.clone(),
            thread: original.thread.clone(),
            all: request.mode == DraftMode::ReplyAll,
            has_files: !original.files.is_empty(),
        },
        (_, None) => DraftOrigin::New,
    };
    let op = match request.mode {
        DraftMode::Reply => "reply",
        DraftMode::ReplyAll => "reply_all",
        DraftMode::Forward => "forward",
        _ => "new",
    };
    let ids: Vec<String> = request.id.iter().cloned().collect();
    let is_reply = matches!(origin, DraftOrigin::Reply { .. });
    let thread = original.map(|original| &original.thread).filter(|_| is_reply);
    // No write without its line in the log.
    log_entry(ctx, entry(&context, op, &ids, &draft.content, BEGUN)).await?;
    let beside = async {
        match thread {
            Some(thread) => context.mailbox.open_drafts(thread).await,
            None => Ok(Vec::new()),
        }
    };
    // The new draft may be in the thread already when that is read.
    let create = context.mailbox.create(&origin, &draft.content, caller);
    let (made, beside) = join(create, Box::pin(beside)).await;
    match (&made, thread) {
        (Ok(made), Some(thread)) if made.thread != *thread => draft.notes.push(
            "it starts a new thread because its subject differs: leave out `subject` to stay \
             in the thread"
                .into(),
        ),
        (Ok(made), _) => {
            draft.notes.extend(other_drafts_note(ctx, &context, beside, &made.message).await);
        }
        (Err(_), _) => {}
    }
    draft_written(ctx, &context, op, ids, draft, made, (is_reply, None)).await
}

/// Returns a note on the drafts of a thread other than the `new` one.
async fn other_drafts_note(
    ctx: &Context,
    context: &DraftContext,
    drafts: Result<Vec<String>>,
    new: &str,
) -> Option<Note> {
    let drafts = match drafts {
        Ok(drafts) => drafts,
        Err(error) => {
            return Some(note!("drafts in this thread could not be looked for: {}", error));
        }
    };
    let mut handles = Vec::new();
    for id in drafts.iter().rev().filter(|id| *id != new) {
        let kind = HandleKind::Message;
        handles.push(handle_after(ctx, &context.account, kind, id, &mut Vec::new()).await);
    }
    let first = handles.first()?;
    Some(match handles.len() {
        1 => note!(
            "this thread already had a draft: mail_draft mode=discard id={} drops it",
            ours(first)
        ),
        count => note!(
            "this thread already had {} drafts, {}: mail_draft mode=discard drops one by its id",
            count,
            ours(handles.join(" "))
        ),
    })
}

async fn edit_draft(
    ctx: &Context,
    request: &MailDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let (context, handle, stored) = requested_draft(ctx, request).await?;
    let draft = edited_content(ctx, request, &context, &stored).await?;
    rewrite_draft(ctx, &context, handle, &stored, draft, "edit", caller).await
}

/// Replaces the content of a draft, and keeps the earlier one for an undo.
async fn rewrite_draft(
    ctx: &Context,
    context: &DraftContext,
    handle: String,
    stored: &StoredDraft,
    mut draft: NewDraft,
    op: &'static str,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let ids = vec![handle];
    let kept = keep_edit(ctx, context, stored, &mut draft.notes).await;
    log_entry(ctx, entry(context, op, &ids, &draft.content, BEGUN)).await?;
    let made = context.mailbox.update(stored, &draft.content, caller).await;
    let made = made.map_err(|error| match error.kind() {
        ErrorKind::Conflict => Error::new(
            ErrorKind::Conflict,
            format!("{} was changed by somebody else meanwhile", ids.join(" ")),
        )
        .next("nothing was written; read it with mail_read and edit it again"),
        _ => error,
    });
    let undo = record_edit(ctx, kept, &made, &mut draft.notes).await;
    if let Ok(made) = &made {
        let (before, now) = (stored.content.clone(), made.content.clone());
        let size = before.text.len() + before.html.len() + now.text.len() + now.html.len();
        match off_loop(size, move || removed(&before, &now)).await {
            Ok(notes) => draft.notes.extend(notes),
            // The draft is written, so a failure here is only a note.
            Err(error) => draft.notes.push(note!("{}", error)),
        }
        // Some services give a changed draft a new message, which takes over the handle.
        let (account, kind) = (&context.account.id, HandleKind::Message);
        if made.message != stored.message
            && let Err(error) =
                ctx.store.move_handle(account, kind, &stored.message, &made.message).await
        {
            tracing::warn!(%error, "the handle of a draft's message is lost");
        }
    }
    let is_reply = !stored.thread.is_empty() && !stored.content.references.is_empty();
    draft_written(ctx, context, op, ids, draft, made, (is_reply, undo)).await
}

async fn discard_draft(ctx: &Context, request: &MailDraft) -> Result<WholeAnswer> {
    let (context, handle, stored) = requested_draft(ctx, request).await?;
    let ids = [handle.clone()];
    let mut notes = Vec::new();
    let kept = keep_discard(ctx, &context, &stored, &mut notes).await;
    let line = entry(&context, "discard", &ids, &stored.content, "");
    let write = context.mailbox.discard(&stored);
    let discarded = run_logged(ctx, line, &mut notes, write, |()| None).await;
    let undo = record_discard(ctx, &context, kept, &discarded, &mut notes).await;
    let name = format!("{handle} {}", short(&stored.content.subject));
    let outcome = match &discarded {
        Ok(()) => ItemOutcome::new(name, "discard", "done", "it was not sent"),
        Err(error) => ItemOutcome::failed(name, "discard", error),
    };
    match discarded {
        Err(error) if !error.is_open() => Err(error),
        _ => outcome_with_undo(ctx, outcome, notes, undo).await,
    }
}

/// Returns the response about a draft that was written.
async fn draft_written(
    ctx: &Context,
    context: &DraftContext,
    op: &'static str,
    ids: Vec<String>,
    draft: NewDraft,
    made: Result<StoredDraft>,
    (is_reply, undo): (bool, Option<u64>),
) -> Result<WholeAnswer> {
    let line = entry(context, op, &ids, &draft.content, outcome(&made));
    let mut notes = Vec::new();
    audit_after(ctx, line, &mut notes).await;
    match made {
        Ok(stored) => {
            let mut response = draft_preview(ctx, context, &stored, &draft, is_reply, undo).await;
            response.notes.append(&mut notes);
            Ok(response)
        }
        Err(error) if error.is_open() => {
            let item = ids.first().cloned().unwrap_or_else(|| short(&draft.content.subject));
            outcome_with_undo(ctx, ItemOutcome::failed(item, op, &error), notes, undo).await
        }
        Err(error) => Err(error),
    }
}

/// Returns the response with one outcome and the number for undoing it.
async fn outcome_with_undo(
    ctx: &Context,
    outcome: ItemOutcome,
    notes: Vec<Note>,
    undo: Option<u64>,
) -> Result<WholeAnswer> {
    let report = WriteReport { outcomes: vec![outcome], notes, ..WriteReport::default() };
    let mut response = write_report(ctx, report).await?;
    let undo = undo.map(|number| RowCell::Handle(HandleKind::Undo.prefix(), number));
    response.document.scalars.extend(undo.map(|undo| ("undo", undo)));
    Ok(response)
}

/// Builds the message of a new draft.
async fn new_content(
    ctx: &Context,
    request: &MailDraft,
    context: &DraftContext,
    original: Option<&SourceMessage>,
    aliases: &[SendAlias],
    mut notes: Vec<Note>,
) -> Result<NewDraft> {
    let alias = people::sender(aliases, request.from.as_deref(), original)?;
    let forward = request.mode == DraftMode::Forward;
    let own = people::own(aliases, &context.account);
    // A message from any of the user's addresses is the user's own.
    let original = original.map(|original| {
        Arc::new(SourceMessage {
            own: original.own
                || original.from.iter().any(|one| {
                    own.iter().any(|address| address.eq_ignore_ascii_case(&one.address))
                }),
            ..original.clone()
        })
    });
    let original = original.as_ref();
    let all = request.mode == DraftMode::ReplyAll;
    let given = request.to.is_some() && (request.cc.is_some() || !all);
    let (to, cc) = match original {
        Some(original) if !forward && !given => {
            let mut odd = Vec::new();
            let found = reply::recipients(original, &own, all, &mut odd)?;
            // Notes on recipients that the call replaces are of no use.
            if request.to.is_none() {
                notes.append(&mut odd);
            }
            found
        }
        _ => (Vec::new(), Vec::new()),
    };
    let to = people::recipients_of("to", request.to.as_deref(), to, &mut notes)?;
    let cc = people::recipients_of("cc", request.cc.as_deref(), cc, &mut notes)?;
    let bcc = people::recipients_of("bcc", request.bcc.as_deref(), Vec::new(), &mut notes)?;
    let (to, cc, bcc) = people::once(to, cc, bcc);
    notes.extend(doubtful_recipients(ctx, request, context, [&to, &cc, &bcc]).await);

    let subject = match (&request.subject, original) {
        (Some(subject), _) => line(subject)?,
        (None, None) => String::new(),
        (None, Some(original)) if forward => reply::forwarded(&original.subject),
        (None, Some(original)) => reply::subject(&original.subject),
    };
    let quote = match original.filter(|_| request.quotes()) {
        Some(original) => Some(quote_of(ctx, Arc::clone(original), forward).await?),
        None => None,
    };
    let (in_reply_to, references) = match original {
        Some(original) if !forward => reply::references(original),
        _ => (None, Vec::new()),
    };
    let mut files = fetch_attachments(ctx, &request.attach, context).await?;
    let mut body = body(request)?.unwrap_or_default();
    let message_id = people::message_id(&alias.person.address)?;
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

/// Returns an existing draft with only the given fields changed.
async fn edited_content(
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
        let from = request.from.as_deref().unwrap_or(&content.from.address);
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
    attachments::without(&mut content.files, &request.detach)?;
    content.files.append(&mut fetch_attachments(ctx, &request.attach, context).await?);
    check_sizes(ctx, &content.files)?;
    if let Some(mut body) = body(request)? {
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
        let own = match &alias {
            Some(one) => signature_of_alias(ctx, context, one).await?.map(|(_, both)| both),
            None => None,
        };
        let from = &content.from.address;
        // The same sender keeps the signature that the draft has.
        let signature = if from.eq_ignore_ascii_case(&stored.content.from.address) {
            stood.clone().or(own)
        } else {
            own
        };
        notes.extend(dropped(&stored.content, stood.as_ref(), signature.as_ref(), from));
        let whole = join_body(ctx, body, signature, quote, &mut notes).await?;
        (content.text, content.html) = (whole.text, whole.html);
    }
    if content == stored.content {
        return Err(Error::argument("there is nothing to change")
            .next("give to, cc, bcc, subject, body, attach, detach, from or importance"));
    }
    check_allow_list(ctx, everybody(&content))?;
    let own = request.body.is_some() || people::is_ours(&content.message_id);
    Ok(NewDraft { content, notes, own })
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

/// Returns the signatures of an account's addresses, as objects of the table.
pub(crate) async fn account_signatures(ctx: &Context, account: &Account) -> Result<Vec<Value>> {
    let context = draft_context(ctx, account.clone())?;
    let mut objects = Vec::new();
    for alias in context.mailbox.senders().await? {
        let (source, text) = signature_of_alias(ctx, &context, &alias).await?.unzip();
        let text = text.map(|both| words::lines(&both.text)).unwrap_or_default();
        let email = &alias.person.address;
        objects.push(json!({"email": email, "text": text, "source": source}));
    }
    Ok(objects)
}

/// Returns the signature of messages from `alias`, and its source.
async fn signature_of_alias(
    ctx: &Context,
    context: &DraftContext,
    alias: &SendAlias,
) -> Result<Option<(&'static str, TextForms)>> {
    // A service that does not expose signatures leaves them to us.
    let found = match (&alias.signature, context.mailbox.capabilities().signatures) {
        (Some(own), _) => Some(("provider", own.clone())),
        (None, false) => match ctx.store.signature(&context.account.id).await? {
            Some(stored) => Some(("daysheet", stored)),
            None => ctx.config.outlook_signature.clone().map(|text| ("settings", text)),
        },
        (None, true) => None,
    };
    let Some((source, signature)) = found.filter(|(_, text)| !text.trim().is_empty()) else {
        return Ok(None);
    };
    let both = if signature.contains('<') && signature.contains('>') {
        text::from_html(&signature).ok()
    } else {
        Some(text::from_plain(&signature))
    };
    Ok(both.map(|both| (source, both)))
}

/// Fetches the draft that a call is about, with its handle.
async fn requested_draft(
    ctx: &Context,
    request: &MailDraft,
) -> Result<(DraftContext, String, StoredDraft)> {
    let name = request.id.as_deref().unwrap_or_default();
    stored_draft(ctx, name, request.account.as_deref()).await
}

/// Fetches the draft with this id, with its handle.
async fn stored_draft(
    ctx: &Context,
    name: &str,
    account: Option<&str>,
) -> Result<(DraftContext, String, StoredDraft)> {
    let (account, id) = match resolve_handle(ctx, HandleKind::Draft, name).await? {
        Some((owner, id)) => (owner_named(ctx, &owner, account).await?, id),
        None => named_message(ctx, name, account).await?,
    };
    let context = draft_context(ctx, account)?;
    check_unsent(ctx, &context.account, words::brief(name), &id).await?;
    let stored = context.mailbox.draft(&id).await;
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => {
            let shown = words::brief(name);
            let error = error.context(&shown);
            return Err(discarded_before(ctx, &context.account.id, (&shown, &id), error).await);
        }
    };
    let handle = assign_handle(ctx, &context.account.id, HandleKind::Draft, &stored.id).await?;
    // Again by the draft's own id, because `id` may be the id of its message.
    check_unsent(ctx, &context.account, handle.clone(), &stored.id).await?;
    Ok((context, handle, stored))
}

/// Refuses a draft that was sent, is being sent, or is or was scheduled.
async fn check_unsent(ctx: &Context, account: &Account, name: String, id: &str) -> Result<()> {
    let Some(before) = ctx.store.journalled(&account.id, id).await? else {
        return Ok(());
    };
    if !before.sent || before.due.is_some() {
        let state = if before.sent { "is scheduled, or was" } else { "is being sent" };
        let what = format!("{name} {state}");
        return Err(Error::new(ErrorKind::Conflict, what)
            .next(format!("call mail_send id={name} for its state")));
    }
    let mut what = format!("{name} was sent");
    if let Some(sent) = &before.sent_id {
        let sent = assign_handle(ctx, &account.id, HandleKind::Message, sent).await?;
        if sent != name {
            what.push_str(&format!(" as {sent}"));
        }
    }
    Err(Error::new(ErrorKind::Conflict, what).next("write a new draft, or reply to it"))
}

/// Returns an entry of the audit log.
fn entry<'a>(
    context: &'a DraftContext,
    op: &'a str,
    ids: &[String],
    content: &'a OutgoingMessage,
    outcome: &'a str,
) -> AuditEntry<'a> {
    AuditEntry {
        account: &context.account.email,
        tool: TOOL,
        op,
        ids: ids.to_vec(),
        recipients: everybody(content).map(|one| one.address.as_str()).collect(),
        outcome,
    }
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

/// Returns notes on the parts that an edit removed from a draft: people, files, the quote, and the
/// earlier text.
fn removed(before: &OutgoingMessage, now: &OutgoingMessage) -> Vec<Note> {
    let mut lists = Vec::new();
    let kept: HashSet<String> = everybody(now).map(|one| one.address.to_lowercase()).collect();
    let gone = everybody(before).filter(|one| !kept.contains(&one.address.to_lowercase()));
    lists.extend(gone.map(|one| one.address.clone()));
    let mut files: Vec<&str> = now.files.iter().map(|file| file.name.as_str()).collect();
    for file in &before.files {
        match files.iter().position(|name| *name == file.name) {
            Some(at) => drop(files.remove(at)),
            None => lists.push(file.name.clone()),
        }
    }
    let mut notes = Vec::new();
    if !lists.is_empty() {
        notes.push(note!("removed: {}", quoted_list(lists)));
    }
    let (old, new) = (quote::parts(&before.text, &before.html), quote::parts(&now.text, &now.html));
    if let (Some(chars), None) = (old.quote, new.quote) {
        notes.push(note!("removed: the quote ({} characters)", chars));
    }
    let own = quote::own_text(&before.text, &before.html);
    let grown = own.is_some_and(|own| now.text.starts_with(&own.text) && !own.text.is_empty());
    if old.text != new.text && !old.text.is_empty() && !grown {
        notes.push(note!("replaced: the earlier text ({} characters)", old.text.chars().count()));
    }
    notes
}

/// Returns a subject unchanged, if it is one line.
fn line(subject: &str) -> Result<String> {
    let odd = |c: char| c.is_control() || daysheet_core::text::is_invisible(c);
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
