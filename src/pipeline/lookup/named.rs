//! Names in place of addresses: the full name of one saved contact with one address is replaced by
//! that address; where nothing is sent yet, the first words of the name are enough. Any other name
//! stays, and the call refuses it.
//!
//! A contact may have been saved because a hostile message asked for it. Its address therefore
//! counts as untrusted text that was shown, and a contact does not count as a person the user has
//! written to. Another person of that name leaves it unresolved if they are saved, in an event, or
//! have been written to; an unknown sender who uses the name changes nothing.

use std::collections::HashMap;

use daysheet_core::compose::people::{bare_names, with_addresses, without_addresses};
use daysheet_core::error::Result;
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::project::project;
use daysheet_core::provider::{Account, PeopleQuery};
use daysheet_core::schemas::{CONTACT, FROM_MAIL, SAVED};
use daysheet_core::text::{MailAddress, Note, folded, note, ours, quoted_end};
use futures_util::future::join_all;

use super::people::guests_of;
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::access::untrusted::mark_tainted;
use crate::pipeline::context::Context;
use crate::pipeline::known_people::look_alikes;
use crate::pipeline::write::confirm::new_among;
use crate::tools::ToolAction;

/// The most names of one call that are looked up.
const MAX_NAMES: usize = 10;
/// The people compared with a name; with more, it stays unresolved.
const COMPARED: usize = 100;

/// A person on a list.
struct ListedPerson {
    name: String,
    emails: Vec<String>,
    /// The words of the column `known`.
    known: String,
}

/// The part of a contact's name that must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameMatch {
    Whole,
    /// Its first words.
    Beginning,
}

impl NameMatch {
    /// Returns true if `name` can mean a person with this full name.
    fn fits(self, name: &str, full_name: &str) -> bool {
        let (name, full_name) = (folded(name), folded(full_name));
        full_name
            .strip_prefix(&name)
            .is_some_and(|rest| rest.is_empty() || self == Self::Beginning && rest.starts_with(' '))
    }
}

/// Replaces names of saved contacts by their addresses; returns notes on them.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if several names are left, in
/// any arguments; and errors of the store, which must record that untrusted text was shown.
pub(crate) async fn resolve_names(ctx: &Context, action: &mut ToolAction) -> Result<Vec<Note>> {
    // A draft is shown before it is sent, and free times reach nobody.
    let naming = match action {
        ToolAction::MailDraft(_) | ToolAction::CalendarFree(_) => NameMatch::Beginning,
        _ => NameMatch::Whole,
    };
    let mut items = action.people_mut();
    let notes = resolve_saved(ctx, &mut items, naming).await?;
    let mut left: Vec<&str> = Vec::new();
    for name in items.iter().flat_map(|item| bare_names(item)) {
        if !left.contains(&name) {
            left.push(name);
        }
    }
    match without_addresses(&left) {
        Some(error) => Err(error),
        None => Ok(notes),
    }
}

/// Replaces the names of saved contacts; returns notes on them.
async fn resolve_saved(
    ctx: &Context,
    items: &mut [&mut String],
    naming: NameMatch,
) -> Result<Vec<Note>> {
    let mut names: Vec<String> =
        items.iter().flat_map(|item| bare_names(item)).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    // Further names are left unresolved, and the call refuses them.
    if names.is_empty() || names.len() > MAX_NAMES {
        return Ok(Vec::new());
    }
    let accounts = named_or_all(ctx, None).await?;
    let found =
        join_all(names.iter().map(|name| contact_named(ctx, name, naming, &accounts))).await;
    let mut resolved: Vec<(&str, String)> =
        names.iter().zip(found).filter_map(|(name, one)| Some((name.as_str(), one?))).collect();
    if !resolved.is_empty() {
        let guests = guests_of(ctx, &accounts).await;
        let is_other = |name: &str, email: &str| {
            let mut guests = guests.iter();
            guests.any(|one| naming.fits(name, &one.0) && !one.1.eq_ignore_ascii_case(email))
        };
        resolved.retain(|(name, email)| !is_other(name, email));
    }
    if resolved.is_empty() {
        return Ok(Vec::new());
    }
    // Recorded before the addresses are used, so that a failing store prevents their use.
    mark_tainted(ctx).await?;
    let note = |(name, email): &(&str, String)| {
        note!("\"{}\" is {} (contact)", ours(*name), quoted_end(email))
    };
    let notes = resolved.iter().map(note).collect();
    let addresses: HashMap<&str, String> = resolved.into_iter().collect();
    for item in items {
        **item = with_addresses(item, &addresses);
    }
    Ok(notes)
}

/// Returns the address of the saved contact with this name; `None` if the name may mean another
/// person, if the contact looks like another person, or if it cannot be looked up.
async fn contact_named(
    ctx: &Context,
    name: &str,
    naming: NameMatch,
    accounts: &[Account],
) -> Option<String> {
    let people = accounts.iter().map(|account| people_named(ctx, name, naming, account));
    let lists = join_all(people).await;
    let lists: Vec<Vec<ListedPerson>> = lists.into_iter().collect::<Option<_>>()?;
    let people: Vec<ListedPerson> = lists.into_iter().flatten().collect();
    let email = people.iter().find(|one| one.known == SAVED)?.emails.first()?.clone();
    let mut strangers = Vec::new();
    for one in people {
        let others = one.emails.into_iter().filter(|other| !other.eq_ignore_ascii_case(&email));
        for other in others {
            // A person known only from mail may be an unknown sender; sent mail decides below.
            if one.known != FROM_MAIL {
                return None;
            }
            strangers.push(other);
        }
    }
    let new = new_among(ctx, None, &strangers).await.ok()?;
    if new.len() < strangers.len() {
        return None;
    }
    for account in accounts {
        let mailbox = ctx.connect.mailbox(account).ok()?;
        let person = vec![MailAddress::new(Some(name), &email)];
        if !look_alikes(ctx, account, &*mailbox, person).await.is_empty() {
            return None;
        }
    }
    Some(email)
}

/// Returns the people of an account with this name; `None` if they cannot be listed, or are too
/// many.
async fn people_named(
    ctx: &Context,
    name: &str,
    naming: NameMatch,
    account: &Account,
) -> Option<Vec<ListedPerson>> {
    let mailbox = ctx.connect.mailbox(account).ok()?;
    let columns: Vec<_> =
        ["name", "emails", "known"].iter().filter_map(|name| CONTACT.field(name)).collect();
    let people =
        PeopleQuery { q: Some(name.to_owned()), limit: COMPARED, ..PeopleQuery::default() };
    let projection = project(mailbox.api(), &columns);
    let request = mailbox.lookup(&CONTACT, &people, &projection);
    let page = ctx.await_account(true, request).await.ok()?;
    let context = RowContext::bare(mailbox.api());
    let person = |item| {
        let texts = |column: &str| {
            let field = CONTACT.field(column);
            field.map(|field| flatten::texts(field, item, &context)).unwrap_or_default()
        };
        ListedPerson {
            name: texts("name").join(" "),
            emails: texts("emails"),
            known: texts("known").join(" "),
        }
    };
    // A full list may lack another person of that name.
    let is_complete = page.items.len() < COMPARED;
    let people = page.items.iter().map(person).filter(|one| naming.fits(name, &one.name));
    is_complete.then(|| people.collect())
}
