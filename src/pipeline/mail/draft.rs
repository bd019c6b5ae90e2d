//! Drafts: writing, changing, discarding, and previewing.
//!
//! Sending is in `mail/send.rs`. The answer shows the draft as the provider stores it after the write.
//! The content is in [`content`], sender and recipients are in [`people`], attachments in
//! [`attachments`], signatures in [`signatures`], the preview of a draft in [`preview`]. The
//! earlier content that is kept for an undo is in [`kept`], the undo in [`undo`], and shared parts
//! in [`steps`].

pub(super) mod attachments;
pub(crate) mod content;
pub(crate) mod kept;
pub(super) mod people;
mod preview;
pub(crate) mod signatures;
pub(crate) mod steps;
pub(crate) mod undo;

use std::collections::HashSet;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::compose::quote;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{DraftId, MessageId};
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::{DraftOrigin, OutgoingMessage, SourceMessage, StoredDraft};
use daysheet_core::row::RowCell;
use daysheet_core::text as words;
use daysheet_core::text::{Note, note, ours, quoted_list};
use futures_util::future::join;

use self::content::{DraftSource, edited_content, new_content};
use self::kept::{
    RequestedDraft, discarded_before, keep_discard, keep_edit, record_discard, record_edit,
};
use self::people::{named_message, sending_aliases};
use self::preview::{WrittenDraft, draft_preview};
use self::steps::{DraftContext, NewDraft, off_loop};
use crate::pipeline::access::accounts::{account_named, owner_named};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{ObjectKey, assign_handle, handle_after, resolve_handle};
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::everybody;
use crate::pipeline::write::log::{
    AuditEntry, BEGUN, LoggedTool, audit_after, log_begun, outcome, run_logged,
};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::store::HandleKind;
use crate::tools::mail::{DraftMode, MailDraft};

/// Creates, changes or discards a draft.
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

/// Creates a draft: a new message, a reply or a forward.
async fn new_draft(
    ctx: &Context,
    request: &MailDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let mut notes = Vec::new();
    let source = draft_source(ctx, request, &mut notes).await?;
    let mut draft = new_content(ctx, request, &source, notes).await?;
    let DraftSource { context, original, .. } = &source;
    let origin = draft_origin(request, original.as_ref());
    let op = match request.mode {
        DraftMode::Reply => "reply",
        DraftMode::ReplyAll => "reply_all",
        DraftMode::Forward => "forward",
        _ => "new",
    };
    let ids: Vec<String> = request.id.iter().cloned().collect();
    let is_reply = matches!(origin, DraftOrigin::Reply { .. });
    let thread = original.as_ref().map(|original| &original.thread).filter(|_| is_reply);
    // No write without its line in the log.
    log_begun(ctx, entry(context, op, &ids, &draft.content, BEGUN)).await?;
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
        (Ok(made), Some(thread)) if made.thread != *thread => {
            draft.notes.push(match &request.subject {
                Some(_) => "it starts a new thread because its subject differs: leave out \
                            `subject` to stay in the thread"
                    .into(),
                // A reply cannot repeat every subject, such as one with a line break.
                None => {
                    "it starts a new thread: the service sees its subject as a different one".into()
                }
            });
        }
        (Ok(made), _) => {
            draft.notes.extend(other_drafts_note(ctx, context, beside, &made.message).await);
        }
        (Err(_), _) => {}
    }
    let write = DraftWrite { op, ids, draft, is_reply, undo: None };
    draft_written(ctx, context, write, made).await
}

