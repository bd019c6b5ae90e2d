//! Work on the rows of all owners, and on all rows of one.

use super::{EVERYBODY, Store};
use crate::error::Result;

impl Store {
    /// Returns the owners who have data keys or accounts, in order.
    pub(super) async fn owners(&self) -> Result<Vec<String>> {
        sqlx::query_scalar(
            "SELECT owner FROM settings UNION SELECT owner FROM accounts ORDER BY owner",
        )
        .fetch_all(&mut *self.for_owner(EVERYBODY).connection().await?)
        .await
        .map_err(|error| self.broken(&error))
    }
}
