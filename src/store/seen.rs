//! Digests of events as the reader last saw them, by handle.
//!
//! A change of an event is refused if the event has changed since it was displayed. Digests are
//! deleted like cursors, after the same time; the callers define them.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use daysheet_core::error::Result;
use sqlx::AssertSqlSafe;

use super::database::{DAY, Store, numbered};
use super::settings::SettingName;

/// The number of rows in one statement.
const BATCH: usize = 500;

/// The seconds for which untrusted text counts as shown.
const STRANGERS: i64 = 24 * 60 * 60;

impl Store {
    /// Records that untrusted text is shown now.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn note_strangers(&self) -> Result<()> {
        self.set_setting(SettingName::StrangersShown, &self.now().to_string()).await
    }

    /// Returns true if untrusted text was shown within a day, by any process.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn strangers_lately(&self) -> Result<bool> {
        let shown = self.setting(SettingName::StrangersShown).await?;
        let shown = shown.and_then(|shown| shown.parse::<i64>().ok());
        Ok(shown.is_some_and(|shown| shown + STRANGERS > self.now()))
    }

    /// Stores the digests of displayed events, by handle number.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn remember_events(&self, shown: &[(u64, [u8; 8])]) -> Result<()> {
        let now = self.now();
        let mut digests: HashMap<i64, String> = shown
            .iter()
            .filter_map(|(number, digest)| {
                let number = i64::try_from(*number).ok()?;
                Some((number, STANDARD_NO_PAD.encode(digest)))
            })
            .collect();
        let mut numbers: Vec<i64> = digests.keys().copied().collect();
        numbers.sort_unstable();
        // A record of the last day is recent enough, so that a repeated call writes nothing.
        for batch in numbers.chunks(BATCH) {
            let sql = format!(
                "SELECT number, digest FROM seen_events \
                 WHERE owner = $1 AND saved > $2 AND number IN ({})",
                numbered(3, batch.len())
            );
            let mut select = sqlx::query_as(AssertSqlSafe(sql))
                .persistent(false)
                .bind(self.owner())
                .bind(now - DAY);
            for number in batch {
                select = select.bind(*number);
            }
            let known: Vec<(i64, String)> = select
                .fetch_all(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
            for (number, digest) in known {
                if digests.get(&number) == Some(&digest) {
                    digests.remove(&number);
                }
            }
        }
        let mut new: Vec<(i64, String)> = digests.into_iter().collect();
        if new.is_empty() {
            return Ok(());
        }
        new.sort_unstable();
        let mut tx = self.writing().await?;
        sqlx::query("DELETE FROM seen_events WHERE owner = $1 AND saved <= $2")
            .bind(self.owner())
            .bind(self.too_old(self.inner.retention.cursors))
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        for batch in new.chunks(BATCH) {
            let rows =
                (0..batch.len()).map(|row| format!("($1, ${}, ${}, $2)", 2 * row + 3, 2 * row + 4));
            let sql = format!(
                "INSERT INTO seen_events (owner, number, digest, saved) VALUES {} \
                 ON CONFLICT (owner, number) DO UPDATE \
                 SET digest = excluded.digest, saved = excluded.saved",
                rows.collect::<Vec<_>>().join(", ")
            );
            let mut insert =
                sqlx::query(AssertSqlSafe(sql)).persistent(false).bind(self.owner()).bind(now);
            for (number, digest) in batch {
                insert = insert.bind(*number).bind(digest.as_str());
            }
            insert.execute(&mut *tx).await.map_err(|error| self.broken(&error))?;
        }
        self.commit(tx).await
    }

    /// Returns the digest of the event with this handle number when it was last displayed, or
    /// `None` if it was not displayed, or too long ago.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn seen_event(&self, number: u64) -> Result<Option<[u8; 8]>> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        let digest: Option<String> = sqlx::query_scalar(
            "SELECT digest FROM seen_events WHERE owner = $1 AND number = $2 AND saved > $3",
        )
        .bind(self.owner())
        .bind(number)
        .bind(self.too_old(self.inner.retention.cursors))
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(digest.and_then(|text| {
            let bytes = STANDARD_NO_PAD.decode(text).ok()?;
            bytes.try_into().ok()
        }))
    }
}
