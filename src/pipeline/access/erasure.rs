//! Questions before something is deleted permanently.

use daysheet_core::call::client::{ClientPrompts, Confirmation};
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
    match caller.confirm(question).await {
        Confirmation::Unavailable if ctx.config.always_confirm => {
            Ok(Some("the settings require the user's approval, and this client cannot ask"))
        }
        // `Planned` is a dry run, which deletes nothing.
        Confirmation::Yes | Confirmation::Unavailable | Confirmation::Planned => Ok(None),
        Confirmation::No => Ok(Some("the user declined")),
        Confirmation::Unanswered => Ok(Some("nobody confirmed: ask the user, and try again")),
        // The question ends the call; the client repeats it with the answer.
        Confirmation::Later => Err(Error::argument("the user is being asked")),
    }
}

/// Returns the remark of a dry run on an action that cannot be undone.
pub(crate) fn no_undo(caller: &dyn ClientPrompts) -> &'static str {
    if caller.can_ask() {
        "the user will be asked first, and there is no undo"
    } else {
        "there is no undo, and this client cannot ask the user first"
    }
}
