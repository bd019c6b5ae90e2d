//! The tables, as forward migrations.
//!
//! The database records the number of the last migration that was applied. A new table or column is
//! a new entry at the end of [`MIGRATIONS`]; a released entry is never edited, because existing
//! databases have run it. Migrations cannot be reversed: an older Daysheet refuses a newer
//! database.
//!
//! Column types are only `TEXT` and `BIGINT`, times are seconds since 1970 (microseconds for
//! outputs, to order simultaneous uses) and bytes are Base64 text, so that the same statements
//! create the tables on PostgreSQL. There, a table with owners also gets the rule that a connection
//! sees only the rows of the owner that it has named.

use std::fmt;

use daysheet_core::error::{Error, ErrorKind, Result};
use sqlx::{AnyPool, AssertSqlSafe};

use super::{SCHEMA, StoreEngine};

/// One entry per schema version, from version 1 on: its statements, in order.
const MIGRATIONS: &[&[&str]] = &[
    &[
        "CREATE TABLE settings (
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (owner, name)
    )",
        // The last number issued per kind of handle. Separate from the handles, so that a number is
        // not used again after its row was deleted.
        "CREATE TABLE counters (
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,
        last BIGINT NOT NULL,
        PRIMARY KEY (owner, kind)
    )",
        "CREATE TABLE handles (
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,
        number BIGINT NOT NULL,
        account TEXT NOT NULL,
        provider_id TEXT NOT NULL,
        PRIMARY KEY (owner, kind, number),
        UNIQUE (owner, kind, account, provider_id)
    )",
        // A state is found by its digest, as the state itself may exceed the maximum size of an
        // index key.
        "CREATE TABLE cursors (
        owner TEXT NOT NULL,
        number BIGINT NOT NULL,
        digest TEXT NOT NULL,
        state TEXT NOT NULL,
        saved BIGINT NOT NULL,
        PRIMARY KEY (owner, number),
        UNIQUE (owner, digest)
    )",
        // `lease` is no longer used: locks that end with the process replaced it.
        "CREATE TABLE accounts (
        owner TEXT NOT NULL,
        id TEXT NOT NULL,
        provider TEXT NOT NULL,
        email TEXT NOT NULL,
        scopes TEXT NOT NULL,
        status TEXT NOT NULL,
        problem TEXT,
        added BIGINT NOT NULL,
        sealed TEXT NOT NULL,
        version BIGINT NOT NULL,
        lease BIGINT NOT NULL,
        PRIMARY KEY (owner, id)
    )",
    ],
    // The person whose sign-in opens a mailbox that is shared with them.
    &["ALTER TABLE accounts ADD COLUMN via TEXT"],
    // The tenant at which an account signed in; its refreshes go there, too.
    &["ALTER TABLE accounts ADD COLUMN tenant TEXT"],
    // A digest of the event as the reader last saw it, by its handle's number.
    &["CREATE TABLE seen_events (
        owner TEXT NOT NULL,
        number BIGINT NOT NULL,
        digest TEXT NOT NULL,
        saved BIGINT NOT NULL,
        PRIMARY KEY (owner, number)
    )"],
    // Long answers: the call of each, and if so configured, its sealed text.
    &["CREATE TABLE outputs (
        owner TEXT NOT NULL,
        hash TEXT NOT NULL,
        recipe TEXT NOT NULL,
        body TEXT,
        accounts TEXT NOT NULL,
        saved BIGINT NOT NULL,
        size BIGINT NOT NULL,
        PRIMARY KEY (owner, hash)
    )"],
    &[
        // Every message that was to be sent, recorded before the first byte.
        "CREATE TABLE sends (
        owner TEXT NOT NULL,
        account TEXT NOT NULL,
        draft TEXT NOT NULL,
        message_id TEXT NOT NULL,
        thread TEXT NOT NULL,
        state TEXT NOT NULL,
        sent_id TEXT,
        recipients BIGINT NOT NULL,
        started BIGINT NOT NULL,
        ended BIGINT,
        due BIGINT,
        PRIMARY KEY (owner, account, draft)
    )",
        // The states of messages before they were changed, as JSON.
        "CREATE TABLE undos (
        owner TEXT NOT NULL,
        number BIGINT NOT NULL,
        account TEXT NOT NULL,
        what TEXT NOT NULL,
        state TEXT NOT NULL,
        saved BIGINT NOT NULL,
        PRIMARY KEY (owner, number)
    )",
    ],
    // Short-lived texts, each of which is returned once.
    &["CREATE TABLE tickets (
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        content TEXT NOT NULL,
        expires BIGINT NOT NULL,
        PRIMARY KEY (owner, kind, id)
    )"],
    &[
        // The audit log, one JSON object per line.
        "CREATE TABLE audit (
        owner TEXT NOT NULL,
        number BIGINT NOT NULL,
        at BIGINT NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (owner, number)
    )",
        // The calls that are writing.
        "CREATE TABLE writes (
        owner TEXT NOT NULL,
        number BIGINT NOT NULL,
        what TEXT NOT NULL,
        began BIGINT NOT NULL,
        PRIMARY KEY (owner, number)
    )",
    ],
    // The use that each person made of a server, by day of UTC.
    &["CREATE TABLE usage (
        owner TEXT NOT NULL,
        day TEXT NOT NULL,
        calls BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        PRIMARY KEY (owner, day)
    )"],
    // Addresses that were added to contacts without the user's approval.
    &["CREATE TABLE unapproved (
        owner TEXT NOT NULL,
        account TEXT NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (owner, account, digest)
    )"],
];