/// Returns the message that a new draft is based on, if there is one, and its account.
async fn draft_source(
    ctx: &Context,
    request: &MailDraft,
    notes: &mut Vec<Note>,
) -> Result<DraftSource> {
    let Some(name) = &request.id else {
        let context = DraftContext::open(ctx, sending_account(ctx, request).await?)?;
        let aliases = sending_aliases(&context, notes).await;
        return Ok(DraftSource { context, original: None, aliases });
    };
    let (account, id) = named_message(ctx, name, request.account.as_deref()).await?;
    let context = DraftContext::open(ctx, account)?;
    // Fetched together, because neither depends on the other.
    let original = context.mailbox.source_message(&id);
    let (original, aliases) = join(original, sending_aliases(&context, notes)).await;
    let original = original.map_err(|error| error.context(name))?;
    if original.draft && request.mode != DraftMode::Forward {
        return Err(Error::argument(format!("{} is a draft", words::brief(name)))
            .next("change it with mode=edit, or reply to a message that was sent"));
    }
    Ok(DraftSource { context, original: Some(original), aliases })
}

/// Returns the account of a draft that is based on no message.
async fn sending_account(ctx: &Context, request: &MailDraft) -> Result<Account> {
    let account = account_named(ctx, request.account.as_deref()).await;
    match (account, &request.account, &request.from) {
        // Of several accounts, it is the one with the sender's address.
        (Err(_), None, Some(from)) => {
            let from = from.rsplit('<').next().unwrap_or_default();
            account_named(ctx, Some(from.trim_end_matches('>'))).await
        }
        (account, ..) => account,
    }
}

/// Returns the origin of a new draft, as the provider needs it.
fn draft_origin(request: &MailDraft, original: Option<&SourceMessage>) -> DraftOrigin {
    match (request.mode, original) {
        (DraftMode::Forward, Some(original)) => DraftOrigin::Forward { id: original.id.clone() },
        (_, Some(original)) => DraftOrigin::Reply {
            id: original.id.clone(),
            thread: original.thread.clone(),
            all: request.mode == DraftMode::ReplyAll,
            has_files: !original.files.is_empty(),
        },
        (_, None) => DraftOrigin::New,
    }
}

/// Returns a note on the drafts of a thread other than the `new` one.
async fn other_drafts_note(
    ctx: &Context,
    context: &DraftContext,
    drafts: Result<Vec<MessageId>>,
    new: &MessageId,
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
        handles.push(handle_after(ctx, &context.account, kind, id.as_str(), &mut Vec::new()).await);
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

/// Changes the given fields of a draft.
async fn edit_draft(
    ctx: &Context,
    request: &MailDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let (context, handle, stored) = requested_draft(ctx, request).await?;
    let draft = edited_content(ctx, request, &context, &stored).await?;
    let rewrite = DraftRewrite { context: &context, handle, stored: &stored, op: "edit" };
    rewrite_draft(ctx, rewrite, draft, caller).await
}

/// A draft whose content is replaced.
struct DraftRewrite<'a> {
    /// The mailbox that it is in.
    context: &'a DraftContext,
    /// The id by which a call names it.
    handle: String,
    /// The draft before the write.
    stored: &'a StoredDraft,
    /// The name of the write in the log and in outcomes.
    op: &'static str,
}

/// Replaces the content of a draft, and keeps the earlier one for an undo.
async fn rewrite_draft(
    ctx: &Context,
    rewrite: DraftRewrite<'_>,
    mut draft: NewDraft,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let DraftRewrite { context, handle, stored, op } = rewrite;
    let ids = vec![handle];
    let kept = keep_edit(ctx, context, stored, &mut draft.notes).await;
    log_begun(ctx, entry(context, op, &ids, &draft.content, BEGUN)).await?;
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
        let (old, new) = (stored.message.as_str(), made.message.as_str());
        if old != new
            && let Err(error) = ctx.store.move_handle(account, kind, old, new).await
        {
            tracing::warn!(%error, "the handle of a draft's message is lost");
        }
    }
    let is_reply = !stored.thread.is_empty() && !stored.content.references.is_empty();
    draft_written(ctx, context, DraftWrite { op, ids, draft, is_reply, undo }, made).await
}

/// Discards a draft.
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

