//! Handles: the short ids of objects in place of the provider's own.

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, DraftId, MessageId};
use daysheet_core::provider::{Account, FailedItem};
use daysheet_core::row::RowTable;
use daysheet_core::text::{Note, note};

use super::context::Context;
use super::rows::failed_note;
use crate::store::HandleKind;

/// Returns the provider's id of a handle of `kind`, and the account it belongs to.
///
/// `None` if `id` is not a handle of that kind.
pub(super) async fn resolve_handle(
    ctx: &Context,
    kind: HandleKind,
    id: &str,
) -> Result<Option<(AccountId, String)>> {
    let Some((found, number)) = HandleKind::parse(id) else {
        return Ok(None);
    };
    if found != kind {
        return Ok(None);
    }
    match ctx.store.resolve(kind, number).await? {
        Some(known) => Ok(Some(known)),
        None => Err(Error::new(ErrorKind::NotFound, format!("there is no `{id}`"))
            .next("use an id from a search or lookup")),
    }
}

/// An object of an account that has a handle, or gets one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObjectKey<'a> {
    /// The account's id.
    pub(super) account: &'a AccountId,
    /// The kind of its handle.
    pub(super) kind: HandleKind,
    /// The provider's id.
    pub(super) id: &'a str,
}

/// Returns the handle of an object; a new one is assigned if necessary.
pub(super) async fn assign_handle(ctx: &Context, object: ObjectKey<'_>) -> Result<String> {
    let ObjectKey { account, kind, id } = object;
    let numbers = ctx.store.handles(account, kind, &[id]).await?;
    Ok(numbers.first().map_or_else(|| id.to_owned(), |number| kind.handle(*number)))
}

/// Inserts rows for the items that could not be fetched, and returns a note about them.
///
/// The rows already have their handles, so that the note can name them.
pub(super) async fn placeholder_rows(
    ctx: &Context,
    rows: &mut RowTable,
    failed: &[FailedItem],
    account: &Account,
) -> Result<Option<Note>> {
    for one in failed {
        rows.insert_unread(one.at, &one.id);
    }
    assign_handles(ctx, rows, account).await?;
    Ok(failed_note(rows, failed))
}

/// Assigns handles after a write. If they cannot be stored, the provider's ids
/// stay, because a completed write is reported in any case.
pub(super) async fn hand_out_after(
    ctx: &Context,
    rows: &mut RowTable,
    account: &Account,
    notes: &mut Vec<Note>,
) {
    if let Err(error) = assign_handles(ctx, rows, account).await {
        notes.push(no_handles(&error));
    }
}

/// Returns the number of the handle of an object that was written, as [`hand_out_after`] does.
pub(super) async fn number_after(
    ctx: &Context,
    account: &Account,
    kind: HandleKind,
    id: &str,
    notes: &mut Vec<Note>,
) -> Option<u64> {
    match ctx.store.handles(&account.id, kind, &[id]).await {
        Ok(numbers) => numbers.first().copied(),
        Err(error) => {
            let line = no_handles(&error);
            if !notes.contains(&line) {
                notes.push(line);
            }
            None
        }
    }
}

/// Returns [`number_after`] as a handle, or the provider's id without a number.
pub(super) async fn handle_after(
    ctx: &Context,
    account: &Account,
    kind: HandleKind,
    id: &str,
    notes: &mut Vec<Note>,
) -> String {
    match number_after(ctx, account, kind, id, notes).await {
        Some(number) => kind.handle(number),
        None => id.to_owned(),
    }
}

/// Replaces provider ids by handles.
pub(super) async fn assign_handles(
    ctx: &Context,
    rows: &mut RowTable,
    account: &Account,
) -> Result<()> {
    for prefix in rows.handle_kinds() {
        let Some(kind) = HandleKind::from_prefix(prefix) else {
            continue;
        };
        let ids = rows.ids(prefix);
        // Rows have the ids of messages; some services give drafts ids of their own.
        let drafts = if kind == HandleKind::Draft && !ids.is_empty() {
            // If they cannot be read, the message's id serves instead.
            let messages: Vec<MessageId> = ids.iter().map(|id| id.as_str().into()).collect();
            ctx.connect.mailbox(account)?.draft_ids(&messages).await.unwrap_or_default()
        } else {
            HashMap::new()
        };
        let keys: Vec<&str> = ids
            .iter()
            .map(|id| drafts.get(id.as_str()).map_or(id.as_str(), DraftId::as_str))
            .collect();
        let numbers = ctx.store.handles(&account.id, kind, &keys).await?;
        let by_id: HashMap<&str, u64> = ids.iter().map(String::as_str).zip(numbers).collect();
        rows.replace_ids(prefix, |id| by_id.get(id).copied());
    }
    Ok(())
}

/// Returns the note that written objects have no handles.
fn no_handles(error: &Error) -> Note {
    note!("done, but ids are the provider's own, as handles could not be stored: {}", error)
}
