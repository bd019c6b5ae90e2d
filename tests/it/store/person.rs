//! One person's rows: complete export without secrets, and complete erasure.

use daysheet::store::sends::{PendingSend, SendCaps};
use daysheet::store::{AccountRow, HandleKind, OutputRecord, Store, TicketKind, account_identity};
use daysheet_core::provider::AccountStatus;

use super::keys::claimed;
use super::{MIRA, account, fresh};
use crate::common::clock;
use crate::common::postgres;

/// Adds rows to every table.
pub async fn fill(store: &Store) {
    let tokens = store.seal(&account_identity(&MIRA), b"hunter2").await.unwrap();
    store.put_account(&AccountRow { status: AccountStatus::Ok, ..account(tokens) }).await.unwrap();
    store.handles(&MIRA, HandleKind::Message, &["provider-id"]).await.unwrap();
    store.save_cursor("the state of a list").await.unwrap();
    store.remember_events(&[(1, [1; 8])]).await.unwrap();
    let output = OutputRecord {
        recipe: "{\"tool\":\"mail_search\"}".to_owned(),
        accounts: vec![MIRA.clone()],
        text: Some("a long answer".to_owned()),
    };
    store.save_output("hash", &output).await.unwrap();
    let sending = PendingSend {
        account: MIRA.clone(),
        draft: "d".into(),
        message_id: "m@example.com".to_owned(),
        thread: "t".into(),
        recipients: 2,
        due: None,
    };
    store.begin_send(&sending, SendCaps { messages: 9, recipients: 9 }).await.unwrap();
    store
        .keep_undo(MIRA.as_str(), "star", "[{\"id\":\"x\",\"sealed\":\"d1:hunter2\"}]")
        .await
        .unwrap();
    store.keep_signature(&MIRA, "Mira Lindqvist").await.unwrap();
    store.note_unapproved(&MIRA, &["eve@evil.example".to_owned()], None).await.unwrap();
    store.put_ticket(TicketKind::Question, "hunter2", 60).await.unwrap();
    std::mem::forget(store.begin_writing("mail_send id=d1").await.unwrap());
    store.fence_secret().await.unwrap();
    let today = clock::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    store.add_usage(today, 10).await.unwrap();
}

#[tokio::test]
pub async fn export_has_all_of_one_person_and_no_secret() {
    let (_home, store) = fresh();
    let person = store.for_owner("p-1");
    fill(&person).await;
    fill(&store.for_owner("p-2")).await;
    store.append_audit("{\"tool\":\"mail_send\"}").await.unwrap();
    person.append_audit("{\"tool\":\"mail_draft\"}").await.unwrap();
    let export = person.export().await.unwrap();
    for (table, pointer, value) in [
        ("accounts", "/0/email", "mira@example.com"),
        ("handles", "/0/provider_id", "provider-id"),
        ("cursors", "/0/state", "the state of a list"),
        ("outputs", "/0/body", "a long answer"),
        ("outputs", "/0/recipe/tool", "mail_search"),
        ("sends", "/0/message_id", "m@example.com"),
        ("undos", "/0/state/0/id", "x"),
        ("settings", "/0/value", "Mira Lindqvist"),
    ] {
        let rows = &export[table];
        assert_eq!(rows.as_array().unwrap().len(), 1, "{table}: {rows}");
        assert_eq!(rows.pointer(pointer).unwrap(), value, "{table}");
    }
    for time in ["/outputs/0/saved", "/sends/0/started", "/accounts/0/added", "/exported"] {
        let time: jiff::Timestamp =
            export.pointer(time).unwrap().as_str().unwrap().parse().unwrap();
        assert_eq!(time.as_second(), clock::now().as_second());
    }
    let text = export.to_string();
    assert!(!text.contains("hunter2") && !text.contains("d1:") && !text.contains("p-2"), "{text}");
    assert_eq!(export["audit"], serde_json::json!([{"tool": "mail_draft"}]));
    let local = store.export().await.unwrap();
    assert_eq!(local.pointer("/audit/0/tool").unwrap(), "mail_send");
}

#[tokio::test]
pub async fn erased_person_leaves_no_row_and_no_key() {
    let (home, store) = fresh();
    for owner in ["local", "p-1", "p-2"] {
        fill(&store.for_owner(owner)).await;
    }
    store.append_audit("{}").await.unwrap();
    let sealed = store.seal("x", b"y").await.unwrap();
    store.for_owner("p-1").erase().await.unwrap();
    store.erase().await.unwrap();
    assert!(!home.path().join("audit.jsonl").exists());
    let mut raw = claimed(home.path(), "*").await;
    let list = match postgres::database(home.path()) {
        None => "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%owner TEXT%'",
        Some(_) => {
            "SELECT table_name::TEXT FROM information_schema.columns \
             WHERE table_schema = current_schema() AND column_name = 'owner'"
        }
    };
    let tables: Vec<String> = sqlx::query_scalar(list).fetch_all(&mut raw).await.unwrap();
    assert!(tables.len() > 9, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT DISTINCT owner FROM {table} ORDER BY owner");
        let owners: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&mut raw).await.unwrap();
        let expected = match table.as_str() {
            "settings" => vec!["p-2", "server"],
            _ => vec!["p-2"],
        };
        // The audit log of the machine's user is in files.
        let expected = if table == "audit" { Vec::new() } else { expected };
        assert_eq!(owners, expected, "{table}");
    }
    // An earlier copy can no longer be decrypted, and the person can start anew.
    let error = store.unseal("x", &sealed).await.unwrap_err();
    assert_eq!(error.message(), "the secrets of x cannot be decrypted with the current key");
    fill(&store).await;
    let other = store.for_owner("p-2").account_row(&MIRA).await.unwrap().unwrap();
    let tokens = store.for_owner("p-2").unseal(&account_identity(&MIRA), &other.sealed).await;
    assert_eq!(tokens.unwrap(), b"hunter2");
}