/// A write of a draft.
struct DraftWrite {
    /// Its name in the log and in outcomes.
    op: &'static str,
    /// The ids that the log names.
    ids: Vec<String>,
    /// The requested draft.
    draft: NewDraft,
    /// True if it answers a message.
    is_reply: bool,
    /// The number for undoing it.
    undo: Option<u64>,
}

/// Returns the response about a draft that was written, and logs the outcome.
async fn draft_written(
    ctx: &Context,
    context: &DraftContext,
    write: DraftWrite,
    made: Result<StoredDraft>,
) -> Result<WholeAnswer> {
    let DraftWrite { op, mut ids, draft, is_reply, undo } = write;
    let mut notes = Vec::new();
    if let (Ok(stored), true) = (&made, ids.is_empty()) {
        let (kind, id) = (HandleKind::Draft, stored.id.as_str());
        // The preview notes a failure.
        ids.push(handle_after(ctx, &context.account, kind, id, &mut Vec::new()).await);
    }
    let line = entry(context, op, &ids, &draft.content, outcome(&made));
    audit_after(ctx, line, &mut notes).await;
    match made {
        Ok(stored) => {
            let written = WrittenDraft { stored: &stored, draft: &draft, is_reply, undo };
            let mut response = draft_preview(ctx, context, written).await;
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
        Some((owner, id)) => (owner_named(ctx, &owner, account).await?, DraftId::from(id)),
        // Drafts are found by the ids of their messages, too.
        None => {
            let (owner, message) = named_message(ctx, name, account).await?;
            (owner, DraftId::from(message.as_str()))
        }
    };
    let context = DraftContext::open(ctx, account)?;
    check_unsent(ctx, &context.account, words::brief(name), &id).await?;
    let stored = context.mailbox.draft(id.as_str()).await;
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => {
            let shown = words::brief(name);
            let error = error.context(&shown);
            let draft = RequestedDraft { account: &context.account, name: &shown, id: &id };
            return Err(discarded_before(ctx, draft, error).await);
        }
    };
    let (account, kind) = (&context.account.id, HandleKind::Draft);
    let handle = assign_handle(ctx, ObjectKey { account, kind, id: stored.id.as_str() }).await?;
    // Again by the draft's own id, because `id` may be the id of its message.
    check_unsent(ctx, &context.account, handle.clone(), &stored.id).await?;
    Ok((context, handle, stored))
}

/// Refuses a draft that was sent, is being sent, or is or was scheduled.
async fn check_unsent(ctx: &Context, account: &Account, name: String, id: &DraftId) -> Result<()> {
    let Some(before) = ctx.store.journalled(&account.id, id).await? else {
        return Ok(());
    };
    if !before.sent || before.due.is_some() {
        let state = if before.sent { "is scheduled, or was" } else { "may have been sent" };
        let what = format!("{name} {state}");
        return Err(Error::new(ErrorKind::Conflict, what)
            .next(format!("call mail_send id={name} for its state")));
    }
    let mut what = format!("{name} was sent");
    if let Some(sent) = &before.sent_id {
        let (account, kind) = (&account.id, HandleKind::Message);
        let sent = assign_handle(ctx, ObjectKey { account, kind, id: sent.as_str() }).await?;
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
    let recipients = everybody(content).map(|one| one.address.as_str());
    let entry = AuditEntry::new(&context.account.email, LoggedTool::MAIL_DRAFT, op);
    AuditEntry { ids: ids.to_vec(), outcome, ..entry.with_recipients(recipients) }
}

/// Returns notes on the parts that an edit removed from a draft: people, files, the quote, and the
/// earlier text.
fn removed(before: &OutgoingMessage, now: &OutgoingMessage) -> Vec<Note> {
    let mut lists = Vec::new();
    let kept: HashSet<String> = everybody(now).map(|one| one.address.lower()).collect();
    let gone = everybody(before).filter(|one| !kept.contains(&one.address.lower()));
    lists.extend(gone.map(|one| one.address.to_string()));
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
