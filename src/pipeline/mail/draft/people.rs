//! The sender and the recipients of a draft.

use std::collections::HashSet;

use daysheet_core::compose::people;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{DraftId, EmailAddress, MessageId};
use daysheet_core::provider::mail::{MailPerson, SendAlias, SourceMessage};
use daysheet_core::provider::{Account, ThreadRole};
use daysheet_core::text::brief;
use daysheet_core::text::{Note, note};

use super::steps::DraftContext;
use crate::pipeline::access::accounts::{owner_named, owner_of_id};
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::known_people::mistyped_notes;
use crate::store::HandleKind;
use crate::tools::mail::MailDraft;

/// The maximum number of recipients of a message.
const MAX_RECIPIENTS: usize = 200;

/// Returns the addresses that the user can send from. If they cannot be fetched,
/// the account's own, and a note.
pub(super) async fn sending_aliases(
    context: &DraftContext,
    notes: &mut Vec<Note>,
) -> Vec<SendAlias> {
    let own = |person| SendAlias { person, signature: None, reply_to: None, default: true };
    let account = MailPerson { name: None, address: context.account.email.clone() };
    match context.mailbox.senders().await {
        Ok(aliases) if !aliases.is_empty() => aliases,
        Ok(_) => vec![own(account)],
        Err(error) => {
            notes.push(note!("without name and signature, which could not be read: {}", error));
            vec![own(account)]
        }
    }
}

/// Returns notes on recipients that the call names, and that were perhaps mistyped.
pub(super) async fn doubtful_recipients(
    ctx: &Context,
    request: &MailDraft,
    context: &DraftContext,
    lists: [&Vec<MailPerson>; 3],
) -> Vec<Note> {
    let named = [&request.to, &request.cc, &request.bcc];
    let named = lists.into_iter().zip(named).filter(|(_, named)| named.is_some());
    let people = named.flat_map(|(list, _)| list).map(|one| &one.address);
    mistyped_notes(ctx, &context.account, people.collect()).await
}

/// Returns the message of a draft's handle, or the message that the draft was sent as; `None` if it
/// is not the handle of a draft.
pub(crate) async fn message_of_draft(
    ctx: &Context,
    name: &str,
    account: Option<&str>,
) -> Result<Option<(Account, MessageId)>> {
    let Some((owner, draft)) = resolve_handle(ctx, HandleKind::Draft, name).await? else {
        return Ok(None);
    };
    let (owner, draft) = (owner_named(ctx, &owner, account).await?, DraftId::from(draft));
    let sent = ctx.store.journalled(&owner.id, &draft).await?.and_then(|sent| sent.sent_id);
    let message = match sent {
        Some(message) => message,
        None => ctx.connect.mailbox(&owner)?.draft_message(&draft).await?,
    };
    Ok(Some((owner, message)))
}

/// Finds the message that is meant, and its account.
pub(super) async fn named_message(
    ctx: &Context,
    name: &str,
    account: Option<&str>,
) -> Result<(Account, MessageId)> {
    if let Some((owner, id)) = resolve_handle(ctx, HandleKind::Message, name).await? {
        return Ok((owner_named(ctx, &owner, account).await?, id.into()));
    }
    if let Some(found) = message_of_draft(ctx, name, account).await? {
        return Ok(found);
    }
    if let Some((owner, thread)) = resolve_handle(ctx, HandleKind::Thread, name).await? {
        let owner = owner_named(ctx, &owner, account).await?;
        // A reply to a thread is a reply to its latest message.
        let messages = ctx.connect.mailbox(&owner)?.thread(&thread.into()).await?;
        let there = messages.iter().rev().filter(|one| one.role != ThreadRole::Hidden);
        // A draft is taken only if the thread has no other message.
        let last = there
            .clone()
            .find(|one| one.role != ThreadRole::Draft)
            .or_else(|| there.clone().next());
        let last = last.map(|one| one.id.clone()).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("{name} has no messages left"))
                .next("search again")
        })?;
        return Ok((owner, last));
    }
    // A longer text that looks like a handle may be a provider's id.
    if name.len() < 8 && HandleKind::parse(name).is_some() {
        return Err(Error::argument(format!("{} is not a message", brief(name)))
            .next("give a message or draft, such as m12 or d5"));
    }
    let fits = |account: &Account| ctx.connect.mailbox(account)?.check_id(name);
    let such = "m12 from mail_search, or d5 from mail_draft";
    Ok((owner_of_id(ctx, name, account, fits, such).await?, name.into()))
}

