//! Work on the rows of all owners: deletion of old ones, migration, backup, and closing. `check.rs` finds
//! damage, and `transfer.rs` moves everything to PostgreSQL.

use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use daysheet_core::error::{Error, ErrorKind, Result};
use sqlx::AssertSqlSafe;

use super::database::{DAY, SERVER, Store};
use super::engine::{StoreEngine, schema};
use super::outputs::MICROSECONDS;
use super::settings::SettingName;
use super::{audit, files};

pub(super) mod check;
pub(super) mod transfer;

/// The days for which the use of each person is stored; limits count a single day.
const USAGE: i64 = 30;
/// The interval of checks for a new day.
const LOOK: Duration = Duration::from_hours(1);

/// The time that closing may wait for other users of the file.
const CLOSING: Duration = Duration::from_secs(2);

impl Store {
    /// Closes the database permanently, at the end of the process. The content of the write-ahead
    /// log is moved into the file itself, as far as other processes allow.
    pub async fn close(&self) {
        let Some(pool) = self.inner.pool.get() else {
            return;
        };
        let closing = async {
            match self.connection().await {
                Ok(mut connection) => {
                    if let Err(error) = self.purge_undos(&mut connection).await {
                        tracing::debug!(%error, "old states were not deleted");
                    }
                    self.inner.engine.finish(&mut connection).await;
                }
                Err(error) => tracing::debug!(%error, "the database was closed as it is"),
            }
            self.inner.ready.close().await;
            pool.close().await;
        };
        // A checkpoint is not required: SQLite reads the write-ahead log at the next opening.
        if tokio::time::timeout(CLOSING, closing).await.is_err() {
            tracing::debug!("the database is in use and was not closed");
        }
    }

    /// Deletes the rows of all owners that are older than the settings allow. Returns their
    /// number.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn purge(&self) -> Result<u64> {
        let mut deleted = 0;
        for owner in self.owners().await? {
            deleted += self.for_owner(&owner).purge_own().await?;
        }
        Ok(deleted)
    }

    /// Does this once a day, in one of all instances.
    pub async fn purge_daily(&self) -> Infallible {
        let server = self.for_owner(SERVER);
        loop {
            let today = (self.now() / DAY).to_string();
            let purge = async {
                // The day is compared under the lock: another instance may just have finished.
                if let Some(_lock) =
                    server.try_lock(SettingName::Purged.to_string(), false, false).await?
                    && server.setting(SettingName::Purged).await?.as_deref() != Some(&today)
                {
                    let deleted = self.purge().await?;
                    tracing::info!("{deleted} old rows were deleted");
                    server.set_setting(SettingName::Purged, &today).await?;
                }
                Ok::<_, Error>(())
            };
            if let Err(error) = purge.await {
                tracing::warn!(%error, "old rows were not deleted");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn purge_own(&self) -> Result<u64> {
        let days = &self.inner.retention;
        let audit = match days.audit {
            // 0 keeps the log forever.
            0 => i64::MIN,
            days => self.too_old(days),
        };
        let mut deleted = 0;
        let mut tx = self.writing().await?;
        for (table, column, oldest) in [
            ("audit", "at", audit),
            ("sends", "started", self.too_old(days.sends)),
            ("undos", "saved", self.too_old(days.undos)),
            ("outputs", "saved", self.too_old(days.outputs) * MICROSECONDS),
            ("cursors", "saved", self.too_old(days.cursors)),
            ("seen_events", "saved", self.too_old(days.cursors)),
            ("tickets", "expires", self.now()),
        ] {
            let sql = format!("DELETE FROM {table} WHERE owner = $1 AND {column} <= $2");
            let done = sqlx::query(AssertSqlSafe(sql))
                .bind(self.owner())
                .bind(oldest)
                .execute(&mut *tx)
                .await
                .map_err(|error| self.broken(&error))?;
            deleted += done.rows_affected();
        }
        let oldest = jiff::Timestamp::from_second(self.now() - USAGE * DAY).unwrap_or_default();
        let done = sqlx::query("DELETE FROM usage WHERE owner = $1 AND day < $2")
            .bind(self.owner())
            .bind(oldest.strftime("%F").to_string())
            .execute(&mut *tx)
            .await
            .map_err(|error| self.broken(&error))?;
        deleted += done.rows_affected();
        self.commit(tx).await?;
        if self.has_files() && days.audit > 0 {
            deleted += audit::purge(self.home(), audit)?;
        }
        Ok(deleted)
    }

    /// Brings the schema up to date. Returns its previous version, if there was one, and the
    /// current one.
    ///
    /// # Errors
    /// Like [`Store::open`].
    pub async fn migrate(&self) -> Result<(Option<i64>, usize)> {
        let before = self.version().await?;
        self.open().await?;
        Ok((before, schema::newest()))
    }

    /// Copies the database, which may be in use, into a new file that only its owner can read.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the file exists, or if the rows are in PostgreSQL: the next step is
    /// the command that backs it up. [`ErrorKind::Store`].
    pub async fn backup(&self, to: &Path) -> Result<()> {
        let named = to.display();
        if let StoreEngine::Postgres(database, _) = &self.inner.engine {
            let mut url = database.url().clone();
            // The command is shown: it must not contain a password.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            let what = "PostgreSQL is backed up with its own tools";
            return Err(Error::argument(what).next(format!(
                "run `pg_dump --format=custom --file='{named}' '{url}'` as a user who bypasses \
                 row-level security"
            )));
        }
        let mut connection = self.connection().await?;
        // SQLite accepts an existing file if it is empty, so the copy gets the private mode of this
        // one.
        let create = files::private_options().create_new(true).open(to);
        let file = create.map_err(|error| {
            Error::argument(format!("{named} cannot be created ({error})"))
                .next("name a file that does not exist, in a folder that does")
        })?;
        let copy = sqlx::query("VACUUM INTO $1").bind(to.to_string_lossy().into_owned());
        let copied = copy.execute(&mut *connection).await.map_err(|error| self.broken(&error));
        let kept = copied.and_then(|_done| {
            file.sync_all().map_err(|error| {
                Error::new(ErrorKind::Store, format!("{named} cannot be written ({error})"))
            })
        });
        if kept.is_err() {
            let _ = std::fs::remove_file(to);
        }
        kept
    }
}
