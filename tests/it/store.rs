//! The store: handles and cursors with stable numbers under concurrency, secrets that open only
//! with the right key, and clear errors for an unusable file.
#![cfg(test)]

mod keys;
mod person;
mod secrets;
#[cfg(unix)]
mod server;
mod upkeep;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use daysheet::store::sends::{PendingSend, SendCaps, SendStart};
use daysheet::store::{AccountRow, HandleKind, SealedText, Store, TicketKind};
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::AccountId;
use daysheet_core::provider::AccountStatus;
use futures_util::future::join_all;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, Connection, SqliteConnection};

use crate::common::postgres;
use crate::support::config;

static MIRA: LazyLock<AccountId> = LazyLock::new(|| "google:mira@example.com".into());

fn store(home: &Path) -> Store {
    Store::new(&config(home, &[]))
}

/// Returns a store in a folder of its own.
fn fresh() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    (home, store)
}

/// Opens a connection to a store's database that bypasses the store.
async fn raw(home: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(home.join("daysheet.db"))
        .busy_timeout(Duration::from_secs(5));
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Opens such a connection to either database, for statements about its only owner's rows.
async fn any(home: &Path) -> AnyConnection {
    sqlx::any::install_default_drivers();
    let file = || format!("sqlite:{}", home.join("daysheet.db").display());
    let database = postgres::database(home);
    let mut connection =
        AnyConnection::connect(&database.clone().unwrap_or_else(file)).await.unwrap();
    if database.is_some() {
        let claim = "SELECT set_config('daysheet.owner', 'local', false)";
        sqlx::query(claim).execute(&mut connection).await.unwrap();
    }
    connection
}

async fn run(home: &Path, sql: &'static str) {
    sqlx::query(sql).execute(&mut any(home).await).await.unwrap();
}

async fn count(home: &Path, table: &'static str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(sql).fetch_one(&mut any(home).await).await.unwrap()
}

#[tokio::test]
async fn handles_are_numbered_in_order_and_for_good() {
    let home = tempfile::tempdir().unwrap();
    let first = store(home.path());
    let kind = HandleKind::Message;
    let numbers = first.handles(&MIRA, kind, &["x", "y", "x", "z"]).await;
    assert_eq!(numbers.unwrap(), [1, 2, 1, 3]);
    // Other accounts and kinds have separate handles.
    assert_eq!(first.handles(&"google:bo@example.com".into(), kind, &["x"]).await.unwrap(), [4]);
    assert_eq!(first.handles(&MIRA, HandleKind::Thread, &["x"]).await.unwrap(), [1]);
    assert_eq!(first.handles(&MIRA, kind, &[]).await.unwrap(), Vec::<u64>::new());

    let again = store(home.path());
    assert_eq!(again.handles(&MIRA, kind, &["z", "new", "x"]).await.unwrap(), [3, 5, 1]);
    let owner = Some((MIRA.clone(), "y".to_owned()));
    assert_eq!(again.resolve(kind, 2).await.unwrap(), owner);
    assert_eq!(again.resolve(kind, 6).await.unwrap(), None);
    assert_eq!(again.resolve(kind, u64::MAX).await.unwrap(), None);
    assert_eq!(again.resolve(HandleKind::Event, 1).await.unwrap(), None);
}

#[test]
fn handles_are_read_strictly() {
    for kind in HandleKind::ALL {
        let handle = kind.handle(12);
        assert_eq!(HandleKind::parse(&handle), Some((kind, 12)));
    }
    for text in [
        "", "m", "12", "m0", "m01", "m+1", "m-1", "m 1", "M1", "x1", "m1 ", "m1a", "mm1", "m１",
        "m9223372036854775808", "m99999999999999999999", "ü1",
    ] {
        assert_eq!(HandleKind::parse(text), None, "{text}");
    }
}

/// Two processes are shown many messages at once: each message gets one number, without duplicates
/// or gaps.
#[test]
fn two_stores_share_one_handle_count() {
    let home = tempfile::tempdir().unwrap();
    let count = |who: usize| {
        let store = store(home.path());
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut numbers = Vec::new();
                // 250 messages of its own, and 250 that the other process is shown, too.
                for start in (0..250).step_by(25) {
                    let own: Vec<String> =
                        (start..start + 25).map(|n| format!("{who}-{n}")).collect();
                    let both: Vec<String> =
                        (start..start + 25).map(|n| format!("both-{n}")).collect();
                    for ids in [own, both] {
                        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                        let new = store.handles(&MIRA, HandleKind::Message, &ids).await;
                        numbers.push(new.unwrap());
                    }
                }
                numbers
            })
        })
    };
    let (one, two) = (count(1), count(2));
    let (one, two) = (one.join().unwrap(), two.join().unwrap());
    for (one, two) in one.iter().zip(&two).skip(1).step_by(2) {
        assert_eq!(one, two, "the same message has the same number for both");
    }
    let all: BTreeSet<u64> = one.into_iter().chain(two).flatten().collect();
    assert_eq!(all, (1..=750).collect());
}