/// Returns the sender: the one given; for a reply the address that was written to; else
/// the default.
pub(super) fn sender<'a>(
    aliases: &'a [SendAlias],
    from: Option<&str>,
    original: Option<&SourceMessage>,
) -> Result<&'a SendAlias> {
    let find = |address: &str| aliases.iter().find(|alias| alias.person.address.is(address));
    if let Some(from) = from {
        let found = people::read("from", &[from.to_owned()])?;
        let address = match found.people.as_slice() {
            [one] => one.address.as_str(),
            _ => return Err(Error::argument("`from` must be one address").next("give one")),
        };
        return find(address).ok_or_else(|| {
            let known: Vec<&str> =
                aliases.iter().map(|alias| alias.person.address.as_str()).collect();
            Error::argument(format!("this account cannot send as {}", brief(address)))
                .next(format!("use one of: {}", known.join(", ")))
        });
    }
    let reached = original.and_then(|original| {
        // A follow-up to the user's own message is sent from the same address.
        let people = if original.own {
            original.from.iter().chain(&[])
        } else {
            original.to.iter().chain(&original.cc)
        };
        people.into_iter().find_map(|one| find(one.address.as_str()))
    });
    let default = || aliases.iter().find(|alias| alias.default);
    reached
        .or_else(default)
        .or(aliases.first())
        .ok_or_else(|| Error::new(ErrorKind::Internal, "there is no address to send from"))
}

/// Returns the user's own addresses.
pub(super) fn own(aliases: &[SendAlias], account: &Account) -> Vec<EmailAddress> {
    let aliases = aliases.iter().map(|alias| alias.person.address.clone());
    std::iter::once(account.email.clone()).chain(aliases).collect()
}

/// Reads the given people, or returns `others`.
pub(super) fn recipients_of(
    field: &str,
    items: Option<&[String]>,
    others: Vec<MailPerson>,
    notes: &mut Vec<Note>,
) -> Result<Vec<MailPerson>> {
    let Some(items) = items else {
        return Ok(others);
    };
    let mut found = people::read(field, items)?;
    if found.people.len() > MAX_RECIPIENTS {
        return Err(Error::argument(format!(
            "`{field}` has {} recipients, more than {MAX_RECIPIENTS}",
            found.people.len()
        ))
        .next("write to fewer people"));
    }
    notes.append(&mut found.warnings);
    Ok(found.people)
}

/// Removes duplicates; each person stays at the first position.
pub(super) fn once(
    to: Vec<MailPerson>,
    mut cc: Vec<MailPerson>,
    mut bcc: Vec<MailPerson>,
) -> (Vec<MailPerson>, Vec<MailPerson>, Vec<MailPerson>) {
    let mut known: HashSet<String> = to.iter().map(|one| one.address.lower()).collect();
    for list in [&mut cc, &mut bcc] {
        list.retain(|one| known.insert(one.address.lower()));
    }
    (to, cc, bcc)
}

/// Returns a new, unique Message-ID in the domain of the sender.
pub(crate) fn message_id(sender: &str) -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the system random generator failed ({error})"))
    })?;
    let random: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let domain = sender.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    Ok(format!("{random}@{domain}"))
}

/// Returns true for a Message-ID that [`message_id`] generated.
pub(super) fn is_ours(id: &str) -> bool {
    let random = id.split('@').next().unwrap_or_default();
    random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
}
