//! Transfer of the rows of all owners from SQLite to PostgreSQL.

use daysheet_core::error::{Error, ErrorKind, Result};
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::super::audit::AuditLine;
use super::super::database::{SERVER, Store, numbered};
use super::super::engine::schema::TableName;
use super::super::engine::{OwnerTransaction, schema};

/// The number of rows per statement.
const BATCH: usize = 500;
/// The table of the audit log, which with SQLite is a file for the user of this machine.
const AUDIT: &str = "audit";

/// The outcome of a move.
#[derive(Debug, Default)]
pub struct TransferOutcome {
    /// The number of owners.
    pub owners: usize,
    /// The number of rows.
    pub rows: usize,
}

impl Store {
    /// Copies the rows of all owners into `target`, which is in PostgreSQL, in one transaction.
    /// Sealed texts do not change, and data keys are copied under the same master key. This
    /// database's rows do not change; other writes to it wait.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `target` has rows of one of the owners, or either database is of the
    /// wrong kind; [`ErrorKind::Store`]. No row was copied in these cases.
    pub async fn transfer(&self, target: &Self) -> Result<TransferOutcome> {
        if self.inner.engine.is_postgres() || !target.inner.engine.is_postgres() {
            return Err(Error::argument("rows can only be moved from SQLite to PostgreSQL")
                .next("leave `database` unset, and set --to to the new one"));
        }
        let mut moved = TransferOutcome::default();
        let owners: Vec<String> =
            self.owners().await?.into_iter().filter(|owner| owner != SERVER).collect();
        for owner in &owners {
            // The key file stays in this folder, but the texts that it sealed have to be readable
            // elsewhere.
            self.for_owner(owner).seal_old_keys().await?;
        }
        let mut source = self.writing().await?;
        let pool = target.pool().await?;
        let engine = &target.inner.engine;
        let broken = |error: sqlx::Error| target.broken(&error);
        let mut tx = engine.begin(pool, SERVER).await.map_err(broken)?;
        // The data keys arrive sealed with this key, so that instances with another one must
        // notice.
        let in_use = self.master_name(&mut source).await?;
        sqlx::query(
            "INSERT INTO settings (owner, name, value) SELECT $1, 'master_key', $2 \
             WHERE $2 <> '' ON CONFLICT (owner, name) DO NOTHING",
        )
        .bind(SERVER)
        .bind(in_use)
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
        for owner in &owners {
            engine.claim(&mut tx, owner).await.map_err(broken)?;
            for table in schema::tables() {
                moved.rows += self.copy(&mut source, target, &mut tx, owner, table).await?;
            }
            moved.owners += 1;
        }
        target.commit(tx).await?;
        Ok(moved)
    }

    /// Returns the name of the master key in use, or an empty text.
    async fn master_name(&self, source: &mut AnyConnection) -> Result<String> {
        let sql = "SELECT value FROM settings WHERE owner = $1 AND name = 'master_key'";
        let name: Option<String> = sqlx::query_scalar(sql)
            .bind(SERVER)
            .fetch_optional(source)
            .await
            .map_err(|error| self.broken(&error))?;
        Ok(name.unwrap_or_default())
    }

    /// Copies the owner's rows of a table. Returns their number.
    async fn copy(
        &self,
        source: &mut OwnerTransaction,
        target: &Self,
        tx: &mut OwnerTransaction,
        owner: &str,
        table: TableName,
    ) -> Result<usize> {
        if count(target, tx, owner, table).await? > 0 {
            return Err(Error::argument(format!(
                "{} already has rows of {owner}",
                target.inner.engine
            ))
            .next("use an empty database"));
        }
        let columns = schema::columns(table);
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        let sql = format!("SELECT {names} FROM {table} WHERE owner = $1");
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(owner)
            .fetch_all(&mut **source)
            .await
            .map_err(|error| self.broken(&error))?;
        let mut cells = Vec::new();
        for row in &rows {
            let mut values = Vec::new();
            for (at, (_, integer)) in columns.iter().enumerate() {
                let cell = if *integer {
                    row.try_get(at).map(DatabaseValue::Integer)
                } else {
                    row.try_get(at).map(DatabaseValue::Text)
                };
                values.push(cell.map_err(|error| self.broken(&error))?);
            }
            cells.push(values);
        }
        if table.name() == AUDIT && self.for_owner(owner).has_files() {
            cells.extend(audit_lines(self, owner, &columns).await?);
        }
        for batch in cells.chunks(BATCH) {
            let width = columns.len();
            let lists: Vec<String> = (0..batch.len())
                .map(|nth| format!("({})", numbered(nth * width + 1, width)))
                .collect();
            let sql = format!("INSERT INTO {table} ({names}) VALUES {}", lists.join(", "));
            let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            for cell in batch.iter().flatten() {
                insert = match cell {
                    DatabaseValue::Integer(number) => insert.bind(*number),
                    DatabaseValue::Text(text) => insert.bind(text.clone()),
                };
            }
            insert.execute(&mut **tx).await.map_err(|error| target.broken(&error))?;
        }
        // The rows are counted in the same transaction, so a difference rolls everything back.
        let arrived = count(target, tx, owner, table).await?;
        if usize::try_from(arrived) != Ok(cells.len()) {
            let what = format!("only {arrived} of {} rows of {table} arrived", cells.len());
            return Err(Error::new(ErrorKind::Store, what).next("nothing was moved; try again"));
        }
        Ok(cells.len())
    }
}

/// A value of a row.
enum DatabaseValue {
    Integer(Option<i64>),
    Text(Option<String>),
}

/// Returns the lines of the audit log's file as rows.
async fn audit_lines(
    store: &Store,
    owner: &str,
    columns: &[(&'static str, bool)],
) -> Result<Vec<Vec<DatabaseValue>>> {
    let lines = store.audit_lines(None, usize::MAX).await?;
    let rows = lines.into_iter().rev().map(|AuditLine { number, at, line }| {
        let cell = |name: &str| match name {
            "owner" => DatabaseValue::Text(Some(owner.to_owned())),
            "number" => DatabaseValue::Integer(Some(number)),
            "at" => DatabaseValue::Integer(Some(at)),
            _ => DatabaseValue::Text(Some(line.clone())),
        };
        columns.iter().map(|(name, _)| cell(name)).collect()
    });
    Ok(rows.collect())
}

/// Returns the number of the owner's rows in a table of the target.
async fn count(
    target: &Store,
    tx: &mut OwnerTransaction,
    owner: &str,
    table: TableName,
) -> Result<i64> {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {table} WHERE owner = $1")))
        .bind(owner)
        .fetch_one(&mut **tx)
        .await
        .map_err(|error| target.broken(&error))
}