#[tokio::test]
async fn concurrent_stores_assign_each_handle_once() {
    let home = tempfile::tempdir().unwrap();
    let ids: Vec<String> = (0..1000).map(|n| format!("id-{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (left, right) = ids.split_at(500);
    let (one, two) = (store(home.path()), store(home.path()));
    let (one, two) = tokio::join!(
        one.handles(&MIRA, HandleKind::Event, left),
        two.handles(&MIRA, HandleKind::Event, right)
    );
    let all: BTreeSet<u64> = one.unwrap().into_iter().chain(two.unwrap()).collect();
    assert_eq!(all, (1..=1000).collect());
    let again = store(home.path()).handles(&MIRA, HandleKind::Event, &ids).await;
    assert_eq!(again.unwrap().len(), 1000);
}

#[tokio::test]
async fn known_handles_and_cursors_cause_no_write() {
    let _files = crate::common::postgres::in_files();
    let (home, store) = fresh();
    store.handles(&MIRA, HandleKind::Folder, &["a", "b"]).await.unwrap();
    store.save_cursor("page two").await.unwrap();
    // Another connection holds the write lock throughout.
    let mut other = raw(home.path()).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let started = Instant::now();
    assert_eq!(store.handles(&MIRA, HandleKind::Folder, &["b"]).await.unwrap(), [2]);
    assert_eq!(store.save_cursor("page two").await.unwrap(), 1);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn handle_numbers_are_never_reused() {
    let (home, store) = fresh();
    store.handles(&MIRA, HandleKind::Draft, &["a", "b"]).await.unwrap();
    run(home.path(), "DELETE FROM handles").await;
    assert_eq!(store.handles(&MIRA, HandleKind::Draft, &["b"]).await.unwrap(), [3]);
}

#[tokio::test]
async fn cursors_keep_their_number_until_they_expire() {
    let (home, store) = fresh();
    let long = "x".repeat(100_000);
    assert_eq!(store.save_cursor("one").await.unwrap(), 1);
    assert_eq!(store.save_cursor(&long).await.unwrap(), 2);
    assert_eq!(store.save_cursor("one").await.unwrap(), 1);
    assert_eq!(store.cursor(2).await.unwrap(), Some(long.clone()));
    assert_eq!(store.cursor(3).await.unwrap(), None);

    // After two days the cursors are kept, and one of them is used again.
    run(home.path(), "UPDATE cursors SET saved = saved - 172800").await;
    assert_eq!(store.save_cursor("one").await.unwrap(), 1);
    // 29 days later, the first was last used 29 days ago and the second 31.
    run(home.path(), "UPDATE cursors SET saved = saved - 2505600").await;
    assert_eq!(store.save_cursor("three").await.unwrap(), 3);
    assert_eq!(store.cursor(1).await.unwrap().as_deref(), Some("one"));
    assert_eq!(store.cursor(2).await.unwrap(), None);
    assert_eq!(store.save_cursor(&long).await.unwrap(), 4);
}

#[tokio::test]
async fn database_of_a_newer_version_is_named() {
    let _files = crate::common::postgres::in_files();
    let (home, first) = fresh();
    let (_, newest) = first.migrate().await.unwrap();
    run(home.path(), "UPDATE schema_version SET version = 99").await;
    let error = store(home.path()).open().await.unwrap_err();
    let text = format!(
        "{} has schema version 99, but this Daysheet supports up to {newest}: update Daysheet, or \
         use another database",
        home.path().join("daysheet.db").display()
    );
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Store, text));
}

/// Invalid UTF-8 in the database is a permanent error.
#[tokio::test]
async fn text_that_is_not_utf8_is_damage() {
    let _files = crate::common::postgres::in_files();
    let (home, store) = fresh();
    let number = store.handles(&MIRA, HandleKind::Message, &["a"]).await.unwrap()[0];
    store.close().await;
    run(home.path(), "UPDATE handles SET provider_id = CAST(x'61ff' AS TEXT)").await;
    let store = self::store(home.path());
    let error = store.resolve(HandleKind::Message, number).await.unwrap_err();
    assert!(error.message().ends_with("is damaged"), "{error}");
    let next = "restore it from a backup, or move it away and sign in again";
    assert_eq!(error.next_step(), Some(next));
}

/// Makes every new handle fail: in its statement, as on a full disk, which ends the transaction, or
/// on commit, which leaves it open.
async fn break_handles(home: &Path, how: &str) {
    let commits = "INSERT INTO child VALUES (1)";
    let doing = match how {
        "commit" => commits,
        _ => "SELECT RAISE(ROLLBACK, 'no room')",
    };
    for sql in [
        "CREATE TABLE IF NOT EXISTS parent (id INTEGER PRIMARY KEY)".to_owned(),
        "CREATE TABLE IF NOT EXISTS child \
         (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
            .to_owned(),
        format!("CREATE TRIGGER broken AFTER INSERT ON handles BEGIN {doing}; END"),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut raw(home).await).await.unwrap();
    }
}

