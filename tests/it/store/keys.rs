//! Two levels of keys: each owner's data key under a master key from any source, and replacement of
//! keys under concurrent use.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use daysheet::store::{SealedText, Store, account_identity};
use sqlx::AnyConnection;

use super::person;
use super::secrets::key_of;
use super::{MIRA, account, any, store};
use crate::common::postgres;
use crate::support::config;

const PEOPLE: [&str; 3] = ["local", "p-1", "p-2"];

/// Returns a key of equal bytes, as lists contain it.
fn key(byte: u8) -> String {
    STANDARD.encode([byte; 32])
}

/// The SQLite tests also hold for PostgreSQL.
#[test]
fn keys_and_people_are_kept_on_postgresql() {
    postgres::over(&[
        every_owner_has_a_data_key_of_their_own,
        texts_of_older_versions_can_be_opened,
        given_master_keys_are_used_and_wrong_ones_named,
        given_master_key_is_replaced_step_by_step,
        own_master_key_is_replaced_while_others_work,
        replacements_at_once_agree,
        instances_with_different_keys_are_refused,
        unused_master_key_can_be_corrected,
        person::export_has_all_of_one_person_and_no_secret,
        person::erased_person_leaves_no_row_and_no_key,
    ]);
}

/// Opens a connection to either database that sees an owner's rows.
pub async fn claimed(home: &Path, owner: &str) -> AnyConnection {
    let mut connection = any(home).await;
    if postgres::database(home).is_some() {
        let claim = "SELECT set_config('daysheet.owner', $1, false)";
        sqlx::query(claim).bind(owner).execute(&mut connection).await.unwrap();
    }
    connection
}

/// Returns the row with an owner's data keys.
async fn data_keys(home: &Path, owner: &str) -> String {
    let sql = "SELECT value FROM settings WHERE name = 'data_keys' AND owner = $1";
    let mut raw = claimed(home, owner).await;
    sqlx::query_scalar(sql).bind(owner).fetch_one(&mut raw).await.unwrap()
}

/// Writes the row with an owner's data keys.
async fn put_data_keys(home: &Path, owner: &str, value: &str) {
    let sql = "INSERT INTO settings (owner, name, value) VALUES ($1, 'data_keys', $2) \
               ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value";
    let mut raw = claimed(home, owner).await;
    sqlx::query(sql).bind(owner).bind(value).execute(&mut raw).await.unwrap();
}

/// Returns a store with these settings.
fn with(home: &Path, settings: &[(&str, &str)]) -> Store {
    Store::new(&config(home, settings))
}

/// Returns a store with these master keys, newest first.
fn given(home: &Path, keys: &[u8]) -> Store {
    let keys: Vec<String> = keys.iter().map(|byte| key(*byte)).collect();
    with(home, &[("DAYSHEET_KEYS_VALUE", &keys.join(" "))])
}

/// Returns the error about a master key in use that `keys.value` does not have.
pub fn gone(id: &str) -> String {
    format!(
        "the master key {id} of this database is not available: correct keys.value; to replace the \
         old key with a new one, list the old key on a line below the new one and run `daysheet \
         store rotate-key`"
    )
}

/// Returns the error about a source that has no keys.
fn unread(why: &str) -> String {
    format!(
        "no master key was read: {why}: a key is 32 bytes in Base64; `daysheet store new-key` \
         prints one"
    )
}

/// Returns the error about a command that fails.
fn in_terminal(why: &str) -> String {
    format!(
        "keys.command {why}: run it in a terminal to see why, and set the full path of the program"
    )
}

/// Seals a text for each person.
async fn seal_all(store: &Store) -> Vec<SealedText> {
    let mut sealed = Vec::new();
    for owner in PEOPLE {
        sealed.push(store.for_owner(owner).seal("x", owner.as_bytes()).await.unwrap());
    }
    sealed
}

/// Opens the text of each person; returns the texts or errors.
async fn open_all(store: &Store, sealed: &[SealedText]) -> Vec<Result<String, String>> {
    let mut opened = Vec::new();
    for (owner, text) in PEOPLE.iter().zip(sealed) {
        let done = store.for_owner(owner).unseal("x", text).await;
        let done = done.map(|bytes| String::from_utf8(bytes).unwrap());
        opened.push(done.map_err(|error| error.to_string()));
    }
    opened
}

