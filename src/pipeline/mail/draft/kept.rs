//! The content of a draft before a change, kept so that the change can be undone.

use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::DraftId;
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::{
    Importance, MailPerson, MailState, OutgoingMessage, StoredDraft,
};
use daysheet_core::text::{Note, note};
use serde::{Deserialize, Serialize};

use super::steps::DraftContext;
use crate::outputs::hash;
use crate::pipeline::context::Context;
use crate::pipeline::mail::draft::attachments;
use crate::pipeline::write::undo_state::{AccountUndo, DraftUndo, MessageUndo, UndoState};

/// The longest content that is kept, in bytes.
pub(crate) const MAX_LEN: usize = 1 << 20;

/// The content of a draft, as far as an edit changes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptContent {
    pub(super) from: MailPerson,
    pub(super) to: Vec<MailPerson>,
    pub(super) cc: Vec<MailPerson>,
    pub(super) bcc: Vec<MailPerson>,
    pub(super) reply_to: Vec<MailPerson>,
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) html: String,
    pub(super) importance: String,
    /// Names and sizes.
    pub(super) files: Vec<(String, u64)>,
}

impl KeptContent {
    pub(super) fn new(content: &OutgoingMessage) -> Self {
        let content = content.clone();
        let file = |file: daysheet_core::provider::mail::OutgoingAttachment| {
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

    pub(super) fn json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Error::new(ErrorKind::Internal, "a draft could not be recorded"))
    }

    /// Returns this content in the place of `now`, and the names of files that no longer exist.
    pub(super) fn restored(self, now: &OutgoingMessage) -> (OutgoingMessage, Vec<String>) {
        // Only names and sizes are stored, so the files are taken from the present draft.
        let mut left = now.files.clone();
        let (mut files, mut gone) = (Vec::new(), Vec::new());
        for (name, size) in self.files {
            let same = |file: &daysheet_core::provider::mail::OutgoingAttachment| {
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
            importance: Importance::from_word(&self.importance).unwrap_or_default(),
            files,
            ..now.clone()
        };
        (content, gone)
    }
}

/// Stores the content of a draft that is about to be edited. A failure becomes a note.
pub(super) async fn keep_edit(
    ctx: &Context,
    context: &DraftContext,
    stored: &StoredDraft,
    notes: &mut Vec<Note>,
) -> Option<(u64, DraftUndo)> {
    let account = &context.account.id;
    let kept = async {
        let json = KeptContent::new(&stored.content).json()?;
        if json.len() > MAX_LEN {
            return Err(Error::argument(format!("its text exceeds {MAX_LEN} bytes")));
        }
        let sealed = ctx.store.seal(&identity(&stored.id), json.as_bytes()).await?;
        let draft = stored.id.clone();
        let undo = DraftUndo { account: account.clone(), draft, sealed, after: String::new() };
        let number = ctx
            .store
            .keep_undo(account.as_str(), "edit", &UndoState::Draft(undo.clone()).write()?)
            .await?;
        Ok((number, undo))
    };
    kept.await.inspect_err(|error| notes.push(note!("this edit cannot be undone: {}", error))).ok()
}

/// Records the outcome of an edit; returns the number for undoing it, if that is
/// possible.
pub(super) async fn record_edit(
    ctx: &Context,
    kept: Option<(u64, DraftUndo)>,
    made: &Result<StoredDraft>,
    notes: &mut Vec<Note>,
) -> Option<u64> {
    let (number, mut undo) = kept?;
    let trimmed = match made {
        Ok(made) => match KeptContent::new(&made.content).json() {
            Ok(json) => {
                undo.after = hash(&json);
                UndoState::Draft(undo).write().map(Some)
            }
            Err(error) => Err(error),
        },
        // The content is kept even if it is unknown whether the edit was made.
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

/// Stores the state of a draft that is about to be discarded. A failure becomes a note.
pub(super) async fn keep_discard(
    ctx: &Context,
    context: &DraftContext,
    stored: &StoredDraft,
    notes: &mut Vec<Note>,
) -> Option<(u64, MailState)> {
    let message = [stored.message.clone()];
    let before = context.mailbox.states(&message).await.into_iter().next();
    let kept = async {
        let before = before.unwrap_or_else(|| Err(Error::new(ErrorKind::NotFound, "no answer")))?;
        let state = discarded(context, &before, None)?;
        let what = discard_of(&stored.id);
        Ok((ctx.store.keep_undo(context.account.id.as_str(), &what, &state).await?, before))
    };
    let kept: Result<_> = kept.await;
    kept.inspect_err(|error| notes.push(note!("this discard cannot be undone: {}", error))).ok()
}

/// Records the outcome of a discard; returns the number for undoing it, if that is
/// possible.
pub(super) async fn record_discard(
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
        // The earlier state is kept even if it is unknown whether the draft was discarded.
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

/// A draft that a call names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedDraft<'a> {
    /// The account that it is in.
    pub(crate) account: &'a Account,
    /// The name of the draft in the answer.
    pub(crate) name: &'a str,
    /// The provider's id.
    pub(crate) id: &'a DraftId,
}

/// Replaces the error of a missing draft that was discarded by one that names the undo.
pub(crate) async fn discarded_before(
    ctx: &Context,
    draft: RequestedDraft<'_>,
    error: Error,
) -> Error {
    let what = discard_of(draft.id);
    match (error.kind(), ctx.store.undo_of(&draft.account.id, &what).await) {
        (ErrorKind::NotFound, Ok(Some(undo))) => {
            Error::new(ErrorKind::NotFound, format!("{} was discarded", draft.name))
                .next(format!("mail_modify undo=u{undo} restores it"))
        }
        _ => error,
    }
}

/// Returns the name of the change that discards a draft.
fn discard_of(draft: &DraftId) -> String {
    format!("discard {draft}")
}

/// Returns the form in which a discard is stored.
pub(super) fn discarded(
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

/// Returns the identity that the sealed content of a draft is bound to.
pub(crate) fn identity(draft: &DraftId) -> String {
    format!("undo of {draft}")
}