/// After a temporary error later calls work without a restart, and the error does not suggest
/// moving the file.
#[tokio::test]
async fn failed_write_leaves_the_store_usable() {
    let _files = crate::common::postgres::in_files();
    for how in ["statement", "commit"] {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        let kind = HandleKind::Message;
        assert_eq!(store.handles(&MIRA, kind, &["a"]).await.unwrap(), [1]);
        break_handles(home.path(), how).await;
        // More often than there are connections.
        for _ in 0..6 {
            let error = store.handles(&MIRA, kind, &["b"]).await.unwrap_err();
            let found = (error.kind(), error.next_step());
            assert_eq!(found, (ErrorKind::Store, Some("try again")), "{how}: {error}");
        }
        run(home.path(), "DROP TRIGGER broken").await;
        for (number, id) in (2..).zip(["c", "d", "e", "f", "g", "h"]) {
            let found = store.handles(&MIRA, kind, &[id]).await;
            assert_eq!(found.unwrap(), [number], "{how}");
            store.save_cursor(id).await.unwrap();
        }
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM handles")
            .fetch_one(&mut raw(home.path()).await)
            .await
            .unwrap();
        assert_eq!(left, 7, "{how}");
    }
}

/// A lock that is held too long is an error until it is released.
#[tokio::test]
async fn locked_store_works_again_after_release() {
    let _files = crate::common::postgres::in_files();
    let (home, store) = fresh();
    store.open().await.unwrap();
    let mut other = raw(home.path()).await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
    let kind = HandleKind::Event;
    let started = Instant::now();
    let (one, two) = tokio::join!(store.handles(&MIRA, kind, &["a"]), store.save_cursor("a list"));
    assert!(started.elapsed() >= Duration::from_millis(4_900), "{:?}", started.elapsed());
    for error in [one.unwrap_err(), two.unwrap_err()] {
        let text = format!(
            "{} was in use by another process for too long: try again; if it persists, end other \
             Daysheet processes",
            home.path().join("daysheet.db").display()
        );
        assert_eq!(error.to_string(), text);
    }
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(store.handles(&MIRA, kind, &["a"]).await.unwrap(), [1]);
}