async fn assert_open(store: &Store, sealed: &[SealedText]) {
    assert_eq!(open_all(store, sealed).await, PEOPLE.map(|owner| Ok(owner.to_owned())));
}

#[tokio::test]
async fn every_owner_has_a_data_key_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let sealed = seal_all(&store(home.path())).await;
    assert_open(&store(home.path()), &sealed).await;
    let names: std::collections::BTreeSet<_> =
        sealed.iter().map(|text| text.as_str().split(':').nth(1).unwrap()).collect();
    assert_eq!(names.len(), 3, "{sealed:?}");
    // One person's key does not open another's text, even if it is in the other's row.
    let other = store(home.path()).for_owner("p-1");
    assert!(other.unseal("x", &sealed[0]).await.is_err());
    put_data_keys(home.path(), "p-3", &data_keys(home.path(), "local").await).await;
    let error = store(home.path()).for_owner("p-3").unseal("x", &sealed[0]).await.unwrap_err();
    assert!(error.message().ends_with(" of p-3 is damaged"), "{error}");
}

/// Returns tokens sealed by a key file, in the form used before data keys were added.
pub fn old_text(home: &Path) -> String {
    std::fs::write(home.join("key"), key(7)).unwrap();
    let payload = Payload { msg: b"token", aad: b"local/account google:mira@example.com" };
    let cipher = XChaCha20Poly1305::new(&[7; 32].into()).encrypt(&XNonce::from([0; 24]), payload);
    format!("f1:{}", STANDARD.encode([vec![0; 24], cipher.unwrap()].concat()))
}

/// Secrets sealed before data keys were added remain readable, even after the key was replaced.
#[tokio::test]
async fn texts_of_older_versions_can_be_opened() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let old = SealedText::stored(old_text(home.path()));
    let identity = account_identity(&MIRA);
    store.put_account(&account(old.clone())).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.unseal(&identity, &old).await.unwrap(), b"token");
        let rotated = store.rotate_key(false).await.unwrap();
        assert!(rotated.failed.is_empty() && rotated.sealed > 0, "{rotated:?}");
        assert_ne!(key_of(&std::fs::read_to_string(home.path().join("key")).unwrap()), [7; 32]);
    }
    assert_eq!(super::store(home.path()).unseal(&identity, &old).await.unwrap(), b"token");
    // Replacing data keys, too, reseals the old form, and its key is dropped.
    for accounts in [1, 1] {
        assert_eq!(store.rotate_key(true).await.unwrap().accounts, accounts);
        let row = store.account_row(&MIRA).await.unwrap().unwrap();
        assert!(row.sealed.as_str().starts_with("d1:"));
        assert_eq!(store.unseal(&identity, &row.sealed).await.unwrap(), b"token");
    }
    assert!(store.unseal(&identity, &old).await.is_err());
}

#[tokio::test]
async fn given_master_keys_are_used_and_wrong_ones_named() {
    let home = tempfile::tempdir().unwrap();
    let sealed = seal_all(&given(home.path(), &[1])).await;
    assert!(!home.path().join("key").exists());
    let file = home.path().join("master");
    std::fs::write(&file, format!("{}\n", key(1))).unwrap();
    let counter = home.path().join("runs");
    let script = format!("echo x >> {}; cat {}", counter.display(), file.display());
    let command = format!("[\"sh\", \"-c\", \"{script}\"]");
    for settings in [
        ("DAYSHEET_KEYS_VALUE", key(1)),
        ("DAYSHEET_KEYS_FILE", file.to_str().unwrap().to_owned()),
        ("DAYSHEET_KEYS_COMMAND", format!("cat {}", file.display())),
        ("DAYSHEET_KEYS_COMMAND", command),
    ] {
        let store = with(home.path(), &[(settings.0, &settings.1)]);
        store.check_keys().await.unwrap();
        assert_open(&store, &sealed).await;
    }
    assert_eq!(std::fs::read_to_string(counter).unwrap(), "x\n", "it is run once");

    let other = key(2);
    for (name, value, text) in [
        ("VALUE", other.as_str(), gone("99bf6a6b")),
        (
            "FILE",
            "/nowhere",
            unread("the file /nowhere cannot be read (No such file or directory (os error 2))"),
        ),
        ("FILE", "/etc/hostname", unread("the file /etc/hostname contains something else")),
        ("COMMAND", "/nowhere", in_terminal("could not be started (entity not found)")),
        ("COMMAND", "false", in_terminal("failed (exit status: 1)")),
        ("COMMAND", "echo hunter2", unread("keys.command printed something else")),
    ] {
        let store = with(home.path(), &[(&format!("DAYSHEET_KEYS_{name}"), value)]);
        let new = store.for_owner("p-9").seal("x", b"y").await.unwrap_err();
        let old = store.unseal("x", &sealed[0]).await.unwrap_err();
        for error in [store.check_keys().await.unwrap_err(), new, old] {
            assert_eq!(error.to_string(), text);
        }
    }
}

