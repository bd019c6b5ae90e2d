//! The signatures of accounts whose provider does not expose them, by account.
//!
//! A signature is HTML or plain text by the user, and leaves this store only in messages.

use daysheet_core::error::Result;
use daysheet_core::ids::AccountId;

use super::super::database::Store;
use super::super::settings::SettingName;

impl Store {
    /// Returns the signature of the account with this id, if any.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn signature(&self, account: &AccountId) -> Result<Option<String>> {
        self.setting(SettingName::Signature(account.as_str())).await
    }

    /// Stores the signature of the account with this id; an empty one removes it.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn keep_signature(&self, account: &AccountId, text: &str) -> Result<()> {
        let name = SettingName::Signature(account.as_str());
        if text.is_empty() {
            self.remove_setting(name).await
        } else {
            self.set_setting(name, text).await
        }
    }
}
