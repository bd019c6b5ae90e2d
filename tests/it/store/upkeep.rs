//! Maintenance of a database: old rows, backups, checks, and the move to PostgreSQL.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use daysheet::config::{Config, KeyStore};
use daysheet::store::{HandleKind, SealedText, Store, account_identity};
use daysheet_core::clock::Clock;
use daysheet_core::error::ErrorKind;
use jiff::SignedDuration;

use super::keys::{claimed, gone, old_text};
use super::person::fill;
use super::{MIRA, account, fresh, run, store};
use crate::common::clock;
use crate::common::postgres;
use crate::support::config;

/// The SQLite tests also hold for PostgreSQL.
#[test]
fn upkeep_is_done_on_postgresql() {
    postgres::over(&[
        old_rows_are_deleted_as_the_settings_say,
        failed_purge_is_repeated_on_the_same_day,
        check_names_what_is_broken,
        check_creates_nothing,
    ]);
}

#[tokio::test]
async fn old_rows_are_deleted_as_the_settings_say() {
    let (home, first) = fresh();
    for owner in ["local", "p-1"] {
        fill(&first.for_owner(owner)).await;
    }
    let settings = ["SENDS", "UNDOS", "OUTPUTS", "CURSORS", "AUDIT"].map(|kind| {
        (format!("DAYSHEET_RETENTION_{kind}"), if kind == "SENDS" { "30" } else { "9" })
    });
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, days)| (&**key, *days)).collect();
    // Tables with a limit of 9 days, and of 30; `left` is the number of remaining rows in each.
    let lately = ["undos", "outputs", "cursors", "seen_events"];
    for (days, [left, left_of_month]) in [(8, [1, 1]), (10, [0, 1]), (29, [0, 1]), (31, [0, 0])] {
        let later = Clock::fixed(clock::now() + SignedDuration::from_hours(24 * days));
        let store = Store::new(&Config { clock: later, ..config(home.path(), &settings) });
        store.purge().await.unwrap();
        let mut raw = claimed(home.path(), "p-1").await;
        let of_month = ["sends", "usage"].map(|table| (table, left_of_month));
        for (table, left) in lately.map(|table| (table, left)).into_iter().chain(of_month) {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE owner = 'p-1'");
            let found: i64 =
                sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut raw).await.unwrap();
            assert_eq!(found, left, "{table} after {days} days");
        }
        // Permanent rows stay.
        let person = store.for_owner("p-1");
        assert!(person.resolve(HandleKind::Message, 1).await.unwrap().is_some());
    }
}

/// A failed daily deletion is retried on the same day.
#[tokio::test]
async fn failed_purge_is_repeated_on_the_same_day() {
    let (home, store) = fresh();
    store.open().await.unwrap();
    let purged = async || {
        let purging = store.purge_daily();
        let _ = tokio::time::timeout(Duration::from_millis(500), purging).await;
        let mut raw = claimed(home.path(), "server").await;
        let sql = "SELECT COUNT(*) FROM settings WHERE name = 'purged'";
        sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut raw).await.unwrap() == 1
    };
    run(home.path(), "ALTER TABLE sends RENAME TO elsewhere").await;
    assert!(!purged().await);
    run(home.path(), "ALTER TABLE elsewhere RENAME TO sends").await;
    assert!(purged().await);
}

/// Checking for a missing database does not create one.
#[tokio::test]
async fn check_creates_nothing() {
    let home = tempfile::tempdir().unwrap();
    let error = store(home.path()).check().await.unwrap_err();
    let next = "check where the state is, or run `daysheet store migrate`";
    assert_eq!(error.next_step(), Some(next));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    if let Some(url) = postgres::database(home.path()) {
        let tables = "SELECT table_name::TEXT FROM information_schema.tables \
                      WHERE table_schema = current_schema()";
        assert_eq!(postgres::texts(&url, tables), Vec::<String>::new());
    }
}

/// Old lines of the file are deleted, too, without losing lines added meanwhile.
#[test]
fn old_audit_lines_are_deleted_under_those_who_write() {
    let home = tempfile::tempdir().unwrap();
    let old = "{\"time\":\"2020-01-01T00:00:00Z\"}";
    let work = |purges: bool| {
        let home = home.path().to_owned();
        std::thread::spawn(move || {
            let _files = postgres::in_files();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let store = Store::new(&config(&home, &[("DAYSHEET_RETENTION_AUDIT", "30")]));
            runtime.block_on(async {
                store.fence_secret().await.unwrap();
                for _ in 0..100 {
                    if purges {
                        store.purge().await.unwrap();
                    } else {
                        store.append_audit(old).await.unwrap();
                        store.append_audit("{\"new\":1}").await.unwrap();
                    }
                }
            });
        })
    };
    let threads: Vec<_> = [true, false, false].map(work).into_iter().collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    work(true).join().unwrap();
    let text = std::fs::read_to_string(home.path().join("audit.jsonl")).unwrap();
    assert_eq!(text, "{\"new\":1}\n".repeat(200));
}

#[tokio::test]
async fn migration_says_from_which_version() {
    let home = tempfile::tempdir().unwrap();
    let (before, newest) = store(home.path()).migrate().await.unwrap();
    assert_eq!(before, None);
    assert_eq!(store(home.path()).migrate().await.unwrap(), (i64::try_from(newest).ok(), newest));
}

