//! Undoes edits and discards of drafts, by handles such as `u3`.
//!
//! A discarded draft is in the trash, so its earlier state is restored like any message's. An edit
//! is undone by writing the earlier content again. Until that undo, the content is sealed in the
//! store, without the bytes of attachments.

use daysheet_core::access::AccessLevel;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text::{note, quoted_list};

use super::attachments::check_sizes;
use super::kept::{KeptContent, identity};
use super::steps::NewDraft;
use super::{DraftRewrite, people, rewrite_draft, stored_draft};
use crate::outputs::hash;
use crate::pipeline::context::Context;
use crate::pipeline::handles::{ObjectKey, assign_handle};
use crate::pipeline::titles::short;
use crate::pipeline::write::confirm::{check_allow_list, everybody, require_access};
use crate::pipeline::write::report::{ItemOutcome, WriteReport, write_report};
use crate::pipeline::write::undo_state::DraftUndo;
use crate::store::HandleKind;

/// Restores the content that a draft had before an edit. The undo can be undone, too.
pub(crate) async fn undo_edit(
    ctx: &Context,
    id: &str,
    undo: &DraftUndo,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    require_access(ctx, AccessLevel::Draft, "undoing an edit of a draft")?;
    let object =
        ObjectKey { account: &undo.account, kind: HandleKind::Draft, id: undo.draft.as_str() };
    let handle = assign_handle(ctx, object).await?;
    let (context, handle, stored) = stored_draft(ctx, &handle, None).await?;
    let now = KeptContent::new(&stored.content).json()?;
    // An edit whose outcome is unknown has no hash, and is undone without this check.
    if !undo.after.is_empty() && undo.after != hash(&now) {
        return Err(Error::new(ErrorKind::Conflict, format!("{handle} was changed since"))
            .next("undo the later edit first, or edit it with mail_draft"));
    }
    let kept = ctx.store.unseal(&identity(&undo.draft), &undo.sealed).await?;
    let kept: KeptContent = serde_json::from_slice(&kept)
        .map_err(|_| Error::new(ErrorKind::Store, format!("`{id}` cannot be read")))?;
    let (content, gone) = kept.restored(&stored.content);
    // The allow-list may have changed since the draft had these recipients.
    check_allow_list(ctx, everybody(&content))?;
    check_sizes(ctx, &content.files)?;
    if dry_run {
        let item = format!("{handle} {}", short(&stored.content.subject));
        return write_report(
            ctx,
            WriteReport {
                outcomes: vec![ItemOutcome::new(item, "undo", "planned", "")],
                is_rehearsal: true,
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
    let rewrite = DraftRewrite { context: &context, handle, stored: &stored, op: "undo" };
    rewrite_draft(ctx, rewrite, draft, caller).await
}