/// A given key is used from the first secret on.
#[tokio::test]
async fn unused_master_key_can_be_corrected() {
    let home = tempfile::tempdir().unwrap();
    for wrong in [1, 2] {
        given(home.path(), &[wrong]).check_keys().await.unwrap();
    }
    given(home.path(), &[2]).seal("x", b"y").await.unwrap();
    let wrong = given(home.path(), &[1]);
    let error = wrong.check_keys().await.unwrap_err();
    assert_eq!(error.to_string(), gone("810e84d2"));
    // The key is wrong even without any account.
    assert_eq!(wrong.check().await.unwrap().problems[0], gone("810e84d2"));
}

#[tokio::test]
async fn given_master_key_is_replaced_step_by_step() {
    let home = tempfile::tempdir().unwrap();
    let mut sealed = seal_all(&given(home.path(), &[1])).await;
    let alone = "keys.value has only one master key, and nothing to replace it: put a new one on a \
                 line above it on all instances, restart them, and repeat this; `daysheet store \
                 new-key` prints one";
    let error = given(home.path(), &[1]).rotate_key(false).await.unwrap_err();
    assert_eq!(error.to_string(), alone);
    // All processes know both keys; until the replacement, they use the old one.
    let (one, two) = (given(home.path(), &[2, 1]), given(home.path(), &[1, 2]));
    assert_open(&one, &sealed).await;
    sealed[2] = one.for_owner("p-2").seal("x", b"p-2").await.unwrap();
    assert_open(&given(home.path(), &[1]), &sealed).await;
    let before = data_keys(home.path(), "p-1").await;
    for expected in [3, 1, 0] {
        let rotated = given(home.path(), &[2, 1]).rotate_key(false).await.unwrap();
        assert_eq!((rotated.sealed, rotated.setting), (expected, Some("keys.value")));
        assert_open(&one, &sealed).await;
        assert_open(&two, &sealed).await;
        if expected == 3 {
            // Imitates an interruption before this owner.
            put_data_keys(home.path(), "p-1", &before).await;
            let opened = open_all(&given(home.path(), &[2]), &sealed).await;
            assert_eq!(opened[..2], [Ok("local".to_owned()), Err(gone("99bf6a6b"))]);
        }
    }
    // Only the new key opens the texts, including texts sealed by processes that know both keys.
    sealed[1] = two.for_owner("p-1").seal("x", b"p-1").await.unwrap();
    assert_open(&given(home.path(), &[2]), &sealed).await;
    assert!(given(home.path(), &[1]).check_keys().await.is_err());
    // The program's own keys are replaced by a given one.
    for listed in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let sealed = seal_all(&store(home.path())).await;
        let own = std::fs::read_to_string(home.path().join("key")).unwrap();
        let keys = format!("{}\n{}", key(3), if listed { &own } else { "" });
        let new = with(home.path(), &[("DAYSHEET_KEYS_VALUE", &keys)]);
        if !listed {
            let master = new.check().await.unwrap().master.unwrap();
            let next = "/key; `daysheet store rotate-key` puts that of keys.value in its place";
            assert!(master.ends_with(next), "{master}");
        }
        assert_eq!(new.rotate_key(false).await.unwrap().sealed, 3);
        std::fs::remove_file(home.path().join("key")).unwrap();
        let new = given(home.path(), &[3]);
        assert_open(&new, &sealed).await;
        assert_eq!(new.check().await.unwrap().master.unwrap(), "345ac7b9, in keys.value");
        assert_eq!(new.rotate_key(false).await.unwrap_err().to_string(), alone);
        // An unused key cannot replace a lost one.
        let error = given(home.path(), &[4]).rotate_key(false).await.unwrap_err();
        assert_eq!(error.to_string(), gone("345ac7b9"));
        assert_open(&new, &sealed).await;
    }
}

