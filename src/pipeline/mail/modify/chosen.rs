//! The messages of a change: the named ones, or the newest that a query finds, at most
//! [`MAX_MESSAGES`].

use std::collections::HashSet;
use std::sync::Arc;

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::Account;
use daysheet_core::provider::{ListRequest, Mailbox, SearchTotal};
use daysheet_core::query::{self, Query};
use daysheet_core::schemas::MESSAGE;
use daysheet_core::text::Note;
use futures_util::future::join_all;

use crate::pipeline::access::accounts::{account_labels, named_or_all};
use crate::pipeline::context::Context;
use crate::pipeline::mail::read::messages::by_owner;
use crate::pipeline::mail::read::targets::resolve_targets;
use crate::pipeline::rows::name_account;
use crate::tools::mail::MAX_MESSAGES;

/// Messages of a page.
const PAGE: usize = 500;
/// The maximum number of pages of one account. Some providers have pages of 100, and some messages
/// on them may not match.
const PAGES: usize = 30;

/// Messages of one account.
pub(crate) struct ChosenMessages {
    pub(crate) account: Account,
    pub(crate) label: String,
    pub(crate) mailbox: Arc<dyn Mailbox>,
    pub(crate) ids: Vec<MessageId>,
}

/// The messages of all accounts.
#[derive(Default)]
pub(crate) struct MessageChoice {
    pub(crate) accounts: Vec<ChosenMessages>,
    /// The messages that could not be read, and why.
    pub(crate) failed: Vec<(String, Error)>,
    pub(crate) notes: Vec<Note>,
    /// A note on the messages left for another call.
    pub(crate) left: Option<String>,
}

/// The messages of one account.
struct AccountMatches {
    ids: Vec<MessageId>,
    /// The total number, as far as known.
    total: Option<SearchTotal>,
    /// True if there are more.
    more: bool,
    notes: Vec<Note>,
}

/// Resolves these ids to messages, with threads expanded. Messages of a thread in the trash or in
/// spam are left out with a note, unless `hidden` is set.
pub(super) async fn chosen_ids(
    ctx: &Context,
    ids: &[String],
    account: Option<&str>,
    hidden: bool,
) -> Result<MessageChoice> {
    let mut notes = Vec::new();
    let noted = Some(&mut notes).filter(|_| !hidden);
    let (mut messages, failed) = resolve_targets(ctx, ids, account, noted, None).await?;
    let left = messages.len().saturating_sub(MAX_MESSAGES);
    messages.truncate(MAX_MESSAGES);
    let mut choice = MessageChoice {
        failed,
        notes,
        left: remaining(left as u64, true),
        ..MessageChoice::default()
    };
    for (account, targets) in by_owner(messages) {
        let account = ctx.accounts.by_id(&account).await?;
        let ids = targets.into_iter().map(|one| one.id).collect();
        choice.accounts.push(chosen_messages(ctx, account, ids).await?);
    }
    Ok(choice)
}

/// Finds the newest messages of a query, of one account or of all.
pub(super) async fn chosen_query(
    ctx: &Context,
    q: &str,
    account: Option<&str>,
) -> Result<MessageChoice> {
    let parsed = query::parse(q, &ctx.date_context())?;
    let accounts = named_or_all(ctx, account).await?;
    if query::is_raw(q) && accounts.iter().any(|one| !same_provider(one, &accounts)) {
        return Err(Error::argument(
            "`raw:` is one provider's syntax, but the accounts have several",
        )
        .next("name the account"));
    }
    choose_messages(ctx, &parsed, accounts).await
}