/// Closing writes the log into the database, even while another process has it open; that process
/// keeps working.
#[tokio::test]
async fn closing_leaves_no_write_ahead_log() {
    let _files = crate::common::postgres::in_files();
    let home = tempfile::tempdir().unwrap();
    let wal = home.path().join("daysheet.db-wal");
    let (one, two) = (store(home.path()), store(home.path()));
    two.open().await.unwrap();
    one.handles(&MIRA, HandleKind::Thread, &["a"]).await.unwrap();
    assert!(wal.metadata().unwrap().len() > 0);
    // More requests than connections: some connections return to the pool, some do not.
    let many = (0..32).map(|_| one.handles(&MIRA, HandleKind::Thread, &["a"]));
    for handles in join_all(many).await {
        assert_eq!(handles.unwrap(), [1]);
    }
    one.close().await;
    assert_eq!(wal.metadata().unwrap().len(), 0);
    assert_eq!(two.handles(&MIRA, HandleKind::Thread, &["a", "b"]).await.unwrap(), [1, 2]);
    two.close().await;
    assert!(!wal.exists());
}

/// A line truncated by a full disk does not damage other lines.
#[tokio::test]
async fn truncated_audit_line_spoils_no_other() {
    let _files = crate::common::postgres::in_files();
    let (home, store) = fresh();
    store.append_audit("{\"a\":1}").await.unwrap();
    let path = home.path().join("audit.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}{{\"b\":")).unwrap();
    store.append_audit("{\"c\":3}").await.unwrap();
    store.append_audit("{\"d\":4}").await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "{\"a\":1}\n{\"b\":\n{\"c\":3}\n{\"d\":4}\n");
}

#[tokio::test]
async fn audit_lines_are_of_their_owner_and_the_newest_come_first() {
    let (_home, store) = fresh();
    for store in [&store, &store.for_owner("p-2")] {
        for line in ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"] {
            store.append_audit(line).await.unwrap();
        }
        let lines = async |before, most| -> Vec<(i64, String)> {
            let lines = store.audit_lines(before, most).await.unwrap();
            lines.into_iter().map(|line| (line.number, line.line)).collect()
        };
        let last = [(3, "{\"c\":3}".to_owned()), (2, "{\"b\":2}".to_owned())];
        assert_eq!(lines(None, 2).await, last);
        assert_eq!(lines(Some(2), 9).await, [(1, "{\"a\":1}".to_owned())]);
        assert_eq!(lines(Some(1), 9).await, []);
    }
    assert_eq!(store.for_owner("p-3").audit_lines(None, 9).await.unwrap(), []);
}

