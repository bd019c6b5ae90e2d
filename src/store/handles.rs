//! Handles: short names for providers' long ids.
//!
//! `m12` is the twelfth message that this user was ever shown. A number is issued once and keeps
//! its meaning permanently: it is never used again, even after the account was removed, nor by
//! another process. A handle includes its account, so that a write needs no account argument.
//!
//! Other modules decide which ids get a handle, and which arguments may be handles. Page cursors
//! (`p3`) share the letters and the counters and are in `cursors.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::database::{Store, numbered};
use super::engine::OwnerTransaction;

/// The number of ids in one statement, well below SQLite's limit of 32,766 parameters
/// and PostgreSQL's of 65,535.
const BATCH: usize = 500;

/// The kind of object that a handle denotes. Its letter is the first of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HandleKind {
    /// `m`, a message.
    Message,
    /// `t`, a conversation.
    Thread,
    /// `e`, a calendar event.
    Event,
    /// `a`, an attachment.
    Attachment,
    /// `f`, a folder or label.
    Folder,
    /// `c`, a calendar.
    Calendar,
    /// `d`, a draft.
    Draft,
    /// `r`, a rule.
    Rule,
    /// `u`, the earlier state of changed messages.
    Undo,
    /// `p`, a position in a list.
    Page,
}

impl HandleKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Message,
        Self::Thread,
        Self::Event,
        Self::Attachment,
        Self::Folder,
        Self::Calendar,
        Self::Draft,
        Self::Rule,
        Self::Undo,
        Self::Page,
    ];

    /// Returns the letter that handles of this kind begin with.
    pub const fn prefix(self) -> char {
        match self {
            Self::Message => 'm',
            Self::Thread => 't',
            Self::Event => 'e',
            Self::Attachment => 'a',
            Self::Folder => 'f',
            Self::Calendar => 'c',
            Self::Draft => 'd',
            Self::Rule => 'r',
            Self::Undo => 'u',
            Self::Page => 'p',
        }
    }

    /// Returns the kind with this letter.
    pub fn from_prefix(prefix: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.prefix() == prefix)
    }

    /// Returns the handle with this number, such as `m12`.
    pub fn handle(self, number: u64) -> String {
        format!("{self}{number}")
    }

    /// Reads a handle strictly as [`HandleKind::handle`] writes it: a known lower-case
    /// letter, then a number from 1 on without sign or leading zero. Anything else is
    /// not a handle and may be a provider's id.
    pub fn parse(text: &str) -> Option<(Self, u64)> {
        let mut chars = text.chars();
        let kind = Self::from_prefix(chars.next()?)?;
        let digits = chars.as_str();
        if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // Numbers are stored as 64-bit signed integers, so no handle exceeds them.
        let number: i64 = digits.parse().ok()?;
        Some((kind, u64::try_from(number).ok()?))
    }
}

/// The letter.
impl fmt::Display for HandleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.prefix())
    }
}