/// The name of a table whose rows have owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct TableName(&'static str);

impl TableName {
    /// Returns the name as in statements.
    pub(in crate::store) const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Returns all tables whose rows have owners.
pub(in crate::store) fn tables() -> impl Iterator<Item = TableName> {
    let statements = MIGRATIONS.iter().flat_map(|statements| statements.iter());
    let owned = statements.filter(|it| it.contains("owner TEXT"));
    let names = owned.filter_map(|it| it.strip_prefix("CREATE TABLE ")?.split_whitespace().next());
    names.map(TableName)
}

/// Returns the columns of a table, each with true if it has integers.
pub(in crate::store) fn columns(table: TableName) -> Vec<(&'static str, bool)> {
    let create = format!("CREATE TABLE {table} (");
    let alter = format!("ALTER TABLE {table} ADD COLUMN ");
    let statements = MIGRATIONS.iter().flat_map(|statements| statements.iter());
    let lines = statements.flat_map(|statement| match statement.strip_prefix(&*create) {
        Some(lines) => lines.lines().collect(),
        None => Vec::from_iter(statement.strip_prefix(&*alter)),
    });
    let columns = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        match (words.next()?, words.next()?.trim_end_matches(',')) {
            (name, "BIGINT") => Some((name, true)),
            (name, "TEXT") => Some((name, false)),
            _ => None,
        }
    });
    columns.collect()
}

/// Returns the newest version.
pub(in crate::store) const fn newest() -> usize {
    MIGRATIONS.len()
}

/// Adds row-level security to new tables with owners. It also applies to the database user who owns
/// the tables, usually the one that connects. Work on all owners lists them in the name of
/// [`EVERYBODY`](super::super::EVERYBODY).
const RULES: &str = "DO $$ DECLARE name TEXT; BEGIN \
    FOR name IN SELECT table_name FROM information_schema.columns \
        WHERE table_schema = current_schema() AND column_name = 'owner' AND NOT EXISTS \
            (SELECT 1 FROM pg_policies WHERE schemaname = current_schema() \
             AND tablename = table_name) \
    LOOP \
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name); \
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name); \
        EXECUTE format('CREATE POLICY one_owner ON %I \
            USING (owner = current_setting(''daysheet.owner'', true))', name); \
        EXECUTE format('CREATE POLICY everybody ON %I FOR SELECT \
            USING (current_setting(''daysheet.owner'', true) = ''*'')', name); \
    END LOOP; END $$";

/// Brings the database to the newest version this program knows.
///
/// # Errors
/// [`ErrorKind::Store`] if it is newer already, damaged or cannot be written.
pub(in crate::store) async fn migrate(pool: &AnyPool, engine: &StoreEngine) -> Result<()> {
    // In the common case, an up-to-date database, this is a single read. Anything else, such as a
    // missing table, is checked again under the write lock.
    let seen = sqlx::query_scalar("SELECT version FROM schema_version").fetch_optional(pool).await;
    if engine.is_postgres() && bypasses(pool).await.map_err(|error| engine.broken(&error))? {
        tracing::warn!("{BYPASSES}");
    }
    if let Ok(Some(version)) = seen
        && pending(engine, version)?.is_empty()
    {
        return Ok(());
    }
    let broken = |error: sqlx::Error| engine.broken(&error);
    let mut tx = engine.begin(pool, SCHEMA).await.map_err(broken)?;
    sqlx::query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
        .execute(&mut *tx)
        .await
        .map_err(broken)?;
    let version: Option<i64> = sqlx::query_scalar("SELECT version FROM schema_version")
        .fetch_optional(&mut *tx)
        .await
        .map_err(broken)?;
    for statements in pending(engine, version.unwrap_or(0))? {
        for &statement in *statements {
            let statement = if engine.is_postgres() {
                // Text is ordered by its bytes, as in SQLite.
                statement.replace(" TEXT", " TEXT COLLATE \"C\"")
            } else {
                statement.to_owned()
            };
            sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await.map_err(broken)?;
        }
    }
    if engine.is_postgres() {
        sqlx::query(RULES).execute(&mut *tx).await.map_err(broken)?;
    }
    let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let keep = match version {
        Some(_) => "UPDATE schema_version SET version = $1",
        None => "INSERT INTO schema_version (version) VALUES ($1)",
    };
    sqlx::query(keep).bind(newest).execute(&mut *tx).await.map_err(broken)?;
    tx.commit().await.map_err(broken)
}

/// The warning if row-level security does not apply to the user, which removes the second barrier.
pub(in crate::store) const BYPASSES: &str = "the database's user is a superuser or bypasses row-level \
    security; connect as a user without these rights, so that the server itself keeps people's \
    rows apart";

/// Returns true if row-level security does not apply to the user.
pub(in crate::store) async fn bypasses(pool: &AnyPool) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        .fetch_one(pool)
        .await
}

/// Returns the migrations that a database of `version` lacks.
fn pending(engine: &StoreEngine, version: i64) -> Result<&'static [&'static [&'static str]]> {
    usize::try_from(version).ok().and_then(|version| MIGRATIONS.get(version..)).ok_or_else(|| {
        Error::new(
            ErrorKind::Store,
            format!(
                "{engine} has schema version {version}, but this Daysheet supports up to {}",
                MIGRATIONS.len()
            ),
        )
        .next("update Daysheet, or use another database")
    })
}