/// Unfinished calls of a server's people are reported once their instance has ended, by any other
/// instance, and only to the person who made the call.
#[tokio::test]
async fn calls_of_ended_instances_are_reported_to_their_owner() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (store(home.path()).for_owner("p-2"), store(home.path()).for_owner("p-2"));
    let whats = async |store: &Store| -> Vec<String> {
        store.cut_off().await.into_iter().map(|call| call.what).collect()
    };
    let none = Vec::<String>::new();
    one.begin_writing("ended").await.unwrap().end().await;
    let under_way = one.begin_writing("under way").await.unwrap();
    assert_eq!([whats(&one).await, whats(&two).await].concat(), none);
    drop(one.begin_writing("dropped").await.unwrap());
    let found = async || Some(whats(&two).await).filter(|found| !found.is_empty());
    assert_eq!(until(found).await, ["dropped"]);
    kill(home.path(), "p-2", "'write ' || number", under_way).await;
    assert_eq!(whats(&two.for_owner("p-3")).await, none);
    let both = async || {
        let (first, second) = tokio::join!(whats(&two), whats(&one));
        Some([first, second].concat()).filter(|found| !found.is_empty())
    };
    assert_eq!(until(both).await, ["under way"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let mode = |mode| std::fs::set_permissions(home.path(), PermissionsExt::from_mode(mode));
    mode(0o500).unwrap();
    // Root can write to any folder, so the case cannot occur.
    if std::fs::write(home.path().join("probe"), "").is_err() {
        let error = store(home.path()).open().await.unwrap_err();
        let text = format!(
            "{} cannot be opened for writing (Permission denied (os error 13)): check the folder's \
             permissions, or set DAYSHEET_HOME to another folder",
            home.path().join("daysheet.db").display()
        );
        assert_eq!(error.to_string(), text);
    }
    mode(0o700).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn store_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new/home");
    let store = store(&home);
    store.seal("a", b"secret").await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for file in std::fs::read_dir(&home).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

fn account(sealed: SealedText) -> AccountRow {
    AccountRow {
        id: MIRA.clone(),
        provider: "google".to_owned(),
        email: "mira@example.com".to_owned(),
        via: None,
        tenant: None,
        scopes: String::new(),
        status: AccountStatus::Ok,
        problem: None,
        added: 0,
        sealed,
        version: 0,
    }
}

#[tokio::test]
async fn row_changes_only_from_the_version_read() {
    let (_home, store) = fresh();
    let row = store.put_account(&account(SealedText::stored("f1:one"))).await.unwrap();
    let version = row.version;
    assert!(store.replace_tokens(&MIRA, version, &SealedText::stored("f1:two")).await.unwrap());
    assert!(!store.replace_tokens(&MIRA, version, &SealedText::stored("f1:lost")).await.unwrap());
    let refused = store.refuse_account(&MIRA, version, AccountStatus::Expired, "no").await;
    assert!(!refused.unwrap());
    let row = store.account_row(&MIRA).await.unwrap().unwrap();
    assert_eq!((row.sealed.as_str(), row.status), ("f1:two", AccountStatus::Ok));
    // An account that was removed and added again has a version never used before.
    store.delete_account(&MIRA).await.unwrap();
    let again = store.put_account(&row).await.unwrap();
    assert_ne!(again.version, row.version);
}

/// Waits for a value that another task produces.
async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Ends the holder of a lock as if its process were killed: in PostgreSQL its session, in files the
/// lock itself. `name` is an SQL expression over the table `writes`.
async fn kill<T>(home: &Path, owner: &str, name: &str, holder: T) {
    if postgres::database(home).is_none() {
        return drop(holder);
    }
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_locks LEFT JOIN writes ON true \
         WHERE locktype = 'advisory' AND ((classid::BIGINT << 32) | objid::BIGINT) \
             = hashtextextended(current_schema() || ' ' || {name}, 1)"
    );
    let mut raw = keys::claimed(home, owner).await;
    let killed = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut raw).await.unwrap();
    assert_eq!(killed.len(), 1);
    std::mem::forget(holder);
}

/// Only one process at a time refreshes an account, until it is done or ends.
#[tokio::test]
async fn lock_of_an_account_ends_with_its_holder() {
    let (home, one) = fresh();
    let two = store(home.path());
    one.open().await.unwrap();
    let lock = one.lock_account(&MIRA).await.unwrap().unwrap();
    for other in [&one, &two] {
        assert!(other.lock_account(&MIRA).await.unwrap().is_none());
        for (owner, id) in [("p-2", MIRA.as_str()), ("local", "google:bo@example.com")] {
            let other = other.for_owner(owner);
            until(async || other.lock_account(&id.into()).await.unwrap()).await;
        }
    }
    drop(lock);
    let lock = until(async || two.lock_account(&MIRA).await.unwrap()).await;
    let name = format!("'account local {}'", *MIRA);
    kill(home.path(), "local", &name, lock).await;
    until(async || one.lock_account(&MIRA).await.unwrap()).await;
}

