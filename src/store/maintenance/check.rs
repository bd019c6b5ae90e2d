//! Detection of damage in a database, without changing it.

use std::collections::BTreeMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::text::counted;
use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::super::cipher::SealedText;
use super::super::database::{EVERYBODY, Store};
use super::super::engine::schema;
use super::super::secrets::account_identity;

/// The findings, without personal data: owners who sign in are named by a digest.
#[derive(Debug, Default)]
pub struct CheckFindings {
    /// The place of the rows.
    pub place: String,
    /// The version of the schema.
    pub version: usize,
    /// The number of rows per owner and table.
    pub rows: BTreeMap<String, Vec<(&'static str, i64)>>,
    /// The master key in use and its place, if it is available.
    pub master: Option<String>,
    /// The number of sealed texts whose keys are available.
    pub sealed: usize,
    /// Advice on a database that works.
    pub warnings: Vec<String>,
    /// Damage.
    pub problems: Vec<String>,
}

/// The version of a database that may not be open yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreState {
    /// The place of the rows, without a password.
    pub place: String,
    /// The version of its schema; `None` for a new database.
    pub version: Option<i64>,
    /// The version that this program needs.
    pub newest: i64,
    /// True if the first statement creates the database.
    pub is_new: bool,
}

impl StoreState {
    /// Returns true if opening the database does not change it.
    pub fn is_current(&self) -> bool {
        self.version == Some(self.newest)
    }
}

impl Store {
    /// Returns the version of the database, without changing anything.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be read.
    pub async fn state(&self) -> Result<StoreState> {
        let version = self.version().await?;
        let is_empty = || std::fs::metadata(self.path()).map_or(true, |file| file.len() == 0);
        Ok(StoreState {
            place: self.inner.engine.to_string(),
            version,
            newest: i64::try_from(schema::newest()).unwrap_or(i64::MAX),
            is_new: version.is_none() && (self.inner.engine.is_postgres() || is_empty()),
        })
    }

    /// Returns the name and place of the master key in use, if there is one yet. The database must be
    /// of this version.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] or [`ErrorKind::Config`] if the key is missing or cannot be read.
    pub async fn named_key(&self) -> Result<Option<String>> {
        self.key_in_use().await
    }

    /// Checks that the database is intact, that every sealed text can be opened, and in PostgreSQL
    /// that row-level security separates the rows of owners.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be read, or has another version.
    pub async fn check(&self) -> Result<CheckFindings> {
        let mut found = CheckFindings {
            place: self.inner.engine.to_string(),
            version: schema::newest(),
            ..CheckFindings::default()
        };
        // Opening the store would migrate the database, and thus change it.
        if self.version().await? != i64::try_from(found.version).ok() {
            let what = format!("{} has no tables, or not those of this version", found.place);
            let next = "check where the state is, or run `daysheet store migrate`";
            return Err(Error::new(ErrorKind::Store, what).next(next));
        }
        if self.inner.engine.is_postgres() {
            self.check_rules(&mut found).await?;
        } else {
            let findings: Vec<String> = self.texts("PRAGMA integrity_check").await?;
            found.problems.extend(findings.into_iter().filter(|line| line != "ok"));
        }
        for table in schema::tables() {
            let sql = format!("SELECT owner, COUNT(*) FROM {table} GROUP BY owner");
            let counts: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(sql))
                .fetch_all(&mut *self.for_owner(EVERYBODY).connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
            for (owner, count) in counts {
                found.rows.entry(owner).or_default().push((table.name(), count));
            }
        }
        match self.key_in_use().await {
            Ok(master) => found.master = master,
            Err(error) => found.problems.push(error.to_string()),
        }
        let owners: Vec<String> = found.rows.keys().cloned().collect();
        for owner in owners {
            self.for_owner(&owner).check_sealed(&mut found).await?;
        }
        Ok(found)
    }

    async fn check_rules(&self, found: &mut CheckFindings) -> Result<()> {
        let open = self.texts(
            "SELECT relname::TEXT FROM pg_class JOIN information_schema.columns \
             ON table_name = relname AND table_schema = current_schema() AND column_name = 'owner' \
             WHERE relnamespace = current_schema()::regnamespace \
               AND NOT (relrowsecurity AND relforcerowsecurity)",
        );
        let open = open.await?.into_iter();
        found.problems.extend(open.map(|table| format!("row-level security is off for {table}")));
        let pool = self.pool().await?;
        if schema::bypasses(pool).await.map_err(|error| self.broken(&error))? {
            found.warnings.push(schema::BYPASSES.to_owned());
        }
        Ok(())
    }

    /// Opens all sealed texts of the owner. Earlier states are bound to names that the store does
    /// not know, so only their keys are opened.
    async fn check_sealed(&self, found: &mut CheckFindings) -> Result<()> {
        let mut failed: BTreeMap<(&str, &str), (usize, String)> = BTreeMap::new();
        // One problem per kind of text is enough: thousands may share a lost key.
        let mut count = |what, problem: Option<String>| match problem {
            None => found.sealed += 1,
            Some(why) => failed.entry(what).or_insert((0, why)).0 += 1,
        };
        for account in self.account_rows().await? {
            let opened = self.unseal(&account_identity(&account.id), &account.sealed).await;
            let problem = self.unopened(opened.is_ok(), &account.sealed).await;
            count(("set of tokens", "sets of tokens"), problem);
        }
        let outputs: Vec<(String, String)> =
            sqlx::query_as("SELECT hash, body FROM outputs WHERE owner = $1 AND body IS NOT NULL")
                .bind(self.owner())
                .fetch_all(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
        for (hash, body) in outputs {
            let body = SealedText::stored(body);
            let opened = self.open_sealed(&hash, &body).await;
            count(("long answer", "long answers"), self.unopened(opened.is_ok(), &body).await);
        }
        let states: Vec<String> = sqlx::query_scalar("SELECT state FROM undos WHERE owner = $1")
            .bind(self.owner())
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))?;
        for state in states {
            let mut sealed = Vec::new();
            texts_in(&serde_json::from_str(&state).unwrap_or_default(), &mut sealed);
            for text in sealed {
                let keys = self.opening_keys(&text).await;
                let opened = keys.is_ok_and(|(keys, _)| !keys.is_empty());
                count(("earlier state", "earlier states"), self.unopened(opened, &text).await);
            }
        }
        let owner = self.owner();
        found.problems.extend(failed.into_iter().map(|((one, many), (count, why))| {
            format!("{} of {owner} cannot be decrypted: {why}", counted(count, one, many))
        }));
        Ok(())
    }

    /// Returns the reason why a text could not be opened, unless it was `opened`, with the next
    /// step. The error of opening it is not used, because that names the account.
    async fn unopened(&self, opened: bool, sealed: &SealedText) -> Option<String> {
        if opened {
            return None;
        }
        match self.opening_keys(sealed).await {
            Err(error) => Some(error.to_string()),
            Ok(_) => Some(
                "they are damaged, or their data key is lost; a backup of the database has them"
                    .to_owned(),
            ),
        }
    }

    async fn texts(&self, sql: &'static str) -> Result<Vec<String>> {
        sqlx::query_scalar(sql)
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(|error| self.broken(&error))
    }
}

/// Collects the sealed texts in a state.
fn texts_in(value: &Value, into: &mut Vec<SealedText>) {
    match value {
        Value::Object(members) => {
            into.extend(members.get("sealed").and_then(Value::as_str).map(SealedText::stored));
            members.values().for_each(|value| texts_in(value, into));
        }
        Value::Array(items) => items.iter().for_each(|value| texts_in(value, into)),
        _ => {}
    }
}
