//! Secrets and their key: bound to their row, one key for all processes, and no new key while the
//! old one is needed.

use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use daysheet::config::KeyStore;
use daysheet::store::{SealedText, Store};
use daysheet_core::error::ErrorKind;

use super::{MIRA, account, raw, run};
use crate::common::clock;

/// Returns true if no keychain is reachable, so that a test may request one without writing to the
/// keychain of the person who runs it.
fn without_keychain() -> bool {
    let bus = std::env::var("XDG_RUNTIME_DIR").is_ok_and(|it| Path::new(&it).join("bus").exists());
    cfg!(target_os = "linux") && std::env::var("DBUS_SESSION_BUS_ADDRESS").is_err() && !bus
}

#[tokio::test]
async fn sealed_secret_opens_for_its_row_only() {
    let home = tempfile::tempdir().unwrap();
    let store = super::store(home.path());
    let made = store.seal("account a", b"the refresh token").await.unwrap();
    let sealed = made.as_str();
    assert!(!sealed.contains("refresh"));
    assert_ne!(made, store.seal("account a", b"the refresh token").await.unwrap());
    let again = super::store(home.path());
    assert_eq!(again.unseal("account a", &made).await.unwrap(), b"the refresh token");
    let turned: String = sealed.chars().rev().collect();
    let cut = &sealed[..sealed.len() - 8];
    let short = "f1:AAAA";
    let other = format!("d1:00000000:{}", sealed.rsplit(':').next().unwrap());
    for (identity, text) in [
        ("account b", sealed),
        ("account a", turned.as_str()),
        ("account a", cut),
        ("account a", short),
        ("account a", "f1:*"),
        ("account a", "d1:*"),
        ("account a", &other),
        ("account a", ""),
    ] {
        let error = again.unseal(identity, &SealedText::stored(text)).await.unwrap_err();
        let what = format!("the secrets of {identity} cannot be decrypted with the current key");
        assert_eq!((error.kind(), error.message()), (ErrorKind::Store, what.as_str()));
    }
}

/// The ciphers match the README: for tokens under the data key, and for the data key under the
/// master key.
#[tokio::test]
async fn secrets_are_sealed_with_xchacha20_poly1305() {
    let _files = crate::common::postgres::in_files();
    let home = tempfile::tempdir().unwrap();
    let sealed = super::store(home.path()).seal("account a", b"the refresh token").await.unwrap();
    let master = key_of(&std::fs::read_to_string(home.path().join("key")).unwrap());
    let row: String = sqlx::query_scalar("SELECT value FROM settings WHERE name = 'data_keys'")
        .fetch_one(&mut raw(home.path()).await)
        .await
        .unwrap();
    let words: Vec<&str> = row.split(' ').collect();
    let [id, _master, wrapped] = words[..] else { panic!("{row}") };
    let data_key = open(&master, &format!("data key {id} of local"), wrapped).unwrap();
    let text = sealed.as_str().strip_prefix(&format!("d1:{id}:")).unwrap();
    let opened = open(&data_key.try_into().unwrap(), "local/account a", text);
    assert_eq!(opened.unwrap(), b"the refresh token");
}

/// Parses a key as files contain it.
pub(super) fn key_of(text: &str) -> [u8; 32] {
    STANDARD.decode(text.trim_end()).unwrap().try_into().unwrap()
}

fn open(key: &[u8; 32], bound: &str, sealed: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(sealed).unwrap();
    let (nonce, cipher) = bytes.split_first_chunk::<24>().unwrap();
    let payload = Payload { msg: cipher, aad: bound.as_bytes() };
    XChaCha20Poly1305::new(&(*key).into()).decrypt(&XNonce::from(*nonce), payload).ok()
}

/// Concurrent creators of the key file all get the same key.
#[test]
fn processes_starting_together_agree_on_one_key() {
    let home = tempfile::tempdir().unwrap();
    let seal = |_| {
        let home = home.path().to_path_buf();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { super::store(&home).seal("x", b"y").await.unwrap() })
        })
    };
    let threads: Vec<_> = (0..8).map(seal).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = super::store(home.path());
    for thread in threads {
        let sealed = thread.join().unwrap();
        let opened = runtime.block_on(store.unseal("x", &sealed));
        assert_eq!(opened.unwrap(), b"y");
    }
}

