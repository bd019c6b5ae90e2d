//! The store in PostgreSQL: the same guarantees as with SQLite, and those specific to a server.

use std::path::Path;
use std::time::{Duration, Instant};

use daysheet::store::{HandleKind, SealedText, Store, TicketKind};
use daysheet_core::error::ErrorKind;
use daysheet_core::ids::AccountId;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};

use super::{MIRA, account, any, fresh, store};
use crate::common::postgres::{self, Cluster};
use crate::support::config;

/// The SQLite tests also hold for PostgreSQL.
#[test]
fn promises_hold_on_postgresql() {
    postgres::over(&[
        super::handles_are_numbered_in_order_and_for_good,
        super::two_stores_share_one_handle_count,
        super::concurrent_stores_assign_each_handle_once,
        super::handle_numbers_are_never_reused,
        super::cursors_keep_their_number_until_they_expire,
        super::row_changes_only_from_the_version_read,
        super::shown_event_versions_are_stored_and_replaced,
        super::an_older_database_gets_the_table_of_events,
        super::journal_holds_each_draft_once_and_caps_sends,
        super::one_of_many_processes_acts,
        super::changes_can_be_undone_for_thirty_days,
        super::signature_is_stored_per_account,
        super::unapproved_addresses_are_stored_per_account,
        super::a_ticket_is_given_out_once_to_its_owner,
        super::audit_lines_are_of_their_owner_and_the_newest_come_first,
        super::calls_of_ended_instances_are_reported_to_their_owner,
        super::lock_of_an_account_ends_with_its_holder,
        tokens_of_a_day_are_counted_for_their_owner,
        cancelled_transactions_undo_no_later_write,
        one_persons_writes_take_one_connection,
        instances_that_start_at_once_create_the_tables_once,
        a_statement_without_an_owner_sees_no_other_owners_rows,
    ]);
}

async fn number(connection: &mut AnyConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await.unwrap()
}

/// Fills some tables for an owner.
async fn fill(store: &Store) {
    store.put_account(&account(SealedText::stored("f1:one"))).await.unwrap();
    store.handles(&MIRA, HandleKind::Message, &["a", "b"]).await.unwrap();
    store.save_cursor("page two").await.unwrap();
    store.keep_undo(MIRA.as_str(), "read", "[]").await.unwrap();
    store.remember_events(&[(1, [1; 8])]).await.unwrap();
    store.put_ticket(TicketKind::Question, "which one?", 60).await.unwrap();
    store.append_audit("{}").await.unwrap();
    store.begin_writing("mail_send id=d1").await.unwrap();
    store.fence_secret().await.unwrap();
}

#[tokio::test]
async fn instances_that_start_at_once_create_the_tables_once() {
    let home = tempfile::tempdir().unwrap();
    let starts = (0..8).map(|_| {
        let store = store(home.path());
        async move { store.handles(&MIRA, HandleKind::Event, &["a"]).await.unwrap() }
    });
    for numbers in futures_util::future::join_all(starts).await {
        assert_eq!(numbers, [1]);
    }
}

/// Row-level security is a second barrier: PostgreSQL shows a connection only one owner's rows.
#[tokio::test]
async fn a_statement_without_an_owner_sees_no_other_owners_rows() {
    let (home, store) = fresh();
    fill(&store).await;
    fill(&store.for_owner("p-2")).await;
    if postgres::database(home.path()).is_none() {
        return;
    }
    let mut raw = any(home.path()).await;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::TEXT FROM information_schema.columns \
         WHERE table_schema = current_schema() AND column_name = 'owner'",
    )
    .fetch_all(&mut raw)
    .await
    .unwrap();
    assert!(tables.len() > 8, "{tables:?}");
    for table in &tables {
        let locked = format!(
            "SELECT count(*) FROM pg_class WHERE oid = '{table}'::regclass \
             AND relrowsecurity AND relforcerowsecurity"
        );
        assert_eq!(number(&mut raw, &locked).await, 1, "{table}");
        let others = format!("SELECT count(*) FROM {table} WHERE owner <> 'local'");
        assert_eq!(number(&mut raw, &others).await, 0, "{table}");
    }
    let handles = "SELECT count(*) FROM handles";
    assert_eq!(number(&mut raw, handles).await, 2);
    // Rows of other owners cannot be changed or inserted either.
    let all = sqlx::query("UPDATE handles SET provider_id = provider_id || '!'");
    assert_eq!(all.execute(&mut raw).await.unwrap().rows_affected(), 2);
    let theirs = "INSERT INTO counters (owner, kind, last) VALUES ('p-2', 'x', 1)";
    let error = sqlx::query(theirs).execute(&mut raw).await.unwrap_err();
    let text =
        "error returned from database: new row violates row-level security policy for table ";
    assert!(error.to_string().starts_with(text), "{error}");
    sqlx::query("DELETE FROM handles").execute(&mut raw).await.unwrap();
    let claim = async |raw: &mut AnyConnection, owner: &str| {
        let claim = format!("SELECT set_config('daysheet.owner', '{owner}', false)");
        sqlx::query(AssertSqlSafe(claim)).execute(raw).await.unwrap();
    };
    claim(&mut raw, "p-2").await;
    assert_eq!(number(&mut raw, handles).await, 2);
    // On behalf of all owners, rows can be read but not changed.
    claim(&mut raw, "*").await;
    assert_eq!(number(&mut raw, "SELECT count(DISTINCT owner) FROM accounts").await, 2);
    let none = sqlx::query("DELETE FROM handles").execute(&mut raw).await.unwrap();
    assert_eq!(none.rows_affected(), 0);
    // A connection without an owner sees no rows.
    let mut nobody =
        AnyConnection::connect(&postgres::database(home.path()).unwrap()).await.unwrap();
    assert_eq!(number(&mut nobody, "SELECT count(*) FROM accounts").await, 0);
}

