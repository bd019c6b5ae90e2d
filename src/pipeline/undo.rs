//! Undoes the changes of a call to messages, a draft, or events, by the id in its answer, such as
//! `u3`.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};

use super::calendar::undo::undo_events;
use super::context::Context;
use super::mail::draft::undo::undo_edit;
use super::mail::modify::undo::undo_messages;
use super::write::undo_state::UndoState;
use crate::store::HandleKind;

/// Undoes the change with this id.
///
/// # Errors
/// [`ErrorKind::Argument`] if it is not the id of an undo; [`ErrorKind::NotFound`] if the undo does not
/// exist, or no longer; the errors of the writes.
pub(super) async fn undo_change(
    ctx: &Context,
    id: String,
    dry_run: bool,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let Some((HandleKind::Undo, number)) = HandleKind::parse(&id) else {
        return Err(Error::argument("`undo` is not an undo id")
            .next("give the one of an answer, such as u3"));
    };
    let Some((_, state)) = ctx.store.undo(number).await? else {
        return Err(Error::new(ErrorKind::NotFound, format!("there is no `{id}`, or it expired"))
            .next("changes can be undone for 30 days, by the id of the answer"));
    };
    match UndoState::parse_stored(&id, &state)? {
        UndoState::Mail(mail) => undo_messages(ctx, mail, dry_run).await,
        UndoState::Draft(edit) => undo_edit(ctx, &id, &edit, dry_run, caller).await,
        UndoState::Events { events } => undo_events(ctx, events, dry_run, caller).await,
    }
}