/// Finds the newest messages of a query in these accounts.
pub(crate) async fn choose_messages(
    ctx: &Context,
    query: &Query,
    accounts: Vec<Account>,
) -> Result<MessageChoice> {
    let labels = account_labels(ctx).await?;
    let several = accounts.len() > 1;
    let requests = accounts.iter().map(|account| find_messages(ctx, account, query));
    let answers = join_all(requests.map(|request| ctx.await_account(several, request))).await;
    let mut choice = MessageChoice::default();
    let (mut found, mut sizes) = (Vec::new(), Vec::new());
    for (account, answer) in accounts.into_iter().zip(answers) {
        let label = labels.label_of(&account.id);
        match answer {
            Ok(some) => {
                let notes = some.notes.iter().cloned();
                choice.notes.extend(notes.map(name_account(several, &label)));
                sizes.push(some.ids.len());
                found.push((account, some));
            }
            Err(error) if several => choice.failed.push((label, error)),
            Err(error) => return Err(error),
        }
    }
    if let (true, Some((label, error))) = (found.is_empty(), choice.failed.first()) {
        return Err(error.clone().context(label));
    }
    let shares = shares(&sizes, MAX_MESSAGES);
    let (mut left, mut exact) = (0u64, true);
    for ((account, mut some), share) in found.into_iter().zip(shares) {
        let all = match some.total {
            Some(SearchTotal::Exactly(all)) => Some(all),
            Some(SearchTotal::About(all)) if some.more => {
                exact = false;
                Some(all)
            }
            _ if some.more => None,
            _ => Some(some.ids.len() as u64),
        };
        let taken = share as u64;
        match all {
            // A total may be too low, but with a next page at least one message is left.
            Some(all) => left += all.saturating_sub(taken).max(u64::from(some.more)),
            None => {
                exact = false;
                left += (some.ids.len() as u64).saturating_sub(taken).max(1);
            }
        }
        some.ids.truncate(share);
        if !some.ids.is_empty() {
            choice.accounts.push(chosen_messages(ctx, account, some.ids).await?);
        }
    }
    choice.left = remaining(left, exact);
    Ok(choice)
}

/// Returns a note on the messages left for another call, if there are any; `exact` is false if
/// there may be more.
fn remaining(left: u64, exact: bool) -> Option<String> {
    match (left, exact) {
        (0, _) => None,
        (1, true) => Some("1 more message remains".to_owned()),
        (left, true) => Some(format!("{left} more messages remain")),
        (left, false) => Some(format!("{left} or more messages remain")),
    }
}

async fn chosen_messages(
    ctx: &Context,
    account: Account,
    ids: Vec<MessageId>,
) -> Result<ChosenMessages> {
    Ok(ChosenMessages {
        label: account_labels(ctx).await?.label_of(&account.id),
        mailbox: ctx.connect.mailbox(&account)?,
        account,
        ids,
    })
}

/// Returns the ids of the newest messages of one account, in pages.
async fn find_messages(ctx: &Context, account: &Account, query: &Query) -> Result<AccountMatches> {
    let mailbox = ctx.connect.mailbox(account)?;
    let key = MESSAGE.fields.first().into_iter().collect::<Vec<_>>();
    let context = RowContext::bare(mailbox.api());
    let mut ask = ListRequest {
        query: Some(query.clone()),
        folder: None,
        projection: project(mailbox.api(), &key),
        limit: PAGE,
        oldest: false,
        cursor: None,
        hidden: false,
    };
    let mut found = AccountMatches { ids: Vec::new(), total: None, more: false, notes: Vec::new() };
    let mut known = HashSet::new();
    for _ in 0..PAGES {
        let page = mailbox.messages(&ask).await?;
        let ids = page.items.iter();
        let ids = ids.filter_map(|item| flatten::key(&MESSAGE, item, &context));
        // A message that could not be fetched matches as well.
        let ids = ids.chain(page.failed.into_iter().map(|one| one.id));
        found.ids.extend(ids.map(MessageId::from).filter(|id| known.insert(id.clone())));
        found.total = found.total.or(page.total);
        for note in page.notes {
            if !found.notes.contains(&note) {
                found.notes.push(note);
            }
        }
        found.more = page.next.is_some();
        ask.cursor = page.next;
        if !found.more || found.ids.len() >= MAX_MESSAGES {
            break;
        }
    }
    Ok(found)
}

fn same_provider(one: &Account, all: &[Account]) -> bool {
    all.iter().all(|other| other.provider == one.provider)
}

/// Divides `most` among the accounts: small ones in full, the others equally.
fn shares(sizes: &[usize], most: usize) -> Vec<usize> {
    let mut shares = vec![0; sizes.len()];
    let mut rest = most;
    loop {
        let open: Vec<usize> =
            (0..sizes.len()).filter(|at| shares.get(*at) < sizes.get(*at)).collect();
        if open.is_empty() || rest == 0 {
            return shares;
        }
        // At least one, so that the loop ends if fewer are left than there are accounts.
        let each = (rest / open.len()).max(1);
        for at in open {
            if let (Some(share), Some(size)) = (shares.get_mut(at), sizes.get(at)) {
                let more = each.min(size - *share).min(rest);
                *share += more;
                rest -= more;
            }
        }
    }
}
