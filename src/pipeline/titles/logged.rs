//! Subjects and titles of the objects that the audit log names, which does not record them.

use daysheet_core::error::{Error, ErrorKind, Result};
use futures_util::StreamExt;
use futures_util::stream;

use crate::pipeline::calendar::search::by_id::event_target;
use crate::pipeline::context::Context;
use crate::pipeline::mail::read::targets::resolve_targets;
use crate::pipeline::mail::subjects::subjects_of;
use crate::pipeline::titles::short;

/// The number of objects that are read at once.
const AT_ONCE: usize = 8;

/// An object that a line of the audit log names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedObject {
    /// The tool that wrote it.
    pub tool: String,
    /// The address of its account.
    pub account: String,
    /// Its handle or provider id, if it is recorded.
    pub id: Option<String>,
}

/// Reads the title of each object, in their order, and shortens it. Objects without a title yield
/// `None`.
pub(crate) async fn logged_titles(
    ctx: &Context,
    objects: Vec<LoggedObject>,
) -> Vec<Result<Option<String>>> {
    let titles = objects.into_iter().map(|object| async move { logged_title(ctx, &object).await });
    stream::iter(titles).buffered(AT_ONCE).collect().await
}

async fn logged_title(ctx: &Context, object: &LoggedObject) -> Result<Option<String>> {
    let LoggedObject { tool, account, id } = object;
    let Some(id) = id.as_ref().filter(|_| !account.is_empty()) else {
        return Ok(None);
    };
    if tool.starts_with("mail_") {
        message_subject(ctx, object, id).await.map(Some)
    } else if tool.starts_with("calendar_") {
        event_title(ctx, object, id).await.map(Some)
    } else {
        Ok(None)
    }
}

async fn message_subject(ctx: &Context, object: &LoggedObject, id: &str) -> Result<String> {
    let account = Some(object.account.as_str());
    let ids = [id.to_owned()];
    let (targets, _) = resolve_targets(ctx, &ids, account, None, None).await?;
    let target = targets.first().ok_or_else(missing)?;
    let mailbox = ctx.connect.mailbox(&ctx.accounts.by_id(&target.account).await?)?;
    let mut subjects = subjects_of(&*mailbox, std::slice::from_ref(&target.id)).await;
    subjects.remove(&target.id).map(|subject| short(&subject)).ok_or_else(missing)
}

async fn event_title(ctx: &Context, object: &LoggedObject, id: &str) -> Result<String> {
    let (owner, id) = event_target(ctx, id, Some(&object.account)).await?;
    let events = ctx.connect.calendars(&owner)?.event(std::slice::from_ref(&id)).await;
    let event = events.into_iter().next().ok_or_else(missing)??;
    Ok(short(&event.title))
}

fn missing() -> Error {
    Error::new(ErrorKind::NotFound, "the object could not be read").next("search for it again")
}
