//! Access to the operating system's keychain.
//!
//! The keychain may ask its user for a password and take its time: it is called on a separate
//! thread, with a time limit. Errors are textual reasons and never contain a key. `own.rs` decides
//! what they mean for the store.
//!
//! Without the feature `keychain`, it always reports that no keychain exists.

#[cfg(feature = "keychain")]
pub(super) use native::{create, forget, read};
#[cfg(not(feature = "keychain"))]
pub(super) use none::{create, forget, read};

use super::super::cipher::CipherKey;

#[cfg(feature = "keychain")]
mod native {
    use std::time::Duration;

    use keyring::{Entry, Error};

    use super::CipherKey;

    /// The name that the keychain shows to its user.
    const SERVICE: &str = "daysheet";
    /// The time limit for the keychain, in which its user may have to type a password.
    const PATIENCE: Duration = Duration::from_mins(1);

    /// Writes `key` under `name` and checks that it reads back the same.
    pub(in crate::store::keys) async fn create(name: &str, key: CipherKey) -> Result<(), String> {
        on_thread(name, move |entry| {
            entry.set_secret(&key)?;
            if entry.get_secret()? == key {
                return Ok(());
            }
            let _ = entry.delete_credential();
            Err(Error::NotSupportedByStore(
                "the key read back differs from the one written".to_owned(),
            ))
        })
        .await
    }

    /// Returns the key under `name`, or `None` if the keychain has no such entry.
    pub(in crate::store::keys) async fn read(name: &str) -> Result<Option<CipherKey>, String> {
        let secret = on_thread(name, |entry| match entry.get_secret() {
            Ok(secret) => Ok(Some(secret)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
        .await?;
        secret
            .map(CipherKey::try_from)
            .transpose()
            .map_err(|_wrong| "the entry has no Daysheet key".to_owned())
    }

    /// Removes an entry whose key was never used.
    pub(in crate::store::keys) async fn forget(name: &str) {
        if let Err(why) = on_thread(name, keyring::Entry::delete_credential).await {
            tracing::debug!("an unused keychain entry remains: {why}");
        }
    }

    /// Runs a keychain call on a separate thread. The runtime's pool is unsuitable, because the
    /// runtime would wait at its end for a dialog that stays unanswered.
    async fn on_thread<T: Send + 'static>(
        name: &str,
        call: impl FnOnce(&Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let name = name.to_owned();
        let (done, answer) = tokio::sync::oneshot::channel();
        std::thread::Builder::new()
            .name("keychain".to_owned())
            .spawn(move || {
                let answer = Entry::new(SERVICE, &name).and_then(|entry| call(&entry));
                // The receiver is gone if the call exceeded its time limit.
                let _ = done.send(answer.map_err(|error| reason(&error)));
            })
            .map_err(|error| error.to_string())?;
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_dropped)) => Err("the keychain library panicked".to_owned()),
            Err(_elapsed) => Err("it did not answer; is a dialog waiting?".to_owned()),
        }
    }

    /// Returns an error's text, without the data that some variants contain.
    fn reason(error: &Error) -> String {
        match (error, Entry::store_status()) {
            (Error::BadEncoding(_) | Error::BadDataFormat(..), _) => {
                "the entry is malformed".to_owned()
            }
            // `NoDefaultStore` is only the consequence; this is the cause.
            (Error::NoDefaultStore, Err(why)) => why.to_string(),
            _ => error.to_string(),
        }
    }
}

#[cfg(not(feature = "keychain"))]
mod none {
    use super::CipherKey;

    const WITHOUT: &str = "this build has no keychain support";

    pub(in crate::store::keys) async fn create(_name: &str, _key: CipherKey) -> Result<(), String> {
        Err(WITHOUT.to_owned())
    }

    pub(in crate::store::keys) async fn read(_name: &str) -> Result<Option<CipherKey>, String> {
        Err(WITHOUT.to_owned())
    }

    pub(in crate::store::keys) async fn forget(_name: &str) {}
}