#[tokio::test]
async fn shown_event_versions_are_stored_and_replaced() {
    let home = tempfile::tempdir().unwrap();
    let first = store(home.path());
    first.remember_events(&[(1, [1; 8]), (2, [2; 8])]).await.unwrap();
    first.remember_events(&[(2, [9; 8]), (3, [3; 8]), (3, [4; 8])]).await.unwrap();
    first.remember_events(&[]).await.unwrap();
    let other = store(home.path());
    let mut stored = Vec::new();
    for number in [1, 2, 3, 4, u64::MAX] {
        stored.push(other.seen_event(number).await.unwrap());
    }
    assert_eq!(stored, [Some([1; 8]), Some([9; 8]), Some([4; 8]), None, None]);
    // More rows than fit one statement.
    let many: Vec<_> = (1..=1_200_u64).map(|n| (n, n.to_be_bytes())).collect();
    other.remember_events(&many).await.unwrap();
    assert_eq!(first.seen_event(1_200).await.unwrap(), Some(1_200_u64.to_be_bytes()));
    // Rows of events shown long ago are ignored, and deleted by the next write.
    run(home.path(), "UPDATE seen_events SET saved = 0 WHERE number < 3").await;
    assert_eq!(first.seen_event(1).await.unwrap(), None);
    first.remember_events(&[(3, [5; 8])]).await.unwrap();
    let left: i64 = count(home.path(), "seen_events").await;
    assert_eq!(left, 1_198);
}

/// A database from before calendars were added is migrated.
#[tokio::test]
async fn an_older_database_gets_the_table_of_events() {
    let home = tempfile::tempdir().unwrap();
    store(home.path()).open().await.unwrap();
    for newer in [
        "DROP TABLE seen_events",
        "DROP TABLE outputs",
        "DROP TABLE sends",
        "DROP TABLE undos",
        "DROP TABLE tickets",
        "DROP TABLE audit",
        "DROP TABLE writes",
        "DROP TABLE usage",
        "DROP TABLE unapproved",
        "UPDATE schema_version SET version = 3",
    ] {
        run(home.path(), newer).await;
    }
    let newer = store(home.path());
    newer.remember_events(&[(7, [7; 8])]).await.unwrap();
    assert_eq!(newer.seen_event(7).await.unwrap(), Some([7; 8]));
}

#[tokio::test]
async fn journal_holds_each_draft_once_and_caps_sends() {
    let (home, store) = fresh();
    let caps = SendCaps { messages: 2, recipients: 5 };
    let begin = async |draft: &str, recipients: usize| {
        let sending = PendingSend {
            account: MIRA.clone(),
            draft: draft.into(),
            message_id: format!("{draft}@example.com"),
            thread: "t".into(),
            recipients,
            due: None,
        };
        match store.begin_send(&sending, caps).await {
            Ok(SendStart::Now) => "now".to_owned(),
            Ok(SendStart::Before(before)) => {
                format!("before: {} {:?}", before.sent, before.sent_id)
            }
            Err(error) => error.message().to_owned(),
        }
    };
    let most = |what: &str| format!("the cap of {what} an hour is reached; nothing was sent");
    assert_eq!(begin("d1", 3).await, "now");
    assert_eq!(begin("d1", 3).await, "before: false None");
    assert_eq!(begin("d2", 3).await, most("5 recipients"));
    assert_eq!(begin("d2", 2).await, "now");
    assert_eq!(begin("d3", 0).await, most("2 messages"));
    run(home.path(), "UPDATE sends SET started = started - 3590").await;
    assert_eq!(begin("d3", 0).await, most("2 messages"));
    // Clocks of other instances may be slightly ahead; a row that is a day ahead no longer counts.
    run(home.path(), "UPDATE sends SET started = started + 3590 + 3500").await;
    assert_eq!(begin("d3", 0).await, most("2 messages"));
    run(home.path(), "UPDATE sends SET started = started + 86400").await;
    assert_eq!(begin("d3", 5).await, "now");
    run(home.path(), "UPDATE sends SET started = started - 86400 - 3500 - 3601").await;
    assert_eq!(begin("d6", 0).await, "now");
    run(home.path(), "DELETE FROM sends WHERE draft = 'd6'").await;
    // A row is deleted if its message was certainly not sent, and kept if it was.
    store.note_sent(&MIRA, &"d1".into(), Some(&"m".into())).await.unwrap();
    for draft in ["d1", "d2"] {
        store.forget_unsent(&MIRA, &draft.into()).await.unwrap();
    }
    assert_eq!(begin("d1", 0).await, "before: true Some(\"m\")");
    assert_eq!(begin("d2", 0).await, "now");
    // Rows are kept as long as the same send may be requested again.
    run(home.path(), "UPDATE sends SET started = started - 399 * 86400").await;
    assert_eq!(begin("d4", 0).await, "now");
    assert!(store.journalled(&MIRA, &"d1".into()).await.unwrap().is_some());
    run(home.path(), "UPDATE sends SET started = started - 2 * 86400").await;
    assert_eq!(begin("d5", 0).await, "now");
    assert!(store.journalled(&MIRA, &"d1".into()).await.unwrap().is_none());
}

