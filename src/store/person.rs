//! Decisions of a single owner: their access level, and the export and erasure of their rows.

use daysheet_core::access::AccessLevel;
use daysheet_core::error::Result;
use serde_json::{Map, Value, json};
use sqlx::{AssertSqlSafe, Column, Row};

use super::audit;
use super::cipher::SealedText;
use super::database::Store;
use super::engine::schema::{self, TableName};
use super::settings::SettingName;

/// The columns that an export omits: keys, tokens, and internal values of the store.
const INTERNAL: &[&str] = &["owner", "sealed", "lease", "version", "digest", "size"];
/// The tables that an export omits: tickets, and calls in progress. The audit log is added
/// separately.
const UNREAD: &[&str] = &["tickets", "writes", "audit"];
/// The settings that an export omits.
const KEYS: &[&str] = &["data_keys", "derive_root", "key_store", "master_key"];
/// The columns with times.
const TIMES: &[&str] = &["added", "saved", "started", "ended", "due", "expires", "at", "began"];
/// The value from which times are in microseconds; as seconds it would be in the year 5138.
const MICROSECONDS: i64 = 100_000_000_000;

impl Store {
    /// Returns the access level that the owner allows, or `None` if they have set none.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn own_access(&self) -> Result<Option<AccessLevel>> {
        // An unknown word must not allow everything.
        let level = self.setting(SettingName::OwnAccess).await?;
        Ok(level.map(|word| AccessLevel::find(&word).unwrap_or(AccessLevel::Read)))
    }

    /// Stores the access level that the owner allows.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn set_own_access(&self, level: AccessLevel) -> Result<()> {
        self.set_setting(SettingName::OwnAccess, level.word()).await
    }

    /// Deletes all rows of the owner in all tables, including the data keys. The owner can start
    /// again. Grants at the providers stay, unless the accounts were removed first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store): at most the audit log was
    /// deleted.
    pub async fn erase(&self) -> Result<()> {
        // The file comes first: if it cannot be deleted, the rows stay, and erasing can be
        // repeated.
        if self.has_files() {
            audit::erase(self.home())?;
        }
        let mut tx = self.writing().await?;
        for table in schema::tables() {
            sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE owner = $1")))
                .bind(self.owner())
                .execute(&mut *tx)
                .await
                .map_err(|error| self.broken(&error))?;
        }
        self.commit(tx).await
    }

    /// Returns everything about the owner as JSON, with a list of rows per table, without tokens
    /// and keys. Times are in RFC 3339. Sealed texts are decrypted if their key is available.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn export(&self) -> Result<Value> {
        let mut export = Map::new();
        export.insert("owner".to_owned(), self.owner().into());
        export.insert("exported".to_owned(), time(self.now()));
        for table in schema::tables().filter(|table| !UNREAD.contains(&table.name())) {
            let rows =
                sqlx::query(AssertSqlSafe(format!("SELECT * FROM {table} WHERE owner = $1")))
                    .bind(self.owner())
                    .fetch_all(&mut *self.connection().await?)
                    .await
                    .map_err(|error| self.broken(&error))?;
            let mut readable = Vec::new();
            for row in &rows {
                let mut object = Map::new();
                for (at, column) in row.columns().iter().enumerate() {
                    let value = match row.try_get::<Option<i64>, _>(at) {
                        Ok(number) => number.map_or(Value::Null, Value::from),
                        Err(_text) => row
                            .try_get::<Option<String>, _>(at)
                            .map_err(|error| self.broken(&error))?
                            .map_or(Value::Null, Value::from),
                    };
                    object.insert(column.name().to_owned(), value);
                }
                readable.extend(self.readable(table, object).await);
            }
            export.insert(table.to_string(), readable.into());
        }
        let lines = self.audit_lines(None, usize::MAX).await?;
        let lines = lines.iter().rev().filter_map(|one| serde_json::from_str(&one.line).ok());
        export.insert("audit".to_owned(), lines.collect::<Vec<Value>>().into());
        Ok(export.into())
    }

    /// Returns a row in its exported form, or `None` if exports omit it.
    async fn readable(&self, table: TableName, mut row: Map<String, Value>) -> Option<Value> {
        let text = |row: &Map<String, Value>, name: &str| {
            row.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        if table.name() == "settings" && text(&row, "name").is_some_and(|it| KEYS.contains(&&*it)) {
            return None;
        }
        if table.name() == "outputs"
            && let (Some(hash), Some(body)) = (text(&row, "hash"), text(&row, "body"))
        {
            let opened = self.open_sealed(&hash, &SealedText::stored(body)).await;
            row.insert("body".to_owned(), opened.map_or(Value::Null, Value::from));
        }
        row.retain(|name, _| !INTERNAL.contains(&name.as_str()));
        for (name, value) in &mut row {
            if let Some(number) = value.as_i64().filter(|_| TIMES.contains(&name.as_str())) {
                *value = time(number);
            }
            // Recipes and earlier states are JSON.
            let object = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            if let Some(mut object) =
                object.filter(|object| object.is_object() || object.is_array())
            {
                drop_sealed(&mut object);
                *value = object;
            }
        }
        Some(json!(row))
    }
}

/// Returns a time as RFC 3339.
fn time(stored: i64) -> Value {
    let time = if stored >= MICROSECONDS {
        jiff::Timestamp::from_microsecond(stored)
    } else {
        jiff::Timestamp::from_second(stored)
    };
    time.map_or(Value::Null, |time| time.to_string().into())
}

/// Removes sealed texts from JSON.
fn drop_sealed(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| name != "sealed");
            members.values_mut().for_each(drop_sealed);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_sealed),
        _ => {}
    }
}