#[tokio::test]
async fn tokens_of_a_day_are_counted_for_their_owner() {
    let (_home, store) = fresh();
    let day = "2026-11-16".parse().unwrap();
    for (owner, tokens) in [("p-1", 5), ("p-2", 7), ("p-1", 6)] {
        store.for_owner(owner).add_usage(day, tokens).await.unwrap();
    }
    for (owner, tokens) in [("p-1", 11), ("p-2", 7), ("p-3", 0)] {
        let owner = store.for_owner(owner);
        assert_eq!(owner.tokens_used(day).await.unwrap(), tokens);
        assert_eq!(owner.tokens_used(day.tomorrow().unwrap()).await.unwrap(), 0);
    }
}

/// A call dropped while its transaction begins must not leave the transaction open on its
/// connection: later writes on that connection would never be committed.
#[tokio::test]
async fn cancelled_transactions_undo_no_later_write() {
    let (home, first) = fresh();
    first.open().await.unwrap();
    for polls in (0..60).chain(0..60) {
        let mut write = Box::pin(first.save_cursor("x"));
        for _ in 0..polls {
            if futures_util::poll!(&mut write).is_ready() {
                break;
            }
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    }
    let names: Vec<AccountId> = (0..8).map(|number: u8| number.to_string().into()).collect();
    let writes = names.iter().map(|name| first.keep_signature(name, "Mira"));
    for done in futures_util::future::join_all(writes).await {
        done.unwrap();
    }
    let other = store(home.path());
    for name in names {
        assert!(other.signature(&name).await.unwrap().is_some(), "{name}");
    }
}

/// Idle connections closed by the server are replaced unnoticed, and lost locks are taken again.
#[test]
fn ended_connections_are_replaced() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let url = cluster.url("daysheet", "daysheet");
    let (one, two) = (at(home.path(), &url), at(home.path(), &url));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let many = async || {
            let many = (0..4).map(|_| one.handles(&MIRA, HandleKind::Message, &["a"]));
            for numbers in futures_util::future::join_all(many).await {
                assert_eq!(numbers.unwrap(), [1]);
            }
        };
        many().await;
        let _lock = one.lock_account(&MIRA).await.unwrap().unwrap();
        let admin = cluster.url("postgres", "postgres");
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'daysheet'";
        postgres::run(&admin, end);
        many().await;
        // A lock that another process may have held before is not available for a while.
        assert!(one.lock_account(&"google:bo@example.com".into()).await.unwrap().is_none());
        assert!(two.lock_account(&MIRA).await.unwrap().is_none());
        assert!(two.lock_account(&"google:bo@example.com".into()).await.unwrap().is_some());
        one.begin_writing("mail_send").await.unwrap().end().await;
    });
}

/// Connections to a hanging server are dropped and replaced.
#[test]
fn hanging_connections_are_replaced() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let store = at(home.path(), &cluster.url("daysheet", "daysheet"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        fill(&store).await;
        for pause in [0, 1_100] {
            let admin = cluster.url("postgres", "postgres");
            let ours = "SELECT pid::TEXT FROM pg_stat_activity WHERE usename = 'daysheet'";
            let pids = postgres::texts(&admin, ours);
            let signal = |name: &str| {
                let done = std::process::Command::new("kill").arg(name).args(&pids).status();
                assert!(done.unwrap().success());
            };
            tokio::time::sleep(Duration::from_millis(pause)).await;
            signal("-STOP");
            let started = Instant::now();
            // An idle connection is tested; on a connection in use the first statement fails.
            let done = match pause {
                0 => store.account_row(&MIRA).await.map(drop),
                _ => store.save_cursor("x").await.map(drop),
            };
            signal("-CONT");
            done.unwrap();
            // Five seconds for each connection tried.
            assert!(started.elapsed() < Duration::from_secs(16), "{:?}", started.elapsed());
        }
    });
}

