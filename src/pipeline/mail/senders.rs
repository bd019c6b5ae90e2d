//! Warnings in rows of messages: from the message itself, from the people that the account knows,
//! and from a text that was read.

use std::collections::HashMap;

use daysheet_core::body::{NewAccount, ReadableText};
use daysheet_core::flatten::{self, INJECTION, NEW_ACCOUNT, ORDERS, PAYMENT, RowContext};
use daysheet_core::provider::{Account, Mailbox};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{MESSAGE, Service};
use daysheet_core::text::{MailAddress, Note, NoteKey, note, ours};
use serde_json::Value;

use crate::pipeline::context::Context;
use crate::pipeline::known_people::look_alikes;

/// The column with the warnings.
pub(crate) const WARNINGS: &str = "warn";
/// The word for a sender who looks like a known person.
const LOOKALIKE: &str = "lookalike";
/// The note on a new account in the quoted history.
const QUOTED_ACCOUNT: &str = "its quoted history, which may be made up, names a new account for \
                              payments: check that with the payee by other means";

/// Senders of one account's messages who look like a person that it knows.
#[derive(Default)]
pub(crate) struct LookAlikes(HashMap<MailAddress, Note>);

impl LookAlikes {
    /// Returns true if the sender of a message is one.
    pub(crate) fn sent(&self, item: &Value, context: &RowContext<'_>) -> bool {
        self.note_for(item, context).is_some()
    }

    fn note_for(&self, item: &Value, context: &RowContext<'_>) -> Option<&Note> {
        if self.0.is_empty() {
            None
        } else {
            self.0.get(&flatten::sender(&MESSAGE, item, context)?)
        }
    }

    /// Adds them to the warnings of rows that were made from `items`.
    pub(crate) fn mark(&self, rows: &mut RowTable, items: &[Value], context: &RowContext<'_>) {
        for (at, item) in items.iter().enumerate() {
            if self.sent(item, context) {
                add(rows, at, LOOKALIKE);
            }
        }
    }

    /// Marks the rows, which have their handles, and returns a note for each message with
    /// warnings. `text` returns the text that was read of a message.
    pub(crate) fn noted<'t>(
        &self,
        rows: &mut RowTable,
        items: &[Value],
        context: &RowContext<'_>,
        text: impl Fn(usize) -> Option<&'t ReadableText>,
    ) -> Vec<Note> {
        self.mark(rows, items, context);
        let mut notes = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let mut warnings = flatten::warnings(&MESSAGE, item, context);
            warnings.extend(self.note_for(item, context).cloned());
            let sender = flatten::sender(&MESSAGE, item, context);
            let own = sender.is_some_and(|one| one.email.eq_ignore_ascii_case(context.address));
            // The user's own text needs no warning.
            let text = text(at).filter(|_| !own);
            // The warnings of the row cover the beginning of the text.
            if text.is_some_and(|text| text.orders) && !warnings.contains(&ORDERS.into()) {
                add(rows, at, INJECTION);
                warnings.push(ORDERS.into());
            }
            if let Some(place) = text.and_then(|text| text.payment) {
                add(rows, at, PAYMENT);
                // The row's warning cannot tell a quote, because it only knows the beginning of the
                // text.
                warnings.retain(|warning| *warning != NEW_ACCOUNT);
                warnings.push(match place {
                    NewAccount::Fresh => NEW_ACCOUNT.into(),
                    NewAccount::Quoted => QUOTED_ACCOUNT.into(),
                });
            }
            if let (false, Some(RowCell::Handle(kind, number))) =
                (warnings.is_empty(), rows.cell(at, "id"))
            {
                let id = format!("{kind}{number}");
                let line = note!("{}: {}", ours(&id), ours(warnings.join("; ")));
                notes.push(line.with_key(NoteKey::Warning).about(id));
            }
        }
        notes
    }
}

/// Adds a word to the warnings of a row that does not have it.
fn add(rows: &mut RowTable, at: usize, word: &str) {
    let Some(cell) = rows.cell_mut(at, WARNINGS) else {
        return;
    };
    let words = match cell {
        RowCell::Text(words) => words.as_str(),
        _ => "",
    };
    if !words.split(' ').any(|one| one == word) {
        *cell = RowCell::Text(format!("{words} {word}").trim_start().to_owned());
    }
}

/// Returns the [`senders`] who look like a person that the account knows.
pub(crate) async fn look_alikes_of(
    ctx: &Context,
    account: &Account,
    mailbox: &dyn Mailbox,
    senders: Vec<MailAddress>,
) -> LookAlikes {
    LookAlikes(look_alikes(ctx, account, mailbox, senders).await)
}

/// Returns true if the warnings about one of these messages depend on its folder's name.
pub(super) fn needs_folders<'a>(
    items: impl IntoIterator<Item = &'a Value>,
    context: &RowContext<'_>,
) -> bool {
    items.into_iter().any(|item| flatten::needs_folder(&MESSAGE, item, context))
}

/// Returns the senders of messages.
pub(crate) fn senders<'a>(
    items: impl Iterator<Item = &'a Value>,
    api: Service,
) -> Vec<MailAddress> {
    let context = RowContext::bare(api);
    items.filter_map(|item| flatten::sender(&MESSAGE, item, &context)).collect()
}
