//! Questions before something is deleted permanently, or mail is hidden by a rule.

use daysheet_core::call::client::{ApprovalRequest, ClientPrompts, Confirmation};
use daysheet_core::error::{Error, Result};

use crate::pipeline::context::Context;

/// Asks the user before something is deleted permanently. Returns the reason if it must not be
/// deleted. If the client cannot ask, the access level counts as consent, unless the settings
/// require approval.
pub(crate) async fn refused_erasure(
    ctx: &Context,
    question: &str,
    caller: &dyn ClientPrompts,
) -> Result<Option<&'static str>> {
    if ctx.config.always_confirm {
        let why = "the settings require the user's approval, and this client cannot ask";
        let reason = "the settings require approval";
        let request = ApprovalRequest { question, content: "", reason };
        return refused_without_approval(&request, caller, why).await;
    }
    refusal(caller.confirm(question).await, None)
}

/// Asks the user to approve a write. Returns the reason against the write, which is `unavailable`
/// if the user cannot be asked.
pub(crate) async fn refused_without_approval(
    request: &ApprovalRequest<'_>,
    caller: &dyn ClientPrompts,
    unavailable: &'static str,
) -> Result<Option<&'static str>> {
    refusal(caller.approve(request).await, Some(unavailable))
}

fn refusal(
    answer: Confirmation,
    unavailable: Option<&'static str>,
) -> Result<Option<&'static str>> {
    match answer {
        // `Planned` is a dry run, which writes nothing.
        Confirmation::Yes | Confirmation::Planned => Ok(None),
        Confirmation::Unavailable => Ok(unavailable),
        Confirmation::No => Ok(Some("the user declined")),
        Confirmation::Unanswered => Ok(Some("nobody confirmed: ask the user, and try again")),
        // The question ends the call, which is repeated once there is an answer.
        Confirmation::Later => Err(Error::argument("the user is being asked")),
    }
}

/// Returns the remark of a dry run on an action that cannot be undone.
pub(crate) fn no_undo(ctx: &Context, caller: &dyn ClientPrompts) -> &'static str {
    if caller.can_ask() || ctx.config.always_confirm {
        "the user will be asked first, and there is no undo"
    } else {
        "there is no undo, and this client cannot ask the user first"
    }
}