/// Of many concurrent processes, one sends a draft, one refreshes an account, and no number is
/// assigned twice.
#[tokio::test]
async fn one_of_many_processes_acts() {
    let (home, first) = fresh();
    first.open().await.unwrap();
    let sending = PendingSend {
        account: MIRA.clone(),
        draft: "d".into(),
        message_id: "d@example.com".to_owned(),
        thread: "t".into(),
        recipients: 1,
        due: None,
    };
    let caps = SendCaps { messages: 9, recipients: 9 };
    let acts = (0..8).map(|_| {
        let (store, sending) = (store(home.path()), sending.clone());
        async move {
            let (begun, lock, undo) = tokio::join!(
                store.begin_send(&sending, caps),
                store.lock_account(&MIRA),
                store.keep_undo(MIRA.as_str(), "read", "[]"),
            );
            (begun.unwrap() == SendStart::Now, lock.unwrap(), undo.unwrap())
        }
    });
    let acts = futures_util::future::join_all(acts).await;
    assert_eq!(acts.iter().filter(|(begun, ..)| *begun).count(), 1, "{acts:?}");
    assert_eq!(acts.iter().filter(|(_, lock, _)| lock.is_some()).count(), 1, "{acts:?}");
    let undos: BTreeSet<u64> = acts.iter().map(|(.., undo)| *undo).collect();
    assert_eq!(undos, (1..=8).collect());
}

#[tokio::test]
async fn changes_can_be_undone_for_thirty_days() {
    let (home, store) = fresh();
    assert_eq!(store.keep_undo("a b", "read", "[]").await.unwrap(), 1);
    store.trim_undo(1, Some("[1]")).await.unwrap();
    let stored = Some(("read".to_owned(), "[1]".to_owned()));
    assert_eq!(store.undo(1).await.unwrap(), stored);
    run(home.path(), "UPDATE undos SET saved = saved - 30 * 24 * 60 * 60").await;
    assert_eq!(store.undo(1).await.unwrap(), None);
    // An expired undo is deleted, and its number is not reused.
    assert_eq!(store.keep_undo("a", "star", "[]").await.unwrap(), 2);
    let left: i64 = count(home.path(), "undos").await;
    assert_eq!(left, 1);
    store.trim_undo(2, None).await.unwrap();
    assert_eq!(store.undo(2).await.unwrap(), None);
    assert_eq!(store.keep_undo("a", "star", "[]").await.unwrap(), 3);
    assert_eq!(store.undo_of(&"a".into(), "star").await.unwrap(), Some(3));
    // An undo of a single account is deleted with the account.
    assert_eq!(store.keep_undo("a b", "star", "[]").await.unwrap(), 4);
    store.delete_account(&"a".into()).await.unwrap();
    assert_eq!(store.undo_of(&"a".into(), "star").await.unwrap(), None);
    assert!(store.undo(4).await.unwrap().is_some());
}

