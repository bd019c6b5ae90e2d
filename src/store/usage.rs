//! The use that each person makes of a server per day (UTC). All instances check daily limits
//! against it.

use daysheet_core::error::Result;
use jiff::civil::Date;

use super::database::Store;

impl Store {
    /// Adds a call and the tokens of its answer to a day.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn add_usage(&self, day: Date, tokens: usize) -> Result<()> {
        sqlx::query(
            "INSERT INTO usage (owner, day, calls, tokens) VALUES ($1, $2, 1, $3) \
             ON CONFLICT (owner, day) DO UPDATE SET \
                 calls = usage.calls + 1, tokens = usage.tokens + excluded.tokens",
        )
        .bind(self.owner())
        .bind(day.to_string())
        .bind(i64::try_from(tokens).unwrap_or(i64::MAX))
        .execute(&mut *self.connection().await?)
        .await
        .map(|_done| ())
        .map_err(|error| self.broken(&error))
    }

    /// Returns the tokens of all answers of a day.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](daysheet_core::error::ErrorKind::Store).
    pub async fn tokens_used(&self, day: Date) -> Result<usize> {
        let tokens: Option<i64> =
            sqlx::query_scalar("SELECT tokens FROM usage WHERE owner = $1 AND day = $2")
                .bind(self.owner())
                .bind(day.to_string())
                .fetch_optional(&mut *self.connection().await?)
                .await
                .map_err(|error| self.broken(&error))?;
        Ok(usize::try_from(tokens.unwrap_or(0)).unwrap_or(0))
    }
}
