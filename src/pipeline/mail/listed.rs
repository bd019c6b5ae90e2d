//! Conditions on messages that no service can search for; they are checked on listed messages.
//!
//! The condition on answers takes further requests, and is in `answered.rs`.

use daysheet_core::flatten::{RowContext, texts};
use daysheet_core::query::ListedConditions;
use daysheet_core::schemas::MESSAGE;
use serde_json::Value;

/// The column of signs of bulk mail.
const BULK: &str = "bulk";
/// The sign that is the service's opinion. It decides nothing, because messages from people have
/// it, too.
const ASIDE: &str = "aside";
/// The columns of recipients.
const RECIPIENTS: [&str; 2] = ["to", "cc"];

/// Returns the columns that these conditions read.
pub(super) fn columns(listed: ListedConditions) -> impl Iterator<Item = &'static str> {
    let bulk = listed.bulk.map(|_| BULK);
    let recipients = RECIPIENTS.into_iter().filter(move |_| listed.direct);
    bulk.into_iter().chain(recipients)
}

/// Keeps the messages that meet the conditions.
pub(super) fn keep(listed: ListedConditions, items: &mut Vec<Value>, context: &RowContext<'_>) {
    let texts = |item: &Value, name: &str| match MESSAGE.field(name) {
        Some(field) => texts(field, item, context),
        None => Vec::new(),
    };
    items.retain(|item| {
        let is_bulk = || texts(item, BULK).iter().any(|sign| sign != ASIDE);
        // The query has matched the owner's address, so a single recipient is the owner.
        let recipients = || RECIPIENTS.iter().map(|name| texts(item, name).len()).sum::<usize>();
        listed.bulk.is_none_or(|wanted| wanted == is_bulk())
            && (!listed.direct || recipients() == 1)
    });
}