#[tokio::test]
async fn lost_key_file_is_not_replaced_while_needed() {
    let _files = crate::common::postgres::in_files();
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    let sealed = super::store(home.path()).seal("x", b"y").await.unwrap();
    let row = account(sealed.clone());
    super::store(home.path()).put_account(&row).await.unwrap();
    let stored = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();

    let store = super::store(home.path());
    for error in
        [store.unseal("x", &sealed).await.unwrap_err(), store.seal("x", b"z").await.unwrap_err()]
    {
        assert_eq!(error.message(), format!("the key file {} is missing", key.display()));
    }
    assert!(!key.exists());
    // With the key file restored, the secrets open again.
    std::fs::write(&key, stored).unwrap();
    assert_eq!(store.unseal("x", &sealed).await.unwrap(), b"y");

    // Without accounts, a lost key does no harm.
    std::fs::remove_file(&key).unwrap();
    let store = super::store(home.path());
    store.delete_account(&MIRA).await.unwrap();
    store.seal("x", b"z").await.unwrap();
    assert!(key.exists());
}

#[tokio::test]
async fn a_key_file_without_a_key_is_named() {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    std::fs::write(&key, "not a key").unwrap();
    let error = super::store(home.path()).seal("x", b"y").await.unwrap_err();
    let text = format!(
        "the key file {} has no key: restore it from a backup, or move it away and sign in again",
        key.display()
    );
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn key_stays_in_a_file_without_keychain() {
    if !without_keychain() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let store = Store::at(home.path(), KeyStore::Keychain, clock::clock());
    let sealed = store.seal("x", b"y").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(home.path().join("key").exists());
    let choice: String = sqlx::query_scalar("SELECT value FROM settings WHERE name = 'key_store'")
        .fetch_one(&mut raw(home.path()).await)
        .await
        .unwrap();
    assert_eq!(choice, "file");
    let again = Store::at(home.path(), KeyStore::Keychain, clock::clock());
    assert_eq!(again.unseal("x", &sealed).await.unwrap(), b"y");
}

#[tokio::test]
async fn unreachable_keychain_creates_no_new_key() {
    let _files = crate::common::postgres::in_files();
    if !without_keychain() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(home.path(), KeyStore::Keychain, clock::clock());
    store.open().await.unwrap();
    run(home.path(), "INSERT INTO settings VALUES ('local', 'key_store', 'keychain:elsewhere')")
        .await;
    for error in [
        store.seal("x", b"y").await.unwrap_err(),
        store.unseal("x", &SealedText::stored("k1:AAAA")).await.unwrap_err(),
    ] {
        let what = "the key in the system's keychain cannot be read (";
        let next = "unlock the keychain and try again, or set DAYSHEET_KEY_STORE=file and sign in \
                    again";
        let is_named = error.message().starts_with(what);
        assert_eq!((is_named, error.next_step()), (true, Some(next)), "{error}");
    }
    assert!(!home.path().join("key").exists());
    // If the setting names the file, it is used.
    super::store(home.path()).seal("x", b"y").await.unwrap();
    assert!(home.path().join("key").exists());
}

#[tokio::test]
async fn fence_secret_is_permanent_and_needs_no_key() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (super::store(home.path()), super::store(home.path()));
    let (one, two) = tokio::join!(one.fence_secret(), two.fence_secret());
    let fence = one.unwrap();
    assert_eq!(fence, two.unwrap());
    let again = super::store(home.path());
    assert_eq!(again.derive("fence").await.unwrap(), fence);
    assert_ne!(again.derive("other").await.unwrap(), fence);
    assert!(!home.path().join("key").exists());
    let other = tempfile::tempdir().unwrap();
    assert_ne!(super::store(other.path()).fence_secret().await.unwrap(), fence);
}
