//! A call that writes, as a unit: from its first write to its end.
//!
//! The store has a record of the call during that time, and the call cannot be cancelled. If it is
//! interrupted, because the process was killed or had a bug, the next call reports it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use daysheet_core::call::progress;
use daysheet_core::choice::WordChoice;
use daysheet_core::error::Result;

use crate::pipeline::context::Context;
use crate::store::WritingCall;
use crate::tools::ToolAction;
use crate::tools::calendar_respond::InvitationReply;
use crate::tools::calendar_save::SeriesScope;

tokio::task_local! {
    /// The call that the task carries out.
    static CALL: Mutex<RunningCall>;
}

/// A call, and its record in the store once it has begun to write.
struct RunningCall {
    what: String,
    writing: Option<WritingCall>,
}

/// Runs a call that `what` describes, if it is one that writes.
pub(crate) async fn run_recorded<T>(
    what: Option<String>,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    let Some(what) = what else {
        return call.await;
    };
    let state = Mutex::new(RunningCall { what, writing: None });
    let whole = async {
        let outcome = call.await;
        // After an error, too: the record is for calls that did not end.
        if let Some(writing) = with(|call| call.writing.take()).flatten() {
            writing.end().await;
        }
        outcome
    };
    CALL.scope(state, whole).await
}

/// Records that the call is about to write.
///
/// # Errors
/// If the call was cancelled, or cannot be recorded; no write may follow.
pub(crate) async fn begin_writing(ctx: &Context) -> Result<()> {
    progress::begin_write()?;
    // Recorded once, before the first write of the call.
    let unrecorded = with(|call| call.writing.is_none().then(|| call.what.clone())).flatten();
    if let Some(what) = unrecorded {
        let writing = ctx.store.begin_writing(&what).await?;
        let twice = with(|call| call.writing.replace(writing)).flatten();
        // Of writes that began at the same time, one record is enough.
        if let Some(twice) = twice {
            twice.end().await;
        }
    }
    Ok(())
}

/// Records in advance what an interruption between several writes may leave.
pub(crate) fn may_leave(what: &str) {
    with(|call| call.what = format!("{} ({what})", call.what));
}

fn with<T>(change: impl FnOnce(&mut RunningCall) -> T) -> Option<T> {
    let lock = |call: &Mutex<RunningCall>| -> T {
        let mut call: MutexGuard<'_, RunningCall> =
            call.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut call)
    };
    CALL.try_with(lock).ok()
}

/// Describes a call that writes, in the words of its arguments, without the content of the write.
pub(crate) fn describe_write(action: &ToolAction) -> Option<String> {
    let id = |id: &Option<String>| id.as_ref().map_or_else(String::new, |id| format!(" id={id}"));
    let ids = |ids: &[&str]| match ids {
        [one] => format!(" id={one}"),
        all => format!(" ids={}", all.join(",")),
    };
    let scope = |scope: Option<SeriesScope>| {
        scope.map_or_else(String::new, |scope| format!(" scope={}", scope.word()))
    };
    let what = match action {
        ToolAction::CalendarSave(save) if !save.dry_run => {
            let changed: Vec<&str> = save.changes().into_iter().map(|(id, _)| id).collect();
            match (changed.len(), &save.ics, save.events.len()) {
                _ if save.undo.is_some() => {
                    format!("calendar_save undo={}", save.undo.as_deref().unwrap_or_default())
                }
                (1.., ..) => format!("calendar_save{}{}", ids(&changed), scope(save.scope)),
                (0, Some(_), _) => "calendar_save ics=…".to_owned(),
                (0, None, 1) => "calendar_save of a new event".to_owned(),
                (0, None, many) => format!("calendar_save of {many} new events"),
            }
        }
        ToolAction::CalendarDelete(delete) if !delete.dry_run => {
            let deleted: Vec<&str> = delete.ids.iter().map(String::as_str).collect();
            format!("calendar_delete{}{}", ids(&deleted), scope(delete.scope))
        }
        ToolAction::CalendarRespond(respond) => {
            let response = match respond.response {
                InvitationReply::Forward => "forward",
                InvitationReply::Accept | InvitationReply::Decline | InvitationReply::Tentative => {
                    "an answer"
                }
            };
            format!("calendar_respond id={} ({response})", respond.id)
        }
        ToolAction::Manage(manage) if !manage.dry_run => {
            let words = format!("{:?} {:?}", manage.kind, manage.op).to_lowercase();
            format!("manage {words}{}", id(&manage.id))
        }
        ToolAction::MailModify(modify) if !modify.dry_run => match &modify.undo {
            Some(undo) => format!("mail_modify undo={undo}"),
            None => format!("mail_modify do={}", modify.what.map_or("", WordChoice::word)),
        },
        ToolAction::MailDraft(draft) => {
            let mode = format!("{:?}", draft.mode).to_lowercase();
            format!("mail_draft mode={mode}{}", id(&draft.id))
        }
        ToolAction::MailSend(send) => format!("mail_send id={}", send.id),
        _ => return None,
    };
    Some(daysheet_core::text::clip(daysheet_core::text::cell(&what), 120).0)
}