/// However much one person writes at once, other people get connections.
#[tokio::test]
async fn one_persons_writes_take_one_connection() {
    let (home, store) = fresh();
    if postgres::database(home.path()).is_none() {
        return;
    }
    store.open().await.unwrap();
    let mut raw = any(home.path()).await;
    let lock = "SELECT pg_advisory_lock(hashtextextended('local', 0))";
    sqlx::query(lock).execute(&mut raw).await.unwrap();
    let writes: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.save_cursor("x").await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let other = store.for_owner("p-1");
    let read = tokio::time::timeout(Duration::from_secs(1), other.account_rows()).await;
    raw.close().await.unwrap();
    assert!(read.is_ok());
    for write in writes {
        write.await.unwrap().unwrap();
    }
}

/// A start waits longer for a running migration than for other locks.
#[test]
fn migrations_wait_for_each_other() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let url = cluster.url("daysheet", "daysheet");
    let store = at(home.path(), &url);
    let migrating = std::thread::spawn(move || {
        let lock = "SELECT pg_advisory_lock(hashtextextended('schema', 0)); SELECT pg_sleep(6)";
        postgres::run(&url, lock);
    });
    std::thread::sleep(Duration::from_millis(500));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.open()).unwrap();
    migrating.join().unwrap();
}

fn at(home: &Path, url: &str) -> Store {
    Store::new(&config(home, &[("DAYSHEET_DATABASE", url)]))
}

/// The store waits for a restarting server. An unreachable one is named, and all calls work once it
/// is back.
#[test]
fn a_restarted_server_is_met_again() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let store = at(home.path(), &cluster.url("daysheet", "daysheet"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        fill(&store).await;
        // Several connections, all of which break.
        let many = (0..4).map(|_| store.handles(&MIRA, HandleKind::Message, &["a"]));
        futures_util::future::join_all(many).await;
        let restart = tokio::task::spawn_blocking(move || {
            cluster.restart_after(Duration::from_secs(1));
            cluster
        });
        let started = Instant::now();
        let mut last = 0;
        while !restart.is_finished() || last == 0 {
            let id = format!("id-{last}");
            match store.handles(&MIRA, HandleKind::Message, &[&id]).await {
                Ok(numbers) => last = numbers[0],
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Store);
                    assert!(error.next_step().unwrap().starts_with("try again"), "{error}");
                    assert!(error.message().starts_with("PostgreSQL at"), "{error}");
                }
            }
            assert!(started.elapsed() < Duration::from_secs(30));
        }
        let cluster = restart.await.unwrap();
        assert_eq!(store.handles(&MIRA, HandleKind::Message, &["b"]).await.unwrap(), [2]);
        store.close().await;
        drop(cluster);
    });
}

/// Errors of a server are reported without the password.
#[test]
fn unusable_servers_are_named() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let admin = cluster.url("postgres", "postgres");
    postgres::run(&admin, "CREATE ROLE few LOGIN CONNECTION LIMIT 0");
    postgres::run(&admin, "CREATE ROLE guest LOGIN");
    postgres::run(&admin, "CREATE DATABASE still");
    postgres::run(&admin, "ALTER DATABASE still SET default_transaction_read_only = on");
    let gone = "postgres://mira:hunter2@127.0.0.1:1/daysheet".to_owned();
    let cases = [
        (
            gone,
            "PostgreSQL at 127.0.0.1:1 (database daysheet) does not respond (connection refused)",
        ),
        (cluster.url("daysheet", "nothing"), "does not have this database"),
        (cluster.url("nobody", "daysheet"), "refuses the user or the password"),
        (cluster.url("few", "daysheet"), "has no connection left"),
        (cluster.url("guest", "daysheet"), "does not give the user the rights it needs"),
        (cluster.url("postgres", "still"), "is read-only"),
    ];
    let home = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(futures_util::future::join_all(cases.map(|(url, words)| {
        let store = at(home.path(), &format!("{url}{}", secret(&url)));
        async move {
            let error = store.open().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Store);
            assert!(error.message().ends_with(words), "{words}: {error}");
            assert!(error.next_step().is_some(), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    })));
}

/// Returns a password for the query of a socket's URL.
fn secret(url: &str) -> &'static str {
    if url.contains('?') { "&password=hunter2" } else { "" }
}