impl Store {
    /// Returns the handle numbers of `ids`, provider ids of one account and kind, in the same
    /// order. Known ids keep their numbers, others get the next ones in order. If all are known,
    /// there is no write.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn handles(
        &self,
        account: &AccountId,
        kind: HandleKind,
        ids: &[&str],
    ) -> Result<Vec<u64>> {
        let mut known = self.known_handles(account, kind, ids).await?;
        let mut seen = BTreeSet::new();
        let unknown: Vec<&str> =
            ids.iter().copied().filter(|id| !known.contains_key(*id) && seen.insert(*id)).collect();
        if !unknown.is_empty() {
            self.number(account, kind, &unknown, &mut known).await?;
        }
        ids.iter()
            .map(|id| {
                known
                    .get(*id)
                    .copied()
                    .ok_or_else(|| Error::new(ErrorKind::Internal, "an id has no handle"))
            })
            .collect()
    }

    /// Returns the handle numbers of `ids`, by id. Ids without a handle are omitted.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn known_handles(
        &self,
        account: &AccountId,
        kind: HandleKind,
        ids: &[&str],
    ) -> Result<BTreeMap<String, u64>> {
        let mut known = BTreeMap::new();
        let mut reading = self.connection().await?;
        self.read_handles(&mut reading, account, kind, ids, &mut known).await?;
        Ok(known)
    }

    /// Returns the numbers of the latest handles of a kind, the newest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn latest_handles(&self, kind: HandleKind, most: usize) -> Result<Vec<u64>> {
        let numbers: Vec<i64> = sqlx::query_scalar(
            "SELECT number FROM handles WHERE owner = $1 AND kind = $2 \
             ORDER BY number DESC LIMIT $3",
        )
        .bind(self.owner())
        .bind(kind.prefix().to_string())
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .fetch_all(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(numbers.into_iter().filter_map(|number| u64::try_from(number).ok()).collect())
    }

    /// Returns the account and provider id of a handle, or `None` if it was never issued. The
    /// account may have been removed since.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn resolve(
        &self,
        kind: HandleKind,
        number: u64,
    ) -> Result<Option<(AccountId, String)>> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(None);
        };
        let row: Option<(String, String)> = sqlx::query_as(
            "SELECT account, provider_id FROM handles \
             WHERE owner = $1 AND kind = $2 AND number = $3",
        )
        .bind(self.owner())
        .bind(kind.to_string())
        .bind(number)
        .fetch_optional(&mut *self.connection().await?)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(row.map(|(account, id)| (account.into(), id)))
    }

    /// Gives the handle of `old` to `new`, the id that the same object has now, unless
    /// `new` has one already.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn move_handle(
        &self,
        account: &AccountId,
        kind: HandleKind,
        old: &str,
        new: &str,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE handles SET provider_id = $5 \
             WHERE owner = $1 AND kind = $2 AND account = $3 AND provider_id = $4 \
             AND NOT EXISTS (SELECT 1 FROM handles WHERE owner = $1 AND kind = $2 \
             AND account = $3 AND provider_id = $5)",
        )
        .bind(self.owner())
        .bind(kind.to_string())
        .bind(account.as_str())
        .bind(old)
        .bind(new)
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Gives numbers to `ids`, which are distinct, and adds them to `known`.
    async fn number(
        &self,
        account: &AccountId,
        kind: HandleKind,
        ids: &[&str],
        known: &mut BTreeMap<String, u64>,
    ) -> Result<()> {
        let mut tx = self.writing().await?;
        let first = self.next_number(&mut tx, kind).await?;
        // Only under the counter's lock is it certain which ids are new: another process may just
        // have been shown the same list.
        self.read_handles(&mut tx, account, kind, ids, known).await?;
        let new: Vec<(i64, &str)> =
            (first..).zip(ids.iter().copied().filter(|id| !known.contains_key(*id))).collect();
        for batch in new.chunks(BATCH) {
            let rows = (0..batch.len())
                .map(|row| format!("($1, $2, ${}, $3, ${})", 2 * row + 4, 2 * row + 5));
            let sql = format!(
                "INSERT INTO handles (owner, kind, number, account, provider_id) VALUES {}",
                rows.collect::<Vec<_>>().join(", ")
            );
            // Each number of rows is another statement: cached, they would displace the ones in
            // use.
            let mut insert = sqlx::query(AssertSqlSafe(sql))
                .persistent(false)
                .bind(self.owner())
                .bind(kind.to_string())
                .bind(account.as_str());
            for &(number, id) in batch {
                insert = insert.bind(number).bind(id);
            }
            insert.execute(&mut *tx).await.map_err(|error| self.broken(&error))?;
        }
        if let Some(&(last, _)) = new.last() {
            self.advance(&mut tx, kind, last).await?;
        }
        self.commit(tx).await?;
        // Only after the commit: a number that was not stored must not be shown.
        for (number, id) in new {
            known.insert(id.to_owned(), number.unsigned_abs());
        }
        Ok(())
    }

    /// Adds the handles that `ids` already have to `known`.
    async fn read_handles(
        &self,
        connection: &mut AnyConnection,
        account: &AccountId,
        kind: HandleKind,
        ids: &[&str],
        known: &mut BTreeMap<String, u64>,
    ) -> Result<()> {
        for batch in ids.chunks(BATCH) {
            let sql = format!(
                "SELECT provider_id, number FROM handles \
                 WHERE owner = $1 AND kind = $2 AND account = $3 AND provider_id IN ({})",
                numbered(4, batch.len())
            );
            let mut select = sqlx::query_as(AssertSqlSafe(sql))
                .persistent(false)
                .bind(self.owner())
                .bind(kind.to_string())
                .bind(account.as_str());
            for id in batch {
                select = select.bind(*id);
            }
            let rows: Vec<(String, i64)> =
                select.fetch_all(&mut *connection).await.map_err(|error| self.broken(&error))?;
            known.extend(rows.into_iter().map(|(id, number)| (id, number.unsigned_abs())));
        }
        Ok(())
    }

    /// Returns the next free number of a kind. Locks the kind's counter until the transaction ends,
    /// even in PostgreSQL, where others may write at the same time.
    pub(super) async fn next_number(
        &self,
        tx: &mut OwnerTransaction,
        kind: HandleKind,
    ) -> Result<i64> {
        // An update that changes nothing takes the lock of the row, which a SELECT would not.
        let last: i64 = sqlx::query_scalar(
            "INSERT INTO counters (owner, kind, last) VALUES ($1, $2, 0) \
             ON CONFLICT (owner, kind) DO UPDATE SET last = counters.last \
             RETURNING last",
        )
        .bind(self.owner())
        .bind(kind.to_string())
        .fetch_one(&mut **tx)
        .await
        .map_err(|error| self.broken(&error))?;
        Ok(last + 1)
    }

    /// Records that all numbers of a kind up to `last` are taken.
    pub(super) async fn advance(
        &self,
        tx: &mut OwnerTransaction,
        kind: HandleKind,
        last: i64,
    ) -> Result<()> {
        sqlx::query("UPDATE counters SET last = $3 WHERE owner = $1 AND kind = $2")
            .bind(self.owner())
            .bind(kind.to_string())
            .bind(last)
            .execute(&mut **tx)
            .await
            .map(|_done| ())
            .map_err(|error| self.broken(&error))
    }
}
