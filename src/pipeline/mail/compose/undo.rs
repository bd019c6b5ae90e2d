//! Undoes edits and discards of drafts, for handles such as `u3`.
//!
//! A discarded draft is in the trash, so its earlier state is that of any message. An
//! edit is undone by writing the earlier content again. Until then it is in the store,
//! sealed; bytes of attachments are not.

use serde::{Deserialize, Serialize};

use super::attachments::check_sizes;
use super::{DraftContext, NewDraft, attachments, people, rewrite_draft, stored_draft};
use crate::access::Access;
use crate::budget::Response;
use crate::client::ClientPrompts;
use crate::error::{Error, Kind, Result};
use crate::outputs::hash;
use crate::pipeline::access::guard::{check_allow_list, everybody, require_access};
use crate::pipeline::answer::outcome::{Outcome, WriteReport, write_report};
use crate::pipeline::answer::undo_state::{AccountUndo, DraftUndo, MessageUndo, UndoState};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handle;
use crate::pipeline::titles::short;
use crate::provider::mail::{Importance, MailState, OutgoingMessage, Person, StoredDraft};
use crate::store::HandleKind;
use crate::text::{Note, note, quoted_list};
use crate::words::Words;

/// The longest content that is kept, in bytes.
const LONGEST: usize = 1 << 20;

/// The content of a draft, as far as an edit changes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptContent {
    from: Person,
    to: Vec<Person>,
    cc: Vec<Person>,
    bcc: Vec<Person>,
    reply_to: Vec<Person>,
    subject: String,
    text: String,
    html: String,
    importance: String,
    /// Names and sizes.
    files: Vec<(String, u64)>,
}

impl KeptContent {
    fn of(content: &OutgoingMessage) -> Self {
        let content = content.clone();
        let file = |file: crate::provider::mail::Attachment| {
            let size = attachments::size(&file.content);
            (file.name, size)
        };
        Self {
            from: content.from,
            to: content.to,
            cc: content.cc,
            bcc: content.bcc,
            reply_to: content.reply_to,
            subject: content.subject,
            text: content.text,
            html: content.html,
            importance: content.importance.word().to_owned(),
            files: content.files.into_iter().map(file).collect(),
        }
    }

    fn json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Error::new(Kind::Internal, "a draft could not be recorded"))
    }

    /// Returns this content in the place of `now`, and the names of files that are gone.
    fn restored(self, now: &OutgoingMessage) -> (OutgoingMessage, Vec<String>) {
        let mut left = now.files.clone();
        let (mut files, mut gone) = (Vec::new(), Vec::new());
        for (name, size) in self.files {
            let same = |file: &crate::provider::mail::Attachment| {
                file.name == name && attachments::size(&file.content) == size
            };
            match left.iter().position(same) {
                Some(at) => files.push(left.remove(at)),
                None => gone.push(name),
            }
        }
        let content = OutgoingMessage {
            from: self.from,
            to: self.to,
            cc: self.cc,
            bcc: self.bcc,
            reply_to: self.reply_to,
            subject: self.subject,
            text: self.text,
            html: self.html,
            importance: Importance::of(&self.importance).unwrap_or_default(),
            files,
            ..now.clone()
        };
        (content, gone)
    }
}

/// Stores the content of a draft that is about to be edited. If that is not
/// possible, a note says so.
pub(super) async fn keep_edit(
    ctx: &Context,
    context: &DraftContext,
    stored: &StoredDraft,
    notes: &mut Vec<Note>,
) -> Option<(u64, DraftUndo)> {
    let account = &context.account.id;
    let kept = async {
        let json = KeptContent::of(&stored.content).json()?;
        if json.len() > LONGEST {
            return Err(Error::argument(format!("its text exceeds {LONGEST} bytes")));
        }
        let sealed = ctx.store.seal(&identity(&stored.id), json.as_bytes()).await?;
        let draft = stored.id.clone();
        let undo = DraftUndo { account: account.clone(), draft, sealed, after: String::new() };
        let number =
            ctx.store.keep_undo(account, "edit", &UndoState::Draft(undo.clone()).write()?).await?;
        Ok((number, undo))
    };
    kept.await.inspect_err(|error| notes.push(note!("this edit cannot be undone: {}", error))).ok()
}

/// Records the outcome of an edit; returns the number for undoing it, if that is
/// possible.
pub(super) async fn edit_kept(
    ctx: &Context,
    kept: Option<(u64, DraftUndo)>,
    made: &Result<StoredDraft>,
    notes: &mut Vec<Note>,
) -> Option<u64> {
    let (number, mut undo) = kept?;
    let trimmed = match made {
        Ok(made) => match KeptContent::of(&made.content).json() {
            Ok(json) => {
                undo.after = hash(&json);
                UndoState::Draft(undo).write().map(Some)
            }
            Err(error) => Err(error),
        },
        Err(error) if error.is_open() => return Some(number),
        Err(_) => Ok(None),
    };
    let trimmed = match trimmed {
        Ok(state) => ctx.store.trim_undo(number, state.as_deref()).await,
        Err(error) => Err(error),
    };
    if let Err(error) = trimmed {
        notes.push(note!("undo overwrites later changes: {}", error));
    }
    made.is_ok().then_some(number)
}

