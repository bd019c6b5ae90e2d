//! Questions before something is deleted permanently.

use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::error::{Error, Result};

use crate::pipeline::context::Context;

/// Asks before something is deleted permanently; returns why it is not, if it is not. If nobody
/// can be asked, the access level counts as the user's consent.
pub(crate) async fn refused_erasure(
    ctx: &Context,
    question: &str,
    caller: &dyn ClientPrompts,
) -> Result<Option<&'static str>> {
    match caller.confirm(question).await {
        Confirmation::Unavailable if ctx.config.always_confirm => {
            Ok(Some("the settings require the user's approval, and this client cannot ask"))
        }
        Confirmation::Yes | Confirmation::Unavailable | Confirmation::Planned => Ok(None),
        Confirmation::No => Ok(Some("the user declined")),
        Confirmation::Unanswered => Ok(Some("nobody confirmed: ask the user, and try again")),
        // The question ends the call; the client repeats it with the answer.
        Confirmation::Later => Err(Error::argument("the user is being asked")),
    }
}

/// Returns what a dry run says of something that cannot be undone.
pub(crate) fn no_undo(caller: &dyn ClientPrompts) -> &'static str {
    if caller.can_ask() {
        "the user will be asked first, and there is no undo"
    } else {
        "there is no undo, and this client cannot ask the user first"
    }
}
