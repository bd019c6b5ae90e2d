//! The lengths of messages' texts, for lists: an upper limit for the cost of reading them.

use daysheet_core::error::Error;
use daysheet_core::flatten::{RowContext, RowRoom};
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::Mailbox;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::MESSAGE;
use daysheet_core::text::fence::lengths;

use super::messages::ReadRest;
use super::{AT_ONCE, SUBJECT, body_form, make_readable, text_of};
use crate::pipeline::context::Context;
use crate::tools::mail::BodyChoice;

/// The column that shows them.
const COLUMN: &str = "chars";

/// Fills the column of rows of one account, if it is shown. Returns an error if lengths are
/// missing.
pub(crate) async fn fill_lengths(
    ctx: &Context,
    rows: &mut RowTable,
    mailbox: &dyn Mailbox,
    context: &RowContext<'_>,
) -> Option<Error> {
    rows.cell_mut(0, COLUMN)?;
    let context = RowContext { room: RowRoom::One, ..context.clone() };
    let subject: Vec<_> = MESSAGE.field(SUBJECT).into_iter().collect();
    let projection = project(mailbox.api(), &subject);
    let rest = ReadRest {
        messages: Vec::new(),
        body: String::new(),
        quoted: false,
        signature: false,
        links: false,
        tz: None,
    };
    let ids = rows.extras().iter().map(|extra| extra.provider_id.clone());
    let ids: Vec<(usize, MessageId)> =
        ids.enumerate().filter_map(|(at, id)| Some((at, id?.into()))).collect();
    let mut failed = None;
    // Their texts are in memory together, so few are fetched at once.
    for some in ids.chunks(AT_ONCE) {
        let keys: Vec<MessageId> = some.iter().map(|(_, id)| id.clone()).collect();
        let messages = mailbox.read_messages(&keys, &projection, body_form(BodyChoice::Text)).await;
        for ((at, _), message) in some.iter().zip(messages) {
            let readable = match message {
                Ok(message) => {
                    let subject = text_of(SUBJECT, &message, &context).unwrap_or_default();
                    make_readable(ctx, message, subject, BodyChoice::Text, &rest).await
                }
                Err(error) => Err(error),
            };
            match readable {
                Ok((_, readable)) => {
                    let (shown, folded) = lengths(&readable.text);
                    let length = i64::try_from(shown + folded).unwrap_or(i64::MAX);
                    if let Some(cell) = rows.cell_mut(*at, COLUMN) {
                        *cell = RowCell::Count(length);
                    }
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
    }
    failed
}
