//! The accounts that a call is about, and their labels in its answer.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::provider::Account;

/// The labels of accounts in rows and notes, by their ids.
pub(in crate::pipeline) struct AccountLabels(HashMap<String, String>);

impl AccountLabels {
    /// Returns the label of the account with this id; the id if it was removed.
    pub(in crate::pipeline) fn of(&self, id: &str) -> String {
        self.0.get(id).map_or_else(|| id.to_owned(), String::clone)
    }
}

impl Pipeline {
    pub(in crate::pipeline) async fn labels(&self) -> Result<AccountLabels> {
        Ok(AccountLabels(self.accounts.labels().await?))
    }

    /// Returns the account of that name, or all that are signed in.
    pub(in crate::pipeline) async fn named_or_all(
        &self,
        name: Option<&str>,
    ) -> Result<Vec<Account>> {
        if name.is_some() {
            return Ok(vec![self.accounts.find(name).await?]);
        }
        let all = self.accounts.list().await?;
        match all.len() {
            // Fails with how to sign in.
            0 => Ok(vec![self.accounts.find(None).await?]),
            _ => Ok(all),
        }
    }

    /// Returns the account that a handle belongs to, if it is the one named.
    pub(in crate::pipeline) async fn owner_named(
        &self,
        owner: &str,
        account: Option<&str>,
    ) -> Result<Account> {
        let owner = self.accounts.by_id(owner).await?;
        if account.is_some() && self.accounts.find(account).await?.id != owner.id {
            return Err(Error::argument(format!(
                "it belongs to {}, not to that account",
                owner.id
            ))
            .next("leave out `account`: the handle implies it"));
        }
        Ok(owner)
    }
}
