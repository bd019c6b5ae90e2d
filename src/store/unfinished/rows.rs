//! Calls that are writing, as rows: where several instances serve several people.
//!
//! A row names its instance, and instances say every few seconds that they are there, by the
//! database's clock. The rows of one that has been silent for a minute are of calls that were
//! cut off; any instance reports them, to their owner.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::super::random::random;
use super::super::{SERVER, Store};
use super::CutOff;
use crate::error::Result;

/// How often an instance says that it is there.
const BEAT: Duration = Duration::from_secs(15);
/// The seconds of silence after which it counts as ended.
const SILENCE: i64 = 60;
/// The seconds after which it is forgotten.
const FORGOTTEN: i64 = 24 * 60 * 60;

/// The name of this instance, once it has begun to write.
pub(in crate::store) type Instance = OnceCell<String>;

impl Store {
    /// Adds a row for a call; returns its number.
    pub(in crate::store) async fn add_write(&self, what: &str) -> Result<i64> {
        let instance = self.instance().await?;
        let number = i64::from_le_bytes(random()?);
        sqlx::query(
            "INSERT INTO writes (owner, number, instance, what, began) \
             VALUES ($1, $2, $3, $4, unixepoch())",
        )
        .bind(self.owner())
        .bind(number)
        .bind(instance)
        .bind(what)
        .execute(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(number)
    }

    /// Removes the row of a call that is over.
    pub(in crate::store) async fn remove_write(&self, number: i64) -> Result<()> {
        sqlx::query("DELETE FROM writes WHERE owner = $1 AND number = $2")
            .bind(self.owner())
            .bind(number)
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }

    /// Marks the row of a call that was dropped before its end: it is of no instance. If
    /// nothing can be done any more, this instance ends, and its silence says the same.
    pub(in crate::store) fn disown_write(&self, number: i64) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let store = self.clone();
        runtime.spawn(async move {
            let disown = async {
                sqlx::query("UPDATE writes SET instance = '' WHERE owner = $1 AND number = $2")
                    .bind(store.owner())
                    .bind(number)
                    .execute(&mut *store.connection().await?)
                    .await
                    .map_err(|error| store.broken(&error))
            };
            if let Err(error) = disown.await {
                tracing::warn!(%error, "a call that was cut off is not noted as such");
            }
        });
    }

    /// Returns and forgets the owner's calls of instances that have ended.
    pub(in crate::store) async fn take_cut_off(&self) -> Result<Vec<CutOff>> {
        // Most times there are none, and nothing is written.
        let ended: Vec<i64> = sqlx::query_scalar(
            "SELECT number FROM writes WHERE owner = $1 AND NOT EXISTS ( \
                 SELECT 1 FROM instances \
                 WHERE id = writes.instance AND seen > unixepoch() - $2)",
        )
        .bind(self.owner())
        .bind(SILENCE)
        .fetch_all(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        let mut found = Vec::new();
        for number in ended {
            // Of several instances that look at once, one gets it.
            let call: Option<(String, i64)> = sqlx::query_as(
                "DELETE FROM writes WHERE owner = $1 AND number = $2 RETURNING what, began",
            )
            .bind(self.owner())
            .bind(number)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
            found.extend(call.map(|(what, began)| CutOff { what, began }));
        }
        Ok(found)
    }

    /// Returns the name of this instance; from the first time on, it says that it is there.
    async fn instance(&self) -> Result<&str> {
        let id = self.inner.instance.get_or_try_init(|| async {
            let id = format!("{:032x}", u128::from_le_bytes(random()?));
            self.beat(&id).await?;
            let (weak, own) = (Arc::downgrade(&self.inner), id.clone());
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(BEAT).await;
                    let Some(inner) = weak.upgrade() else {
                        return;
                    };
                    if inner.pool.get().is_some_and(sqlx::Pool::is_closed) {
                        return;
                    }
                    let store = Self { owner: SERVER.into(), inner };
                    if let Err(error) = store.beat(&own).await {
                        tracing::warn!(%error, "the instance could not say that it is there");
                    }
                }
            });
            Ok(id)
        });
        id.await.map(String::as_str)
    }

    async fn beat(&self, id: &str) -> Result<()> {
        let mut connection = self.connection().await?;
        sqlx::query("DELETE FROM instances WHERE seen <= unixepoch() - $1")
            .bind(FORGOTTEN)
            .execute(&mut *connection)
            .await
            .map_err(|error| self.broken(&error))?;
        sqlx::query(
            "INSERT INTO instances (id, seen) VALUES ($1, unixepoch()) \
             ON CONFLICT (id) DO UPDATE SET seen = excluded.seen",
        )
        .bind(id)
        .execute(&mut *connection)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Says that this instance has ended.
    pub(in crate::store) async fn end_instance(&self) -> Result<()> {
        let Some(id) = self.inner.instance.get() else {
            return Ok(());
        };
        sqlx::query("DELETE FROM instances WHERE id = $1")
            .bind(id)
            .execute(&mut *self.connection().await?)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }
}