/// Restores the content that a draft had before an edit. That can be undone, too.
pub(in crate::pipeline) async fn undo_edit(
    ctx: &Context,
    id: &str,
    undo: &DraftUndo,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<Response> {
    require_access(ctx, Access::Draft, "undoing an edit of a draft")?;
    let handle = assign_handle(ctx, &undo.account, HandleKind::Draft, &undo.draft).await?;
    let (context, handle, stored) = stored_draft(ctx, &handle, None).await?;
    let now = KeptContent::of(&stored.content).json()?;
    if !undo.after.is_empty() && undo.after != hash(&now) {
        return Err(Error::new(Kind::Conflict, format!("{handle} was changed since"))
            .next("undo the later edit first, or edit it with mail_draft"));
    }
    let kept = ctx.store.unseal(&identity(&undo.draft), &undo.sealed).await?;
    let kept: KeptContent = serde_json::from_slice(&kept)
        .map_err(|_| Error::new(Kind::Store, format!("`{id}` cannot be read")))?;
    let (content, gone) = kept.restored(&stored.content);
    check_allow_list(ctx, everybody(&content))?;
    check_sizes(ctx, &content.files)?;
    if dry_run {
        let item = format!("{handle} {}", short(&stored.content.subject));
        return write_report(
            ctx,
            WriteReport {
                outcomes: vec![Outcome::new(item, "undo", "planned", "")],
                notes: vec!["dry run: nothing was written".into()],
                ..WriteReport::default()
            },
        )
        .await;
    }
    let mut notes = Vec::new();
    if !gone.is_empty() {
        notes.push(note!("not restored, attach them again: {}", quoted_list(gone)));
    }
    let own = people::is_ours(&content.message_id);
    let draft = NewDraft { content, notes, own };
    rewrite_draft(ctx, &context, handle, &stored, draft, "undo", caller).await
}

/// Stores the state of a draft that is about to be discarded. If that is not possible, a
/// note says so.
pub(super) async fn keep_discard(
    ctx: &Context,
    context: &DraftContext,
    stored: &StoredDraft,
    notes: &mut Vec<Note>,
) -> Option<(u64, MailState)> {
    let message = [stored.message.clone()];
    let before = context.mailbox.states(&message).await.into_iter().next();
    let kept = async {
        let before = before.unwrap_or_else(|| Err(Error::new(Kind::NotFound, "no answer")))?;
        let state = discarded(context, &before, None)?;
        let what = discard_of(&stored.id);
        Ok((ctx.store.keep_undo(&context.account.id, &what, &state).await?, before))
    };
    let kept: Result<_> = kept.await;
    kept.inspect_err(|error| notes.push(note!("this discard cannot be undone: {}", error))).ok()
}

/// Records the outcome of a discard; returns the number for undoing it, if that is
/// possible.
pub(super) async fn discard_kept(
    ctx: &Context,
    context: &DraftContext,
    kept: Option<(u64, MailState)>,
    made: &Result<()>,
    notes: &mut Vec<Note>,
) -> Option<u64> {
    let (number, before) = kept?;
    let after = match made {
        Ok(()) => context
            .mailbox
            .states(std::slice::from_ref(&before.id))
            .await
            .pop()
            .and_then(Result::ok),
        Err(error) if error.is_open() => return Some(number),
        Err(_) => None,
    };
    let state = made.is_ok().then(|| discarded(context, &before, after)).transpose();
    let trimmed = match state {
        Ok(state) => ctx.store.trim_undo(number, state.as_deref()).await,
        Err(error) => Err(error),
    };
    if let Err(error) = trimmed {
        notes.push(note!("undo restores the whole earlier state: {}", error));
    }
    made.is_ok().then_some(number)
}

/// Adds to the error of a draft that is not found that it was discarded, if it was.
pub(in crate::pipeline) async fn discarded_before(
    ctx: &Context,
    account: &str,
    (name, id): (&str, &str),
    error: Error,
) -> Error {
    let what = discard_of(id);
    match (error.kind(), ctx.store.undo_of(account, &what).await) {
        (Kind::NotFound, Ok(Some(undo))) => {
            Error::new(Kind::NotFound, format!("{name} was discarded"))
                .next(format!("mail_modify undo=u{undo} restores it"))
        }
        _ => error,
    }
}

/// Returns the name of the change that discards a draft.
fn discard_of(draft: &str) -> String {
    format!("discard {draft}")
}

/// Returns the form in which a discard is stored.
fn discarded(
    context: &DraftContext,
    before: &MailState,
    after: Option<MailState>,
) -> Result<String> {
    let mail = vec![MessageUndo { before: before.clone(), after }];
    UndoState::Mail(vec![AccountUndo {
        account: context.account.id.clone(),
        mail,
        created: Vec::new(),
    }])
    .write()
}

/// Returns what the sealed content of a draft is bound to.
fn identity(draft: &str) -> String {
    format!("undo of {draft}")
}
