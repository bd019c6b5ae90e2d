//! Subjects of messages by their ids, for reports that name messages.

use std::collections::HashMap;

use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::{BodyForm, Mailbox, MessageContent};
use daysheet_core::schemas::MESSAGE;

/// Returns the subjects of messages of one mailbox. Messages that cannot be read are left out.
pub(in crate::pipeline) async fn subjects_of(
    mailbox: &dyn Mailbox,
    ids: &[MessageId],
) -> HashMap<MessageId, String> {
    let columns: Vec<_> = ["id", "subject"].iter().filter_map(|name| MESSAGE.field(name)).collect();
    let (context, projection) = (RowContext::bare(mailbox.api()), project(mailbox.api(), &columns));
    let messages = mailbox.read_messages(ids, &projection, BodyForm::None).await;
    let subject = |message: MessageContent| {
        let column = MESSAGE.field("subject")?;
        flatten::texts(column, &message.item, &context).into_iter().next()
    };
    ids.iter()
        .zip(messages)
        .filter_map(|(id, message)| Some((id.clone(), subject(message.ok()?)?)))
        .collect()
}
