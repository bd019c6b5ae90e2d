//! Checks of this machine: settings, state folder, database, keys, zone, ports and version.
//! They only read.

use std::path::Path;

use daysheet_core::error::{Error, Result};
use jiff::tz::TimeZone;

use super::finding::{CheckName, Finding, FindingState};
use crate::config::Config;
use crate::oauth;
use crate::store::Store;

/// Reports how the settings were read.
pub(super) fn settings(loaded: &Result<Config>) -> Vec<Finding> {
    let config = match loaded {
        Ok(config) => config,
        Err(error) => {
            return vec![Finding::of_error(CheckName::Settings, FindingState::Failed, error)];
        }
    };
    let mut found = Vec::new();
    if let Some(file) = &config.file
        && let Some(mode) = open_to_others(file, 0o077)
        && (config.google.secret.is_some() || config.microsoft.secret.is_some())
    {
        let what = format!("other users can read {} (mode {mode:o})", file.display());
        let next = format!("run `chmod 600 {}`", file.display());
        found.push(Finding::new(CheckName::Settings, FindingState::Warning, what).next(next));
    }
    for warning in &config.warnings {
        let (what, next) = warning.split_once(": ").unwrap_or((warning, "remove it"));
        found.push(Finding::new(CheckName::Settings, FindingState::Warning, what).next(next));
    }
    if found.is_empty() {
        found.push(Finding::good(
            CheckName::Settings,
            match &config.file {
                Some(file) => file.display().to_string(),
                None => format!(
                    "no file {}; the environment and defaults apply",
                    config.home.join("config.toml").display()
                ),
            },
        ));
    }
    found
}

/// Checks that the state folder can be written, and only by its owner.
pub(super) fn state(config: &Config) -> Vec<Finding> {
    let home = &config.home;
    let fail = |what: String, next: String| {
        Finding::new(CheckName::State, FindingState::Failed, what).next(next)
    };
    // The nearest folder that exists is the one in which others would be created.
    let existing = home.ancestors().find(|folder| folder.exists()).unwrap_or(home);
    // The file has no name, so nothing remains of it.
    if let Err(error) = tempfile::tempfile_in(existing) {
        return vec![fail(
            format!("{} cannot be written ({})", existing.display(), error.kind()),
            "allow this user to write it, or set DAYSHEET_HOME to another folder".to_owned(),
        )];
    }
    if existing != home {
        let what = format!("{} does not exist yet; the first sign-in creates it", home.display());
        return vec![Finding::good(CheckName::State, what)];
    }
    let mut found = Vec::new();
    if let Some(mode) = open_to_others(home, 0o022) {
        found.push(fail(
            format!("other users can write to {} (mode {mode:o})", home.display()),
            format!("run `chmod 700 {}`", home.display()),
        ));
    }
    for name in ["daysheet.db", "key", "audit.jsonl"] {
        let file = home.join(name);
        if let Some(mode) = open_to_others(&file, 0o077) {
            found.push(fail(
                format!("other users can read {} (mode {mode:o})", file.display()),
                format!("run `chmod 600 {}`", file.display()),
            ));
        }
    }
    if found.is_empty() {
        found.push(Finding::good(CheckName::State, home.display().to_string()));
    }
    found
}

/// Returns the permissions of a file or folder if they include some of `bits`. Elsewhere than on
/// Unix, the user's data folder is private by itself.
fn open_to_others(path: &Path, bits: u32) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
        (mode & bits != 0).then_some(mode)
    }
    #[cfg(not(unix))]
    {
        let _ = (path, bits);
        None
    }
}

/// Checks that the database is there, and of this version, and that its key is available.
pub(super) async fn database(config: &Config) -> Vec<Finding> {
    let store = Store::new(config);
    let found = async {
        let state = store.state().await?;
        let found = match state.version {
            Some(version) if version < state.newest => Finding::good(
                CheckName::Database,
                format!(
                    "{}, version {version}; the next start brings it to {}",
                    state.place, state.newest
                ),
            ),
            None if state.is_new => {
                let what =
                    format!("{} does not exist yet; the first sign-in creates it", state.place);
                return Ok::<_, Error>((Finding::good(CheckName::Database, what), false));
            }
            _ => {
                // An up-to-date database is not changed by this; another one is an error.
                store.open().await?;
                let what = format!("{}, version {}", state.place, state.newest);
                Finding::good(CheckName::Database, what)
            }
        };
        Ok((found, state.version == Some(state.newest)))
    };
    let found = match found.await {
        Err(error) => vec![
            Finding::of_error(CheckName::Database, FindingState::Failed, &error),
            Finding::new(CheckName::Keys, FindingState::Skipped, "the database cannot be read"),
        ],
        Ok((found, true)) => vec![found, keys(&store).await],
        Ok((found, false)) => {
            let what = "no key is in use yet; the first sign-in creates one";
            vec![found, Finding::good(CheckName::Keys, what)]
        }
    };
    store.close().await;
    found
}

async fn keys(store: &Store) -> Finding {
    match store.named_key().await {
        Ok(Some(key)) => Finding::good(CheckName::Keys, format!("key {key}")),
        Ok(None) => {
            Finding::good(CheckName::Keys, "no key is in use yet; the first sign-in creates one")
        }
        Err(error) => Finding::of_error(CheckName::Keys, FindingState::Failed, &error),
    }
}

/// Checks that times are shown in a zone of the user's.
pub(super) fn zone(config: &Config) -> Finding {
    let name = config.zone.iana_name().unwrap_or("UTC");
    let system = TimeZone::try_system().ok();
    let is_unnamed = system.is_none_or(|zone| zone.iana_name().is_none());
    // A setting always has a name, so UTC may be the replacement for a zone without one.
    if name == "UTC" && is_unnamed {
        let what = "the system's time zone has no IANA name, so times are in UTC";
        let next = "set `zone`, such as zone = \"Europe/Berlin\", or DAYSHEET_ZONE";
        return Finding::new(CheckName::Zone, FindingState::Warning, what).next(next);
    }
    Finding::good(CheckName::Zone, name)
}

/// Checks that this program can listen on a port of this machine.
pub(super) fn loopback() -> Finding {
    match oauth::check_loopback(std::net::TcpListener::bind) {
        Ok(()) => {
            let what = "127.0.0.1 has a free port, for sign-ins and the page for approvals";
            Finding::good(CheckName::Loopback, what)
        }
        Err(error) => Finding::of_error(CheckName::Loopback, FindingState::Failed, &error),
    }
}

/// Returns the version, with the optional parts of this build.
pub(super) fn version() -> Finding {
    let parts = [
        ("google", cfg!(feature = "google")),
        ("microsoft", cfg!(feature = "microsoft")),
        ("keychain", cfg!(feature = "keychain")),
        ("http", cfg!(feature = "http")),
        ("documents", cfg!(feature = "documents")),
        ("postgres", cfg!(feature = "postgres")),
    ];
    let parts: Vec<&str> =
        parts.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
    let what = format!(
        "daysheet {}, {} {}, with {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        parts.join(", ")
    );
    Finding::good(CheckName::Version, what)
}
