//! `daysheet store`: looking after the database.

use std::process::ExitCode;

use clap::Subcommand;

use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::store::{Rotated, Store, new_key};

#[derive(Debug, Subcommand)]
pub(super) enum Upkeep {
    /// Put a new master key in the place of the old one.
    ///
    /// Where Daysheet keeps the key itself, a random one takes its place. A server is first
    /// given both keys, on every instance: the new one on a line above the old one; once this
    /// has succeeded, the old one can be removed. It can be interrupted and repeated, and
    /// running instances go on.
    RotateKey {
        /// Give every owner a new data key, too, and encrypt the tokens with it.
        #[arg(long)]
        data_keys: bool,
    },
    /// Print a new master key, for keys.file, keys.value or what keys.command prints.
    NewKey,
}

/// Runs the command; it fails if any of its parts did.
pub(super) async fn run(config: Config, command: &Upkeep) -> Result<ExitCode> {
    let store = Store::new(&config);
    let done = match command {
        Upkeep::RotateKey { data_keys } => store.rotate_key(*data_keys).await.and_then(rotated),
        Upkeep::NewKey => new_key().map(|key| say!("{key}")),
    };
    store.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

fn rotated(done: Rotated) -> Result<()> {
    say!("Master key {} is in use.", done.master);
    say!("{} data keys were encrypted anew, of {} owners.", done.sealed, done.owners);
    if done.accounts > 0 {
        say!("The tokens of {} accounts were encrypted with new data keys.", done.accounts);
    }
    if let Some((owner, why)) = done.failed.first() {
        let what = format!("{} owners still have old keys: {owner}: {why}", done.failed.len());
        return Err(Error::new(Kind::Store, what));
    }
    if let Some(setting) = done.setting {
        say!("The old keys can be removed from {setting} on all instances.");
    }
    Ok(())
}
