//! The people whom an account knows: warnings about senders who look like one of them, and notes on
//! addresses that were perhaps mistyped.
//!
//! The services' lists of people are a hint: before a warning about an address, the sent mail
//! decides whether it has been written to. A contact is known, unless this program saved its
//! address without the user's approval.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use daysheet_core::error::Result;
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::EmailAddress;
use daysheet_core::project::project;
use daysheet_core::provider::{Account, Mailbox, PeopleQuery};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{CONTACT, SAVED};
use daysheet_core::text::sender_auth::{KnownPerson, imitated};
use daysheet_core::text::{MailAddress, Note, NoteKey, note, ours, quoted_end};

use super::people_cache::AccountPeople;
use crate::pipeline::access::untrusted::note_untrusted_quote;
use crate::pipeline::context::Context;
use crate::pipeline::write::confirm::new_among;

/// The time that an answer waits for the list of people.
const PATIENCE: Duration = Duration::from_secs(3);
/// The maximum number of people that are read.
const MAX_PEOPLE: usize = 500;
/// The minimum similarity of both parts of an address for suggesting it, as `strsim`
/// measures it.
const ALIKE: f64 = 0.8;
/// The column with the sources of a known person.
const KNOWN: &str = "known";

/// Returns the people of an account. A list that cannot be read is empty.
async fn people_of_account(
    ctx: &Context,
    account: &Account,
    mailbox: &dyn Mailbox,
) -> AccountPeople {
    if let Some(circle) = ctx.states.known.circle(&account.id) {
        return circle;
    }
    let columns: Vec<_> =
        ["name", "emails", KNOWN].iter().filter_map(|name| CONTACT.field(name)).collect();
    let people = PeopleQuery { limit: MAX_PEOPLE, ..PeopleQuery::default() };
    let projection = project(mailbox.api(), &columns);
    let listed = mailbox.lookup(&CONTACT, &people, &projection);
    // The list is a hint, so an answer neither fails nor waits long for it.
    let items = match tokio::time::timeout(PATIENCE, listed).await {
        Ok(Ok(page)) => page.items,
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    // Read after the list, so that no contact on it was recorded later. If it cannot be read,
    // sent mail alone decides.
    let unapproved = ctx.store.unapproved(&account.id).await;
    let context = RowContext::bare(mailbox.api());
    let texts = |name: &str, item| {
        CONTACT.field(name).map(|field| flatten::texts(field, item, &context)).unwrap_or_default()
    };
    let listed = items.iter().flat_map(|item| {
        let name = texts("name", item).into_iter().next();
        let saved = texts(KNOWN, item).iter().any(|word| word == SAVED);
        let emails = texts("emails", item).into_iter();
        let unapproved = &unapproved;
        emails.filter_map(move |email| {
            let sure = saved && unapproved.as_ref().is_ok_and(|some| !some.has(&email));
            KnownPerson::new(MailAddress::new(name.as_deref(), &email), sure)
        })
    });
    let mut people: Vec<_> = listed.collect();
    // The reader's own addresses are imitated, too.
    let accounts = ctx.accounts.list().await.unwrap_or_default();
    let own = |one: &Account| KnownPerson::new(MailAddress::new(None, one.email.as_str()), true);
    people.extend(accounts.iter().filter_map(own));
    let circle = AccountPeople {
        since: Instant::now(),
        people: Arc::new(people),
        looked_at: Arc::default(),
    };
    let mut circles = ctx.states.known.circles.lock().unwrap_or_else(PoisonError::into_inner);
    circles.insert(account.id.clone(), circle.clone());
    circle
}

/// Reads the people of an account in advance, so that no later step waits for them.
pub(super) async fn prefetch_people(ctx: &Context, account: &Account, mailbox: &dyn Mailbox) {
    let _ = people_of_account(ctx, account, mailbox).await;
}

/// Returns a note on each sender who looks like a person that the account knows, and has never been
/// written to. People are read only if there are senders.
pub(super) async fn look_alikes(
    ctx: &Context,
    account: &Account,
    mailbox: &dyn Mailbox,
    senders: Vec<MailAddress>,
) -> HashMap<MailAddress, Note> {
    let mut found = HashMap::new();
    for sender in senders {
        if account.email.is(&sender.email) || found.contains_key(&sender) {
            continue;
        }
        let circle = people_of_account(ctx, account, mailbox).await;
        let looked_at = || circle.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let known = looked_at().get(&sender).cloned();
        let note = match known {
            Some(note) => note,
            None => {
                let note = look_alike(ctx, account, &sender, &circle).await;
                looked_at().insert(sender.clone(), note.clone());
                note
            }
        };
        found.extend(note.map(|note| (sender, note)));
    }
    found
}

async fn look_alike(
    ctx: &Context,
    account: &Account,
    sender: &MailAddress,
    circle: &AccountPeople,
) -> Option<Note> {
    // In a block, so that the lock is released before the searches.
    let people: Vec<KnownPerson> = {
        let written = ctx.states.known.written.lock().unwrap_or_else(PoisonError::into_inner);
        let written = written.get(&account.id).into_iter().flatten();
        imitated(sender, written.chain(&*circle.people)).into_iter().cloned().collect()
    };
    for one in people {
        let both = [sender.email.clone(), one.address.email.clone()];
        // Without the sent mail, no warning is possible.
        let new = new_among(ctx, Some(account), &both).await.ok()?;
        // A sender who was written to imitates no one.
        if !new.contains(&sender.email) {
            return None;
        }
        if one.sure || !new.contains(&one.address.email) {
            return Some(note!(
                "the sender {} looks like {}, one of your contacts or correspondents",
                quoted_end(&sender.email),
                quoted_end(&one.address.email)
            ));
        }
    }
    None
}

/// Marks the people of a list who look like another person; returns notes on them.
pub(super) async fn mark_look_alikes(
    ctx: &Context,
    account: &Account,
    rows: &mut RowTable,
) -> Result<Vec<Note>> {
    let mailbox = ctx.connect.mailbox(account)?;
    let unapproved = ctx.store.unapproved(&account.id).await?;
    let mut notes = Vec::new();
    for at in 0..rows.len() {
        let text = |name: &str| match rows.cell(at, name) {
            Some(RowCell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let known = text(KNOWN);
        let name = text("name");
        let emails = text("emails");
        let emails = emails.split(", ");
        // Saved contacts are known, unless their address was saved without approval.
        let unknown = emails.filter(|email| known != SAVED || unapproved.has(email));
        let people = unknown.map(|email| MailAddress::new(Some(&name), email));
        let people: Vec<MailAddress> = people.collect();
        let found = look_alikes(ctx, account, &*mailbox, people.clone()).await;
        let warnings = people.iter().filter_map(|one| found.get(one).cloned());
        notes.extend(warnings.map(|note| note.with_key(NoteKey::Warning)));
        if let (false, Some(cell)) = (found.is_empty(), rows.cell_mut(at, KNOWN)) {
            *cell = RowCell::Text(format!("{known} lookalike").trim_start().to_owned());
        }
    }
    Ok(notes)
}

/// Returns a note on each address that has never been written to, and is similar to one
/// that the account knows.
pub(super) async fn mistyped_notes(
    ctx: &Context,
    account: &Account,
    addresses: Vec<&EmailAddress>,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let Ok(mailbox) = ctx.connect.mailbox(account) else {
        return notes;
    };
    for address in addresses {
        let circle = people_of_account(ctx, account, &*mailbox).await;
        let Some(near) = nearest(address.as_str(), &circle.people) else {
            continue;
        };
        // Everyone who writes may get on the list, so the sent mail decides.
        let both = [address.to_string(), near.address.email.clone()];
        // Without the sent mail, the address counts as known.
        let new = new_among(ctx, Some(account), &both).await.unwrap_or_default();
        let [own, known] = &both;
        if new.contains(own) && (near.sure || !new.contains(known)) {
            note_untrusted_quote(ctx);
            notes.push(note!(
                "{} was never written to: did you mean {}?",
                ours(address),
                quoted_end(&near.address.email)
            ));
        }
    }
    notes
}

/// Returns the person whose address is most similar; `None` if one has the address itself.
fn nearest<'k>(address: &str, people: &'k [KnownPerson]) -> Option<&'k KnownPerson> {
    let lower = address.to_lowercase();
    let (local, domain) = lower.rsplit_once('@')?;
    let alike = |one: &'k KnownPerson| {
        let email = one.address.email.to_lowercase();
        let (its_local, its_domain) = email.rsplit_once('@')?;
        let locals = strsim::normalized_damerau_levenshtein(local, its_local);
        let domains = strsim::normalized_damerau_levenshtein(domain, its_domain);
        (locals >= ALIKE && domains >= ALIKE).then_some((locals + domains, one))
    };
    let best = people.iter().filter_map(alike).max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (!best.1.address.email.eq_ignore_ascii_case(address)).then_some(best.1)
}
