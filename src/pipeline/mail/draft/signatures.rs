//! The signatures of an account's addresses: the service's own, or ours.

use daysheet_core::compose::text::{self, TextForms};
use daysheet_core::error::Result;
use daysheet_core::provider::Account;
use daysheet_core::provider::mail::SendAlias;
use daysheet_core::text as words;
use serde_json::{Value, json};

use super::steps::DraftContext;
use crate::pipeline::context::Context;

/// Returns the signatures of an account's addresses, as objects of the table.
pub(crate) async fn account_signatures(ctx: &Context, account: &Account) -> Result<Vec<Value>> {
    let context = DraftContext::open(ctx, account.clone())?;
    let mut objects = Vec::new();
    for alias in context.mailbox.senders().await? {
        let (source, text) = signature_of_alias(ctx, &context, &alias).await?.unzip();
        let text = text.map(|both| words::lines(&both.text)).unwrap_or_default();
        let email = &alias.person.address;
        objects.push(json!({"email": email, "text": text, "source": source}));
    }
    Ok(objects)
}

/// Returns the signature of messages from `alias`, and its source.
pub(super) async fn signature_of_alias(
    ctx: &Context,
    context: &DraftContext,
    alias: &SendAlias,
) -> Result<Option<(&'static str, TextForms)>> {
    // A service that does not expose signatures leaves them to us.
    let found = match (&alias.signature, context.mailbox.capabilities().signatures) {
        (Some(own), _) => Some(("provider", own.clone())),
        (None, false) => match ctx.store.signature(&context.account.id).await? {
            Some(stored) => Some(("daysheet", stored)),
            None => ctx.config.outlook_signature.clone().map(|text| ("settings", text)),
        },
        (None, true) => None,
    };
    let Some((source, signature)) = found.filter(|(_, text)| !text.trim().is_empty()) else {
        return Ok(None);
    };
    // Services and settings hold text or HTML, and do not mark which.
    let both = if signature.contains('<') && signature.contains('>') {
        text::from_html(&signature).ok()
    } else {
        Some(text::from_plain(&signature))
    };
    Ok(both.map(|both| (source, both)))
}
