//! Which accounts a call is about, and how they are called in its answer.

use super::Pipeline;
use crate::accounts::Account;
use crate::error::Result;

/// How accounts are called in rows: by address, or by id where two have the
/// same address.
pub(super) struct Labels(Vec<(String, String)>);

impl Labels {
    pub(super) fn of(&self, id: &str) -> String {
        self.0
            .iter()
            .find(|(known, _)| known == id)
            .map_or_else(|| id.to_owned(), |(_, label)| label.clone())
    }
}

impl Pipeline {
    pub(super) async fn labels(&self) -> Result<Labels> {
        let accounts = self.accounts.list().await?;
        let label = |account: &Account| {
            let same = accounts.iter().filter(|other| other.email == account.email);
            match same.count() {
                1 => account.email.clone(),
                _ => account.id.clone(),
            }
        };
        Ok(Labels(
            accounts
                .iter()
                .map(|account| (account.id.clone(), label(account)))
                .collect(),
        ))
    }

    /// The account of that name, or all that are signed in.
    pub(super) async fn named_or_all(&self, name: Option<&str>) -> Result<Vec<Account>> {
        if name.is_some() {
            return Ok(vec![self.accounts.find(name).await?]);
        }
        let all = self.accounts.list().await?;
        match all.len() {
            // Says that nobody is signed in, and how to.
            0 => Ok(vec![self.accounts.find(None).await?]),
            _ => Ok(all),
        }
    }
}
