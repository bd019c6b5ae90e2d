//! Addresses that this program added to contacts without the user's approval. Until the user
//! approves one, only sent mail makes it known.
//!
//! A row has a digest, because addresses are not stored in the clear. Rows stay when their contact
//! is changed or deleted, or its account is signed out: a copy of the contact may still exist.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::compose::people::ascii;
use daysheet_core::error::Result;
use daysheet_core::ids::AccountId;
use sha2::{Digest, Sha256};

use super::super::database::Store;

/// The unapproved addresses of one account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnapprovedAddresses(HashSet<String>);

impl UnapprovedAddresses {
    /// Returns true if an address is unapproved, in any of its forms.
    pub fn has(&self, address: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&digest(address))
    }
}

impl Store {
    /// Returns the unapproved addresses of the account with this id.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn unapproved(&self, account: &AccountId) -> Result<UnapprovedAddresses> {
        let digests: Vec<String> =
            sqlx::query_scalar("SELECT digest FROM unapproved WHERE owner = $1 AND account = $2")
                .bind(self.owner())
                .bind(account.as_str())
                .fetch_all(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
        Ok(UnapprovedAddresses(digests.into_iter().collect()))
    }

    /// Records addresses that are being added to contacts, and the one that the user approved.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn note_unapproved(
        &self,
        account: &AccountId,
        addresses: &[String],
        approved: Option<&str>,
    ) -> Result<()> {
        let mut tx = self.writing().await?;
        for address in addresses {
            sqlx::query(
                "INSERT INTO unapproved (owner, account, digest) VALUES ($1, $2, $3) \
                 ON CONFLICT (owner, account, digest) DO NOTHING",
            )
            .bind(self.owner())
            .bind(account.as_str())
            .bind(digest(address))
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        }
        // After the insertion, as the approved address may be among the added ones.
        if let Some(approved) = approved {
            sqlx::query("DELETE FROM unapproved WHERE owner = $1 AND account = $2 AND digest = $3")
                .bind(self.owner())
                .bind(account.as_str())
                .bind(digest(approved))
                .execute(&mut *tx)
                .await
                .map_err(|error| self.broken(&error))?;
        }
        self.commit(tx).await
    }
}

/// Returns the digest of an address, in lower case and with its domain in ASCII: services may store
/// either form.
fn digest(address: &str) -> String {
    let address = ascii(address).unwrap_or_else(|_not_ascii| address.to_owned());
    STANDARD_NO_PAD.encode(Sha256::digest(address.to_lowercase()))
}