/// The key file is replaced while a process uses it, and an interrupted replacement is completed.
#[tokio::test]
async fn own_master_key_is_replaced_while_others_work() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("key");
    let running = store(home.path());
    let mut sealed = seal_all(&running).await;
    let old = std::fs::read_to_string(&path).unwrap();
    let rotated = store(home.path()).rotate_key(false).await.unwrap();
    assert_eq!((rotated.sealed, rotated.setting), (3, None));
    let new = std::fs::read_to_string(&path).unwrap();
    assert!(new.lines().count() == 1 && new != old);
    assert_open(&running, &sealed).await;
    running.for_owner("p-3").seal("x", b"a new one").await.unwrap();
    sealed[0] = running.seal("x", b"local").await.unwrap();
    assert_open(&store(home.path()), &sealed).await;
    // Interrupted after the new key was written.
    std::fs::write(&path, format!("{}\n{new}", key(5))).unwrap();
    assert_open(&store(home.path()), &sealed).await;
    assert_open(&running, &sealed).await;
    let rotated = store(home.path()).rotate_key(false).await.unwrap();
    assert_eq!(rotated.sealed, 4);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", key(5)));
    assert_open(&running, &sealed).await;
    assert_open(&store(home.path()), &sealed).await;
}

/// Concurrent replacements leave one key, which opens everything.
#[tokio::test]
async fn replacements_at_once_agree() {
    let home = tempfile::tempdir().unwrap();
    let sealed = seal_all(&store(home.path())).await;
    let rotations = (0..4).map(|_| {
        let store = store(home.path());
        async move { store.rotate_key(false).await.unwrap() }
    });
    futures_util::future::join_all(rotations).await;
    assert_open(&store(home.path()), &sealed).await;
    let keys = std::fs::read_to_string(home.path().join("key")).unwrap();
    assert_eq!(keys.lines().count(), 1);
}

/// Instances that share a database must have the same master key; a different one is refused before
/// it seals a secret.
#[tokio::test]
async fn instances_with_different_keys_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let Some(database) = postgres::database(home.path()) else {
        return;
    };
    let alone = tempfile::tempdir().unwrap();
    let there = |store| {
        let settings = [("DAYSHEET_DATABASE", database.as_str()), ("DAYSHEET_KEY_STORE", store)];
        with(alone.path(), &settings)
    };
    let share = "give all instances the same key: set keys.file, keys.value or keys.command; \
                 `daysheet store new-key` prints one";
    let error = there("keychain").check_keys().await.unwrap_err();
    let what = "instances that share a database need to share its master key";
    assert_eq!(error.to_string(), format!("{what}: {share}"));
    let sealed = seal_all(&store(home.path())).await;
    for _ in 0..2 {
        let error = there("file").for_owner("p-9").seal("x", b"y").await.unwrap_err();
        let path = alone.path().join("key");
        assert_eq!(error.message(), format!("the key file {} is missing", path.display()));
    }
    std::fs::write(alone.path().join("key"), key(4)).unwrap();
    let error = there("file").for_owner("p-9").seal("x", b"y").await.unwrap_err();
    let end = format!(" of this database is not available: {share}");
    assert!(error.to_string().ends_with(&end), "{error}");
    std::fs::copy(home.path().join("key"), alone.path().join("key")).unwrap();
    assert_open(&there("file"), &sealed).await;
}