#[tokio::test]
async fn signature_is_stored_per_account() {
    let (_home, store) = fresh();
    assert_eq!(store.signature(&"a".into()).await.unwrap(), None);
    store.keep_signature(&"a".into(), "Mira").await.unwrap();
    store.keep_signature(&"a".into(), "Mira Lindqvist").await.unwrap();
    store.keep_signature(&"b".into(), "Team").await.unwrap();
    let stored = store.signature(&"a".into()).await.unwrap();
    assert_eq!(stored.as_deref(), Some("Mira Lindqvist"));
    store.keep_signature(&"a".into(), "").await.unwrap();
    assert_eq!(store.signature(&"a".into()).await.unwrap(), None);
    let other = store.signature(&"b".into()).await.unwrap();
    assert_eq!(other.as_deref(), Some("Team"));
}

#[tokio::test]
async fn unapproved_addresses_are_stored_per_account() {
    let (home, first) = fresh();
    let both = ["eve@\u{fc}bel.example".to_owned(), "Eva@xn--bel-goa.example".to_owned()];
    first.note_unapproved(&"a".into(), &both, None).await.unwrap();
    first.note_unapproved(&"a".into(), &both, Some("EVE@xn--bel-goa.example")).await.unwrap();
    first.note_unapproved(&"b".into(), &both, Some("nobody@\u{fc}bel.example")).await.unwrap();
    let other = store(home.path());
    for (store, account, [eve, eva, nobody]) in [
        (&other, "a", [false, true, false]),
        (&other, "b", [true, true, false]),
        (&other, "c", [false, false, false]),
        (&other.for_owner("p-1"), "a", [false, false, false]),
    ] {
        let unapproved = store.unapproved(&account.into()).await.unwrap();
        let has =
            ["eve", "eva", "nobody"].map(|one| unapproved.has(&format!("{one}@\u{dc}bel.example")));
        assert_eq!(has, [eve, eva, nobody], "{account}");
    }
}

#[tokio::test]
async fn a_ticket_is_given_out_once_to_its_owner() {
    let (home, store) = fresh();
    let id = store.put_ticket(TicketKind::Question, "which one?", 60).await.unwrap();
    let other = store.put_ticket(TicketKind::Question, "which one?", 60).await.unwrap();
    assert_ne!(id, other);
    assert!(id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    assert_eq!(store.for_owner("p-2").take_ticket(TicketKind::Question, &id).await.unwrap(), None);
    assert_eq!(store.take_ticket(TicketKind::Connection, &id).await.unwrap(), None);
    assert_eq!(
        store.peek_ticket(TicketKind::Question, &id).await.unwrap().as_deref(),
        Some("which one?")
    );
    // Another process takes the ticket, and of many takers only one gets it.
    let takers = (0..20).map(|_| {
        let (store, id) = (self::store(home.path()), id.clone());
        async move { store.take_ticket(TicketKind::Question, &id).await.unwrap() }
    });
    let taken = futures_util::future::join_all(takers).await;
    assert_eq!(taken.iter().flatten().collect::<Vec<_>>(), ["which one?"]);
    // An expired ticket cannot be taken; its row is deleted when the next one is stored. Other
    // tickets stay.
    let old = store.put_ticket(TicketKind::Question, "old", 0).await.unwrap();
    assert_eq!(store.take_ticket(TicketKind::Question, &old).await.unwrap(), None);
    assert_eq!(store.peek_ticket(TicketKind::Question, &old).await.unwrap(), None);
    store.put_ticket(TicketKind::Connection, "new", 60).await.unwrap();
    let rows: Vec<String> = sqlx::query_scalar("SELECT content FROM tickets ORDER BY content")
        .fetch_all(&mut any(home.path()).await)
        .await
        .unwrap();
    assert_eq!(rows, ["new", "which one?"]);
}
