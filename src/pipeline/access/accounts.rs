//! The accounts that a call is about, and their labels in its answer.

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::Account;
use daysheet_core::text::quoted;

use crate::pipeline::context::Context;

/// The labels of accounts in rows and notes, by their ids.
pub(crate) struct AccountLabels(HashMap<AccountId, String>);

impl AccountLabels {
    /// Returns the label of the account with this id; the id if it was removed.
    pub(crate) fn label_of(&self, id: &AccountId) -> String {
        self.0.get(id).map_or_else(|| id.to_string(), String::clone)
    }
}

/// Returns true if `names` is the word `all`.
fn is_all(names: &str) -> bool {
    names.trim().eq_ignore_ascii_case("all")
}

/// Returns true if there are several accounts, or if that is unknown.
pub(crate) async fn several_accounts(ctx: &Context) -> bool {
    ctx.accounts.list().await.map_or(true, |all| all.len() > 1)
}

pub(crate) async fn account_labels(ctx: &Context) -> Result<AccountLabels> {
    Ok(AccountLabels(ctx.accounts.labels().await?))
}

/// Returns the account meant by `name`, which may also be an address that an account
/// sends from; without a name, the only account.
pub(crate) async fn account_named(ctx: &Context, name: Option<&str>) -> Result<Account> {
    let error = match ctx.accounts.find(name).await {
        Err(error) if error.kind() == ErrorKind::NoAccount => error,
        found => return found,
    };
    // Aliases cost a request per account, so they are read only if no account has this name.
    let Some(address) = name.map(str::trim).filter(|name| name.contains('@')) else {
        return Err(error);
    };
    for account in ctx.accounts.list().await? {
        // An account that does not answer must not hide an alias of another one.
        let Ok(senders) = ctx.connect.mailbox(&account)?.senders().await else {
            continue;
        };
        if senders.iter().any(|sender| sender.person.address.is(address)) {
            return Ok(account);
        }
    }
    Err(error)
}

/// Returns the account with this name, or every signed-in account without a name.
pub(crate) async fn named_or_all(ctx: &Context, name: Option<&str>) -> Result<Vec<Account>> {
    if name.is_some() {
        return Ok(vec![account_named(ctx, name).await?]);
    }
    let all = ctx.accounts.list().await?;
    match all.len() {
        // Fails with how to sign in.
        0 => Ok(vec![account_named(ctx, None).await?]),
        _ => Ok(all),
    }
}

/// Returns the accounts that an argument names: one, several separated by commas, or `all`.
pub(crate) async fn several_named(ctx: &Context, names: Option<&str>) -> Result<Vec<Account>> {
    let Some(list) = names.filter(|names| names.contains(',') || is_all(names)) else {
        let all = |error: Error| match error.next_step() {
            Some(next) if names.is_none() && error.kind() == ErrorKind::Argument => {
                let next = format!("{next}; or several, or all");
                error.next(next)
            }
            _ => error,
        };
        return Ok(vec![account_named(ctx, names).await.map_err(all)?]);
    };
    if is_all(list) {
        return named_or_all(ctx, None).await;
    }
    let mut accounts: Vec<Account> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let account = account_named(ctx, Some(name)).await?;
        // An account may be named twice, by its own address and by an alias.
        if accounts.iter().all(|one| one.id != account.id) {
            accounts.push(account);
        }
    }
    Ok(accounts)
}

/// Returns the account that a provider's own id belongs to: the one named, or the only
/// one whose provider has such ids, which `fits` decides. An error suggests an id
/// `such` as `m12 from mail_search`.
pub(crate) async fn owner_of_id(
    ctx: &Context,
    id: &str,
    account: Option<&str>,
    fits: impl Fn(&Account) -> Result<()>,
    such: &str,
) -> Result<Account> {
    if account.is_some() {
        let account = account_named(ctx, account).await?;
        return fits(&account).map(|()| account);
    }
    let mut fitting = named_or_all(ctx, None).await?;
    fitting.retain(|account| fits(account).is_ok());
    match (fitting.len(), fitting.pop()) {
        (1, Some(account)) => Ok(account),
        (0, _) => Err(Error::argument(format!("{} is not an id", quoted(id)))
            .next(format!("give one such as {such}"))),
        // Fails with the accounts to choose from.
        _ => account_named(ctx, None).await,
    }
}

/// Returns the account that a handle belongs to, if it is the one named.
pub(crate) async fn owner_named(
    ctx: &Context,
    owner: &AccountId,
    account: Option<&str>,
) -> Result<Account> {
    let owner = ctx.accounts.by_id(owner).await?;
    if account.is_some() && account_named(ctx, account).await?.id != owner.id {
        return Err(Error::argument(format!(
            "it belongs to {}, not to that account",
            account_labels(ctx).await?.label_of(&owner.id)
        ))
        .next("leave out `account`: the handle implies it"));
    }
    Ok(owner)
}