#[tokio::test]
async fn backup_is_private_and_can_be_restored() {
    let home = tempfile::tempdir().unwrap();
    let first = Store::at(home.path(), KeyStore::File, clock::clock());
    fill(&first.for_owner("p-1")).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("daysheet.db");
    // Another connection writes meanwhile.
    let other = Store::at(home.path(), KeyStore::File, clock::clock());
    let (done, _) = tokio::join!(first.backup(&copy), other.save_cursor("meanwhile"));
    done.unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let error = first.backup(&copy).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    std::fs::copy(home.path().join("key"), elsewhere.path().join("key")).unwrap();
    let restored = Store::at(elsewhere.path(), KeyStore::File, clock::clock());
    let found = restored.check().await.unwrap();
    // The stored test state is not actually sealed.
    assert_eq!(found.problems, [format!("1 earlier state of p-1 {LOST}")]);
    let row = restored.for_owner("p-1").account_row(&MIRA).await.unwrap().unwrap();
    let tokens = restored.for_owner("p-1").unseal(&account_identity(&MIRA), &row.sealed).await;
    assert_eq!(tokens.unwrap(), b"hunter2");
}

const LOST: &str = "cannot be decrypted: they are damaged, or their data key is lost; a backup of \
                    the database has them";

#[tokio::test]
async fn check_names_what_is_broken() {
    let (home, first) = fresh();
    for owner in ["local", "p-1"] {
        fill(&first.for_owner(owner)).await;
    }
    run(home.path(), "UPDATE undos SET state = '[]'").await;
    let found = store(home.path()).check().await.unwrap();
    assert!(found.warnings.is_empty(), "{found:?}");
    // The earlier state of p-1 names a key that does not exist.
    let expected = match postgres::database(home.path()) {
        None => vec![],
        Some(_) => vec![format!("1 earlier state of p-1 {LOST}")],
    };
    assert_eq!(found.problems, expected, "{found:?}");
    assert_eq!(found.rows["p-1"].iter().find(|(table, _)| *table == "accounts").unwrap().1, 1);
    assert!(found.sealed >= 4, "{found:?}");
    run(home.path(), "UPDATE accounts SET sealed = 'd1:00000000:AAAA' WHERE owner = 'local'").await;
    let found = store(home.path()).check().await.unwrap();
    assert_eq!(found.problems[0], format!("1 set of tokens of local {LOST}"), "{found:?}");
    let other = STANDARD.encode([9; 32]);
    let other = Store::new(&config(home.path(), &[("DAYSHEET_KEYS_VALUE", &other)]));
    std::fs::remove_file(home.path().join("key")).unwrap();
    let found = other.check().await.unwrap().problems;
    let gone = gone(found[0].split(' ').nth(3).unwrap());
    let sealed = [
        format!("1 long answer of local cannot be decrypted: {gone}"),
        format!("1 set of tokens of local {LOST}"),
    ];
    let of_person = ["long answer", "set of tokens"]
        .map(|what| format!("1 {what} of p-1 cannot be decrypted: {gone}"));
    assert_eq!(found, [vec![gone], sealed.to_vec(), expected, of_person.to_vec()].concat());
}

/// The rows of all owners arrive, and secrets sealed earlier can be opened in the new database.
#[test]
fn sqlite_is_moved_to_postgresql() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Some(server) = postgres::server() else {
        return;
    };
    let there = tempfile::tempdir().unwrap();
    let schema = postgres::schema_of(server, there.path());
    runtime.block_on(moved(&path, &schema));
}

async fn moved(home: &Path, database: &str) {
    let here = Store::at(home, KeyStore::File, clock::clock());
    let old = old_text(home);
    fill(&here.for_owner("p-1")).await;
    here.put_account(&account(SealedText::stored(old))).await.unwrap();
    let many: Vec<String> = (0..1_200).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    here.handles(&MIRA, HandleKind::Message, &many).await.unwrap();
    let sent = "{\"time\":\"2026-01-01T00:00:00Z\",\"tool\":\"mail_send\"}";
    here.append_audit(sent).await.unwrap();
    let key = std::fs::read_to_string(home.join("key")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let settings = [("DAYSHEET_DATABASE", database), ("DAYSHEET_KEYS_VALUE", key.trim())];
    let target = Store::new(&config(elsewhere.path(), &settings));
    assert_eq!(target.transfer(&here).await.unwrap_err().kind(), ErrorKind::Argument);
    let moved = here.transfer(&target).await.unwrap();
    assert!(moved.owners >= 2 && moved.rows > 1_210, "{moved:?}");
    let again = here.transfer(&target).await.unwrap_err();
    assert!(again.message().ends_with(" already has rows of local"), "{again}");
    let identity = account_identity(&MIRA);
    for (owner, tokens) in [("local", "token"), ("p-1", "hunter2")] {
        let target = target.for_owner(owner);
        let row = target.account_row(&MIRA).await.unwrap().unwrap();
        assert_eq!(target.unseal(&identity, &row.sealed).await.unwrap(), tokens.as_bytes());
    }
    assert_eq!(
        target.handles(&MIRA, HandleKind::Message, &["7", "new"]).await.unwrap(),
        [8, 1_201]
    );
    let lines = target.audit_lines(None, 9).await.unwrap();
    let lines: Vec<_> = lines.iter().map(|line| line.line.as_str()).collect();
    assert_eq!(lines, [sent]);
    assert!(here.account_row(&MIRA).await.unwrap().is_some());
}
